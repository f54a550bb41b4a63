//===- LayoutInference.h - The state of layout inference --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch whose fragments are being given layouts. Promises, once `run`
// succeeds: every fragment has a layout; every access to one is expressible in
// registers; gemms find their operands in the layouts of their instruction;
// reductions leave the slice of their source.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_GPU_LAYOUTINFERENCE_H
#define TILE_TRANSFORMS_GPU_LAYOUTINFERENCE_H

#include "Tile/Layout/BankConflicts.h"
#include "Tile/Transforms/GemmPlan.h"
#include "Tile/Transforms/LoopLayouts.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

class LayoutInference {
public:
  LayoutInference(LaunchOp launch, const Chip &chip)
      : launch(launch), chip(chip) {}

  mlir::LogicalResult run();

  /// A shared buffer with more room than its elements take, and what it can be
  /// instead.
  struct Padded {
    AllocSharedOp alloc;
    SharedAttr dense;
  };
  llvm::ArrayRef<Padded> getPadded() const { return padded; }
  /// Takes the padding from these buffers where the launch does not fit the
  /// chip with it.
  static void fitSharedMemory(LaunchOp launch, llvm::ArrayRef<Padded> padded,
                              const Chip &chip);

  int64_t numDemoted = 0, numConversions = 0;

private:
  using FragmentLayout = layout::FragmentLayout;

  mlir::LogicalResult checkStatic();

  //===--- PinnedLayouts.cpp
  //-----------------------------------------------===//

  /// Whether the layouts that the program gives its buffers fit them.
  mlir::LogicalResult checkPinned();
  /// Takes those of the fragments that are left as known.
  void seedFromPinned();
  /// The policy under which a gemm leaves its result in the pinned layout.
  void choosePolicy(GemmOp gemm);
  bool isPinned(mlir::Value fragment) const {
    return pinned.contains(fragment);
  }
  /// Reports that `op` cannot have two buffers in the layouts they are pinned
  /// to.
  mlir::LogicalResult reportConflict(mlir::Operation *op, mlir::Value one,
                                     mlir::Value other);
  /// Whether each element of each fragment is in a register.
  mlir::LogicalResult checkCoverage();

  //===--- NormalizeFragments.cpp
  //------------------------------------------===//

  /// Moves to shared memory what registers cannot express, and gives gemms and
  /// reductions operands in the memory their lowering reads.
  void normalizeFragments();
  void demote(AllocFragmentOp alloc);
  void normalizeGemm(GemmOp gemm);
  void normalizeReduce(ReduceOp reduce);
  void normalizeScan(ScanOp scan);
  /// Lets `op` write a fragment that is copied to `target` behind it, where
  /// `target` is none itself, and from it in front where the op reads it.
  void writeBehind(mlir::Operation *op, mlir::OpOperand &target, bool reads);
  /// A copy of `buffer` in another space, and of another type where one is
  /// given, filled in front of `op`.
  mlir::Value copyBefore(mlir::Operation *op, mlir::Value buffer,
                         mlir::Attribute space, mlir::Type element = {});
  /// Gives `buffer` and the views of it another memory space.
  static void setSpace(mlir::Value buffer, mlir::Attribute space);

  //===--- InferLayouts.cpp
  //------------------------------------------------===//

  bool isKnown(mlir::Value fragment) const { return known.contains(fragment); }
  void assign(mlir::Value fragment, const FragmentLayout &layout);
  void seedFromGemms();
  bool spreadOnce();
  void spreadThroughLoop(ParallelOp loop);
  FragmentLayout getDefaultLayout(mlir::Value fragment);
  void assignDefault();
  bool hasUnknown();

  //===--- ResolveLayouts.cpp
  //----------------------------------------------===//

  /// Puts a converted copy of a fragment where an op needs another layout.
  mlir::LogicalResult resolveConflicts();
  mlir::LogicalResult resolveLoop(ParallelOp loop);
  mlir::LogicalResult resolveReduce(ReduceOp reduce);
  mlir::LogicalResult resolveGemm(GemmOp gemm);
  /// Copies between different layouts go through a shared buffer.
  void splitFragmentCopies();
  /// Copies to global memory that registers could only do in small pieces go
  /// through a shared buffer.
  void stageNarrowStores();
  /// A fragment in `layout` that stands in for `fragment` around `op`: copied
  /// from it in front where `reads`, back to it behind where `writes`.
  mlir::Value convertAround(mlir::Operation *op, mlir::Value fragment,
                            const FragmentLayout &layout, bool reads,
                            bool writes);

  //===--- SharedLayouts.cpp
  //-----------------------------------------------===//

  /// Strides and a swizzle that suit all who touch the buffer.
  void layOut(AllocSharedOp alloc);
  bool collectAccesses(mlir::Value buffer, layout::Coordinate tile,
                       std::vector<layout::SharedAccess> &accesses);

  std::optional<FragmentLayout> suggest(ParallelOp loop);
  FragmentLayout getReducedLayout(ReduceOp reduce);
  /// The same registers as a tile of `fragment`'s shape.
  static FragmentLayout reshapeTo(const FragmentLayout &layout,
                                  mlir::Value fragment);
  using OnAccess = llvm::function_ref<void(mlir::Operation *, mlir::OpOperand &,
                                           mlir::ValueRange)>;
  static void forEachFragmentAccess(ParallelOp loop, OnAccess onAccess);

  LaunchOp launch;
  const Chip &chip;
  int64_t threads = 0;
  llvm::MapVector<mlir::Value, FragmentLayout> known;
  /// Fragments whose layout is the program's.
  llvm::SmallPtrSet<mlir::Value, 4> pinned;
  llvm::SmallVector<Padded> padded;
};

} // namespace tile

#endif // TILE_TRANSFORMS_GPU_LAYOUTINFERENCE_H
