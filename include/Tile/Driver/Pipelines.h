//===- Pipelines.h - The named pipelines ------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from a tile program to each target as one list of passes. Tools,
// Python and embedders run these and no others.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_PIPELINES_H
#define TILE_DRIVER_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include <string>

namespace tile {

struct TileToCPUOptions : mlir::PassPipelineOptions<TileToCPUOptions> {
  ListOption<std::string> values{
      *this, "values",
      llvm::cl::desc("values of tunables: name=value, separated by commas")};
  Option<int64_t> vectorBytes{
      *this, "vector-bytes",
      llvm::cl::desc("bytes in a vector register of the target: 16, 32 or 64"),
      llvm::cl::init(32)};
  Option<bool> guardAccesses{
      *this, "guard-accesses",
      llvm::cl::desc("check accesses of functions without a launch"),
      llvm::cl::init(false)};
};

/// `tile-to-cpu`: a module of tile programs and of functions in upstream
/// dialects (linalg on memrefs, affine, scf, vector, math, arith) becomes one
/// in the llvm and omp dialects. Functions with `llvm.emit_c_interface` get a
/// wrapper that takes memrefs as pointers to descriptors.
void buildTileToCPU(mlir::OpPassManager &passes,
                    const TileToCPUOptions &options);

struct TileToCUDAOptions : mlir::PassPipelineOptions<TileToCUDAOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("the GPU to compile for"),
                           llvm::cl::init("sm_80")};
  ListOption<std::string> values{
      *this, "values", llvm::cl::desc("name=value, the tunables to fix")};
};

/// `tile-to-cuda`: each launch of a module of tile programs becomes a kernel in
/// the llvm and nvvm dialects, and the host functions what a launch plan says.
void buildTileToCUDA(mlir::OpPassManager &passes,
                     const TileToCUDAOptions &options);

/// `linalg-to-tile`: functions in linalg on tensors or memrefs become tile
/// programs on memrefs; the tensors they return become buffers to write to,
/// behind the other arguments.
void buildLinalgToTile(mlir::OpPassManager &passes);

/// Makes the pipelines known to textual pipelines by their names.
void registerTilePipelines();

} // namespace tile

#endif // TILE_DRIVER_PIPELINES_H
