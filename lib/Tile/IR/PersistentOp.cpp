//===- PersistentOp.cpp - Tiles shared among blocks ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

LogicalResult RasterAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 RasterOrder, int64_t group) {
  // raster-c1
  if (group < 1)
    return emitError() << "expects a group of one or more, got " << group;
  return success();
}

void PersistentOp::getAsmBlockArgumentNames(Region &region,
                                            OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral names[] = {"ti", "tj", "tk"};
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

ParseResult PersistentOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> ids;
  SmallVector<OpAsmParser::UnresolvedOperand> tiles;
  RasterAttr raster;
  if (parseIndexArguments(parser, ids) || parser.parseKeyword("in") ||
      parser.parseOperandList(tiles, OpAsmParser::Delimiter::Paren) ||
      parseOptionalRaster(parser, raster))
    return failure();
  if (raster)
    result.addAttribute(getRasterAttrName(result.name), raster);
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, ids))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return parser.resolveOperands(tiles, builder.getIndexType(), result.operands);
}

void PersistentOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printIndexArguments(printer, getBody().front());
  printer << " in (" << getTiles() << ')';
  printOptionalRaster(printer, getRasterAttr());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getRasterAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult PersistentOp::verify() {
  // persistent-c1
  size_t rank = getTiles().size();
  if (rank < 1 || rank > 3)
    return emitOpError("expects tiles of 1 to 3 dimensions, got ") << rank;
  // persistent-c2
  if (!isa_and_nonnull<LaunchOp>((*this)->getParentOp()))
    return emitOpError("must stand directly in a tile.launch, whose blocks "
                       "share the tiles");
  // persistent-c3
  if (getRaster() && rank < 2)
    return emitOpError("orders tiles of two or more dimensions by 'raster', "
                       "got one dimension");
  return success();
}

LogicalResult PersistentOp::verifyRegions() {
  // persistent-c4
  Block &body = getBody().front();
  if (body.getNumArguments() != getTiles().size() ||
      !llvm::all_of(body.getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("expects one index block argument for each of the ")
           << getTiles().size() << " dimensions";
  return success();
}

namespace {
struct EraseEmptyPersistent : OpRewritePattern<PersistentOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PersistentOp op,
                                PatternRewriter &rewriter) const override {
    bool empty = llvm::any_of(op.getTiles(), [](Value extent) {
      llvm::APInt value;
      return matchPattern(extent, m_ConstantInt(&value)) &&
             !value.isStrictlyPositive();
    });
    if (!empty && !llvm::hasSingleElement(op.getBody().front()))
      return rewriter.notifyMatchFailure(op, "box and body are not empty");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void PersistentOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<EraseEmptyPersistent>(context);
}
