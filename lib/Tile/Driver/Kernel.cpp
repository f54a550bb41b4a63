//===- Kernel.cpp - A compiled function -------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Kernel.h"
#include "llvm/ADT/SmallVector.h"

using namespace tile::driver;

Call::~Call() = default;
Executable::~Executable() = default;

Kernel::Kernel(Target target, Signature signature,
               std::unique_ptr<Executable> executable,
               std::vector<Stage> stages, std::vector<PhaseTime> times,
               std::string diagnostics, bool isCached)
    : target(target), signature(std::move(signature)),
      executable(std::move(executable)), stages(std::move(stages)),
      times(std::move(times)), diagnostics(std::move(diagnostics)),
      isCached(isCached) {}

double Kernel::getCompileSeconds() const {
  double sum = 0;
  for (const PhaseTime &time : times)
    sum += time.seconds;
  return sum;
}

llvm::Expected<std::unique_ptr<Call>>
Kernel::bind(llvm::ArrayRef<runtime::Array> arguments,
             const llvm::BitVector &isEmpty) const {
  llvm::SmallVector<ArgumentView> views;
  for (const runtime::Array &array : arguments)
    views.emplace_back(array);
  if (llvm::Error error = signature.check(views))
    return error;
  return executable->bind(arguments, isEmpty);
}

llvm::Error Kernel::launch(llvm::ArrayRef<ArgumentView> arguments,
                           void *stream) const {
  if (llvm::Error error = signature.check(arguments))
    return error;
  return executable->launch(arguments, stream);
}

llvm::Error Kernel::run(llvm::ArrayRef<runtime::Array> arguments) const {
  llvm::Expected<std::unique_ptr<Call>> call = bind(arguments);
  if (!call)
    return call.takeError();
  if (llvm::Expected<double> seconds = (*call)->run(); !seconds)
    return seconds.takeError();
  return (*call)->fetch();
}
