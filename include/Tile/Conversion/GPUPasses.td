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

#endif // TILE_CONVERSION_GPUPASSES_TD
