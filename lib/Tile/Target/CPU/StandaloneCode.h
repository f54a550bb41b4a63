//===- StandaloneCode.h - Code that needs no compiler around it -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_STANDALONECODE_H
#define TILE_TARGET_CPU_STANDALONECODE_H

#include "Tile/Target/CPU/CFunction.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace tile::cpu {

/// Defines `const char *name(...)` in terms of the C wrapper that MLIR made for
/// `function`. It checks what the code relies on and gives null, or the first
/// message of what went wrong.
llvm::Error addCForm(llvm::Module &module, const CFunction &function);

/// Defines what generated code calls and the JIT would provide: reports go to
/// the call they belong to, prints to stdout.
void addRuntime(llvm::Module &module);

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_STANDALONECODE_H
