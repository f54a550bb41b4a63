//===- Layouts.cpp - Layouts of on-chip buffers -----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/Layouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> /*strides*/,
                                 ArrayRef<int64_t> swizzle) {
  if (swizzle.empty())
    return success();
  // shared-c1
  if (swizzle.size() != 3)
    return emitError() << "expects a swizzle of three numbers, [bits, base, "
                          "shift], got "
                       << swizzle.size();
  // shared-c2
  auto checked = layout::Swizzle::get(swizzle[0], swizzle[1], swizzle[2]);
  if (!checked)
    return emitError() << "expects a swizzle that exists: " << checked.reason();
  return success();
}

LogicalResult FragmentAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringAttr text) {
  if (!text)
    return success();
  // fragment-c1
  auto parsed = layout::FragmentLayout::parse(text.getValue());
  if (!parsed)
    return emitError() << "expects the text of a fragment layout: "
                       << parsed.reason();
  return success();
}

std::optional<layout::FragmentLayout> tile::getFragmentLayout(MemRefType type) {
  auto space = dyn_cast_or_null<FragmentAttr>(type.getMemorySpace());
  if (!space || !space.getLayout())
    return std::nullopt;
  auto parsed = layout::FragmentLayout::parse(space.getLayout().getValue());
  assert(parsed && "the attribute's verifier parsed it");
  return *parsed;
}

MemRefType tile::withFragmentLayout(MemRefType type,
                                    const layout::FragmentLayout &layout) {
  MLIRContext *context = type.getContext();
  return MemRefType::get(
      type.getShape(), type.getElementType(), type.getLayout(),
      FragmentAttr::get(context, StringAttr::get(context, layout.str())));
}

SmallVector<int64_t> tile::getSharedStrides(MemRefType type) {
  auto space = cast<SharedAttr>(type.getMemorySpace());
  if (!space.getStrides().empty())
    return SmallVector<int64_t>(space.getStrides());
  SmallVector<int64_t> strides(type.getRank());
  int64_t next = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    strides[dim] = next;
    next *= type.getDimSize(dim);
  }
  return strides;
}

layout::Swizzle tile::getSharedSwizzle(MemRefType type) {
  auto space = cast<SharedAttr>(type.getMemorySpace());
  if (space.getSwizzle().empty())
    return {};
  auto swizzle = layout::Swizzle::get(
      space.getSwizzle()[0], space.getSwizzle()[1], space.getSwizzle()[2]);
  assert(swizzle && "the attribute's verifier checked it");
  return *swizzle;
}

int64_t tile::getSharedSpan(MemRefType type) {
  int64_t last = 0;
  for (auto [extent, stride] :
       llvm::zip(type.getShape(), getSharedStrides(type)))
    last += (extent - 1) * stride;
  // A swizzle stays within blocks of its period.
  return llvm::alignTo(last + 1, getSharedSwizzle(type).period());
}

int64_t tile::getSharedBytes(MemRefType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return getSharedSpan(type) * std::max<int64_t>(8, bits) / 8;
}

int64_t tile::getSharedAlignment(MemRefType type) {
  // Wide accesses and whole lines of banks.
  constexpr int64_t lineBytes = 128;
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return std::max(lineBytes, getSharedSwizzle(type).period() *
                                 std::max<int64_t>(8, bits) / 8);
}
