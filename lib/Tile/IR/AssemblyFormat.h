//===- AssemblyFormat.h - Pieces of assembly that ops share -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsers and printers for the parts of the ops' assembly that ODS does not
// know: index lists that mix constants and values, a number that is a constant
// or a value, a region whose arguments are named in front of it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_ASSEMBLYFORMAT_H
#define TILE_IR_ASSEMBLYFORMAT_H

#include "Tile/IR/TileDialect.h"
#include "mlir/IR/DialectImplementation.h"

namespace tile {

using Operands = llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;

/// `(%i, %j)`: names for index block arguments.
mlir::ParseResult parseIndexArguments(
    mlir::OpAsmParser &parser,
    llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &arguments);
void printIndexArguments(mlir::OpAsmPrinter &printer, mlir::Block &body);

/// `64, %n, 8` between `open` and `close`; values go to `operands`, and a
/// dynamic marker takes their place in `constants`.
mlir::ParseResult parseMixedIndices(mlir::OpAsmParser &parser,
                                    mlir::AsmParser::Delimiter delimiter,
                                    Operands &operands,
                                    llvm::SmallVectorImpl<int64_t> &constants);
void printMixedIndices(mlir::OpAsmPrinter &printer, mlir::ValueRange values,
                       llvm::ArrayRef<int64_t> constants);

/// `(128)` or `(%threads)`.
mlir::ParseResult
parseConstantOrValue(mlir::OpAsmParser &parser,
                     std::optional<mlir::OpAsmParser::UnresolvedOperand> &value,
                     mlir::IntegerAttr &constant);
void printConstantOrValue(mlir::OpAsmPrinter &printer, mlir::Value value,
                          std::optional<uint64_t> constant);

/// `raster(row, 8)` where it is given; a group of one is left out.
mlir::ParseResult parseOptionalRaster(mlir::OpAsmParser &parser,
                                      RasterAttr &raster);
void printOptionalRaster(mlir::OpAsmPrinter &printer, RasterAttr raster);

// Directives of the declarative formats.

/// An enumeration's bare keyword.
template <typename Attr>
mlir::ParseResult parseChoice(mlir::OpAsmParser &parser, Attr &attribute) {
  using Enum = decltype(attribute.getValue());
  mlir::FailureOr<Enum> value = mlir::FieldParser<Enum>::parse(parser);
  if (failed(value))
    return mlir::failure();
  attribute = Attr::get(parser.getContext(), *value);
  return mlir::success();
}
template <typename Attr>
void printChoice(mlir::OpAsmPrinter &printer, mlir::Operation *,
                 Attr attribute) {
  printer << attribute.getValue();
}

mlir::ParseResult parseTileOf(mlir::OpAsmParser &parser, Operands &offsets,
                              mlir::DenseI64ArrayAttr &staticOffsets,
                              mlir::DenseI64ArrayAttr &sizes);
void printTileOf(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 mlir::OperandRange offsets,
                 mlir::DenseI64ArrayAttr staticOffsets,
                 mlir::DenseI64ArrayAttr sizes);
mlir::ParseResult parseChoices(mlir::OpAsmParser &parser,
                               mlir::DenseI64ArrayAttr &choices);
void printChoices(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::DenseI64ArrayAttr choices);

} // namespace tile

#endif // TILE_IR_ASSEMBLYFORMAT_H
