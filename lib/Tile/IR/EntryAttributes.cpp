//===- EntryAttributes.cpp - What a function says of itself -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function may carry everything that it takes to run and judge it: names and
// default values of its arguments, a reference, the tolerance, its arithmetic
// cost. They are discardable attributes with rules of their own, checked here,
// so that a misspelt one is an error and not a silent nothing.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/EntryAttributes.h"
#include "EntrySpecs.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// ToleranceAttr
//===----------------------------------------------------------------------===//

Attribute ToleranceAttr::parse(AsmParser &parser, Type) {
  // Negative stands for "not given", which is also what the default of a part
  // other than the norm amounts to.
  double norm = -1, atol = 0, rtol = 0, products = 0;
  auto parsePart = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword) || parser.parseEqual())
      return failure();
    double *part = llvm::StringSwitch<double *>(keyword)
                       .Case("norm", &norm)
                       .Case("atol", &atol)
                       .Case("rtol", &rtol)
                       .Case("products", &products)
                       .Default(nullptr);
    if (!part)
      return parser.emitError(loc)
             << "expected norm, atol, rtol or products, got '" << keyword
             << "'";
    loc = parser.getCurrentLocation();
    if (parser.parseFloat(*part))
      return failure();
    if (!(*part >= 0))
      return parser.emitError(loc, "expected a tolerance of zero or more");
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parsePart))
    return {};
  return get(parser.getContext(), APFloat(norm), APFloat(atol), APFloat(rtol),
             APFloat(products));
}

void ToleranceAttr::print(AsmPrinter &printer) const {
  const char *separator = "";
  auto print = [&](StringRef name, double value, bool given) {
    if (!given)
      return;
    printer << separator << name << " = ";
    printer.printFloat(APFloat(value));
    separator = ", ";
  };
  printer << '<';
  print("norm", getNorm(), getNorm() >= 0);
  print("atol", getAtol(), getAtol() != 0);
  print("rtol", getRtol(), getRtol() != 0);
  print("products", getProducts(), getProducts() != 0);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Attributes of functions
//===----------------------------------------------------------------------===//

std::string tile::getArgumentName(FunctionOpInterface function,
                                  unsigned index) {
  if (auto name = function.getArgAttrOfType<StringAttr>(index, kArgumentName))
    return name.str();
  return std::to_string(index);
}

/// The reference computes the same outputs from the same inputs: argument by
/// argument the same rank, in an element type of its choice.
static bool namesAlias(FunctionOpInterface function, unsigned index,
                       unsigned other) {
  auto names = function.getArgAttrOfType<ArrayAttr>(index, kMayAlias);
  std::string name = getArgumentName(function, other);
  return names && llvm::any_of(names.getAsRange<StringAttr>(),
                               [&](StringAttr text) { return text == name; });
}

bool tile::mayAlias(FunctionOpInterface function, unsigned first,
                    unsigned second) {
  return namesAlias(function, first, second) ||
         namesAlias(function, second, first);
}

static LogicalResult verifyMayAlias(FunctionOpInterface function,
                                    unsigned index, Attribute attribute) {
  // entry-c15
  auto names = dyn_cast<ArrayAttr>(attribute);
  if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return function.emitOpError("expects 'tile.may_alias' of argument #")
           << index << " to be a list of arguments' names, as in [\"A\"]";
  // entry-c16
  auto isBuffer = [&](unsigned argument) {
    return isa<MemRefType>(function.getArgumentTypes()[argument]);
  };
  for (StringAttr name : names.getAsRange<StringAttr>()) {
    bool found = false;
    for (unsigned other = 0; other < function.getNumArguments(); ++other)
      found |= other != index && isBuffer(other) &&
               getArgumentName(function, other) == name.getValue();
    if (!found || !isBuffer(index))
      return function.emitOpError("expects 'tile.may_alias' of argument #")
             << index
             << " to name other buffers among the arguments of a buffer, got "
             << name;
  }
  return success();
}

static LogicalResult verifyReference(FunctionOpInterface function,
                                     FlatSymbolRefAttr symbol) {
  // entry-c3
  auto reference = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      function, symbol);
  if (!reference)
    return function.emitOpError("'tile.reference' names no function: ")
           << symbol;
  // entry-c4
  ArrayRef<Type> types = function.getArgumentTypes();
  ArrayRef<Type> others = reference.getArgumentTypes();
  if (types.size() != others.size())
    return function.emitOpError("expects 'tile.reference' to take the same ")
           << types.size() << " arguments, but " << symbol << " takes "
           << others.size();
  // entry-c5
  for (auto [index, type, other] : llvm::enumerate(types, others)) {
    auto memref = dyn_cast<MemRefType>(type);
    auto otherMemref = dyn_cast<MemRefType>(other);
    bool agrees = memref && otherMemref
                      ? memref.getRank() == otherMemref.getRank()
                      : type == other;
    if (!agrees)
      return function.emitOpError("expects argument #")
             << index << " of 'tile.reference' to be like its own, " << type
             << ", got " << other;
  }
  return success();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  StringRef name = attribute.getName();
  // entry-c1
  if (!function)
    return op->emitOpError("'") << name << "' belongs on a function";
  if (name == kReference) {
    // entry-c2
    auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue());
    if (!symbol)
      return op->emitOpError("expects '") << name << "' to name a function, as "
                                          << "in tile.reference = @reference";
    return verifyReference(function, symbol);
  }
  if (name == kTolerance) {
    // entry-c6
    if (!isa<ToleranceAttr>(attribute.getValue()))
      return op->emitOpError("expects '")
             << name << "' to be a #tile.tolerance<...>";
    return success();
  }
  if (name == kFlops || name == kBytes) {
    // entry-c7
    auto text = dyn_cast<StringAttr>(attribute.getValue());
    if (!text)
      return op->emitOpError("expects '")
             << name << "' to be an expression over the arguments, as in "
             << "\"2 * A[0] * A[1] * B[1]\"";
    return verifyCost(function, name, text);
  }
  // entry-c8
  return op->emitOpError("has an unknown attribute '")
         << name
         << "'; a function may carry tile.reference, tile.tolerance, "
            "tile.flops and tile.bytes";
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argIndex,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError("'") << name << "' belongs on a function's argument";
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (name == kArgumentName) {
    // entry-c9
    bool isIdentifier =
        text && !text.empty() && !llvm::isDigit(text.getValue()[0]) &&
        llvm::all_of(text.getValue(),
                     [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!isIdentifier)
      return op->emitOpError("expects 'tile.name' of argument #")
             << argIndex << " to be a string of letters, digits and '_' that "
             << "does not start with a digit";
    // entry-c10
    for (unsigned other = 0; other < argIndex; ++other)
      if (function.getArgAttr(other, kArgumentName) == text)
        return op->emitOpError(
                   "expects the names of arguments to differ, but #")
               << other << " and #" << argIndex << " are both " << text;
    return success();
  }
  if (name == kDefault) {
    // entry-c11
    if (!text)
      return op->emitOpError("expects 'tile.default' of argument #")
             << argIndex << " to be a specification, as in \"randn:64x32xf16\"";
    return verifyDefault(function, argIndex, text);
  }
  if (name == kMayAlias)
    return verifyMayAlias(function, argIndex, attribute.getValue());
  // entry-c12
  return op->emitOpError("has an unknown attribute '")
         << name << "' on argument #" << argIndex
         << "; an argument may carry tile.name, tile.default and "
            "tile.may_alias";
}
