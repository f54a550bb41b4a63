//===- Npy.cpp - NumPy's file format --------------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is a magic word, a version, the length of a textual header, the
// header, and the elements. Reading goes through a `Source`, so that files and
// memory take the same way. The machine's own byte order is taken to be little
// endian, as on every host the project builds for.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Npy.h"
#include "NpyHeader.h"
#include "Tile/Runtime/Format.h"
#include "Tile/Runtime/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

using namespace tile::runtime;

namespace {

/// NumPy itself refuses headers above 10000 characters by default; ranks up to
/// its 64 fit many times.
constexpr uint64_t maxHeader = 65536;

/// How one element lies in the file.
struct Encoding {
  DType type;
  unsigned bytes;
  bool isBigEndian;
};

/// Where the bytes come from. `read` succeeds with all bytes asked for.
class Source {
public:
  virtual ~Source() = default;
  virtual uint64_t getSize() const = 0;
  virtual Status read(void *to, uint64_t count) = 0;
};

class MemorySource : public Source {
public:
  explicit MemorySource(std::string_view bytes) : bytes(bytes) {}
  uint64_t getSize() const override { return bytes.size(); }
  Status read(void *to, uint64_t count) override {
    if (count > bytes.size() - position)
      return Error{"the file ends early"};
    std::memcpy(to, bytes.data() + position, count);
    position += count;
    return {};
  }

private:
  std::string_view bytes;
  uint64_t position = 0;
};

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class FileSource : public Source {
public:
  FileSource(File file, uint64_t size) : file(std::move(file)), size(size) {}
  uint64_t getSize() const override { return size; }
  Status read(void *to, uint64_t count) override {
    if (std::fread(to, 1, count, file.get()) == count)
      return {};
    if (std::ferror(file.get()))
      return Error{std::string("cannot be read: ") + std::strerror(errno)};
    return Error{"the file ends early"};
  }

private:
  File file;
  uint64_t size;
};

} // namespace

static std::string getDescr(DType type) {
  switch (type) {
  case DType::BF16:
    return "<V2";
  // NumPy writes "<f1" for f8E5M2 and then cannot read it; "<V1" it can.
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::I4:
    return "<V1";
  case DType::I1:
    return "|b1";
  case DType::I8:
    return "|i1";
  default:
    return (isFloat(type) ? "<f" : "<i") + std::to_string(getBits(type) / 8);
  }
}

