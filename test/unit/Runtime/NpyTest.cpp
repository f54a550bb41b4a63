//===- NpyTest.cpp - NumPy's files ----------------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Npy.h"
#include "PropertySeed.h"

#include <cmath>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace tile::runtime;

namespace {

/// A file of the given header text and data.
std::string makeFile(const std::string &header, const std::string &data,
                     int major = 1) {
  std::string file = "\x93NUMPY";
  file += char(major);
  file += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    file += char(header.size() >> (8 * i) & 0xFF);
  return file + header + data;
}

std::string makeHeader(const std::string &descr, const std::string &shape,
                       bool fortran = false) {
  return "{'descr': '" + descr +
         "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

std::string getError(const std::string &file,
                     std::optional<DType> expected = std::nullopt) {
  Result<Array> array = parseNpy(file, expected);
  EXPECT_FALSE(array);
  return array ? "" : array.message();
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// A folder of its own, gone with its files at the end.
class NpyFile : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "tile-npy-XXXXXX";
    ASSERT_TRUE(mkdtemp(folder.data()));
  }
  void TearDown() override {
    for (const std::string &name : list())
      unlink((folder + "/" + name).c_str());
    rmdir(folder.c_str());
  }
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    DIR *directory = opendir(folder.c_str());
    while (dirent *entry = readdir(directory))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    closedir(directory);
    return names;
  }
  std::string folder;
};

} // namespace

// Byte for byte what numpy.save of NumPy 2.4 and ml_dtypes 0.6 writes.
TEST(Npy, ReadsTheConventionOfMLDtypes) {
  auto file = [](const char *descr, const std::string &data) {
    std::string header = "{'descr': '" + std::string(descr) +
                         "', 'fortran_order': False, 'shape': (2, 3), }";
    header.resize(117, ' ');
    return makeFile(header + "\n", data);
  };
  std::string bf16("\0\0\x80?\0@@@\x80@\xa0@", 12);
  std::string f8E4M3FN("\0008@DHJ", 6), f8E5M2("\0<@BDE", 6);
  std::string i4("\0\1\2\3\4\5", 6);
  struct {
    const char *descr;
    std::string data;
    DType type;
  } cases[] = {{"<V2", bf16, DType::BF16},
               {"<V1", f8E4M3FN, DType::F8E4M3FN},
               {"<f1", f8E5M2, DType::F8E5M2},
               {"<V1", i4, DType::I4},
               {"|V2", bf16, DType::BF16}};
  for (const auto &each : cases) {
    Result<Array> array = parseNpy(file(each.descr, each.data), each.type);
    ASSERT_TRUE(array) << array.message();
    EXPECT_EQ(array->getType(), each.type);
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(array->getDouble(i), i);
  }
  EXPECT_TRUE(contains(getError(file("<V2", bf16)), "say which element type"));
  EXPECT_TRUE(contains(getError(file("<V2", bf16), DType::F32), "2 bytes"));
}

TEST(Npy, ReadsVersionsOrdersAndEndianness) {
  std::string rowMajor("\0\0\0\1\0\2\0\3\0\4\0\5", 12);
  std::string columnMajor("\0\0\0\3\0\1\0\4\0\2\0\5", 12);
  for (int major : {1, 2, 3}) {
    Result<Array> c =
        parseNpy(makeFile(makeHeader(">i2", "(2, 3)"), rowMajor, major));
    Result<Array> f = parseNpy(
        makeFile(makeHeader(">u2", "(2, 3)", true), columnMajor, major));
    ASSERT_TRUE(c && f);
    EXPECT_EQ(f->getType(), DType::I16);
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(c->getInt(i), i);
      EXPECT_EQ(f->getInt(i), i);
    }
  }
  Result<Array> scalar =
      parseNpy(makeFile(makeHeader("<f4", "()"), std::string("\0\0\xc0?", 4)));
  Result<Array> empty = parseNpy(makeFile(makeHeader("<f8", "(0, 3)"), ""));
  Result<Array> flags =
      parseNpy(makeFile(makeHeader("|b1", "(3,)"), std::string("\0\1\7", 3)));
  Result<Array> old =
      parseNpy(makeFile(makeHeader("|i1", "(2L, 1L)"), "\x01\xff"));
  ASSERT_TRUE(scalar && empty && flags && old);
  EXPECT_EQ(scalar->getDouble(0), 1.5);
  EXPECT_EQ(scalar->getRank(), 0);
  EXPECT_EQ(empty->getShape(), Shape({0, 3}));
  EXPECT_EQ(flags->getInt(2), 1);
  EXPECT_EQ(static_cast<uint8_t *>(flags->data())[2], 1);
  EXPECT_EQ(old->getInt(1), -1);
}

