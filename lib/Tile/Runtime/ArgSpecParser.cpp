//===- ArgSpecParser.cpp - Argument specifications as text ----------------===//
//-*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing and printing. One table holds the names of the contents and how many
// parameters each takes.
//
//===----------------------------------------------------------------------===//

#include "Cursor.h"
#include "Tile/Runtime/ArgSpec.h"

#include <algorithm>
#include <charconv>
#include <set>

using namespace tile::runtime;

using Content = ArraySpec::Content;

namespace {

struct ContentInfo {
  Content content;
  std::string_view name;
  size_t minParameters;
  size_t maxParameters;
  /// Without any although some are possible.
  bool hasDefault;
  std::string_view usage;
};

constexpr size_t anyNumber = size_t(-1);

constexpr ContentInfo contents[] = {
    {Content::Empty, "empty", 0, 0, true, "empty:4xf32"},
    {Content::Zeros, "zeros", 0, 0, true, "zeros:4xf32"},
    {Content::Ones, "ones", 0, 0, true, "ones:4xf32"},
    {Content::Full, "full", 1, 1, false, "full(0.5):4xf32"},
    {Content::Iota, "iota", 0, 0, true, "iota:4xf32"},
    {Content::Uniform, "uniform", 2, 2, true, "uniform(-1,1):4xf32"},
    {Content::Randn, "randn", 2, 2, true, "randn(0,1):4xf32"},
    {Content::Randint, "randint", 2, 2, false, "randint(0,10):4xi32"},
    {Content::Values, "values", 1, anyNumber, false, "values(0,5,12,20):4xi32"},
};

class SpecParser {
public:
  explicit SpecParser(Cursor &cursor) : cursor(cursor) {}

  std::optional<ArraySpec> parse(const ContentInfo &info);

private:
  bool parseList(std::vector<Expr> &list, char end);
  bool parseParameters(const ContentInfo &info, ArraySpec &spec);
  bool parseType(ArraySpec &spec);
  bool parseDimension(ArraySpec &spec);
  bool parseOption(ArraySpec &spec);

