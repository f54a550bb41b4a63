//===- AssemblyFormat.cpp - Pieces of assembly that ops share ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"

using namespace mlir;

namespace tile {

ParseResult
parseIndexArguments(OpAsmParser &parser,
                    SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getIndexType();
  return success();
}

void printIndexArguments(OpAsmPrinter &printer, Block &body) {
  printer << '(';
  llvm::interleaveComma(body.getArguments(), printer,
                        [&](BlockArgument arg) { printer.printOperand(arg); });
  printer << ')';
}

ParseResult parseMixedIndices(OpAsmParser &parser,
                              AsmParser::Delimiter delimiter,
                              Operands &operands,
                              SmallVectorImpl<int64_t> &constants) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult value = parser.parseOptionalOperand(operand);
    if (value.has_value()) {
      if (failed(*value))
        return failure();
      operands.push_back(operand);
      constants.push_back(ShapedType::kDynamic);
      return success();
    }
    int64_t constant;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(constant))
      return failure();
    if (constant == ShapedType::kDynamic)
      return parser.emitError(loc, "integer is out of range");
    constants.push_back(constant);
    return success();
  });
}

void printMixedIndices(OpAsmPrinter &printer, ValueRange values,
                       ArrayRef<int64_t> constants) {
  unsigned next = 0;
  llvm::interleaveComma(constants, printer, [&](int64_t constant) {
    if (ShapedType::isDynamic(constant))
      printer.printOperand(values[next++]);
    else
      printer << constant;
  });
}

ParseResult
parseConstantOrValue(OpAsmParser &parser,
                     std::optional<OpAsmParser::UnresolvedOperand> &value,
                     IntegerAttr &constant) {
  if (parser.parseLParen())
    return failure();
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed = parser.parseOptionalOperand(operand);
  if (parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    value = operand;
  } else {
    int64_t number;
    if (parser.parseInteger(number))
      return failure();
    constant = parser.getBuilder().getI64IntegerAttr(number);
  }
  return parser.parseRParen();
}

void printConstantOrValue(OpAsmPrinter &printer, Value value,
                          std::optional<uint64_t> constant) {
  printer << '(';
  if (value)
    printer.printOperand(value);
  else
    printer << *constant;
  printer << ')';
}

ParseResult parseOptionalRaster(OpAsmParser &parser, RasterAttr &raster) {
  if (failed(parser.parseOptionalKeyword("raster")))
    return success();
  int64_t group = 1;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen())
    return failure();
  FailureOr<RasterOrder> order = FieldParser<RasterOrder>::parse(parser);
  if (failed(order) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseInteger(group)) ||
      parser.parseRParen())
    return failure();
  raster =
      parser.getChecked<RasterAttr>(loc, parser.getContext(), *order, group);
  return success(!!raster);
}

void printOptionalRaster(OpAsmPrinter &printer, RasterAttr raster) {
  if (!raster)
    return;
  printer << " raster(" << raster.getOrder();
  if (raster.getGroup() != 1)
    printer << ", " << raster.getGroup();
  printer << ')';
}

ParseResult parseTileOf(OpAsmParser &parser, Operands &offsets,
                        DenseI64ArrayAttr &staticOffsets,
                        DenseI64ArrayAttr &sizes) {
  SmallVector<int64_t> constants, extents;
  if (parseMixedIndices(parser, AsmParser::Delimiter::OptionalSquare, offsets,
                        constants))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("sizes"))) {
    auto parseExtent = [&]() -> ParseResult {
      return parser.parseInteger(extents.emplace_back());
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parseExtent))
      return failure();
  }
  staticOffsets = parser.getBuilder().getDenseI64ArrayAttr(constants);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(extents);
  return success();
}

void printTileOf(OpAsmPrinter &printer, Operation *, OperandRange offsets,
                 DenseI64ArrayAttr staticOffsets, DenseI64ArrayAttr sizes) {
  if (!staticOffsets.empty()) {
    printer << '[';
    printMixedIndices(printer, offsets, staticOffsets);
    printer << ']';
  }
  if (!sizes.empty()) {
    printer << " sizes [";
    llvm::interleaveComma(sizes.asArrayRef(), printer);
    printer << ']';
  }
}

/// The step of an arithmetic progression long enough to be worth a range.
static std::optional<int64_t> getRangeStep(ArrayRef<int64_t> values) {
  if (values.size() < 4)
    return std::nullopt;
  int64_t step = values[1] - values[0];
  if (step <= 0)
    return std::nullopt;
  for (size_t i = 2; i < values.size(); ++i)
    if (values[i] - values[i - 1] != step)
      return std::nullopt;
  return step;
}

ParseResult parseChoices(OpAsmParser &parser, DenseI64ArrayAttr &choices) {
  SmallVector<int64_t> values;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("range"))) {
    int64_t first, last, step;
    if (parser.parseLParen() || parser.parseInteger(first) ||
        parser.parseComma() || parser.parseInteger(last) ||
        parser.parseComma() || parser.parseInteger(step) ||
        parser.parseRParen())
      return failure();
    constexpr int64_t limit = 4096;
    if (step <= 0 || first < 0 || last < first ||
        (last - first) / step >= limit)
      return parser.emitError(loc)
             << "expected range(first, last, step) with 0 <= first <= last, a "
                "positive step and at most "
             << limit << " values";
    for (int64_t value = first; value <= last && value >= first; value += step)
      values.push_back(value);
  } else if (parser.parseCommaSeparatedList(
                 AsmParser::Delimiter::Square, [&]() -> ParseResult {
                   return parser.parseInteger(values.emplace_back());
                 })) {
    return failure();
  }
  choices = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

void printChoices(OpAsmPrinter &printer, Operation *,
                  DenseI64ArrayAttr choices) {
  ArrayRef<int64_t> values = choices;
  if (std::optional<int64_t> step = getRangeStep(values)) {
    printer << "range(" << values.front() << ", " << values.back() << ", "
            << *step << ')';
    return;
  }
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

} // namespace tile
