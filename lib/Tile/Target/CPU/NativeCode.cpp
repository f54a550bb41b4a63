//===- NativeCode.cpp - From the llvm dialect to machine code ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Target/CPU/NativeCode.h"
#include "HostMachine.h"
#include "SplitModule.h"
#include "StandaloneCode.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace tile::cpu;

/// Errors that LLVM reports through its context. The default handler would
/// print them and exit.
struct Diagnostics {
  std::string errors;

  static void handle(const DiagnosticInfo *info, void *self) {
    if (info->getSeverity() != DS_Error)
      return;
    std::string &errors = static_cast<Diagnostics *>(self)->errors;
    if (!errors.empty())
      errors += '\n';
    raw_string_ostream stream(errors);
    DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
  }

  Error take() {
    if (errors.empty())
      return Error::success();
    return createStringError(std::exchange(errors, {}));
  }
};

/// A module with all that it takes to compile it beside others.
struct NativeCode::Part {
  // In the order in which they depend on each other.
  Diagnostics diagnostics;
  std::unique_ptr<TargetMachine> machine;
  LLVMContext context;
  std::unique_ptr<Module> module;

  static Expected<std::unique_ptr<Part>> create();
};

Expected<std::unique_ptr<NativeCode::Part>> NativeCode::Part::create() {
  Expected<orc::JITTargetMachineBuilder> builder = detectHost();
  if (!builder)
    return builder.takeError();
  auto part = std::make_unique<Part>();
  if (Error error = builder->createTargetMachine().moveInto(part->machine))
    return error;
  part->context.setDiagnosticHandlerCallBack(&Diagnostics::handle,
                                             &part->diagnostics);
  return part;
}

std::string tile::cpu::getPackedName(StringRef name) {
  return ("_tile_call_" + name).str();
}

/// Defines the packed form of `entry` in terms of its C wrapper, which takes
/// memrefs as pointers to descriptors.
static Error addPackedForm(Module &module, StringRef entry) {
  Function *wrapper = module.getFunction(("_mlir_ciface_" + entry).str());
  if (!wrapper || wrapper->isDeclaration())
    return createStringError("'" + entry +
                             "' has no C wrapper (llvm.emit_c_interface)");
  if (!wrapper->getReturnType()->isVoidTy())
    return createStringError("'" + entry + "' returns a value");
  IRBuilder<> builder(module.getContext());
  Type *pointer = builder.getPtrTy();
  auto *type =
      FunctionType::get(builder.getVoidTy(), {pointer}, /*isVarArg=*/false);
  Function *packed = Function::Create(type, Function::ExternalLinkage,
                                      getPackedName(entry), module);
  builder.SetInsertPoint(
      BasicBlock::Create(module.getContext(), "entry", packed));
  SmallVector<Value *> arguments;
  for (const Argument &argument : wrapper->args()) {
    Value *slot = builder.CreateConstGEP1_64(pointer, packed->getArg(0),
                                             argument.getArgNo());
    Value *address = builder.CreateLoad(pointer, slot);
    if (argument.getType()->isPointerTy()) {
      arguments.push_back(address);
    } else if (argument.getType()->isIntegerTy(1)) {
      // Stored as a byte, like an element of a buffer.
      Value *byte = builder.CreateLoad(builder.getInt8Ty(), address);
      arguments.push_back(builder.CreateIsNotNull(byte));
    } else {
      arguments.push_back(builder.CreateLoad(argument.getType(), address));
    }
  }
  builder.CreateCall(wrapper, arguments);
  builder.CreateRetVoid();
  return Error::success();
}

NativeCode::NativeCode() = default;
NativeCode::NativeCode(NativeCode &&) = default;
NativeCode::~NativeCode() = default;
NativeCode &NativeCode::operator=(NativeCode &&) = default;

Expected<NativeCode> NativeCode::translateModule(mlir::ModuleOp source) {
  NativeCode code;
  Expected<std::unique_ptr<Part>> created = Part::create();
  if (!created)
    return created.takeError();
  code.parts.push_back(std::move(*created));
  Part &part = *code.parts.front();
  part.module = mlir::translateModuleToLLVMIR(source, part.context, "tile");
  if (Error error = part.diagnostics.take())
    return error;
  if (!part.module)
    return createStringError("the module does not translate to LLVM IR");
  part.module->setTargetTriple(part.machine->getTargetTriple());
  part.module->setDataLayout(part.machine->createDataLayout());
  // Everything else may be inlined, specialised and dropped.
  for (GlobalValue &value : part.module->global_values())
    if (!value.isDeclaration())
      value.setLinkage(GlobalValue::InternalLinkage);
  return code;
}