  Cursor &cursor;
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

} // namespace

static std::string joinContentNames() {
  std::string text;
  for (const ContentInfo &info : contents)
    text += (text.empty() ? "" : ", ") + std::string(info.name);
  return text;
}

bool SpecParser::parseList(std::vector<Expr> &list, char end) {
  do {
    std::optional<Expr> expr = parseExpr(cursor);
    if (!expr)
      return false;
    list.push_back(*expr);
    cursor.skipSpace();
  } while (cursor.consume(','));
  if (!end || cursor.consume(end))
    return true;
  cursor.failExpected(std::string("',' or '") + end + "'");
  return false;
}

bool SpecParser::parseParameters(const ContentInfo &info, ArraySpec &spec) {
  size_t start = cursor.getPosition();
  bool isGiven = cursor.consume('(');
  if (isGiven && !parseList(spec.parameters, ')'))
    return false;
  if (!isGiven && info.hasDefault)
    return true;
  size_t count = spec.parameters.size();
  if (count >= info.minParameters && count <= info.maxParameters)
    return true;
  std::string needed = info.maxParameters == anyNumber ? "at least one value"
                       : info.maxParameters == 0       ? "no parameters"
                       : info.maxParameters == 1
                           ? "one parameter"
                           : std::to_string(info.maxParameters) + " parameters";
  cursor.fail(start, "'" + std::string(info.name) + "' takes " + needed +
                         ", as in " + std::string(info.usage));
  return false;
}

/// One extent; the cursor stands at a digit, a name or a parenthesis.
bool SpecParser::parseDimension(ArraySpec &spec) {
  size_t start = cursor.getPosition();
  if (cursor.consume('(')) {
    std::optional<Expr> expr = parseExpr(cursor);
    if (!expr)
      return false;
    cursor.skipSpace();
    if (!cursor.consume(')')) {
      cursor.failExpected("')'");
      return false;
    }
    spec.shape.push_back(*expr);
    return true;
  }
  if (isDigit(cursor.peek())) {
    // Digits only: an exponent or a point would make 4e2x8 or 4.x8 extents.
    std::string_view rest = cursor.rest();
    int64_t extent = 0;
    auto [end, code] =
        std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (code != std::errc()) {
      cursor.fail("this extent does not fit in 63 bits");
      return false;
    }
    cursor.setPosition(start + size_t(end - rest.data()));
    spec.shape.push_back(Expr::constant(extent));
    return true;
  }
  std::optional<Expr> expr = parseExpr(cursor);
  if (!expr)
    return false;
  spec.shape.push_back(*expr);
  return true;
}

bool SpecParser::parseType(ArraySpec &spec) {
  while (true) {
    size_t start = cursor.getPosition();
    std::string_view name = cursor.takeName();
    if (!name.empty() && cursor.peek() != '[') {
      std::optional<DType> type = parseDType(name);
      if (type) {
        spec.type = *type;
        return true;
      }
      std::string message = "'" + std::string(name) +
                            "' is no element type; there are " +
                            std::string(getDTypeNames());
      // A bare scalar would run into the x that follows it.
      if (cursor.peek() == '(' || name.find('x') != std::string_view::npos)
        message += " (an extent that is an expression stands in parentheses, "
                   "as in (N)x64xf16)";
      cursor.fail(start, std::move(message));
      return false;
    }
    cursor.setPosition(start);
    if (name.empty() && !isDigit(cursor.peek()) && cursor.peek() != '(') {
      cursor.failExpected("an extent or an element type");
      return false;
    }
    if (!name.empty()) {
      // NAME[i] alone, so that an operator needs parentheses and x separates.
      size_t close = cursor.rest().find(']');
      Result<Expr> expr = Expr::parse(cursor.rest().substr(
          0, close == std::string_view::npos ? close : close + 1));
      if (!expr || expr->getKind() != Expr::Kind::Extent) {
        cursor.setPosition(start + name.size());
        cursor.consume('[');
        cursor.failExpected("the number of a dimension and ']'");
        return false;
      }
      spec.shape.push_back(*expr);
      cursor.setPosition(start + close + 1);
    } else if (!parseDimension(spec)) {
      return false;
    }
    if (!cursor.consume('x')) {
      cursor.failExpected("'x' and a further extent or the element type");
      return false;
    }
  }
}

bool SpecParser::parseOption(ArraySpec &spec) {
  size_t start = cursor.getPosition();
  std::string_view name = cursor.takeName();
  if ((name != "strides" && name != "offset") || !cursor.consume('=')) {
    cursor.setPosition(start);
    cursor.fail(start, "expected strides=... or offset=... (in elements)");
    return false;
  }
  if (name == "strides") {
    if (!spec.strides.empty() || spec.offset) {
      cursor.fail(start, "strides stand once, before the offset");
      return false;
    }
    if (!parseList(spec.strides, 0))
      return false;
    if (spec.strides.size() != spec.shape.size()) {
      cursor.fail(start, std::to_string(spec.strides.size()) + " strides for " +
                             std::to_string(spec.shape.size()) +
                             " dimensions; one a dimension is needed");
      return false;
    }
    return true;
  }
  if (spec.offset) {
    cursor.fail(start, "a second offset");
    return false;
  }
  spec.offset = parseExpr(cursor);
  cursor.skipSpace();
  return spec.offset.has_value();
}

std::optional<ArraySpec> SpecParser::parse(const ContentInfo &info) {
  ArraySpec spec;
  spec.content = info.content;
  if (!parseParameters(info, spec))
    return std::nullopt;
  if (!cursor.consume(':'))
    return cursor.failExpected("':' and a type, as in " +
                               std::string(info.usage));
  if (!parseType(spec))
    return std::nullopt;
  while (cursor.consume(':'))
    if (!parseOption(spec))
      return std::nullopt;
  if (!cursor.atEnd())
    return cursor.failExpected("the end, ':strides=' or ':offset='");
  return spec;
}

Result<ArgSpec> tile::runtime::parseArgSpec(std::string_view text) {
  constexpr std::string_view suffix = ".npy";
  if (text.size() >= suffix.size() &&
      text.substr(text.size() - suffix.size()) == suffix)
    return ArgSpec(FileSpec{std::string(text)});

  Cursor cursor(text);
  std::string_view name = cursor.takeName();
  for (const ContentInfo &info : contents) {
    if (info.name != name)
      continue;
    std::optional<ArraySpec> spec = SpecParser(cursor).parse(info);
    if (!spec)
      return cursor.getError();
    return ArgSpec(std::move(*spec));
  }
  if (text.find(':') != std::string_view::npos) {
    cursor.fail(0, "expected one of " + joinContentNames() + " before ':'");
    return cursor.getError();
  }
  cursor.setPosition(0);
  std::optional<Expr> value = parseExpr(cursor);
  cursor.skipSpace();
  if (value && cursor.atEnd())
    return ArgSpec(ScalarSpec{*value});
  if (value)
    cursor.failExpected("an operator");
  Error error = cursor.getError();
  error.message += "\nan argument is an array such as randn:64x64xf16 (" +
                   joinContentNames() +
                   "), a file that ends in .npy, or a scalar such as 3, 1.5 "
                   "or A[0]";
  return error;
}

//===----------------------------------------------------------------------===//
// Printing and names
//===----------------------------------------------------------------------===//

static std::string join(const std::vector<Expr> &list) {
  std::string text;
  for (const Expr &expr : list)
    text += (text.empty() ? "" : ",") + expr.print();
  return text;
}

static std::string printDimension(const Expr &extent) {
  if (extent.getKind() == Expr::Kind::Extent)
    return extent.print();
  if (std::optional<Number> value = extent.getConstant())
    if (const int64_t *integer = std::get_if<int64_t>(&*value);
        integer && *integer >= 0)
      return std::to_string(*integer);
  return "(" + extent.print() + ")";
}

static std::string print(const ArraySpec &spec) {
  std::string text;
  for (const ContentInfo &info : contents)
    if (info.content == spec.content)
      text = info.name;
  if (!spec.parameters.empty())
    text += "(" + join(spec.parameters) + ")";
  text += ":";
  for (const Expr &extent : spec.shape)
    text += printDimension(extent) + "x";
  text += getName(spec.type);
  if (!spec.strides.empty())
    text += ":strides=" + join(spec.strides);
  if (spec.offset)
    text += ":offset=" + spec.offset->print();
  return text;
}

std::string tile::runtime::print(const ArgSpec &spec) {
  if (const auto *array = std::get_if<ArraySpec>(&spec))
    return ::print(*array);
  if (const auto *file = std::get_if<FileSpec>(&spec))
    return file->path;
  return std::get_if<ScalarSpec>(&spec)->value.print();
}

std::vector<std::string> tile::runtime::getNames(const ArgSpec &spec) {
  std::set<std::string> names;
  auto add = [&](const std::vector<Expr> &list) {
    for (const Expr &expr : list)
      for (std::string &name : expr.getNames())
        names.insert(std::move(name));
  };
  if (const auto *array = std::get_if<ArraySpec>(&spec)) {
    add(array->parameters);
    add(array->shape);
    add(array->strides);
    if (array->offset)
      add({*array->offset});
  } else if (const auto *scalar = std::get_if<ScalarSpec>(&spec)) {
    add({scalar->value});
  }
  return {names.begin(), names.end()};
}
