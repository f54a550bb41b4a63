//===- CacheTest.cpp - Compiled kernels on disk -----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Cache.h"
#include "Support.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <thread>

using namespace tile;
using namespace tile::driver;
using runtime::Artifact;

namespace {
class CacheTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tile-cache-test", path));
    directory = std::string(path);
  }
  void TearDown() override { llvm::sys::fs::remove_directories(directory); }

  std::string read(const std::string &path) {
    auto file = llvm::MemoryBuffer::getFile(path);
    return file ? (*file)->getBuffer().str() : "";
  }
  void write(const std::string &path, llvm::StringRef contents) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << contents;
    EXPECT_FALSE(error);
  }
  size_t countFiles() {
    size_t count = 0;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator at(directory, error), end;
         at != end && !error; at.increment(error))
      ++count;
    return count;
  }

  std::string directory;
};
} // namespace

static Artifact makeArtifact(const std::string &contents) {
  Artifact artifact;
  artifact.set("ptx/f", contents);
  return artifact;
}

static std::string getContents(const std::optional<Artifact> &artifact) {
  const std::string *contents = artifact ? artifact->find("ptx/f") : nullptr;
  return contents ? *contents : "";
}

TEST_F(CacheTest, KeysTellPartsApart) {
  EXPECT_EQ(Cache::getKey({"a", "b"}), Cache::getKey({"a", "b"}));
  EXPECT_NE(Cache::getKey({"a", "b"}), Cache::getKey({"ab", ""}));
  EXPECT_NE(Cache::getKey({"a", "b"}), Cache::getKey({"a"}));
}

TEST_F(CacheTest, FindsWhatWasStored) {
  Cache cache(directory + "/not/there/yet");
  EXPECT_FALSE(cache.find("k"));
  EXPECT_FALSE(cache.store("k", makeArtifact("one")));
  EXPECT_EQ(getContents(cache.find("k")), "one");
  EXPECT_FALSE(cache.store("k", makeArtifact("two")));
  EXPECT_EQ(getContents(cache.find("k")), "two");
  EXPECT_FALSE(cache.find("other"));
}

TEST_F(CacheTest, DropsDamagedFiles) {
  Cache cache(directory);
  std::string path = cache.getPath("k");
  EXPECT_FALSE(cache.store("k", makeArtifact("contents")));
  std::string good = read(path);
  // Every single bit counts, and every byte at the end.
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    write(path, bad);
    EXPECT_FALSE(cache.find("k")) << "bit of byte " << i;
    EXPECT_FALSE(llvm::sys::fs::exists(path));
    write(path, llvm::StringRef(good).take_front(i));
    EXPECT_FALSE(cache.find("k")) << "cut at byte " << i;
    EXPECT_FALSE(llvm::sys::fs::exists(path));
  }
  // A file of another version of the format.
  write(path, "tile cache 2\n" + good.substr(13));
  EXPECT_FALSE(cache.find("k"));
  write(path, good);
  EXPECT_EQ(getContents(cache.find("k")), "contents");
}

