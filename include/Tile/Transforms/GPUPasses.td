//===- GPUPasses.td - From tile programs to laid-out ones ---*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that stand between a tile program and convert-tile-to-gpu, in the
// order in which they run.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_GPUPASSES_TD
#define TILE_TRANSFORMS_GPUPASSES_TD

include "mlir/Pass/PassBase.td"

def TileVersionLaunches : Pass<"tile-version-launches"> {
  let summary = "a second launch for buffers that allow wide accesses";
  let description = [{
    Copies of 16 bytes need starts, rows and extents that are multiples of 16
    bytes. Where the types of a launch's global buffers do not say so, the launch
    becomes `scf.if` on a test of the promise `alignment(16)`: a launch that
    relies on it, else the launch as it was.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
  let statistics = [Statistic<"numVersioned", "versioned", "launches doubled">];
}

def TileStageElementwise : Pass<"tile-stage-elementwise"> {
  let summary = "turn elementwise access to global memory into copies";
  let description = [{
    A load of a global buffer in an elementwise loop, at the loop's induction
    variables plus offsets that are the same for all lanes, becomes a
    `tile.copy` into a fragment before the loop; such a store becomes a copy
    behind it. So wide accesses, predicates and their overlap are the copy's
    affair, in one place. Accesses under a condition, gathers and buffers that
    the loop both writes and reads elsewhere stay as they are.

    Expects lanes that do not depend on one another (`tile-split-lockstep`).
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"numStaged", "staged", "accesses turned into copies">];
}

def TileGuardSteps : Pass<"tile-guard-steps"> {
  let summary = "let loops end whose step is not positive";
  let description = [{
    The step of a loop is positive. Where a loop in a launch has one that may turn
    out not to be, a `tile.assert` in front of it reports that, and the loop does
    nothing then. Extents of the launch's grid and their products are known to be
    positive, and what the ranges of the values in the program say.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numGuarded", "guarded", "loops guarded">
  ];
}

def TileSplitCopies : Pass<"tile-split-copies"> {
  let summary = "loops over the parts of large copies";
  let description = [{
    A thread's part of a copy becomes straight code. Between two global buffers
    a copy may be of any size; one of more than 32768 elements becomes an
    `scf.for` over parts of at most so many, and a copy of what is left.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
  let statistics = [Statistic<"numSplit", "split", "copies split">];
}

def TileExpandPersistent : Pass<"tile-expand-persistent"> {
  let summary = "turn persistent loops into serial ones";
  let description = [{
    A `tile.persistent` becomes an `scf.for` in which a block takes every tile
    whose number is its own modulo the number of blocks, and finds the tile's
    place from the number and the raster.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
  let statistics = [
    Statistic<"numLoops", "loops", "persistent loops expanded">
  ];
}

def TileExpandAsync : Pass<"tile-expand-async"> {
  let summary = "wait for products at once";
  let description = [{
    A `tile.gemm_async` becomes a `tile.gemm` and a `tile.gemm_wait` goes away,
    which is what products are where a matrix instruction holds up its warp.
  }];
  let statistics = [Statistic<"numProducts", "products", "products made synchronous">];
}

def TileMaterializePipeline : Pass<"tile-materialize-pipeline"> {
  let summary = "overlap the copies of pipelined loops with their computation";
  let description = [{
    A `tile.pipelined` loop becomes an `scf.for`. Copies from global memory that
    fill a whole shared buffer, which nothing else writes, run `stages - 1`
    iterations ahead as asynchronous copies into a ring of as many versions of
    the buffer as there are stages. Other copies stay where they are, and a
    remark says why. Behind the loop a `memref.dealloc` ends each ring: no copy
    into it is in flight any more.
  }];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"
  ];
  let statistics = [
    Statistic<"numPipelined", "pipelined", "loops with copies in flight">,
    Statistic<"numAhead", "ahead", "copies that run ahead">
  ];
}

def TileInferLayouts : Pass<"tile-infer-layouts"> {
  let summary = "give every on-chip buffer a layout";
  let description = [{
    Puts a layout into the memory space of each fragment and strides into that
    of each shared buffer, and fixes the number of threads. Gemms come first:
    their results and register operands have the layouts of the matrix
    instruction. From there layouts spread through elementwise loops, copies and
    reductions; what is left is dealt out for wide memory accesses. Where two
    layouts meet, a fragment in the wanted layout and a copy are put between
    them; a copy between layouts that differ in more than the order of registers
    goes through shared memory.

    A fragment whose elements are addressed in a way that registers do not allow
    (computed indices, views, from outside a loop) becomes a shared buffer.
    Shared buffers get rows that spread over the banks.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "the GPU to compile for">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
  let statistics = [
    Statistic<"numDemoted", "demoted", "fragments moved to shared memory">,
    Statistic<"numConversions", "conversions", "copies between layouts inserted">
  ];
}

def TilePipelineOperands : Pass<"tile-pipeline-operands"> {
  let summary = "load the operands of a product a step ahead";
  let description = [{
    In a loop of `tile-materialize-pipeline` whose work is one product, the
    product is cut into steps of its matrix instruction along K. Two pairs of
    fragments take turns: while one step is multiplied, the operands of the next
    come by ldmatrix, those of the next iteration's first step too. So the matrix
    units are busy across the loop's barrier. A remark says why a loop stays as
    it is.

    Expects layouts.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "the GPU to compile for">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect"
  ];
  let statistics = [Statistic<"numLoops", "loops", "loops rewritten">];
}

def TilePlanSharedMemory : Pass<"tile-plan-shared-memory"> {
  let summary = "give every shared buffer a place";
  let description = [{
    Sets `at` of each `tile.alloc_shared`, so that buffers that are in use at the
    same time lie apart and others may share their bytes. A buffer is in use from
    the first op that touches it to the last, throughout a loop where it is named
    outside of it; where asynchronous copies fill it, until they are waited for.

    What does not fit the chip is an error with a table of the buffers.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "the GPU to compile for">
  ];
  let statistics = [
    Statistic<"numBytesSaved", "bytes-saved", "bytes that reuse saves">
  ];
}

def TileInsertSync : Pass<"tile-insert-sync"> {
  let summary = "barriers between dependent accesses to shared memory";
  let description = [{
    Puts a `gpu.barrier` in front of each op that touches a shared or global buffer which
    another op has written, or that writes one which another op has touched,
    since the last barrier, along every path. An asynchronous copy counts as a
    write where its group is waited for. Shared buffers that
    `tile-plan-shared-memory` put in the same place count as one, and scratch in
    which threads meet inside an op (a scan, a reduction across warps) as another.
    Rounds of a loop that each touch a part of their own of a global buffer (tiles
    at the loop's variable that are no longer than its step) do not meet there.
    A barrier behind a wait goes where another one follows and nothing in between
    has to come after the first.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let statistics = [
    Statistic<"numBarriers", "barriers", "barriers inserted">,
    Statistic<"numRedundant", "redundant", "barriers behind waits removed">
  ];
}

#endif // TILE_TRANSFORMS_GPUPASSES_TD
