//===- HostMachine.cpp - Code generation for this machine -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostMachine.h"
#include "Tile/Target/CPU/NativeCode.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

Expected<orc::JITTargetMachineBuilder> tile::cpu::detectHost() {
  static const bool initialized = !InitializeNativeTarget() &&
                                  !InitializeNativeTargetAsmPrinter() &&
                                  !InitializeNativeTargetAsmParser();
  if (!initialized)
    return createStringError("this build of LLVM has no back end for the "
                             "machine it runs on");
  Expected<orc::JITTargetMachineBuilder> builder =
      orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  // LLVM avoids registers of 64 bytes on Intel's processors, the first of which
  // lowered the clock for them. From Ice Lake on, told by VBMI2, that no longer
  // outweighs the doubled width.
  if (sys::getHostCPUFeatures().lookup("avx512vbmi2"))
    builder->addFeatures({"-prefer-256-bit"});
  builder->setCodeGenOptLevel(CodeGenOptLevel::Aggressive)
      .setRelocationModel(Reloc::PIC_)
      .setCodeModel(CodeModel::Small);
  return builder;
}

StringRef tile::cpu::getVectorMathLibrary() {
  static const bool loads =
      Triple(LLVM_HOST_TRIPLE).getArch() == Triple::x86_64 &&
      sys::DynamicLibrary::getPermanentLibrary("libmvec.so.1").isValid();
  return loads ? "libmvec.so.1" : "";
}

TargetLibraryInfoImpl tile::cpu::getLibraryInfo(const Triple &triple) {
  return TargetLibraryInfoImpl(triple, getVectorMathLibrary().empty()
                                           ? VectorLibrary::NoLibrary
                                           : VectorLibrary::LIBMVEC);
}

std::string tile::cpu::describeHost() {
  std::string text =
      (sys::getHostCPUName() + "\n" + getVectorMathLibrary()).str();
  StringMap<bool> features = sys::getHostCPUFeatures();
  std::vector<StringRef> names;
  for (const auto &feature : features)
    if (feature.second)
      names.push_back(feature.first());
  llvm::sort(names);
  for (StringRef name : names)
    text += ("\n" + name).str();
  return text;
}

Expected<unsigned> tile::cpu::getPreferredVectorBytes() {
  Expected<orc::JITTargetMachineBuilder> builder = detectHost();
  if (!builder)
    return builder.takeError();
  Expected<std::unique_ptr<TargetMachine>> machine =
      builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  // LLVM answers per function, so it is asked about an empty one.
  LLVMContext context;
  Module module("probe", context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  Function *function = Function::Create(
      FunctionType::get(Type::getVoidTy(context), /*isVarArg=*/false),
      Function::ExternalLinkage, "probe", module);
  ReturnInst::Create(context, BasicBlock::Create(context, "", function));
  TypeSize bits =
      (*machine)->getTargetTransformInfo(*function).getRegisterBitWidth(
          TargetTransformInfo::RGK_FixedWidthVector);
  return static_cast<unsigned>(bits.getFixedValue() / 8);
}
