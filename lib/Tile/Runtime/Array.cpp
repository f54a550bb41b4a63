//===- Array.cpp - N-d host buffers ---------------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Geometry is checked once, at creation; everything after relies on it.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Array.h"
#include "ParallelFor.h"
#include "Tile/Runtime/Format.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

using namespace tile::runtime;

static constexpr uint64_t alignment = 64;

static Error tooLarge(const Shape &shape, DType type) {
  return {formatType(shape, type) +
          " is too large: its size does not fit in 63 bits"};
}

namespace {
/// The storage indices that an array touches, both ends included.
struct Extent {
  int64_t numElements = 1;
  int64_t lowest = 0;
  int64_t highest = 0;
};
} // namespace

static Result<Extent> measure(DType type, const Shape &shape,
                              const Shape &strides, int64_t offset) {
  if (strides.size() != shape.size())
    return Error{formatType(shape, type) + " has " +
                 std::to_string(shape.size()) + " dimensions but " +
                 std::to_string(strides.size()) + " strides"};
  Extent extent;
  extent.lowest = extent.highest = offset;
  bool isEmpty = false, overflow = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0)
      return Error{"extent " + std::to_string(shape[i]) + " of dimension " +
                   std::to_string(i) + " is negative"};
    isEmpty |= shape[i] == 0;
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(extent.numElements,
                                       std::max<int64_t>(shape[i], 1),
                                       &extent.numElements);
    overflow |= __builtin_mul_overflow(std::max<int64_t>(shape[i] - 1, 0),
                                       strides[i], &reach);
    int64_t &end = reach < 0 ? extent.lowest : extent.highest;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  // No byte count or bit position derived from an index may overflow later.
  constexpr int64_t most = std::numeric_limits<int64_t>::max() / 64;
  if (overflow || extent.numElements > most || extent.highest > most)
    return tooLarge(shape, type);
  if (isEmpty)
    extent = {0, offset, offset - 1};
  if (offset < 0 || (extent.numElements > 0 && extent.lowest < 0))
    return Error{"the strides of " + formatType(shape, type) + " reach " +
                 std::to_string(-std::min(extent.lowest, offset)) +
                 " elements before the start of its storage; a larger offset "
                 "is needed"};
  return extent;
}

static uint64_t getBytes(DType type, int64_t elements) {
  return (uint64_t(elements) * getStorageBits(type) + 7) / 8;
}

/// Pages of the size of a processor's larger ones, where the system has them
/// for who asks: a tile whose rows lie far apart touches more small pages than
/// there are entries for their translation.
static void askForLargePages(char *block, uint64_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr uint64_t worthwhile = uint64_t(4) << 20;
  auto page = uint64_t(sysconf(_SC_PAGESIZE));
  uint64_t excess = reinterpret_cast<uintptr_t>(block) % page;
  uint64_t skipped = excess ? page - excess : 0;
  // Advice: without such pages everything goes on as before.
  if (bytes >= worthwhile)
    (void)madvise(block + skipped, (bytes - skipped) / page * page,
                  MADV_HUGEPAGE);
#endif
}

/// Zeroed memory, null when there is none. calloc's fresh pages cost nothing
/// until they are touched, which aligned_alloc and memset would.
static std::shared_ptr<void> allocateStorage(uint64_t bytes) {
  auto *block = static_cast<char *>(std::calloc(bytes + alignment, 1));
  if (!block)
    return nullptr;
  askForLargePages(block, bytes + alignment);
  uint64_t excess = reinterpret_cast<uintptr_t>(block) % alignment;
  return std::shared_ptr<void>(block + (excess ? alignment - excess : 0),
                               [block](void *) { std::free(block); });
}

/// What the machine has. An overcommitting kernel grants more and kills the
/// process when it is touched.
static uint64_t getPhysicalMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || size <= 0)
    return std::numeric_limits<int64_t>::max();
  return uint64_t(pages) * uint64_t(size);
}

std::string tile::runtime::formatType(const Shape &shape, DType type) {
  std::string text;
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text += getName(type);
}

Result<Shape> tile::runtime::getDenseStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t next = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = next;
    if (shape[i] < 0)
      return Error{"extent " + std::to_string(shape[i]) + " of dimension " +
                   std::to_string(i) + " is negative"};
    if (__builtin_mul_overflow(next, std::max<int64_t>(shape[i], 1), &next))
      return Error{"too large: the number of elements does not fit in 63 "
                   "bits"};
  }
  return strides;
}

Array::Array() : storageBytes(8), storage(allocateStorage(8)) {
  // Eight bytes are had, or nothing else goes on either.
  assert(storage && "out of memory");
}

Result<Array> Array::allocate(DType type, Shape shape) {
  Result<Shape> strides = getDenseStrides(shape);
  if (!strides)
    return tooLarge(shape, type);
  return allocate(type, std::move(shape), std::move(*strides), 0);
}

Result<Array> Array::allocate(DType type, Shape shape, Shape strides,
                              int64_t offset) {
  Result<Extent> extent = measure(type, shape, strides, offset);
  if (!extent)
    return extent.error();
  Array array;
  array.storageBytes = getBytes(type, extent->highest + 1);
  std::string name = ::formatType(shape, type);
  uint64_t limit = getPhysicalMemory();
  if (array.storageBytes > limit)
    return Error{name + " needs " + formatBytes(double(array.storageBytes)) +
                 ", more than the " + formatBytes(double(limit)) +
                 " of memory this machine has"};
  array.storage = allocateStorage(array.storageBytes);
  if (!array.storage)
    return Error{"no memory left for the " +
                 formatBytes(double(array.storageBytes)) + " of " + name};
  array.type = type;
  array.numElements = extent->numElements;
  array.shape = std::move(shape);
  array.strides = std::move(strides);
  array.offset = offset;
  return array;
}