static Result<Encoding> parseDescr(std::string_view descr,
                                   std::optional<DType> expected) {
  std::string quoted = "'" + std::string(descr.substr(0, 32)) + "'";
  Error unsupported{"element type " + quoted +
                    " is not one of bool, int8 to int64, uint8 to uint64, "
                    "float16 to float64, bfloat16, float8, int4"};
  unsigned size = 0;
  if (descr.size() < 3 ||
      std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return unsupported;
  auto [end, code] =
      std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
  if (code != std::errc() || end != descr.data() + descr.size())
    return unsupported;
  bool isBig = descr[0] == '>';
  char kind = descr[1];
  auto make = [&](DType type) { return Encoding{type, size, isBig}; };
  if (kind == 'b' && size == 1)
    return make(DType::I1);
  if (kind == 'f') {
    if (size == 8)
      return make(DType::F64);
    if (size == 4)
      return make(DType::F32);
    if (size == 2)
      return make(DType::F16);
    if (size == 1)
      return make(DType::F8E5M2);
  }
  if (kind == 'i' || kind == 'u') {
    if (size == 8)
      return make(DType::I64);
    if (size == 4)
      return make(DType::I32);
    if (size == 2)
      return make(DType::I16);
    if (size == 1)
      return make(DType::I8);
  }
  if (kind != 'V')
    return unsupported;
  if (!expected)
    return Error{"elements of type " + quoted +
                 " may be bfloat16, float8 or int4; say which element type is "
                 "expected"};
  // What the untyped element of the expected type would be.
  unsigned expectedSize = (getStorageBits(*expected) + 7) / 8;
  if (size != expectedSize)
    return Error{"elements of type " + quoted + " have " +
                 std::to_string(size) + " bytes, the expected " +
                 std::string(getName(*expected)) + " has " +
                 std::to_string(expectedSize)};
  return make(*expected);
}

/// Turns elements as they lie in the file to those of memory, in place.
static void normalise(const Encoding &encoding, unsigned char *bytes,
                      uint64_t count) {
  if (encoding.type == DType::I1)
    for (uint64_t i = 0; i < count; ++i)
      bytes[i] = bytes[i] != 0;
  if (encoding.isBigEndian && encoding.bytes > 1)
    for (uint64_t i = 0; i < count; ++i)
      std::reverse(bytes + i * encoding.bytes,
                   bytes + (i + 1) * encoding.bytes);
}

/// Bits of element `i` of a chunk; a packed type lies unpacked there.
static uint64_t getBitsAt(const Encoding &encoding, const void *bytes,
                          int64_t i) {
  return loadBits(encoding.type == DType::I4 ? DType::I8 : encoding.type, bytes,
                  i);
}

static Status readElements(Source &source, const NpyHeader &header,
                           const Encoding &encoding, Array &array) {
  int64_t total = array.getNumElements();
  bool isInOrder = !header.isFortranOrder || array.getRank() < 2;
  constexpr int64_t chunk = 1 << 16;
  if (isInOrder && encoding.type != DType::I4) {
    auto *data = static_cast<unsigned char *>(array.data());
    if (Status status = source.read(data, uint64_t(total) * encoding.bytes);
        !status)
      return status;
    normalise(encoding, data, uint64_t(total));
    return {};
  }
  // Column-major elements in the file are row-major ones of the array with its
  // dimensions reversed.
  Shape shape = array.getShape(), strides = array.getStrides();
  if (!isInOrder) {
    std::reverse(shape.begin(), shape.end());
    std::reverse(strides.begin(), strides.end());
  }
  Result<Array> view =
      Array::borrow(array.data(), array.getStorageBytes(), array.getType(),
                    std::move(shape), std::move(strides));
  if (!view)
    return view.error();
  std::vector<unsigned char> buffer(size_t(chunk) * encoding.bytes);
  for (int64_t begin = 0; begin < total; begin += chunk) {
    int64_t count = std::min(chunk, total - begin);
    if (Status status =
            source.read(buffer.data(), uint64_t(count) * encoding.bytes);
        !status)
      return status;
    normalise(encoding, buffer.data(), uint64_t(count));
    view->forEachRow(begin, begin + count, [&](const Row &row) {
      for (int64_t i = 0; i < row.count; ++i)
        storeBits(array.getType(), array.data(), row.index + i * row.stride,
                  getBitsAt(encoding, buffer.data(), row.first - begin + i));
    });
  }
  return {};
}

static Result<Array> readArray(Source &source, std::optional<DType> expected) {
  unsigned char prefix[12];
  if (Status status = source.read(prefix, 8); !status)
    return Error{"too short for a .npy file"};
  if (std::memcmp(prefix, "\x93NUMPY", 6) != 0)
    return Error{"not a .npy file: it does not start with \\x93NUMPY"};
  unsigned major = prefix[6], minor = prefix[7];
  if (major < 1 || major > 3 || minor != 0)
    return Error{"version " + std::to_string(major) + "." +
                 std::to_string(minor) +
                 " of the .npy format is unknown; 1.0, 2.0 and 3.0 are read"};
  unsigned lengthBytes = major == 1 ? 2 : 4;
  if (Status status = source.read(prefix + 8, lengthBytes); !status)
    return status.error();
  uint64_t length = 0;
  for (unsigned i = lengthBytes; i-- > 0;)
    length = length << 8 | prefix[8 + i];
  if (length > maxHeader)
    return Error{"bad header: its length of " + std::to_string(length) +
                 " bytes is above " + std::to_string(maxHeader)};
  std::string text(length, '\0');
  if (Status status = source.read(text.data(), length); !status)
    return status.error();
  Result<NpyHeader> header = parseNpyHeader(text);
  if (!header)
    return header.error();
  Result<Encoding> encoding = parseDescr(header->descr, expected);
  if (!encoding)
    return encoding.error();

  // The size of the file is checked before anything of its size is allocated.
  uint64_t available = source.getSize() - 8 - lengthBytes - length;
  uint64_t needed = encoding->bytes;
  for (int64_t extent : header->shape)
    if (extent == 0)
      needed = 0;
  for (int64_t extent : header->shape)
    if (needed && __builtin_mul_overflow(needed, uint64_t(extent), &needed))
      return Error{formatType(header->shape, encoding->type) +
                   " is too large: its size does not fit in 64 bits"};
  if (needed > available)
    return Error{
        "the file ends early: " + formatType(header->shape, encoding->type) +
        " needs " + std::to_string(needed) +
        " bytes after the header, there are " + std::to_string(available)};
  if (needed < available)
    return Error{std::to_string(available - needed) +
                 " bytes too many after the elements of " +
                 formatType(header->shape, encoding->type)};
  Result<Array> array = Array::allocate(encoding->type, header->shape);
  if (!array)
    return array;
  if (Status status = readElements(source, *header, *encoding, *array); !status)
    return status.error();
  return array;
}

Result<Array> tile::runtime::parseNpy(std::string_view bytes,
                                      std::optional<DType> expected) {
  MemorySource source(bytes);
  return readArray(source, expected);
}

Result<Array> tile::runtime::readNpy(const std::string &path,
                                     std::optional<DType> expected) {
  auto fail = [&](const std::string &what) {
    return Error{"'" + path + "': " + what};
  };
  // A pipe without a writer would be waited for.
  int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  File file(descriptor < 0 ? nullptr : fdopen(descriptor, "rb"));
  if (!file)
    return fail(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat info;
  if (fstat(fileno(file.get()), &info) != 0)
    return fail(std::string("cannot be examined: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return fail("is not a regular file");
  FileSource source(std::move(file), uint64_t(info.st_size));
  Result<Array> array = readArray(source, expected);
  if (!array)
    return fail(array.message());
  return array;
}

static bool writeElements(std::FILE *file, const Array &array) {
  DType type = array.getType();
  // Unpacked in the file, sign-extended as ml_dtypes has them.
  DType fileType = type == DType::I4 ? DType::I8 : type;
  unsigned bytes = getStorageBits(fileType) / 8;
  constexpr int64_t chunk = 1 << 16;
  std::vector<unsigned char> buffer(size_t(chunk) * bytes);
  bool isCopy = type != DType::I4 && type != DType::I1;
  bool isGood = true;
  array.forEachRow([&](const Row &row) {
    if (isCopy && row.stride == 1) {
      const char *from = static_cast<const char *>(array.data());
      isGood =
          isGood && std::fwrite(from + row.index * bytes, bytes,
                                size_t(row.count), file) == size_t(row.count);
      return;
    }
    for (int64_t begin = 0; begin < row.count && isGood; begin += chunk) {
      int64_t count = std::min(chunk, row.count - begin);
      for (int64_t i = 0; i < count; ++i) {
        uint64_t bits =
            loadBits(type, array.data(), row.index + (begin + i) * row.stride);
        if (type == DType::I4)
          bits = uint64_t(decodeInt(type, bits));
        if (type == DType::I1)
          bits = bits != 0;
        storeBits(fileType, buffer.data(), i, bits);
      }
      isGood = std::fwrite(buffer.data(), bytes, size_t(count), file) ==
               size_t(count);
    }
  });
  return isGood;
}

Status tile::runtime::writeNpy(const std::string &path, const Array &array) {
  Result<std::string> header =
      printNpyHeader({getDescr(array.getType()), false, array.getShape()});
  if (!header)
    return addContext("'" + path + "'", header.error());

  return writeFile(path, [&](std::FILE *file) {
    return std::fwrite(header->data(), 1, header->size(), file) ==
               header->size() &&
           writeElements(file, array);
  });
}
