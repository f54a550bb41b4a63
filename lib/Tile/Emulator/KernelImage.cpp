//===- KernelImage.cpp - Compiling a kernel for the host -------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the functions an entry reaches, lays out memory, lowers, optimises
// lightly (PTX arrives optimised; what matters is to turn slots into values)
// and hands the module to LLVM's JIT.
//===----------------------------------------------------------------------===//
#include "KernelImage.h"
#include "Convergence.h"
#include "Lowering.h"
#include "RuntimeFunctions.h"
#include "ThreadState.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <cstring>
#include <mutex>

using namespace tile::emulator;
using namespace tile::emulator::ptx;

KernelImage::KernelImage() = default;
KernelImage::~KernelImage() = default;

bool tile::emulator::createModuleMemory(const Program &program,
                                        ModuleMemory &memory,
                                        Diagnostics &diagnostics) {
  auto allocate = [&](uint64_t bytes, uint64_t alignment) {
    uint64_t size = bytes + alignment + 16;
    memory.blocks.emplace_back(new uint8_t[size]());
    auto raw = reinterpret_cast<uintptr_t>(memory.blocks.back().get());
    return reinterpret_cast<uint8_t *>(llvm::alignTo(raw, alignment));
  };
  for (size_t i = 0; i < program.variables.size(); ++i) {
    const Variable &variable = program.variables[i];
    if ((variable.space != Space::Global && variable.space != Space::Const) ||
        variable.isExternal || variable.isParameter)
      continue;
    uint8_t *place = allocate(variable.bytes(), variable.alignment);
    std::copy(variable.initial.begin(), variable.initial.end(), place);
    memory.variables[static_cast<int>(i)] = place;
  }
  for (auto &[index, place] : memory.variables)
    for (const InitialAddress &value : program.variables[index].addresses) {
      if (value.isFunction) {
        diagnostics.push_back({program.variables[index].line,
                               "tables of functions are not modelled"});
        return false;
      }
      auto target = memory.variables.find(value.symbol);
      if (target == memory.variables.end()) {
        diagnostics.push_back({program.variables[index].line,
                               "initialiser needs the address of '" +
                                   program.variables[value.symbol].name.str() +
                                   "', which has none before a launch"});
        return false;
      }
      uint64_t address =
          reinterpret_cast<uintptr_t>(target->second) + value.addend;
      std::memcpy(place + value.position, &address, 8);
    }
  return true;
}

static void collectFunctions(const Program &program, int root,
                             std::vector<int> &list) {
  list.push_back(root);
  for (size_t next = 0; next < list.size(); ++next)
    for (const Instruction &instruction : program.functions[list[next]].code)
      for (const Operand &operand : instruction.operands)
        if (operand.is(Operand::Kind::Function) &&
            program.functions[operand.symbol].hasBody &&
            !llvm::is_contained(list, operand.symbol))
          list.push_back(operand.symbol);
}

/// Static variables first, in order of declaration; the open array of dynamic
/// shared memory behind them.
static bool layOutShared(KernelImage &image, Diagnostics &diagnostics) {
  const Program &program = *image.program;
  std::vector<bool> used(program.variables.size());
  for (int function : image.functions)
    for (const Instruction &instruction : program.functions[function].code) {
      std::function<void(const Operand &)> mark = [&](const Operand &operand) {
        if (operand.is(Operand::Kind::Symbol))
          used[operand.symbol] = true;
        for (const Operand &element : operand.elements)
          mark(element);
      };
      for (const Operand &operand : instruction.operands)
        mark(operand);
    }
  uint64_t offset = sharedReserved, dynamicAlignment = 16;
  for (size_t i = 0; i < used.size(); ++i) {
    const Variable &variable = program.variables[i];
    if (!used[i] || variable.space != Space::Shared)
      continue;
    if (variable.isExternal || (variable.isArray && variable.count == 0)) {
      dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
      continue;
    }
    offset = llvm::alignTo(offset, variable.alignment);
    image.sharedOffsets[static_cast<int>(i)] = static_cast<uint32_t>(offset);
    offset += variable.bytes();
    if (offset > sharedLimit) {
      diagnostics.push_back(
          {variable.line, "static shared memory exceeds " +
                              std::to_string(sharedLimit - sharedReserved) +
                              " bytes"});
      return false;
    }
  }
  image.staticSharedBytes = static_cast<uint32_t>(offset);
  image.dynamicSharedOffset =
      static_cast<uint32_t>(llvm::alignTo(offset, dynamicAlignment));
  for (size_t i = 0; i < used.size(); ++i) {
    const Variable &variable = program.variables[i];
    if (used[i] && variable.space == Space::Shared &&
        !image.sharedOffsets.count(static_cast<int>(i)))
      image.sharedOffsets[static_cast<int>(i)] = image.dynamicSharedOffset;
  }
  return true;
}

