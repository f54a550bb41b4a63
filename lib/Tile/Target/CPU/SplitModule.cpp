//===- SplitModule.cpp - Parts of a module to compile at once ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each launch is a function of its own, as are the ops that several share; all
// are called seldom and too large to be inlined, so that nothing is lost where
// their callers are compiled elsewhere. Constants are cheaper to have in each
// part that names them than to share.
//
//===----------------------------------------------------------------------===//

#include "SplitModule.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

/// Instructions of a part, below which what each part costs outweighs what it
/// saves.
static constexpr size_t kPartSize = 1500;
static constexpr size_t kMaxParts = 4;

/// Constants that nobody compares the address of.
static bool isCopied(const GlobalValue &value) {
  auto *variable = dyn_cast<GlobalVariable>(&value);
  return variable && variable->isConstant() && variable->hasLocalLinkage();
}

SmallVector<SmallVector<char, 0>> tile::cpu::splitModule(Module &module) {
  SmallVector<Function *> functions;
  SmallVector<std::pair<size_t, size_t>> bySize;
  size_t total = 0;
  for (Function &function : module)
    if (!function.isDeclaration()) {
      size_t size = function.getInstructionCount();
      bySize.emplace_back(size, functions.size());
      functions.push_back(&function);
      total += size;
    }
  size_t count = std::min(total / kPartSize, kMaxParts);
  if (count < 2)
    return {};

  // The largest first, each to the part that has the least.
  llvm::sort(bySize, std::greater<>());
  SmallVector<size_t> sizes(count);
  DenseMap<const GlobalValue *, size_t> places;
  for (auto [size, number] : bySize) {
    size_t least = llvm::min_element(sizes) - sizes.begin();
    sizes[least] += size;
    places[functions[number]] = least;
  }
  for (GlobalValue &value : module.global_values()) {
    if (value.isDeclaration() || isCopied(value) || !value.hasLocalLinkage())
      continue;
    // A name that neither the process nor the C library has.
    value.setName("_tile_part_" + value.getName());
    value.setLinkage(GlobalValue::ExternalLinkage);
    // Objects may come to lie anywhere in memory.
    value.setDSOLocal(false);
  }

  SmallVector<SmallVector<char, 0>> parts;
  for (size_t part = 0; part < count; ++part) {
    ValueToValueMapTy map;
    std::unique_ptr<Module> copy =
        CloneModule(module, map, [&](const GlobalValue *value) {
          return isCopied(*value) || places.lookup(value) == part;
        });
    raw_svector_ostream stream(parts.emplace_back());
    WriteBitcodeToFile(*copy, stream);
  }
  return parts;
}
