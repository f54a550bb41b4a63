//===- Places.cpp - Where in a program something stands ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/Places.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

std::string tile::describePlace(Location loc) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return text;
  for (char c : file.getFilename().getValue())
    stream << (c == '\n' || c == '\r' || c == '\0' ? '?' : c);
  stream << ':' << file.getLine() << ':' << file.getColumn() << ": ";
  return text;
}
