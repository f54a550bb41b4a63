//===- DeviceCode.h - PTX and machine code of NVIDIA GPUs -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From gpu modules in the llvm dialect to PTX, and from there to machine code
// by ptxas, where there is one.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CUDA_DEVICECODE_H
#define TILE_TARGET_CUDA_DEVICECODE_H

#include "Tile/IR/Chips.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tile::cuda {

/// What ptxas says of one kernel.
struct ResourceReport {
  std::string kernel;
  int64_t registers = 0, stackBytes = 0, spillStores = 0, spillLoads = 0,
          sharedBytes = 0;
};

struct MachineCode {
  std::string cubin;
  std::vector<ResourceReport> resources;
};

/// The PTX of a module whose ops are of the llvm and nvvm dialects; its context
/// must have their translations. `llvmIR`, where given, receives the optimised
/// LLVM IR.
llvm::Expected<std::string> emitPTX(mlir::gpu::GPUModuleOp module,
                                    const Chip &chip,
                                    std::string *llvmIR = nullptr);

/// ptxas from CUDA_HOME or CUDA_PATH, then PATH, then /usr/local/cuda; empty
/// where there is none.
std::string findPtxas();
/// As in "12.8.93".
llvm::Expected<std::string> getPtxasVersion(llvm::StringRef ptxas);
llvm::Expected<MachineCode> assemble(llvm::StringRef ptx, const Chip &chip,
                                     llvm::StringRef ptxas);

/// The launch plan (Runtime/LaunchPlan.h) of a host function that
/// convert-tile-to-gpu has left. What a plan cannot say is reported at the op.
mlir::FailureOr<std::string> exportPlan(mlir::func::FuncOp function);

} // namespace tile::cuda

#endif // TILE_TARGET_CUDA_DEVICECODE_H
