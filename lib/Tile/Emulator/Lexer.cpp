//===- Lexer.cpp - Words of a PTX text -------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Lexer.h. Number forms are those of the PTX ISA, section "Constants".
//===----------------------------------------------------------------------===//
#include "Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <string>

using namespace tile::emulator::ptx;
using llvm::StringRef;

static bool isNameStart(char c) {
  return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%';
}
static bool isNamePart(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$';
}

void Lexer::skipBlanks() {
  while (position < text.size()) {
    char c = text[position];
    if (c == '\n') {
      ++line;
      ++position;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++position;
    } else if (c == '/' && text.substr(position).starts_with("//")) {
      position = text.find('\n', position);
      if (position == StringRef::npos)
        position = text.size();
    } else if (c == '/' && text.substr(position).starts_with("/*")) {
      size_t end = text.find("*/", position + 2);
      StringRef comment = text.slice(position, end);
      line += comment.count('\n');
      position = end == StringRef::npos ? text.size() : end + 2;
    } else {
      return;
    }
  }
}

Token Lexer::number(Token token) {
  StringRef rest = text.substr(position);
  auto finish = [&](Token::Kind kind, size_t length) {
    token.kind = kind;
    token.text = rest.take_front(length);
    position += length;
    return token;
  };
  // 0f and 0d: the bits of the value, in hexadecimal.
  if (rest.size() > 1 && rest[0] == '0' &&
      (rest[1] == 'f' || rest[1] == 'F' || rest[1] == 'd' || rest[1] == 'D')) {
    bool single = rest[1] == 'f' || rest[1] == 'F';
    size_t digits = 0;
    while (2 + digits < rest.size() && llvm::isHexDigit(rest[2 + digits]))
      ++digits;
    if (digits != (single ? 8u : 16u) ||
        rest.substr(2, digits).getAsInteger(16, token.value))
      return finish(Token::Kind::Error, 2 + digits);
    token.isSingle = single;
    return finish(Token::Kind::Float, 2 + digits);
  }
  size_t length = 0;
  bool isFloat = false;
  bool isHex = rest.starts_with("0x") || rest.starts_with("0X");
  if (isHex)
    length = 2;
  while (length < rest.size()) {
    char c = rest[length];
    if (!isHex && (c == '.' || c == 'e' || c == 'E') &&
        (c != '.' ||
         (length + 1 < rest.size() && llvm::isDigit(rest[length + 1])))) {
      isFloat = true;
      ++length;
      if (c != '.' && length < rest.size() &&
          (rest[length] == '+' || rest[length] == '-'))
        ++length;
    } else if (isHex ? llvm::isHexDigit(c)
                     : llvm::isDigit(c) || (length == 1 && rest[0] == '0' &&
                                            (c == 'b' || c == 'B'))) {
      ++length;
    } else {
      break;
    }
  }
  if (isFloat) {
    double value;
    if (rest.take_front(length).getAsDouble(value))
      return finish(Token::Kind::Error, length);
    std::memcpy(&token.value, &value, sizeof value);
    return finish(Token::Kind::Float, length);
  }
  StringRef digits = rest.take_front(length);
  bool bad;
  if (isHex)
    bad = digits.substr(2).getAsInteger(16, token.value);
  else if (digits.starts_with("0b") || digits.starts_with("0B"))
    bad = digits.substr(2).getAsInteger(2, token.value);
  else if (digits.size() > 1 && digits[0] == '0')
    bad = digits.getAsInteger(8, token.value);
  else
    bad = digits.getAsInteger(10, token.value);
  if (!bad && length < rest.size() && rest[length] == 'U')
    ++length;
  return finish(bad ? Token::Kind::Error : Token::Kind::Integer, length);
}

Token Lexer::next() {
  skipBlanks();
  Token token;
  token.line = line;
  if (position >= text.size())
    return token;
  char c = text[position];
  size_t start = position;
  if (isNameStart(c)) {
    token.kind = Token::Kind::Word;
    while (++position < text.size() && isNamePart(text[position]))
      ;
    token.text = text.slice(start, position);
    if (token.text == "%")
      token.kind = Token::Kind::Error;
    return token;
  }
  if (llvm::isDigit(c))
    return number(token);
  if (c == '.' && start + 1 < text.size() && isNamePart(text[start + 1])) {
    token.kind = Token::Kind::Dotted;
    ++position;
    while (position < text.size()) {
      if (isNamePart(text[position]))
        ++position;
      else if (text.substr(position).starts_with("::"))
        position += 2;
      else
        break;
    }
    token.text = text.slice(start + 1, position);
    return token;
  }
  if (c == '"') {
    size_t end = start + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n')
      end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size() || text[end] != '"') {
      token.kind = Token::Kind::Error;
      position = std::min(end, text.size());
      token.text = text.slice(start, position);
      return token;
    }
    token.kind = Token::Kind::String;
    token.text = text.slice(start + 1, end);
    position = end + 1;
    return token;
  }
  ++position;
  token.text = text.substr(start, 1);
  token.kind = std::strchr(",;:[]{}()<>+-*/@!=|&^~?", c) && c
                   ? Token::Kind::Mark
                   : Token::Kind::Error;
  return token;
}
