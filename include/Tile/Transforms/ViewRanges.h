//===- ViewRanges.h - The elements that a view has --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view may say that it has elements which the buffer behind it has not. These
// functions compute which there are, from those of the buffer; constants fold.
// Offsets, sizes and strides are arbitrary numbers: sums are taken of clamped
// ones, and products tell whether they wrap around.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_VIEWRANGES_H
#define TILE_TRANSFORMS_VIEWRANGES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tile {

/// The indices along one dimension at which a buffer has elements. A null `low`
/// stands for zero; `high`, which is not one of them, is not negative.
struct ViewRange {
  mlir::Value low, high;
};

/// Places in memory as offset, sizes and strides.
struct StridedPlaces {
  mlir::OpFoldResult offset;
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides;
};

/// Those of a subview whose `offsets`, `sizes` and `strides` count in a buffer
/// of which `source` exists, and which drops some dimensions.
llvm::SmallVector<ViewRange>
getSubviewRanges(mlir::OpBuilder &b, mlir::Location loc,
                 llvm::ArrayRef<ViewRange> source,
                 llvm::ArrayRef<mlir::OpFoldResult> offsets,
                 llvm::ArrayRef<mlir::OpFoldResult> sizes,
                 llvm::ArrayRef<mlir::OpFoldResult> strides,
                 const llvm::SmallBitVector &dropped);

/// Whether all of `sizes` exist; null where they do.
mlir::Value existsWhole(mlir::OpBuilder &b, mlir::Location loc,
                        llvm::ArrayRef<ViewRange> ranges,
                        mlir::ValueRange sizes);

/// Whether every place that `wants` names is one of those from the first to the
/// last of `has`; null where that needs no test.
mlir::Value liesWithin(mlir::OpBuilder &b, mlir::Location loc,
                       const StridedPlaces &wants, const StridedPlaces &has);

/// `ranges` where `condition` holds, else nothing; null is true.
llvm::SmallVector<ViewRange> existOnlyIf(mlir::OpBuilder &b, mlir::Location loc,
                                         mlir::Value condition,
                                         llvm::ArrayRef<ViewRange> ranges);

} // namespace tile

#endif // TILE_TRANSFORMS_VIEWRANGES_H
