//===- CPUBackend.cpp - Kernels on the cores of this machine ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include "Tile/Driver/Pipelines.h"
#include "Tile/Target/CPU/LoadedCode.h"
#include "Tile/Target/CPU/NativeCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using tile::cpu::LoadedCode;
using tile::cpu::NativeCode;
using tile::runtime::Array;

namespace {

/// The arguments of one call in the form that the packed entry takes.
class PackedArguments {
public:
  PackedArguments(const Signature &signature, ArrayRef<ArgumentView> arguments);
  PackedArguments(const PackedArguments &) = delete;

  void **get() { return pointers.data(); }

private:
  void addDescriptor(const Parameter &parameter, const ArgumentView &argument);

  /// Of each array: two pointers, offset, extents and strides, as the llvm
  /// dialect lays a descriptor out; every member has the size of a pointer.
  SmallVector<int64_t, 64> words;
  SmallVector<void *, 16> pointers;
};

/// Keeps the elements of its arguments alive.
class CPUCall : public Call {
public:
  CPUCall(std::shared_ptr<const LoadedCode> code, const Signature &signature,
          ArrayRef<Array> arguments)
      : code(std::move(code)), arrays(arguments.begin(), arguments.end()),
        packed(signature,
               SmallVector<ArgumentView>(arrays.begin(), arrays.end())) {}

  llvm::Expected<double> run() override {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = code->call(packed.get()))
      return error;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }
  llvm::Error fetch() override { return llvm::Error::success(); }

private:
  std::shared_ptr<const LoadedCode> code;
  SmallVector<Array> arrays;
  PackedArguments packed;
};

class CPUExecutable : public Executable {
public:
  CPUExecutable(std::unique_ptr<LoadedCode> code, Signature signature)
      : code(std::move(code)), signature(std::move(signature)) {}

  llvm::Expected<std::unique_ptr<Call>>
  bind(ArrayRef<Array> arguments, const llvm::BitVector &) const override {
    return std::make_unique<CPUCall>(code, signature, arguments);
  }
  llvm::Error launch(ArrayRef<ArgumentView> arguments, void *) const override {
    return code->call(PackedArguments(signature, arguments).get());
  }
  std::string takeOutput() const override { return code->takeOutput(); }

private:
  std::shared_ptr<const LoadedCode> code;
  Signature signature;
};

} // namespace

PackedArguments::PackedArguments(const Signature &signature,
                                 ArrayRef<ArgumentView> arguments) {
  size_t count = 0;
  for (const ArgumentView &argument : arguments)
    count += 3 + 2 * argument.shape.size();
  // Descriptors do not move any more.
  words.reserve(count);
  for (auto [parameter, argument] : llvm::zip(signature.parameters, arguments))
    if (parameter.isScalar)
      pointers.push_back(reinterpret_cast<void *>(argument.data));
    else
      addDescriptor(parameter, argument);
}

void PackedArguments::addDescriptor(const Parameter &parameter,
                                    const ArgumentView &argument) {
  // The type may state an offset, which then stands in the code: the pointer is
  // set back by it.
  // Packed elements may begin in the middle of a byte, which only an offset
  // that the type leaves open can say.
  int64_t bits = tile::runtime::getStorageBits(argument.type);
  int64_t offset = parameter.offset;
  if (offset == Parameter::kOpen)
    offset = bits < 8 ? argument.offset : 0;
  int64_t start = static_cast<int64_t>(argument.data) +
                  (argument.offset - offset) * bits / 8;
  pointers.push_back(words.end());
  words.append({start, start, offset});
  words.append(argument.shape.begin(), argument.shape.end());
  size_t rank = argument.shape.size();
  size_t strides = words.size();
  words.append(argument.strides.begin(), argument.strides.end());
  if (parameter.strides)
    return;
  // Dimensions of extent one may come with any stride where a dense array is
  // wanted; code may compute with the one it expects.
  int64_t next = 1;
  for (size_t i = rank; i-- > 0;) {
    words[strides + i] = next;
    next *= std::max<int64_t>(argument.shape[i], 1);
  }
}

static llvm::Expected<std::string> describe(const CompileOptions &options) {
  return tile::cpu::describeHost() + (options.guardAccesses ? "\nguarded" : "");
}

/// Brings the module into the llvm dialect.
static llvm::Error lowerToLLVM(ModuleOp module, ArrayRef<StringRef> entries,
                               const CompileOptions &options,
                               StageRecorder *recorder) {
  for (StringRef entry : entries)
    module.lookupSymbol(entry)->setAttr(
        LLVM::LLVMDialect::getEmitCWrapperAttrName(),
        UnitAttr::get(module.getContext()));
  TileToCPUOptions pipeline;
  for (const auto &[name, value] : options.tunables)
    pipeline.values.push_back(name + "=" + std::to_string(value));
  llvm::Expected<unsigned> vectorBytes = tile::cpu::getPreferredVectorBytes();
  if (!vectorBytes)
    return vectorBytes.takeError();
  pipeline.vectorBytes = *vectorBytes;
  pipeline.guardAccesses = options.guardAccesses;
  PassManager passes(module.getContext());
  buildTileToCPU(passes, pipeline);
  if (recorder)
    recorder->watch(passes);
  if (failed(passes.run(module)))
    return createStringError("'" + entries.front() +
                             "' does not compile for cpu");
  return llvm::Error::success();
}

