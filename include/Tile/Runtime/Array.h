//===- Array.h - N-d host buffers -------------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A typed, strided N-d buffer in host memory: what arguments, results and
// references are before and after a device sees them. Extents, strides and
// offset are counted in elements, as in a memref. Sizes that overflow or that
// the machine cannot hold are errors.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_ARRAY_H
#define TILE_RUNTIME_ARRAY_H

#include "Tile/Runtime/DType.h"
#include "Tile/Runtime/Result.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tile::runtime {

using Shape = std::vector<int64_t>;

/// "4096x4096xf16", or "f16" for rank 0.
std::string formatType(const Shape &shape, DType type);
/// The strides of a dense buffer whose last dimension is contiguous. Error on
/// a negative extent or more than 2^63 - 1 elements.
Result<Shape> getDenseStrides(const Shape &shape);

/// Elements that lie `stride` apart in storage: the innermost dimension of an
/// array, or all of it when it is dense.
struct Row {
  /// Position of the first one in row-major order of the array.
  int64_t first;
  /// Its position in storage, counted from `Array::data()`.
  int64_t index;
  int64_t stride;
  int64_t count;
};

/// A handle: copies share the elements, `clone` copies them. Reading by
/// several threads at once is fine, so is writing different elements, but for
/// the two halves of a byte of I4.
class Array {
public:
  /// An array of rank 0 and type F64 that holds zero.
  Array();

  /// A zeroed array, its storage aligned to 64 bytes.
  static Result<Array> allocate(DType type, Shape shape);
  /// The same with given strides and offset of the first element. Storage
  /// spans all elements reachable, with the gaps between them.
  static Result<Array> allocate(DType type, Shape shape, Shape strides,
                                int64_t offset);
  /// A view of memory that someone else owns and keeps alive: `bytes` from
  /// `data` on, which all elements have to lie within.
  static Result<Array> borrow(void *data, uint64_t bytes, DType type,
                              Shape shape, Shape strides, int64_t offset = 0);
  /// An array of rank 0.
  static Array scalar(DType type, double value);
  static Array scalar(DType type, int64_t value);

  DType getType() const { return type; }
  int64_t getRank() const { return int64_t(shape.size()); }
  const Shape &getShape() const { return shape; }
  const Shape &getStrides() const { return strides; }
  int64_t getOffset() const { return offset; }
  int64_t getNumElements() const { return numElements; }
  std::string formatType() const {
    return tile::runtime::formatType(shape, type);
  }

  /// The start of storage; the first element lies at index `getOffset()`.
  void *data() const { return storage.get(); }
  uint64_t getStorageBytes() const { return storageBytes; }
  /// Bytes the elements take, without gaps: the traffic of one pass over them.
  uint64_t getElementBytes() const;
  /// Dense, last dimension contiguous: one row.
  bool isDense() const;

  /// Storage index of the element at the row-major position `linear`.
  int64_t getStorageIndex(int64_t linear) const;
  /// The coordinates of that position.
  Shape getCoordinates(int64_t linear) const;

  double getDouble(int64_t linear) const;
  int64_t getInt(int64_t linear) const;
  void setDouble(int64_t linear, double value);
  void setInt(int64_t linear, int64_t value);

  /// Calls `visit` for rows that together cover the row-major positions
  /// `begin` to `end` in order.
  void forEachRow(int64_t begin, int64_t end,
                  const std::function<void(const Row &)> &visit) const;
  void forEachRow(const std::function<void(const Row &)> &visit) const {
    forEachRow(0, numElements, visit);
  }

  /// Sets every element.
  void fill(double value);
  void fillInt(int64_t value);
  void fillBits(uint64_t bits);
  /// Element i of the row-major order gets i; integers wrap around.
  void fillIota();

  /// A dense copy.
  Result<Array> clone() const { return convert(type); }
  /// A dense copy in another type, each element rounded once. Floats become
  /// integers by rounding to nearest even and saturating.
  Result<Array> convert(DType to,
                        Overflow overflow = Overflow::ToInfinity) const;

private:
  DType type = DType::F64;
  Shape shape;
  Shape strides;
  int64_t offset = 0;
  int64_t numElements = 1;
  uint64_t storageBytes = 0;
  std::shared_ptr<void> storage;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_ARRAY_H
