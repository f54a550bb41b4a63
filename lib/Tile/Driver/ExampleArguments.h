//===- ExampleArguments.h - The arguments of an example -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the arguments that a function's specifications describe, and fresh
// copies of what it writes for every run.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_EXAMPLEARGUMENTS_H
#define TILE_DRIVER_EXAMPLEARGUMENTS_H

#include "Tile/Driver/Example.h"

namespace tile::driver {

class ExampleArguments {
public:
  static llvm::Expected<ExampleArguments> make(const Signature &signature,
                                               const ExampleOptions &options);

  llvm::ArrayRef<runtime::Argument> get() const { return arguments; }
  /// True for an output whose contents before the run mean nothing.
  bool isEmpty(size_t index) const { return empty.test(index); }
  const llvm::BitVector &getEmpty() const { return empty; }

  /// Arrays for one run: what is written is a copy, filled with `poison` where
  /// it is empty.
  llvm::Expected<std::vector<runtime::Array>>
  makeRun(const Signature &signature, runtime::Poison poison) const;

  /// Arrays for one run of `reference`, in its types: converted copies, of
  /// absolute values where `absolute` is set.
  llvm::Expected<std::vector<runtime::Array>>
  makeReferenceRun(const Signature &reference, bool absolute) const;

private:
  std::vector<runtime::Argument> arguments;
  llvm::BitVector empty;
};

struct ExampleData {
  std::optional<ExampleArguments> arguments;
  bool hasReference = false;
  std::vector<runtime::Array> reference, magnitudes;
};

} // namespace tile::driver

#endif // TILE_DRIVER_EXAMPLEARGUMENTS_H