Expected<NativeCode> NativeCode::translate(mlir::ModuleOp source,
                                           StringRef entry) {
  Expected<NativeCode> code = translateModule(source);
  if (code)
    if (Error error = addPackedForm(*code->parts.front()->module, entry))
      return error;
  return code;
}

Expected<NativeCode> NativeCode::translateForC(mlir::ModuleOp source,
                                               ArrayRef<CFunction> functions) {
  Expected<NativeCode> code = translateModule(source);
  if (!code)
    return code;
  for (const CFunction &function : functions)
    if (Error error = addCForm(*code->parts.front()->module, function))
      return error;
  addRuntime(*code->parts.front()->module);
  return code;
}

Error NativeCode::split() {
  std::vector<std::unique_ptr<Part>> result;
  for (const SmallVector<char, 0> &bitcode :
       splitModule(*parts.front()->module)) {
    Expected<std::unique_ptr<Part>> part = Part::create();
    if (!part)
      return part.takeError();
    MemoryBufferRef buffer(StringRef(bitcode.data(), bitcode.size()), "tile");
    if (Error error = parseBitcodeFile(buffer, (*part)->context)
                          .moveInto((*part)->module))
      return error;
    result.push_back(std::move(*part));
  }
  if (!result.empty())
    parts = std::move(result);
  return Error::success();
}

/// Runs `each` for all parts at once, and then takes what they report.
template <typename Each> Error NativeCode::forEachPart(Each each) const {
  std::vector<std::string> errors(parts.size());
  auto run = [&](size_t i) {
    Error error = each(*parts[i], i);
    error = joinErrors(std::move(error), parts[i]->diagnostics.take());
    if (error)
      errors[i] = toString(std::move(error));
  };
  if (parts.size() == 1) {
    run(0);
  } else {
    DefaultThreadPool pool(
        hardware_concurrency(static_cast<unsigned>(parts.size())));
    for (size_t i = 0; i < parts.size(); ++i)
      pool.async(run, i);
    pool.wait();
  }
  for (const std::string &error : errors)
    if (!error.empty())
      return createStringError(error);
  return Error::success();
}

static void optimizeModule(Module &module, TargetMachine &machine) {
  // Before the managers that hold results computed from it.
  TargetLibraryInfoImpl library = getLibraryInfo(machine.getTargetTriple());
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  // Loops come in the form that suits the machine; unrolling them once more
  // doubles the time that compiling takes.
  tuning.LoopUnrolling = false;
  PassBuilder passes(&machine, tuning);
  // The first registration of an analysis stands.
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  passes.buildPerModuleDefaultPipeline(OptimizationLevel::O2)
      .run(module, modules);
}

Error NativeCode::optimize() {
  return forEachPart([](Part &part, size_t) {
    optimizeModule(*part.module, *part.machine);
    return Error::success();
  });
}

std::string NativeCode::printIR() const {
  std::string text;
  raw_string_ostream stream(text);
  for (const std::unique_ptr<Part> &part : parts)
    part->module->print(stream, /*AAW=*/nullptr);
  return text;
}

/// On a copy: code generation rewrites the IR on its way.
static Error emitFile(const Module &module, TargetMachine &machine,
                      raw_pwrite_stream &stream, CodeGenFileType type) {
  std::unique_ptr<Module> copy = CloneModule(module);
  legacy::PassManager passes;
  passes.add(new TargetLibraryInfoWrapperPass(
      getLibraryInfo(machine.getTargetTriple())));
  if (machine.addPassesToEmitFile(passes, stream, /*DwoOut=*/nullptr, type))
    return createStringError("LLVM cannot emit such a file for " +
                             machine.getTargetTriple().str());
  passes.run(*copy);
  return Error::success();
}

Expected<std::string> NativeCode::emitAssembly() const {
  std::vector<SmallString<0>> texts(parts.size());
  Error error = forEachPart([&](Part &part, size_t i) {
    raw_svector_ostream stream(texts[i]);
    return emitFile(*part.module, *part.machine, stream,
                    CodeGenFileType::AssemblyFile);
  });
  if (error)
    return error;
  std::string all;
  for (const SmallString<0> &text : texts)
    all += text;
  return all;
}

Expected<std::vector<SmallVector<char, 0>>> NativeCode::emitObjects() const {
  std::vector<SmallVector<char, 0>> objects(parts.size());
  Error error = forEachPart([&](Part &part, size_t i) {
    raw_svector_ostream stream(objects[i]);
    return emitFile(*part.module, *part.machine, stream,
                    CodeGenFileType::ObjectFile);
  });
  if (error)
    return error;
  return objects;
}
