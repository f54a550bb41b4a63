//===- Compile.cpp - The way to code for NVIDIA GPUs ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Target/CUDA/Compile.h"
#include "Tile/Conversion/GPUPasses.h"
#include "Tile/Target/CUDA/DeviceCode.h"
#include "Tile/Transforms/GPUPasses.h"
#include "Tile/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tile;
using namespace tile::cuda;

void tile::cuda::buildTileToCUDA(OpPassManager &passes,
                                 const TileToCUDAOptions &options) {
  passes.addPass(createInlineCalls());
  SpecializeOptions specialize;
  specialize.values.assign(options.values.begin(), options.values.end());
  passes.addPass(createSpecialize(specialize));
  passes.addNestedPass<func::FuncOp>(createCheckStatic());
  passes.addNestedPass<func::FuncOp>(createSplitLockstep());
  passes.addPass(createTileExpandPersistent());
  passes.addPass(createTileExpandAsync());
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

void tile::cuda::registerTileToCUDA() {
  PassPipelineRegistration<TileToCUDAOptions>(
      "tile-to-cuda",
      "lower tile programs to kernels in the llvm dialect and their launches",
      buildTileToCUDA);
}
