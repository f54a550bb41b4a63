//===- Lexer.h - Words of a PTX text ---------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts PTX into tokens. A dot and the word behind it are one token (`.f32`,
// `.mbarrier::complete_tx::bytes`, `.2d`), since directives, modifiers and
// components all look alike and only the parser knows which is meant. Never
// fails: what is no token is an Error token with its text.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_LEXER_H
#define TILE_LIB_EMULATOR_LEXER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tile::emulator::ptx {

struct Token {
  enum class Kind : uint8_t {
    End,
    Word,    // name, %r1, $L1, _
    Dotted,  // .word; text without the dot
    Integer, // value
    Float,   // value holds the bits of a double, or of a float if isSingle
    String,  // text without the quotes
    Mark,    // one character of punctuation
    Error
  };
  Kind kind = Kind::End;
  bool isSingle = false;
  llvm::StringRef text;
  uint64_t value = 0;
  unsigned line = 1;

  bool is(char mark) const { return kind == Kind::Mark && text[0] == mark; }
  bool isDotted(llvm::StringRef word) const {
    return kind == Kind::Dotted && text == word;
  }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : text(text) {}
  Token next();

private:
  void skipBlanks();
  Token number(Token token);

  llvm::StringRef text;
  size_t position = 0;
  unsigned line = 1;
};

} // namespace tile::emulator::ptx

#endif // TILE_LIB_EMULATOR_LEXER_H