static void optimize(llvm::Module &module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  llvm::ModulePassManager manager;
  manager.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  manager.run(module, modules);
}

static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> createJit() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machine)
    return machine.takeError();
  machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*machine))
                 .create();
  if (!jit)
    return jit.takeError();
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char *name, void *address) {
    symbols[(*jit)->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(address),
        llvm::JITSymbolFlags::Exported};
  };
#define RUNTIME_FUNCTION(result, name, parameters)                             \
  add(#name, reinterpret_cast<void *>(&name));
#include "RuntimeFunctions.def"
  if (llvm::Error error = (*jit)->getMainJITDylib().define(
          llvm::orc::absoluteSymbols(std::move(symbols))))
    return error;
  // memcpy and the like, which the code generator may call by itself.
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  return std::move(*jit);
}

static void addConvergenceFaults(KernelImage &image, const Function &function) {
  auto makeSite = [&](const Instruction &instruction) {
    Site *site = image.addSite<Site>();
    site->line = instruction.line;
    site->location = instruction.location;
    site->spelled = instruction.spelled();
    return site;
  };
  for (ConvergenceFault &fault : findConvergenceFaults(function))
    image.convergenceFaults.push_back({std::move(fault.message),
                                       makeSite(*fault.aligned),
                                       makeSite(*fault.branch)});
}

std::unique_ptr<KernelImage>
tile::emulator::lowerKernel(const Program &program, ModuleMemory &memory,
                            llvm::StringRef entry, CheckMask checks,
                            Diagnostics &diagnostics) {
  const Function *function = program.findEntry(entry);
  if (!function) {
    std::string names;
    for (const Function &candidate : program.functions)
      if (candidate.isEntry && candidate.hasBody)
        names += (names.empty() ? "" : ", ") + candidate.name.str();
    diagnostics.push_back({0, "no entry '" + entry.str() +
                                  "' in the module; it has: " +
                                  (names.empty() ? "none" : names)});
    return nullptr;
  }
  auto image = std::make_unique<KernelImage>();
  image->program = &program;
  image->function = function;
  image->memory = &memory;
  image->checks = checks;
  image->usesClusters = function->clusterShape.has_value();
  collectFunctions(program,
                   static_cast<int>(function - program.functions.data()),
                   image->functions);
  if (!layOutShared(*image, diagnostics))
    return nullptr;

  auto jit = createJit();
  if (!jit) {
    diagnostics.push_back({0, "the host's JIT is not available: " +
                                  llvm::toString(jit.takeError())});
    return nullptr;
  }
  image->jit = std::move(*jit);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("ptx", *context);
  module->setDataLayout(image->jit->getDataLayout());
  module->setTargetTriple(image->jit->getTargetTriple());
  bool ok = true;
  for (int index : image->functions)
    ok &= FunctionLowering(*image, *module, program, index, diagnostics).run();
  if (!ok)
    return nullptr;
  if (checks & checkConverge)
    for (int index : image->functions)
      addConvergenceFaults(*image, program.functions[index]);
  image->code = std::make_unique<llvm::orc::ThreadSafeModule>(
      std::move(module), std::move(context));
  return image;
}

bool tile::emulator::compileKernel(KernelImage &image,
                                   Diagnostics &diagnostics) {
  if (image.entry)
    return true;
  auto fail = [&](llvm::Error error) {
    diagnostics.push_back({0, llvm::toString(std::move(error))});
    return false;
  };
  if (image.code) {
    image.code->withModuleDo(optimize);
    if (llvm::Error error = image.jit->addIRModule(std::move(*image.code)))
      return fail(std::move(error));
    image.code = nullptr;
  }
  auto symbol = image.jit->lookup(image.function->name);
  if (!symbol)
    return fail(symbol.takeError());
  for (int index : image.functions) {
    if (image.program->functions[index].isEntry)
      continue;
    auto callee = image.jit->lookup(image.program->functions[index].name);
    if (callee)
      image.functionAddresses.push_back(callee->getValue());
    else
      llvm::consumeError(callee.takeError());
  }
  image.entry = symbol->toPtr<KernelImage::EntryPoint>();
  return true;
}
