//===- Layouts.cpp - Layouts of on-chip buffers -----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/Layouts.h"

using namespace mlir;
using namespace tile;

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

MemRefType tile::withSharedStrides(MemRefType type, ArrayRef<int64_t> strides) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         type.getLayout(),
                         SharedAttr::get(type.getContext(), strides));
}

int64_t tile::getSharedSpan(MemRefType type) {
  int64_t last = 0;
  for (auto [extent, stride] :
       llvm::zip(type.getShape(), getSharedStrides(type)))
    last += (extent - 1) * stride;
  return last + 1;
}
