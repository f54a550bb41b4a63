//===- EmitPTX.cpp - PTX from the llvm dialect ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Conversion/GPUPasses.h"
#include "Tile/Target/CUDA/DeviceCode.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;
using namespace tile;
using llvm::createStringError;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const Chip &chip) {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("this LLVM has no NVPTX back end: " + error);
  llvm::TargetOptions options;
  // A product and a sum are fused only where the program allows it.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip.name, chip.ptxFeature, options, std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("LLVM cannot generate code for " + chip.name);
  return machine;
}

/// MLIR's inline assembly does not say which of it a warp must run as one.
static void markConvergentAssembly(llvm::Module &module) {
  for (llvm::Function &function : module) {
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      auto *assembly =
          call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())
               : nullptr;
      if (!assembly || !isConvergentPTX(assembly->getAsmString()))
        continue;
      call->setConvergent();
      if (assembly->getAsmString().starts_with(meetingPoint))
        call->setOnlyAccessesInaccessibleMemory();
    }
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // What tile programs need of it is folding, scalars and invariants out of
  // loops. Over the examples and benchmarks O2 and O3 gave ptxas no fewer
  // instructions and no fewer spills, and took up to half as long again.
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1)
      .run(module, modules);
}

llvm::Expected<std::string> tile::cuda::emitPTX(gpu::GPUModuleOp module,
                                                const Chip &chip,
                                                std::string *llvmIR) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      makeTargetMachine(chip);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, module.getName());
  if (!code)
    return createStringError("the kernels of '" + module.getName() +
                             "' cannot be translated to LLVM IR");
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  markConvergentAssembly(*code);
  optimize(*code, **machine);
  if (llvmIR) {
    llvm::raw_string_ostream stream(*llvmIR);
    code->print(stream, nullptr);
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return createStringError("LLVM cannot write PTX");
  passes.run(*code);
  return std::string(buffer.begin(), buffer.end());
}
