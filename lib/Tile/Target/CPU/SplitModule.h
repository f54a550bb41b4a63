//===- SplitModule.h - Parts of a module to compile at once -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_SPLITMODULE_H
#define TILE_TARGET_CPU_SPLITMODULE_H

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Module;
} // namespace llvm

namespace tile::cpu {

/// Divides the functions of `module` among parts of about the same size and
/// gives these as bitcode; nothing where the module is too small for it.
/// Objects made of all parts link to the whole. What parts need of each other
/// becomes visible in `module`. The machine has no say in it, so that the code
/// is the same everywhere.
llvm::SmallVector<llvm::SmallVector<char, 0>> splitModule(llvm::Module &module);

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_SPLITMODULE_H
