//===- LoadedCode.cpp - Machine code in this process ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Target/CPU/LoadedCode.h"
#include "HostMachine.h"
#include "PrintLog.h"
#include "Tile/Runtime/DType.h"
#include "Tile/Target/CPU/NativeCode.h"
#include "TrapLog.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <cstring>
#include <dlfcn.h>

using namespace llvm;
using namespace tile::cpu;

// From the OpenMP runtime. Both GCC and clang find their own omp.h, or none, so
// the one function is declared here.
extern "C" int omp_get_max_threads(void);

int tile::cpu::getNumWorkers() { return omp_get_max_threads(); }

struct LoadedCode::State {
  PrintLog prints;
  // After the log, which running code may call until it is gone.
  std::unique_ptr<orc::LLJIT> jit;
  void (*entry)(void **) = nullptr;
};

LoadedCode::LoadedCode() : state(std::make_unique<State>()) {}
LoadedCode::~LoadedCode() = default;

namespace {
/// A function that generated code calls, and what it is bound to.
struct Hook {
  StringRef name;
  /// Takes `state`, unless that is null, and the parameters.
  void *function;
  void *state;
  enum Type { Pointer, Integer, Float };
  SmallVector<Type, 2> parameters = {};
  bool returnsPointer = false;
};
} // namespace

/// The functions that generated code calls, bound to the logs of one program.
static orc::ThreadSafeModule makeHooks(ArrayRef<Hook> hooks,
                                       const DataLayout &layout,
                                       const Triple &triple) {
  auto context = std::make_unique<LLVMContext>();
  auto module = std::make_unique<Module>("hooks", *context);
  module->setDataLayout(layout);
  module->setTargetTriple(triple);
  IRBuilder<> builder(*context);
  auto makeAddress = [&](void *address) {
    uint64_t bits = reinterpret_cast<uintptr_t>(address);
    return ConstantExpr::getIntToPtr(builder.getInt64(bits),
                                     builder.getPtrTy());
  };
  for (const Hook &hook : hooks) {
    SmallVector<Type *> types;
    for (Hook::Type parameter : hook.parameters)
      types.push_back(parameter == Hook::Pointer ? builder.getPtrTy()
                      : parameter == Hook::Integer
                          ? static_cast<Type *>(builder.getInt64Ty())
                          : builder.getDoubleTy());
    Type *result =
        hook.returnsPointer ? builder.getPtrTy() : builder.getVoidTy();
    Function *bound =
        Function::Create(FunctionType::get(result, types, false),
                         Function::ExternalLinkage, hook.name, *module);
    builder.SetInsertPoint(BasicBlock::Create(*context, "entry", bound));
    SmallVector<Value *> arguments;
    if (hook.state) {
      types.insert(types.begin(), builder.getPtrTy());
      arguments.push_back(makeAddress(hook.state));
    }
    for (Argument &argument : bound->args())
      arguments.push_back(&argument);
    CallInst *call = builder.CreateCall(FunctionType::get(result, types, false),
                                        makeAddress(hook.function), arguments);
    hook.returnsPointer ? builder.CreateRet(call) : builder.CreateRetVoid();
  }
  return orc::ThreadSafeModule(std::move(module), std::move(context));
}

/// `function` as an address, whatever its type.
template <typename Function> static void *addressOf(Function *function) {
  return reinterpret_cast<void *>(function);
}

static SmallVector<Hook> getHooks(PrintLog &prints) {
  return {
      {"__tile_cpu_call", addressOf(&TrapLog::current), nullptr, {}, true},
      {"__tile_cpu_report",
       addressOf(+[](TrapLog *log, const char *text) { log->add(text); }),
       nullptr,
       {Hook::Pointer, Hook::Pointer}},
      {"__tile_cpu_print_begin",
       addressOf(+[](PrintLog *log, int64_t block) { log->begin(block); }),
       &prints,
       {Hook::Integer}},
      {"__tile_cpu_print_text",
       addressOf(&PrintLog::addText),
       nullptr,
       {Hook::Pointer}},
      {"__tile_cpu_print_integer",
       addressOf(&PrintLog::addInteger),
       nullptr,
       {Hook::Integer}},
      {"__tile_cpu_print_float",
       addressOf(&PrintLog::addFloat),
       nullptr,
       {Hook::Float}},
      {"__tile_cpu_print_end", addressOf(+[](PrintLog *log) { log->end(); }),
       &prints},
      {"__tile_cpu_print_flush",
       addressOf(+[](PrintLog *log) { log->flush(); }), &prints},
  };
}