TEST_F(CacheTest, FilesAppearWholeWhereManyWrite) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0, found = 0;
  for (int writer = 0; writer < 4; ++writer)
    threads.emplace_back([&, writer] {
      Cache cache(directory);
      std::string contents(100000 + writer, static_cast<char>('a' + writer));
      for (int i = 0; i < 25; ++i) {
        if (llvm::Error error = cache.store("k", makeArtifact(contents))) {
          llvm::consumeError(std::move(error));
          ++wrong;
        }
        std::string got = getContents(cache.find("k"));
        bool isWhole = got.size() >= 100000 &&
                       got == std::string(got.size(), got[0]) &&
                       got.size() == size_t(100000 + got[0] - 'a');
        ++(isWhole ? found : wrong);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(found, 100);
  EXPECT_EQ(countFiles(), 1u) << "temporary files are left";
}

TEST_F(CacheTest, DropsWhatWasUsedLongestAgo) {
  Cache cache(directory, /*limitBytes=*/2500);
  std::string contents(1000, 'x');
  auto setAge = [&](llvm::StringRef key, int hours) {
    int descriptor;
    ASSERT_FALSE(llvm::sys::fs::openFileForReadWrite(
        cache.getPath(key), descriptor, llvm::sys::fs::CD_OpenExisting,
        llvm::sys::fs::OF_None));
    llvm::sys::fs::setLastAccessAndModificationTime(
        descriptor,
        std::chrono::system_clock::now() - std::chrono::hours(hours));
    ::close(descriptor);
  };
  EXPECT_FALSE(cache.store("a", makeArtifact(contents)));
  setAge("a", 3);
  EXPECT_FALSE(cache.store("b", makeArtifact(contents)));
  setAge("b", 2);
  // Use is what counts, not the time of making.
  EXPECT_TRUE(cache.find("a"));
  write(cache.getPath("z") + ".0123.tmp", "left over");
  EXPECT_FALSE(cache.store("c", makeArtifact(contents)));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
  // What may still be written stays.
  EXPECT_TRUE(llvm::sys::fs::exists(cache.getPath("z") + ".0123.tmp"));
}

TEST_F(CacheTest, SaysWhyNothingIsKept) {
  write(directory + "/file", "");
  EXPECT_TRUE(hasPart(
      getMessage(
          Cache(directory + "/file/below").store("k", makeArtifact("x"))),
      "cannot keep a compiled kernel in '"));
}

TEST_F(CacheTest, KernelsComeFromIt) {
  // A build without an id keeps nothing, and this test is no test.
  ASSERT_FALSE(getCompilerIdentity().empty());
  std::string source = R"(
    func.func @f(%x: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %m = tile.tunable "m" in [64, 128] default(64)
      tile.launch blocks(%b) in (%m) {
        tile.parallel (%i) in (64) {
          %one = arith.constant 1.0 : f32
          memref.store %one, %x[%i] : memref<?xf32>
        }
      }
      return
    })";
  auto isFromCache = [&](llvm::StringRef text, CompileOptions options) {
    options.cacheDirectory = directory;
    Program program = get(Session().loadText(text, "test.mlir"));
    auto kernel = get(program.compile("f", options));
    runtime::Array x = get(runtime::Array::allocate(runtime::DType::F32, {64}));
    EXPECT_FALSE(kernel->run({x}));
    EXPECT_EQ(x.getDouble(63), 1.0);
    EXPECT_EQ(kernel->getStages().size(), 1u);
    return kernel->isFromCache();
  };
  for (Target target : {Target::CPU, Target::Emulator}) {
    CompileOptions options;
    options.target = target;
    EXPECT_FALSE(isFromCache(source, options));
    EXPECT_TRUE(isFromCache(source, options));
    // The default, said.
    options.tunables = {{"m", 64}};
    EXPECT_TRUE(isFromCache(source, options));
    options.tunables = {{"m", 128}};
    EXPECT_FALSE(isFromCache(source, options));
    EXPECT_TRUE(isFromCache(source, options));
    // Lines are in the code.
    EXPECT_FALSE(isFromCache("\n" + source, options));
    // What only decides how the emulator runs does not count.
    options.emulation.seeds = 2;
    EXPECT_TRUE(isFromCache(source, options));
  }
  CompileOptions options;
  options.target = Target::Emulator;
  options.chip = "sm_90";
  EXPECT_FALSE(isFromCache(source, options));
  // Somebody who wants to see the stages gets them.
  options.keepStages = true;
  options.cacheDirectory = directory;
  Program program = get(Session().loadText(source, "test.mlir"));
  auto kernel = get(program.compile("f", options));
  EXPECT_FALSE(kernel->isFromCache());
  EXPECT_GT(kernel->getStages().size(), 5u);
}