TEST(Npy, SaysWhatIsWrong) {
  std::string good = makeFile(makeHeader("<f4", "(2,)"), "12345678");
  ASSERT_TRUE(parseNpy(good));
  EXPECT_TRUE(contains(getError(""), "too short"));
  EXPECT_TRUE(contains(getError("PK\3\4 not ours"), "not a .npy file"));
  EXPECT_TRUE(contains(getError(good.substr(0, 9)), "ends early"));
  EXPECT_TRUE(contains(getError(good.substr(0, 30)), "ends early"));
  EXPECT_TRUE(contains(getError(good.substr(0, good.size() - 1)),
                       "2xf32 needs 8 bytes after the header, there are 7"));
  EXPECT_TRUE(contains(getError(good + "x"), "1 bytes too many"));
  std::string version = good;
  version[6] = 4;
  EXPECT_TRUE(contains(getError(version), "version 4.0"));
  auto withHeader = [](const std::string &header) {
    return getError(makeFile(header, "12345678"));
  };
  EXPECT_TRUE(contains(withHeader(makeHeader("<c8", "(1,)")), "'<c8'"));
  EXPECT_TRUE(contains(withHeader(makeHeader("<f16", "(1,)")), "'<f16'"));
  EXPECT_TRUE(contains(withHeader(makeHeader("<U4", "(1,)")), "'<U4'"));
  EXPECT_TRUE(contains(withHeader(makeHeader("", "(1,)")), "element type"));
  EXPECT_TRUE(contains(withHeader(makeHeader("<f4", "(-2,)")), "extent"));
  EXPECT_TRUE(contains(withHeader(makeHeader("<f4", "(99999999999999999999,)")),
                       "63 bits"));
  EXPECT_TRUE(contains(
      withHeader(makeHeader("<f4", "(4294967296, 4294967296)")), "too large"));
  EXPECT_TRUE(contains(
      withHeader(makeHeader("<f4", "(0, 4294967296, 4294967296, 4294967296)")),
      "too many"));
  EXPECT_TRUE(contains(withHeader(makeHeader("<f4", "(1000000000,)")),
                       "needs 4000000000 bytes"));
  EXPECT_TRUE(contains(
      withHeader("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': "
                 "(1,), }"),
      "records"));
  EXPECT_TRUE(contains(withHeader("{'shape': (1,)}"), "missing"));
  EXPECT_TRUE(contains(withHeader("{'shape': (1,), 'shape': (1,)}"),
                       "repeated key 'shape'"));
  EXPECT_TRUE(contains(withHeader(makeHeader("<f4", "(2,)") + "x"), "the end"));
  EXPECT_TRUE(contains(withHeader(""), "expected '{'"));
  std::string huge = makeFile("", "", 2);
  huge[11] = '\x7f';
  EXPECT_TRUE(contains(getError(huge), "above 65536"));
}