Result<Array> Array::borrow(void *data, uint64_t bytes, DType type, Shape shape,
                            Shape strides, int64_t offset) {
  Result<Extent> extent = measure(type, shape, strides, offset);
  if (!extent)
    return extent.error();
  uint64_t needed =
      extent->numElements ? getBytes(type, extent->highest + 1) : 0;
  if (needed > bytes)
    return Error{::formatType(shape, type) + " with these strides needs " +
                 std::to_string(needed) + " bytes, the buffer has " +
                 std::to_string(bytes)};
  if (needed && !data)
    return Error{"the buffer of " + ::formatType(shape, type) + " is null"};
  Array array;
  array.storage = std::shared_ptr<void>(data, [](void *) {});
  array.storageBytes = bytes;
  array.type = type;
  array.numElements = extent->numElements;
  array.shape = std::move(shape);
  array.strides = std::move(strides);
  array.offset = offset;
  return array;
}

Array Array::scalar(DType type, double value) {
  Array array;
  array.type = type;
  array.storageBytes = getBytes(type, 1);
  array.setDouble(0, value);
  return array;
}

Array Array::scalar(DType type, int64_t value) {
  Array array;
  array.type = type;
  array.storageBytes = getBytes(type, 1);
  array.setInt(0, value);
  return array;
}

uint64_t Array::getElementBytes() const { return getBytes(type, numElements); }

bool Array::isDense() const {
  int64_t next = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != next)
      return numElements == 0;
    next *= std::max<int64_t>(shape[i], 1);
  }
  return true;
}

Shape Array::getCoordinates(int64_t linear) const {
  assert(linear >= 0 && linear < numElements && "no such element");
  Shape coordinates(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    coordinates[i] = linear % shape[i];
    linear /= shape[i];
  }
  return coordinates;
}

int64_t Array::getStorageIndex(int64_t linear) const {
  assert(linear >= 0 && linear < numElements && "no such element");
  int64_t index = offset;
  for (size_t i = shape.size(); i-- > 0;) {
    index += linear % shape[i] * strides[i];
    linear /= shape[i];
  }
  return index;
}

double Array::getDouble(int64_t linear) const {
  return decode(type, loadBits(type, data(), getStorageIndex(linear)));
}

int64_t Array::getInt(int64_t linear) const {
  return decodeInt(type, loadBits(type, data(), getStorageIndex(linear)));
}

void Array::setDouble(int64_t linear, double value) {
  storeBits(type, data(), getStorageIndex(linear), encode(type, value));
}

void Array::setInt(int64_t linear, int64_t value) {
  storeBits(type, data(), getStorageIndex(linear), encodeInt(type, value));
}

void Array::forEachRow(int64_t begin, int64_t end,
                       const std::function<void(const Row &)> &visit) const {
  assert(begin >= 0 && end <= numElements && "no such elements");
  if (begin >= end)
    return;
  if (isDense()) {
    visit({begin, offset + begin, 1, end - begin});
    return;
  }
  int64_t inner = shape.back(), stride = strides.back();
  for (int64_t linear = begin; linear < end;) {
    int64_t count = std::min(inner - linear % inner, end - linear);
    visit({linear, getStorageIndex(linear), stride, count});
    linear += count;
  }
}

void Array::fill(double value) { fillBits(encode(type, value)); }

void Array::fillInt(int64_t value) { fillBits(encodeInt(type, value)); }

void Array::fillBits(uint64_t bits) {
  forEachRow([&](const Row &row) {
    for (int64_t i = 0; i < row.count; ++i)
      storeBits(type, data(), row.index + i * row.stride, bits);
  });
}

void Array::fillIota() {
  // The low bits of a number are its value modulo a power of two.
  bool wraps = isInteger(type);
  forEachRow([&](const Row &row) {
    for (int64_t i = 0; i < row.count; ++i) {
      int64_t value = row.first + i;
      uint64_t bits = !wraps              ? encodeInt(type, value)
                      : type == DType::I1 ? uint64_t(value & 1)
                                          : uint64_t(value);
      storeBits(type, data(), row.index + i * row.stride, bits);
    }
  });
}

Result<Array> Array::convert(DType to, Overflow overflow) const {
  Result<Array> result = allocate(to, shape);
  if (!result)
    return result;
  // Doubles carry all but i64, whose values go from integer to element.
  bool asIntegers = type == DType::I64 && to != DType::F64;
  constexpr int64_t block = 1024;
  auto convertRow = [&](const Row &row) {
    if (to == type || asIntegers) {
      for (int64_t i = 0; i < row.count; ++i) {
        uint64_t bits = loadBits(type, data(), row.index + i * row.stride);
        if (to != type)
          bits = encodeInt(to, decodeInt(type, bits), overflow);
        storeBits(to, result->data(), row.first + i, bits);
      }
      return;
    }
    double values[block];
    for (int64_t i = 0; i < row.count; i += block) {
      int64_t count = std::min(block, row.count - i);
      decodeRow(type, data(), row.index + i * row.stride, row.stride, count,
                values);
      encodeRow(to, values, count, result->data(), row.first + i, 1, overflow);
    }
  };
  // The result is dense, so ranges of even length share no byte of it.
  parallelFor(numElements, 64 * block, [&](int64_t begin, int64_t end) {
    forEachRow(begin, end, convertRow);
  });
  return result;
}