/// Where the artifact keeps an object file; there may be several.
static std::string getObjectName(StringRef entry, size_t number) {
  std::string name = ("obj/" + entry).str();
  return number == 0 ? name : name + "/" + std::to_string(number);
}

static llvm::Error compile(ModuleOp module, const Signature &signature,
                           const CompileOptions &options,
                           StageRecorder &recorder,
                           tile::runtime::Artifact &artifact) {
  StringRef entry = signature.function;
  if (llvm::Error error = lowerToLLVM(module, entry, options, &recorder))
    return error;
  if (recorder.wantsStages()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    recorder.addStage("mlir", "mlir", text + "\n");
  }

  auto translate = [&]() -> llvm::Expected<NativeCode> {
    PhaseTimer timer(recorder, "translate-to-llvm-ir");
    llvm::Expected<NativeCode> code = NativeCode::translate(module, entry);
    if (code)
      if (llvm::Error error = code->split())
        return error;
    return code;
  };
  llvm::Expected<NativeCode> native = translate();
  if (!native)
    return native.takeError();
  auto optimize = [&] {
    PhaseTimer timer(recorder, "llvm-optimize");
    return native->optimize();
  };
  if (llvm::Error error = optimize())
    return error;
  if (recorder.wantsStages()) {
    recorder.addStage("llvm", "ll", native->printIR());
    llvm::Expected<std::string> assembly = native->emitAssembly();
    if (!assembly)
      return assembly.takeError();
    recorder.addStage("asm", "s", std::move(*assembly));
  }
  auto emit = [&] {
    PhaseTimer timer(recorder, "llvm-codegen");
    return native->emitObjects();
  };
  llvm::Expected<std::vector<SmallVector<char, 0>>> objects = emit();
  if (!objects)
    return objects.takeError();
  for (auto [i, object] : llvm::enumerate(*objects)) {
    std::string bytes(object.begin(), object.end());
    if (recorder.wantsStages())
      recorder.addStage("obj", "o", bytes);
    artifact.set(getObjectName(entry, i), std::move(bytes));
  }
  return llvm::Error::success();
}

static llvm::Expected<std::unique_ptr<Executable>>
load(const tile::runtime::Artifact &artifact, const Signature &signature,
     const CompileOptions &) {
  SmallVector<StringRef> objects;
  while (const std::string *object =
             artifact.find(getObjectName(signature.function, objects.size())))
    objects.push_back(*object);
  if (objects.empty())
    return createStringError("there is no code of '" + signature.function +
                             "' for the cpu");
  llvm::Expected<std::unique_ptr<LoadedCode>> code =
      LoadedCode::load(objects, signature.function);
  if (!code)
    return code.takeError();
  return std::make_unique<CPUExecutable>(std::move(*code), signature);
}

const Backend tile::driver::cpuBackend = {describe, compile, load};

static tile::cpu::CFunction describeForC(const Signature &signature) {
  tile::cpu::CFunction function{signature.function, {}};
  for (const Parameter &parameter : signature.parameters) {
    static_assert(Parameter::kOpen == tile::cpu::CArgument::open);
    tile::cpu::CArgument &argument = function.arguments.emplace_back();
    argument.name = parameter.name;
    argument.isScalar = parameter.isScalar;
    argument.elementBits = tile::runtime::getStorageBits(parameter.type);
    argument.shape.assign(parameter.shape.begin(), parameter.shape.end());
    if (parameter.strides)
      argument.strides.emplace(parameter.strides->begin(),
                               parameter.strides->end());
    argument.offset = parameter.offset;
  }
  return function;
}

llvm::Expected<SmallVector<char, 0>>
tile::driver::compileObjectForCPU(ModuleOp module,
                                  ArrayRef<Signature> signatures,
                                  const CompileOptions &options) {
  SmallVector<StringRef> entries;
  std::vector<tile::cpu::CFunction> functions;
  for (const Signature &signature : signatures) {
    entries.push_back(signature.function);
    functions.push_back(describeForC(signature));
  }
  if (llvm::Error error =
          lowerToLLVM(module, entries, options, /*recorder=*/nullptr))
    return error;
  llvm::Expected<NativeCode> native =
      NativeCode::translateForC(module, functions);
  if (!native)
    return native.takeError();
  if (llvm::Error error = native->optimize())
    return error;
  // A C program links one file.
  llvm::Expected<std::vector<SmallVector<char, 0>>> objects =
      native->emitObjects();
  if (!objects)
    return objects.takeError();
  return std::move(objects->front());
}
