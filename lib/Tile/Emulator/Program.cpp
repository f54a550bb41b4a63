//===- Program.cpp - PTX as parsed -----------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of types and spellings of instructions, for parsing and for reports.
//===----------------------------------------------------------------------===//
#include "Program.h"

using namespace tile::emulator::ptx;

std::optional<Type> tile::emulator::ptx::parseTypeName(llvm::StringRef name) {
#define PTX_TYPE(word, cls, bits, lanes)                                       \
  if (name == #word)                                                           \
    return Type{TypeClass::cls, bits, lanes};
#include "Types.def"
  return std::nullopt;
}

std::string tile::emulator::ptx::typeName(Type type) {
#define PTX_TYPE(word, cls, width, count)                                      \
  if (type == Type{TypeClass::cls, width, count})                              \
    return #word;
#include "Types.def"
  return "?";
}

std::string Instruction::spelled() const {
  std::string text = opcode.str();
  for (llvm::StringRef modifier : modifiers)
    text += "." + modifier.str();
  return text;
}

const Function *Program::findEntry(llvm::StringRef name) const {
  for (const Function &function : functions)
    if (function.isEntry && function.hasBody && function.name == name)
      return &function;
  return nullptr;
}

int Program::findFunction(llvm::StringRef name) const {
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == name)
      return static_cast<int>(i);
  return -1;
}
