//===- WgmmaOperands.cpp - Matrices in shared memory -----------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA section "Shared Memory Matrix Layout". A matrix is made of 16-byte
// rows; eight of them are a core matrix. With W the bytes of the swizzle (16
// for none), L and S the leading and the stride offset:
//   K-major, row r, byte b along k:
//     swizzled  S (r/8) + W (r%8) + b     (b stays below W)
//     plain     S (r/8) + L (b/16) + 16 (r%8) + b%16
//   MN-major, byte b along m or n, row k:
//     swizzled  L (b/W) + S (k/8) + W (k%8) + b%W
//     plain     S (b/16) + L (k/8) + 16 (k%8) + b%16
// The swizzle xors bits 4.. of the final address with bits 7.. .
//===----------------------------------------------------------------------===//
#include "WgmmaOperands.h"
#include <cstring>

using namespace tile::emulator;

namespace {
struct Descriptor {
  uint64_t start, leading, stride;
  unsigned baseOffset, swizzleBytes, swizzleMask;

  explicit Descriptor(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4), baseOffset(bits >> 49 & 7) {
    static const unsigned widths[] = {16, 128, 64, 32};
    static const unsigned masks[] = {0, 7, 3, 1};
    swizzleBytes = widths[bits >> 62];
    swizzleMask = masks[bits >> 62];
  }
  bool isSwizzled() const { return swizzleMask != 0; }

  /// Offset of the 16 bytes at byte `b` along the contiguous direction and
  /// position `r` across it.
  uint64_t offset(bool isKMajor, uint64_t r, uint64_t b) const {
    uint64_t w = swizzleBytes;
    if (isKMajor)
      return isSwizzled()
                 ? stride * (r / 8) + w * (r % 8) + b
                 : stride * (r / 8) + leading * (b / 16) + 16 * (r % 8);
    return isSwizzled()
               ? leading * (b / w) + stride * (r / 8) + w * (r % 8) + b % w
               : stride * (b / 16) + leading * (r / 8) + 16 * (r % 8);
  }
};
} // namespace

void tile::emulator::readSharedOperand(Thread &thread, const Actor &actor,
                                       const WgmmaSite &site, uint64_t bits,
                                       bool isTransposed, const char *name,
                                       OperandPanel &panel) {
  Descriptor descriptor(bits);
  if (descriptor.baseOffset) {
    report(thread, ReportKind::InvalidOperand,
           std::string("the descriptor of ") + name +
               " has a base offset, which is not modelled",
           &site);
    return;
  }
  // Rows of a swizzled matrix are told apart by the bits that the swizzle
  // takes.
  if (descriptor.start >> 7 & descriptor.swizzleMask) {
    report(thread, ReportKind::Misaligned,
           std::string("the descriptor of ") + name +
               " starts at shared offset " + std::to_string(descriptor.start) +
               "; a pattern of " + std::to_string(descriptor.swizzleBytes) +
               "-byte rows starts at a multiple of " +
               std::to_string(8 * descriptor.swizzleBytes),
           &site);
    return;
  }
  unsigned width = 256 / site.k; // bits of an element
  // Along k an instruction is 32 bytes; along m or n it is rows * width.
  uint64_t bytes = isTransposed ? panel.rows() * width / 8 : 32;
  uint64_t across = isTransposed ? site.k : panel.rows();
  for (uint64_t r = 0; r < across; ++r)
    for (uint64_t b = 0; b < bytes; b += 16) {
      uint64_t address =
          descriptor.start + descriptor.offset(!isTransposed, r, b);
      address ^= (address >> 7 & descriptor.swizzleMask) << 4;
      Place place = findShared(thread, thread.sharedBase | address, 16);
      if (!place.host) {
        report(thread, ReportKind::OutOfBounds,
               std::string("operand ") + name +
                   " of wgmma reads 16 bytes at "
                   "shared offset " +
                   std::to_string(address) + ", outside the block's " +
                   std::to_string(sharedReserved) + " to " +
                   std::to_string(thread.block->sharedBytes),
               &site);
        return;
      }
      checkRead(thread, actor, place, 16, &site);
      uint32_t words[4];
      std::memcpy(words, place.host, 16);
      for (unsigned e = 0; e < 128 / width; ++e) {
        uint32_t element = words[e * width / 32] >> (e * width % 32);
        unsigned along = unsigned(b * 8 / width) + e;
        if (isTransposed)
          panel.at(along, unsigned(r)) = element;
        else
          panel.at(unsigned(r), along) = element;
      }
    }
}
