//===- NpyHeader.cpp - The header of a .npy file --------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpyHeader.h"

#include <algorithm>
#include <charconv>

using namespace tile::runtime;

namespace {

/// Reads the little of Python's syntax that NumPy writes.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Result<NpyHeader> parse();

private:
  void skipSpace() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\n' ||
            text[position] == '\t' || text[position] == '\r'))
      ++position;
  }
  bool consume(std::string_view token) {
    skipSpace();
    if (text.substr(position, token.size()) != token)
      return false;
    position += token.size();
    return true;
  }
  Error expected(const std::string &what) const {
    return {"bad header: expected " + what + " at byte " +
            std::to_string(position) + " of the dictionary"};
  }

  Result<std::string> parseString();
  Result<bool> parseBool();
  Result<Shape> parseShape();

  std::string_view text;
  size_t position = 0;
};

} // namespace

Result<std::string> HeaderParser::parseString() {
  skipSpace();
  if (position == text.size() ||
      (text[position] != '\'' && text[position] != '"'))
    return expected("a string");
  char quote = text[position];
  size_t end = text.find(quote, position + 1);
  if (end == std::string_view::npos)
    return expected("a string with an end");
  std::string value(text.substr(position + 1, end - position - 1));
  position = end + 1;
  return value;
}

Result<bool> HeaderParser::parseBool() {
  if (consume("True"))
    return true;
  if (consume("False"))
    return false;
  return expected("True or False");
}

Result<Shape> HeaderParser::parseShape() {
  if (!consume("("))
    return expected("a tuple of extents");
  Shape shape;
  while (!consume(")")) {
    skipSpace();
    int64_t extent = 0;
    const char *begin = text.data() + position;
    auto [end, code] =
        std::from_chars(begin, text.data() + text.size(), extent);
    if (code == std::errc::result_out_of_range)
      return Error{"bad header: an extent does not fit in 63 bits"};
    if (code != std::errc() || extent < 0)
      return expected("an extent that is not negative");
    position += size_t(end - begin);
    shape.push_back(extent);
    // Python 2 wrote long integers with a suffix.
    consume("L");
    if (!consume(",") && text.substr(position, 1) != ")")
      return expected("',' or ')'");
  }
  return shape;
}

Result<NpyHeader> HeaderParser::parse() {
  if (!consume("{"))
    return expected("'{'");
  NpyHeader header;
  bool hasDescr = false, hasOrder = false, hasShape = false;
  while (!consume("}")) {
    Result<std::string> key = parseString();
    if (!key)
      return key.error();
    if (!consume(":"))
      return expected("':'");
    if (*key == "descr" && !hasDescr) {
      skipSpace();
      if (text.substr(position, 1) == "[")
        return Error{"its elements are records; an array of one number an "
                     "element is needed"};
      Result<std::string> value = parseString();
      if (!value)
        return value.error();
      header.descr = std::move(*value);
      hasDescr = true;
    } else if (*key == "fortran_order" && !hasOrder) {
      Result<bool> value = parseBool();
      if (!value)
        return value.error();
      header.isFortranOrder = *value;
      hasOrder = true;
    } else if (*key == "shape" && !hasShape) {
      Result<Shape> value = parseShape();
      if (!value)
        return value.error();
      header.shape = std::move(*value);
      hasShape = true;
    } else {
      return Error{"bad header: unknown or repeated key '" +
                   key->substr(0, 32) + "'"};
    }
    skipSpace();
    if (!consume(",") && text.substr(position, 1) != "}")
      return expected("',' or '}'");
  }
  skipSpace();
  if (position != text.size())
    return expected("the end");
  if (!hasDescr || !hasOrder || !hasShape)
    return Error{"bad header: one of descr, fortran_order and shape is "
                 "missing"};
  return header;
}

Result<NpyHeader> tile::runtime::parseNpyHeader(std::string_view text) {
  return HeaderParser(text).parse();
}

Result<std::string> tile::runtime::printNpyHeader(const NpyHeader &header) {
  std::string text = "{'descr': '" + header.descr + "', 'fortran_order': " +
                     (header.isFortranOrder ? "True" : "False") +
                     ", 'shape': (";
  for (size_t i = 0; i < header.shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(header.shape[i]);
  text += header.shape.size() == 1 ? ",), }" : "), }";
  // Ten bytes come before the text, a line feed ends it; data is aligned to 64.
  text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  if (text.size() > 0xFFFF)
    return Error{"an array of rank " + std::to_string(header.shape.size()) +
                 " has too many dimensions for a .npy file"};
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += char(text.size() & 0xFF);
  prefix += char(text.size() >> 8);
  return prefix + text;
}
