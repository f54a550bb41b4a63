//===- GPUPasses.td - From laid-out tiles to one thread -----*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_GPUPASSES_TD
#define TILE_CONVERSION_GPUPASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToGPU : Pass<"convert-tile-to-gpu", "::mlir::ModuleOp"> {
  let summary = "one thread's code for each launch";
  let description = [{
    Each `tile.launch` becomes a kernel in a `gpu.module` beside its function and
    a `gpu.launch_func`. A global buffer is passed as a pointer to its first
    element, then its dynamic extents, then its dynamic strides; scalars that the
    launch uses follow by value.

    Expects what `tile-infer-layouts` and `tile-insert-sync` leave. Inside the
    kernel memory is addressed by LLVM pointers, since memref has no form for
    predicated accesses of 16 bytes, for padded shared buffers inside one
    allocation and for registers; nvvm gives ldmatrix and cp.async, and PTX gives
    mma.sync (fp8 has no op) and predicated accesses.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "the GPU to compile for">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect"
  ];
  let statistics = [Statistic<"numKernels", "kernels", "kernels made">];
}

def TileLowerDeviceMath : Pass<"tile-lower-device-math"> {
  let summary = "math and conversions that the GPU has no instruction for";
  let description = [{
    Rewrites math ops to sequences of instructions the GPU has, so that no device
    library has to be linked, and conversions from and to fp8 to integer
    arithmetic where the chip has no instruction. The results are within 2 ulp of
    the exact ones (docs/GPU.md gives the bound of each).
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "the GPU to compile for">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"
  ];
}

def TileKeepConvergent : Pass<"tile-keep-convergent", "::mlir::gpu::GPUModuleOp"> {
  let summary = "places where the threads of a warp meet, which stay";
  let description = [{
    A barrier, a shuffle or an mma is run by a warp as one. Whether its threads
    are together again when they come to it is up to ptxas, which leads them
    together where the sides of a condition join. Where a loop begins with such
    an instruction and ends with a condition, the place where its sides join is
    an empty block before the back edge. Optimisers, which know what one thread
    does and not where it waits for others, merge it with blocks before the loop
    or lead threads for which a condition is known to be false around it; then
    these go round on an edge of their own, ptxas takes it for an inner loop
    that the others have left, and half a warp arrives at the barrier.

    So each loop around such an instruction gets ops that are neither removed
    nor duplicated and that cost nothing, assembly that holds a comment only:
    before the loop, before the next round and, in an `scf.while`, at the test.
    ptxas does not see them, and leads threads around conditions too: from one
    in front of a loop to behind the same one in the loop, say. So where a warp
    may come to a loop with a barrier in parts, or to its next round, it meets in
    fact, by an `nvvm.bar.warp.sync`.

    Runs while loops are still ops.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

#endif // TILE_CONVERSION_GPUPASSES_TD
