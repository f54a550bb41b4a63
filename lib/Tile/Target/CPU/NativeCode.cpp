//===- NativeCode.cpp - From the llvm dialect to machine code ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Target/CPU/NativeCode.h"
#include "HostMachine.h"
#include "StandaloneCode.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace tile::cpu;

/// Errors that LLVM reports through its context. The default handler would
/// print them and exit.
struct NativeCode::Diagnostics {
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

NativeCode::NativeCode() : diagnostics(std::make_unique<Diagnostics>()) {}
NativeCode::NativeCode(NativeCode &&) = default;
NativeCode::~NativeCode() = default;

NativeCode &NativeCode::operator=(NativeCode &&other) {
  // Swapped, since the module has to go before its context.
  std::swap(diagnostics, other.diagnostics);
  std::swap(machine, other.machine);
  std::swap(context, other.context);
  std::swap(module, other.module);
  return *this;
}

Expected<NativeCode> NativeCode::translateModule(mlir::ModuleOp source) {
  NativeCode code;
  Expected<orc::JITTargetMachineBuilder> builder = detectHost();
  if (!builder)
    return builder.takeError();
  Expected<std::unique_ptr<TargetMachine>> machine =
      builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  code.machine = std::move(*machine);
  code.context = std::make_unique<LLVMContext>();
  code.context->setDiagnosticHandlerCallBack(&Diagnostics::handle,
                                             code.diagnostics.get());
  code.module = mlir::translateModuleToLLVMIR(source, *code.context, "tile");
  if (Error error = code.diagnostics->take())
    return error;
  if (!code.module)
    return createStringError("the module does not translate to LLVM IR");
  code.module->setTargetTriple(code.machine->getTargetTriple());
  code.module->setDataLayout(code.machine->createDataLayout());
  // Everything else may be inlined, specialised and dropped.
  for (GlobalValue &value : code.module->global_values())
    if (!value.isDeclaration())
      value.setLinkage(GlobalValue::InternalLinkage);
  return code;
}

Expected<NativeCode> NativeCode::translate(mlir::ModuleOp source,
                                           StringRef entry) {
  Expected<NativeCode> code = translateModule(source);
  if (code)
    if (Error error = addPackedForm(*code->module, entry))
      return error;
  return code;
}

Expected<NativeCode> NativeCode::translateForC(mlir::ModuleOp source,
                                               ArrayRef<CFunction> functions) {
  Expected<NativeCode> code = translateModule(source);
  if (!code)
    return code;
  for (const CFunction &function : functions)
    if (Error error = addCForm(*code->module, function))
      return error;
  addRuntime(*code->module);
  return code;
}

Error NativeCode::optimize() {
  // Before the managers that hold results computed from it.
  TargetLibraryInfoImpl library = getLibraryInfo(machine->getTargetTriple());
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
  PassBuilder passes(machine.get(), tuning);
  // The first registration of an analysis stands.
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  passes.buildPerModuleDefaultPipeline(OptimizationLevel::O2)
      .run(*module, modules);
  return diagnostics->take();
}

std::string NativeCode::printIR() const {
  std::string text;
  raw_string_ostream stream(text);
  module->print(stream, /*AAW=*/nullptr);
  return text;
}

static Error emitFile(Module &module, TargetMachine &machine,
                      raw_pwrite_stream &stream, CodeGenFileType type) {
  legacy::PassManager passes;
  passes.add(new TargetLibraryInfoWrapperPass(
      getLibraryInfo(machine.getTargetTriple())));
  if (machine.addPassesToEmitFile(passes, stream, /*DwoOut=*/nullptr, type))
    return createStringError("LLVM cannot emit such a file for " +
                             machine.getTargetTriple().str());
  passes.run(module);
  return Error::success();
}

/// Runs `emit` on a copy: code generation rewrites the IR on its way.
template <typename Emit> Error NativeCode::generate(Emit emit) const {
  std::unique_ptr<Module> copy = CloneModule(*module);
  if (Error error = emit(*copy))
    return error;
  return diagnostics->take();
}

Expected<std::string> NativeCode::emitAssembly() const {
  SmallString<0> text;
  raw_svector_ostream stream(text);
  Error error = generate([&](Module &copy) {
    return emitFile(copy, *machine, stream, CodeGenFileType::AssemblyFile);
  });
  if (error)
    return error;
  return text.str().str();
}

Expected<SmallVector<char, 0>> NativeCode::emitObject() const {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  Error error = generate([&](Module &copy) {
    return emitFile(copy, *machine, stream, CodeGenFileType::ObjectFile);
  });
  if (error)
    return error;
  return bytes;
}
