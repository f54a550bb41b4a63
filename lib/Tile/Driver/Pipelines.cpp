//===- Pipelines.cpp - The named pipelines ----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Pipelines.h"
#include "Tile/Conversion/GPUPasses.h"
#include "Tile/Conversion/Passes.h"
#include "Tile/Transforms/GPUPasses.h"
#include "Tile/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tile;

/// Makes operations on half-precision floats ones that machines have. Upstream
/// leaves bf16 arithmetic to LLVM, which rounds by calls into a runtime library
/// that GCC 12 does not have.
static void addFloatLegalization(OpPassManager &passes) {
  passes.addPass(createWidenNarrowFloats());
  // What is not elementwise, such as reductions of vectors.
  passes.addPass(arith::createArithEmulateUnsupportedFloats(
      {/*sourceTypeStrs=*/{"bf16"}, /*targetTypeStr=*/"f32"}));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  passes.addPass(arith::createArithExpandOpsPass(expand));
}

/// Upstream dialects on memrefs to the llvm and omp dialects.
static void addUpstreamLowering(OpPassManager &passes) {
  passes.addPass(createExpandCopies());
  // Parallel, for references are written in linalg and take longest.
  passes.addPass(createConvertLinalgToParallelLoopsPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createConvertVectorToSCFPass());
  passes.addPass(createConvertSCFToOpenMPPass());
  // Before rounding quotients are taken apart.
  passes.addPass(createGuardDivisions());
  addFloatLegalization(passes);
  passes.addPass(memref::createExpandOpsPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  // Before scf becomes branches: the bodies of OpenMP loops stand in scopes of
  // one block for their stack memory.
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createSCFToControlFlowPass());
  // LLVM's intrinsics first, which it vectorises; the math library, element by
  // element, for what has none.
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertOpenMPToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createLowerBF16Storage());
}

/// What every target starts with: launches without calls, tunables and lanes
/// that depend on each other.
static void addPreparation(OpPassManager &passes,
                           ArrayRef<std::string> values) {
  passes.addPass(createInlineCalls());
  SpecializeOptions specialize;
  specialize.values.assign(values.begin(), values.end());
  passes.addPass(createSpecialize(specialize));
  passes.addNestedPass<func::FuncOp>(createCheckStatic());
  passes.addNestedPass<func::FuncOp>(createSplitLockstep());
}

void tile::buildTileToCPU(OpPassManager &passes,
                          const TileToCPUOptions &options) {
  addPreparation(passes, options.values);
  if (options.guardAccesses) {
    passes.addPass(createLowerAffinePass());
    passes.addPass(createGuardAccesses());
  }
  passes.addNestedPass<func::FuncOp>(createFuseCopies());
  // A register of the commonest type holds something of each row.
  SplitRowsOptions split;
  split.rows = options.vectorBytes / 4;
  passes.addNestedPass<func::FuncOp>(createSplitRows(split));
  passes.addPass(createConvertTileToCPU({options.vectorBytes}));
  addUpstreamLowering(passes);
}

void tile::buildTileToCUDA(OpPassManager &passes,
                           const TileToCUDAOptions &options) {
  addPreparation(passes, options.values);
  passes.addPass(createLowerAffinePass());
  // The program's own: what later passes divide by is never zero.
  passes.addPass(createGuardDivisions());
  passes.addPass(createTileGuardSteps());
  passes.addPass(createTileExpandPersistent());
  passes.addPass(createTileExpandAsync());
  passes.addPass(createTileSplitCopies());
  passes.addPass(createTileStageElementwise());
  passes.addPass(createTileVersionLaunches());
  passes.addPass(createTileMaterializePipeline());
  passes.addPass(createTileInferLayouts({options.chip}));
  passes.addPass(createTilePipelineOperands({options.chip}));
  passes.addPass(createTilePlanSharedMemory({options.chip}));
  passes.addPass(createTileInsertSync());
  passes.addPass(createConvertTileToGPU({options.chip}));
  passes.addPass(createTileLowerDeviceMath({options.chip}));
  OpPassManager &device = passes.nest<gpu::GPUModuleOp>();
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  device.addPass(createTileKeepConvergent());
  device.addPass(createSCFToControlFlowPass());
  // Before the conversion below, which turns functions that have instructions
  // into calls of a library.
  device.addPass(createConvertMathToLLVMPass());
  ConvertGpuOpsToNVVMOpsOptions toNVVM;
  toNVVM.indexBitwidth = 64;
  device.addPass(createConvertGpuOpsToNVVMOps(toNVVM));
  device.addPass(createReconcileUnrealizedCastsPass());
  // Lines of the program in the PTX and in machine code, and no more of debug
  // information, which would cost optimisations.
  LLVM::DIScopeForLLVMFuncOpPassOptions lines;
  lines.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lines));
}

void tile::buildLinalgToTile(OpPassManager &passes) {
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bufferization::BufferResultsToOutParamsPassOptions results;
  results.hoistStaticAllocs = true;
  results.hoistDynamicAllocs = true;
  results.modifyPublicFunctions = true;
  passes.addPass(bufferization::createBufferResultsToOutParamsPass(results));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  bufferization::buildBufferDeallocationPipeline(passes);
  passes.addNestedPass<func::FuncOp>(createPromoteWorkspaces());
  passes.addNestedPass<func::FuncOp>(createConvertLinalgToTile());
  passes.addPass(createCSEPass());
}

void tile::registerTilePipelines() {
  PassPipelineRegistration<>(
      "linalg-to-tile",
      "bufferize a module in linalg on tensors and turn it into tile programs; "
      "results become arguments to write to",
      buildLinalgToTile);
  PassPipelineRegistration<TileToCPUOptions>(
      "tile-to-cpu",
      "lower tile programs and functions in upstream dialects to the llvm "
      "dialect, for all cores of this machine",
      buildTileToCPU);
  PassPipelineRegistration<TileToCUDAOptions>(
      "tile-to-cuda",
      "lower tile programs to kernels in the llvm dialect and their launches",
      buildTileToCUDA);
}