/// The libcalls by which LLVM rounds to bf16 where the processor does not. They
/// return in the low half of a vector register, which is where a float's low
/// bits are; so any C++ compiler can define them. GCC's runtime has them only
/// from version 13.
static float truncateToBF16(double value) {
  uint32_t bits = static_cast<uint32_t>(
      tile::runtime::encode(tile::runtime::DType::BF16, value));
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}
static float truncateFloatToBF16(float value) { return truncateToBF16(value); }

static Error addLibcalls(orc::LLJIT &jit) {
  auto define = [](auto *function) {
    return orc::ExecutorSymbolDef(orc::ExecutorAddr::fromPtr(function),
                                  JITSymbolFlags::Exported |
                                      JITSymbolFlags::Callable);
  };
  return jit.getMainJITDylib().define(orc::absoluteSymbols(
      {{jit.mangleAndIntern("__truncsfbf2"), define(&truncateFloatToBF16)},
       {jit.mangleAndIntern("__truncdfbf2"), define(&truncateToBF16)}}));
}

/// Lets code see this process's symbols, the OpenMP runtime's and the vector
/// math library's.
static Error addLibraries(orc::LLJIT &jit) {
  SmallVector<std::string> paths = {""};
  // Inside a plugin that was loaded privately the runtime is not among the
  // process's symbols, so it is named by the file that ours came from.
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&omp_get_max_threads), &info) &&
      info.dli_fname)
    paths.push_back(info.dli_fname);
  if (!getVectorMathLibrary().empty())
    paths.push_back(getVectorMathLibrary().str());
  // Half precision on processors without it.
  paths.push_back("libgcc_s.so.1");
  char prefix = jit.getDataLayout().getGlobalPrefix();
  for (const std::string &path : paths) {
    auto generator = orc::DynamicLibrarySearchGenerator::Load(
        path.empty() ? nullptr : path.c_str(), prefix);
    if (generator)
      jit.getMainJITDylib().addGenerator(std::move(*generator));
    else if (path != "libgcc_s.so.1")
      return generator.takeError();
    else
      // What is missing then shows as a symbol that nothing defines.
      consumeError(generator.takeError());
  }
  return Error::success();
}

Expected<std::unique_ptr<LoadedCode>>
LoadedCode::load(ArrayRef<StringRef> objects, StringRef entry) {
  Expected<orc::JITTargetMachineBuilder> host = detectHost();
  if (!host)
    return host.takeError();
  Triple triple = host->getTargetTriple();
  Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder()
          .setJITTargetMachineBuilder(std::move(*host))
          .setLinkProcessSymbolsByDefault(false)
          // There are no static constructors to run.
          .setPlatformSetUp(orc::setUpInactivePlatform)
          .setObjectLinkingLayerCreator(
              [](orc::ExecutionSession &session)
                  -> Expected<std::unique_ptr<orc::ObjectLayer>> {
                return std::make_unique<orc::ObjectLinkingLayer>(session);
              })
          .create();
  if (!jit)
    return jit.takeError();
  std::unique_ptr<LoadedCode> code(new LoadedCode());
  code->state->jit = std::move(*jit);
  orc::LLJIT &loader = *code->state->jit;

  // The session reports causes to the side, the lookup only that it failed.
  std::string causes;
  loader.getExecutionSession().setErrorReporter([&](Error error) {
    causes += (causes.empty() ? "" : "\n") + toString(std::move(error));
  });
  auto run = [&]() -> Error {
    if (Error error = addLibcalls(loader))
      return error;
    if (Error error = addLibraries(loader))
      return error;
    if (Error error = loader.addIRModule(makeHooks(
            getHooks(code->state->prints), loader.getDataLayout(), triple)))
      return error;
    for (auto [i, object] : llvm::enumerate(objects))
      if (Error error = loader.addObjectFile(
              MemoryBuffer::getMemBufferCopy(object, entry + Twine(i))))
        return error;
    Expected<orc::ExecutorAddr> address = loader.lookup(getPackedName(entry));
    if (!address)
      return address.takeError();
    code->state->entry = address->toPtr<void (*)(void **)>();
    return Error::success();
  };
  Error error = run();
  loader.getExecutionSession().setErrorReporter(consumeError);
  if (error) {
    std::string message = toString(std::move(error));
    return createStringError(causes.empty() ? message : causes);
  }
  return code;
}

Error LoadedCode::call(void **arguments) const {
  TrapLog log;
  return log.collect([&] { state->entry(arguments); });
}

std::string LoadedCode::takeOutput() const { return state->prints.take(); }
