//===- TensorMap.cpp - Tensor maps for the emulator ------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules are those of the driver's cuTensorMapEncodeTiled.
//===----------------------------------------------------------------------===//
#include "Tile/Emulator/TensorMap.h"
#include <cstring>

using namespace tile::emulator;

static constexpr uint32_t magic = 0x50414d54; // "TMAP"

unsigned tile::emulator::tensorElementBytes(TensorElement element) {
  switch (element) {
  case TensorElement::U8:
    return 1;
  case TensorElement::U16:
  case TensorElement::F16:
  case TensorElement::BF16:
    return 2;
  case TensorElement::U64:
  case TensorElement::S64:
  case TensorElement::F64:
    return 8;
  default:
    return 4;
  }
}

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = tensorElementBytes(element);
  for (unsigned i = 0; i < rank; ++i)
    bytes *= (box[i] + elementStrides[i] - 1) / elementStrides[i];
  return bytes;
}

static std::string check(const TensorMap &map) {
  auto number = [](uint64_t value) { return std::to_string(value); };
  if (map.rank < 1 || map.rank > 5)
    return "the rank must be 1 to 5, got " + number(map.rank);
  if (map.base % 16)
    return "the base address must be a multiple of 16";
  for (unsigned i = 0; i < map.rank; ++i) {
    std::string dimension = " of dimension " + number(i);
    if (map.extents[i] == 0 || map.extents[i] > uint64_t(1) << 32)
      return "the extent" + dimension + " must be 1 to 2^32, got " +
             number(map.extents[i]);
    if (map.box[i] == 0 || map.box[i] > 256)
      return "the box" + dimension + " must be 1 to 256, got " +
             number(map.box[i]);
    if (map.elementStrides[i] == 0 || map.elementStrides[i] > 8)
      return "the element stride" + dimension + " must be 1 to 8, got " +
             number(map.elementStrides[i]);
    if (i == 0)
      continue;
    uint64_t stride = map.strides[i - 1];
    if (stride % 16 || stride >= uint64_t(1) << 40)
      return "the stride" + dimension +
             " must be a multiple of 16 below 2^40, got " + number(stride);
  }
  uint64_t inner = map.box[0] * uint64_t(tensorElementBytes(map.element));
  if (inner % 16)
    return "the inner box must be a multiple of 16 bytes, got " + number(inner);
  static const uint64_t spans[] = {UINT64_MAX, 32, 64, 128};
  uint64_t span = spans[static_cast<unsigned>(map.swizzle)];
  if (inner > span)
    return "the inner box must fit the swizzle's " + number(span) +
           " bytes, got " + number(inner);
  return "";
}

bool tile::emulator::encodeTensorMap(const TensorMap &map,
                                     TensorMapBytes &bytes,
                                     std::string &problem) {
  problem = check(map);
  if (!problem.empty())
    return false;
  bytes.fill(0);
  uint8_t *to = bytes.data();
  auto put = [&](auto value) {
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  };
  put(magic);
  put(static_cast<uint8_t>(map.rank));
  put(static_cast<uint8_t>(map.element));
  put(static_cast<uint8_t>(map.swizzle));
  put(static_cast<uint8_t>(map.fill));
  put(map.base);
  for (uint64_t extent : map.extents)
    put(extent);
  for (uint64_t stride : map.strides)
    put(stride);
  for (uint32_t box : map.box)
    put(static_cast<uint16_t>(box));
  for (uint32_t stride : map.elementStrides)
    put(static_cast<uint8_t>(stride));
  return true;
}

bool tile::emulator::decodeTensorMap(const uint8_t *from, TensorMap &map) {
  auto get = [&](auto &value) {
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
  };
  uint32_t word;
  uint8_t rank, element, swizzle, fill;
  get(word);
  get(rank);
  get(element);
  get(swizzle);
  get(fill);
  if (word != magic || element > static_cast<uint8_t>(TensorElement::TF32Ftz) ||
      swizzle > static_cast<uint8_t>(TensorSwizzle::B128) || fill > 1)
    return false;
  map.rank = rank;
  map.element = static_cast<TensorElement>(element);
  map.swizzle = static_cast<TensorSwizzle>(swizzle);
  map.fill = static_cast<TensorFill>(fill);
  get(map.base);
  for (uint64_t &extent : map.extents)
    get(extent);
  for (uint64_t &stride : map.strides)
    get(stride);
  for (uint32_t &box : map.box) {
    uint16_t narrow;
    get(narrow);
    box = narrow;
  }
  for (uint32_t &stride : map.elementStrides) {
    uint8_t narrow;
    get(narrow);
    stride = narrow;
  }
  return check(map).empty();
}
