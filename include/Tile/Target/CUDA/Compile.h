//===- Compile.h - The way to code for NVIDIA GPUs --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CUDA_COMPILE_H
#define TILE_TARGET_CUDA_COMPILE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace tile::cuda {

struct TileToCUDAOptions : mlir::PassPipelineOptions<TileToCUDAOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("the GPU to compile for"),
                           llvm::cl::init("sm_80")};
  ListOption<std::string> values{
      *this, "values", llvm::cl::desc("name=value, the tunables to fix")};
};

/// Tile programs to host functions with launches and gpu modules in the llvm
/// dialect.
void buildTileToCUDA(mlir::OpPassManager &passes,
                     const TileToCUDAOptions &options);
/// Registers `tile-to-cuda`.
void registerTileToCUDA();

} // namespace tile::cuda

#endif // TILE_TARGET_CUDA_COMPILE_H
