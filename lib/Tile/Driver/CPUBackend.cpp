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

/// Holds the descriptors of one set of arguments.
class CPUCall : public Call {
public:
  CPUCall(std::shared_ptr<const LoadedCode> code, const Signature &signature,
          ArrayRef<Array> arguments);

  llvm::Expected<double> run() override {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = code->call(pointers.data()))
      return error;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }
  llvm::Error fetch() override { return llvm::Error::success(); }
  std::string takeOutput() override { return code->takeOutput(); }

private:
  void addDescriptor(const Parameter &parameter, const Array &array);

  std::shared_ptr<const LoadedCode> code;
  /// Keeps the elements alive.
  SmallVector<Array> arrays;
  /// Pointers, offset, extents and strides, as the llvm dialect lays a
  /// descriptor out; every member has the size of a pointer.
  SmallVector<SmallVector<int64_t, 11>> descriptors;
  SmallVector<void *> pointers;
};

class CPUExecutable : public Executable {
public:
  CPUExecutable(std::unique_ptr<LoadedCode> code, Signature signature)
      : code(std::move(code)), signature(std::move(signature)) {}

  llvm::Expected<std::unique_ptr<Call>>
  bind(ArrayRef<Array> arguments) const override {
    return std::make_unique<CPUCall>(code, signature, arguments);
  }

private:
  std::shared_ptr<const LoadedCode> code;
  Signature signature;
};

} // namespace

CPUCall::CPUCall(std::shared_ptr<const LoadedCode> code,
                 const Signature &signature, ArrayRef<Array> arguments)
    : code(std::move(code)), arrays(arguments.begin(), arguments.end()) {
  static_assert(sizeof(void *) == sizeof(int64_t));
  for (auto [parameter, array] : llvm::zip(signature.parameters, arrays))
    if (!parameter.isScalar)
      addDescriptor(parameter, array);
  // Descriptors do not move any more.
  auto *descriptor = descriptors.begin();
  for (auto [parameter, array] : llvm::zip(signature.parameters, arrays))
    pointers.push_back(parameter.isScalar ? array.data()
                                          : (descriptor++)->data());
}

void CPUCall::addDescriptor(const Parameter &parameter, const Array &array) {
  // The type may state an offset, which then stands in the code: the pointer is
  // set back by it.
  // Packed elements may begin in the middle of a byte, which only an offset
  // that the type leaves open can say.
  int64_t bits = tile::runtime::getStorageBits(array.getType());
  int64_t offset = parameter.offset;
  if (offset == Parameter::kOpen)
    offset = bits < 8 ? array.getOffset() : 0;
  int64_t start = reinterpret_cast<intptr_t>(array.data()) +
                  (array.getOffset() - offset) * bits / 8;
  auto &descriptor = descriptors.emplace_back();
  descriptor = {start, start, offset};
  descriptor.append(array.getShape().begin(), array.getShape().end());
  // Dimensions of extent one may come with any stride where a dense array is
  // wanted; code may compute with the one it expects.
  tile::runtime::Shape strides = array.getStrides();
  if (!parameter.strides)
    if (auto dense = tile::runtime::getDenseStrides(array.getShape()))
      strides = *dense;
  descriptor.append(strides.begin(), strides.end());
}

llvm::Expected<std::unique_ptr<Executable>>
tile::driver::compileForCPU(ModuleOp module, const Signature &signature,
                            const CompileOptions &options,
                            StageRecorder &recorder) {
  StringRef entry = signature.function;
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
  PassManager passes(module.getContext());
  buildTileToCPU(passes, pipeline);
  recorder.watch(passes);
  if (failed(passes.run(module)))
    return createStringError("'" + entry + "' does not compile for cpu");
  if (recorder.wantsStages()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    recorder.addStage("mlir", "mlir", text + "\n");
  }

  auto translate = [&] {
    PhaseTimer timer(recorder, "translate-to-llvm-ir");
    return NativeCode::translate(module, entry);
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
    return native->emitObject();
  };
  llvm::Expected<SmallVector<char, 0>> object = emit();
  if (!object)
    return object.takeError();
  if (recorder.wantsStages())
    recorder.addStage("obj", "o", std::string(object->begin(), object->end()));
  PhaseTimer timer(recorder, "link");
  llvm::Expected<std::unique_ptr<LoadedCode>> code =
      LoadedCode::load(*object, entry);
  if (!code)
    return code.takeError();
  return std::make_unique<CPUExecutable>(std::move(*code), signature);
}
