//===- Kernel.cpp - A compiled function -------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Kernel.h"

using namespace tile::driver;

Call::~Call() = default;
Executable::~Executable() = default;

Kernel::Kernel(Target target, Signature signature,
               std::unique_ptr<Executable> executable,
               std::vector<Stage> stages, std::vector<PhaseTime> times,
               std::string diagnostics)
    : target(target), signature(std::move(signature)),
      executable(std::move(executable)), stages(std::move(stages)),
      times(std::move(times)), diagnostics(std::move(diagnostics)) {}

double Kernel::getCompileSeconds() const {
  double sum = 0;
  for (const PhaseTime &time : times)
    sum += time.seconds;
  return sum;
}

llvm::Expected<std::unique_ptr<Call>>
Kernel::bind(llvm::ArrayRef<runtime::Array> arguments) const {
  if (llvm::Error error = signature.check(arguments))
    return error;
  return executable->bind(arguments);
}

llvm::Error Kernel::run(llvm::ArrayRef<runtime::Array> arguments) const {
  llvm::Expected<std::unique_ptr<Call>> call = bind(arguments);
  if (!call)
    return call.takeError();
  if (llvm::Expected<double> seconds = (*call)->run(); !seconds)
    return seconds.takeError();
  return (*call)->fetch();
}
