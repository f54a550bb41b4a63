//===- Poison.cpp - Finding what was not written --------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Poison.h"

#include <cmath>
#include <cstring>

using namespace tile::runtime;

void tile::runtime::fillPoison(Array &array, Poison poison) {
  if (array.getStorageBytes())
    std::memset(array.data(), int(poison), array.getStorageBytes());
}

/// The pattern as an element's bits. Those of I4 are the halves of a byte.
static uint64_t getPoisonBits(DType type, Poison poison, int64_t index) {
  uint64_t bytes = uint64_t(poison) * 0x0101010101010101;
  return loadBits(type, &bytes, type == DType::I4 ? index & 1 : 0);
}

Result<WriteReport> tile::runtime::findUnwritten(const Array &first,
                                                 const Array &second) {
  if (first.getShape() != second.getShape() ||
      first.getStrides() != second.getStrides() ||
      first.getOffset() != second.getOffset() ||
      first.getType() != second.getType())
    return Error{"the outputs of the two runs are " + first.formatType() +
                 " and " + second.formatType() +
                 "; their types, strides and offsets have to agree"};
  DType type = first.getType();
  WriteReport report;
  auto note = [&](int64_t position, int64_t &count, std::vector<Shape> &list) {
    if (++count <= int64_t(WriteReport::maxKept))
      list.push_back(first.getCoordinates(position));
  };
  first.forEachRow([&](const Row &row) {
    for (int64_t i = 0; i < row.count; ++i) {
      int64_t index = row.index + i * row.stride;
      uint64_t a = loadBits(type, first.data(), index);
      uint64_t b = loadBits(type, second.data(), index);
      if (a == b)
        continue;
      if (a == getPoisonBits(type, Poison::First, index) &&
          b == getPoisonBits(type, Poison::Second, index))
        note(row.first + i, report.numUnwritten, report.firstUnwritten);
      else if (!std::isnan(decode(type, a)) || !std::isnan(decode(type, b)))
        note(row.first + i, report.numUnstable, report.firstUnstable);
    }
  });
  return report;
}

std::optional<int64_t> tile::runtime::findStrayWrite(const Array &array,
                                                     Poison poison) {
  DType type = array.getType();
  int64_t total = int64_t(array.getStorageBytes() * 8 / getStorageBits(type));
  std::vector<bool> isElement(size_t(total), false);
  array.forEachRow([&](const Row &row) {
    for (int64_t i = 0; i < row.count; ++i)
      isElement[size_t(row.index + i * row.stride)] = true;
  });
  for (int64_t index = 0; index < total; ++index)
    if (!isElement[size_t(index)] && loadBits(type, array.data(), index) !=
                                         getPoisonBits(type, poison, index))
      return index;
  return std::nullopt;
}