TEST_F(NpyFile, RoundTripsEveryType) {
  for (unsigned t = 0; t < numDTypes; ++t) {
    DType type = DType(t);
    std::string path = folder + "/" + std::string(getName(type)) + ".npy";
    for (const Shape &shape :
         {Shape{}, Shape{7}, Shape{0, 4}, Shape{3, 1, 5}, Shape{300, 300}}) {
      Result<Array> array = Array::allocate(type, shape);
      ASSERT_TRUE(array);
      array->fillIota();
      Status status = writeNpy(path, *array);
      ASSERT_TRUE(status) << status.message();
      Result<Array> back = readNpy(path, type);
      ASSERT_TRUE(back) << back.message();
      EXPECT_EQ(back->getType(), type);
      EXPECT_EQ(back->getShape(), shape);
      ASSERT_EQ(
          std::memcmp(array->data(), back->data(), array->getStorageBytes()),
          0);
    }
  }
  EXPECT_EQ(list().size(), numDTypes) << "no temporary file is left";
}

TEST_F(NpyFile, WritesStridedArraysInOrder) {
  Result<Array> array = Array::allocate(DType::F32, {4, 3}, {1, 6}, 2);
  ASSERT_TRUE(array);
  array->fillIota();
  ASSERT_TRUE(writeNpy(folder + "/a.npy", *array));
  Result<Array> back = readNpy(folder + "/a.npy");
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->isDense());
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(back->getDouble(i), i);
  std::ifstream file(folder + "/a.npy", std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str().size(), 128u + 48u);
  EXPECT_EQ(text.str()[127], '\n');
}

TEST_F(NpyFile, FailsWithTheNameOfTheFile) {
  Array array = Array::scalar(DType::F32, 1.0);
  Status written = writeNpy(folder + "/no/such.npy", array);
  ASSERT_FALSE(written);
  EXPECT_TRUE(contains(written.message(), "/no/such.npy': cannot be created"));
  Result<Array> read = readNpy(folder + "/none.npy");
  ASSERT_FALSE(read);
  EXPECT_TRUE(contains(read.message(), "/none.npy': cannot be opened"));
  Result<Array> directory = readNpy(folder);
  ASSERT_FALSE(directory);
  EXPECT_TRUE(contains(directory.message(), "not a regular file"));
}

// A failed write leaves the old file as it was, and nothing else.
TEST_F(NpyFile, KeepsTheOldFileWhenWritingFails) {
  std::string path = folder + "/a.npy";
  ASSERT_TRUE(writeNpy(path, Array::scalar(DType::F32, 1.0)));
  // A directory in its place lets everything succeed but the rename.
  std::string blocked = folder + "/dir.npy";
  ASSERT_EQ(mkdir(blocked.c_str(), 0700), 0);
  EXPECT_FALSE(writeNpy(blocked, Array::scalar(DType::F32, 1.0)));
  rmdir(blocked.c_str());
  EXPECT_EQ(list(), std::vector<std::string>({"a.npy"}));
}

// Damage gives an array or an error, never a crash or a huge allocation.
TEST(Npy, SurvivesMutation) {
  std::mt19937_64 random(getPropertySeed());
  std::vector<std::string> seeds;
  for (int major : {1, 2, 3})
    for (bool fortran : {false, true})
      for (const char *descr : {"<f2", ">i4", "<V2", "|b1", "<V1"})
        seeds.push_back(makeFile(makeHeader(descr, "(2, 3)", fortran),
                                 std::string(24, 'x'), major));
  const std::string letters = "0123456789(),':{}<>|=fiubVLTrue \n\xff";
  int parsed = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string file = seeds[size_t(i) % seeds.size()];
    for (uint64_t n = random() % 5; n > 0; --n) {
      size_t at = random() % file.size();
      switch (random() % 4) {
      case 0:
        file[at] = letters[random() % letters.size()];
        break;
      case 1:
        file[at] = char(random());
        break;
      case 2:
        file.insert(at, 1, letters[random() % letters.size()]);
        break;
      default:
        file.erase(at, random() % 8 + 1);
      }
      if (file.empty())
        break;
    }
    Result<Array> array =
        parseNpy(file, i % 2 ? std::optional(DType::BF16) : DType::I4);
    if (array) {
      ++parsed;
      ASSERT_LE(array->getElementBytes(), file.size());
    } else {
      ASSERT_FALSE(array.message().empty());
    }
  }
  EXPECT_GT(parsed, 0);
}
