//===- ComputeOps.cpp - Products, reductions, elementwise loops -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules, assembly and simplification of the ops that compute on tiles.
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// GemmOp and GemmAsyncOp
//===----------------------------------------------------------------------===//

static bool isFP8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// The table of the op's description.
static bool isLegalGemm(Type a, Type b, Type c) {
  if (isFP8(a) && isFP8(b))
    return c.isF32() || c.isF16();
  if (a != b)
    return false;
  if (a.isF16())
    return c.isF32() || c.isF16();
  if (a.isBF16() || a.isF32())
    return c.isF32();
  if (a.isF64())
    return c.isF64();
  return a.isInteger(8) && c.isInteger(32);
}

template <typename OpTy> static LogicalResult verifyGemm(OpTy op) {
  // gemm-c1
  for (auto [name, type] :
       {std::pair("a", op.getAType()), std::pair("b", op.getBType()),
        std::pair("c", op.getCType())})
    if (type.getRank() != 2)
      return op.emitOpError("expects '")
             << name << "' to have two dimensions, got " << type;
  // gemm-c2
  Type a = op.getAType().getElementType(), b = op.getBType().getElementType(),
       c = op.getCType().getElementType();
  if (!isLegalGemm(a, b, c))
    return op.emitOpError("has no product of ")
           << a << " and " << b << " accumulated in " << c
           << "; see the table in the op's description";
  // gemm-c3
  auto agree = [](int64_t x, int64_t y) {
    return ShapedType::isDynamic(x) || ShapedType::isDynamic(y) || x == y;
  };
  auto check = [&](StringRef extent, StringRef first, int64_t x,
                   StringRef second, int64_t y) -> LogicalResult {
    if (agree(x, y))
      return success();
    return op.emitOpError("expects equal extents ")
           << extent << ", got " << x << " in '" << first << "' and " << y
           << " in '" << second << "'";
  };
  int64_t aRow = op.getTransposeA() ? 1 : 0, bRow = op.getTransposeB() ? 1 : 0;
  if (failed(check("M", "a", op.getAType().getDimSize(aRow), "c", op.getM())) ||
      failed(check("N", "b", op.getBType().getDimSize(1 - bRow), "c",
                   op.getN())) ||
      failed(check("K", "a", op.getK(), "b", op.getBType().getDimSize(bRow))))
    return failure();
  // gemm-c4
  if (op.getPrecision() == Precision::TF32 && !a.isF32())
    return op.emitOpError("precision(tf32) needs f32 operands, got ") << a;
  // gemm-c5
  if ((op.getUnsignedA() || op.getUnsignedB()) && !a.isInteger(8))
    return op.emitOpError("unsigned_a and unsigned_b need i8 operands, got ")
           << a;
  // gemm-c6
  if (getRootBuffer(op.getC()) == getRootBuffer(op.getA()) ||
      getRootBuffer(op.getC()) == getRootBuffer(op.getB()))
    return op.emitOpError("expects 'c' to be another buffer than 'a' and 'b'");
  return success();
}

LogicalResult GemmOp::verify() { return verifyGemm(*this); }
LogicalResult GemmAsyncOp::verify() { return verifyGemm(*this); }

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  MemRefType source = getSourceType(), target = getTargetType();
  auto dim = static_cast<int64_t>(getDim());
  // reduce-c1
  if (dim >= source.getRank())
    return emitOpError("expects 'along' to be a dimension of 'source', below ")
           << source.getRank() << ", got " << dim;
  // reduce-c2
  SmallVector<int64_t> removed(source.getShape()), kept(source.getShape());
  removed.erase(removed.begin() + dim);
  kept[dim] = 1;
  auto agrees = [&](ArrayRef<int64_t> shape) {
    return shape.size() == target.getShape().size() &&
           llvm::all_of(llvm::zip(shape, target.getShape()), [](auto pair) {
             auto [x, y] = pair;
             return x == y || ShapedType::isDynamic(x) ||
                    ShapedType::isDynamic(y);
           });
  };
  if (!agrees(removed) && !agrees(kept))
    return emitOpError("expects the shape of 'target' to be that of 'source' "
                       "without dimension ")
           << dim << " or with an extent of one there, got " << target
           << " from " << source;
  // reduce-c3
  Type from = source.getElementType(), to = target.getElementType();
  bool sameKind = (isa<FloatType>(from) && isa<FloatType>(to)) ||
                  (isa<IntegerType>(from) && isa<IntegerType>(to));
  if (!sameKind || from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return emitOpError("expects the elements of 'target' to be of the kind of "
                       "'source', at least as wide, got ")
           << to << " from " << from;
  // reduce-c4
  bool bitwise = llvm::is_contained(
      {ReduceKind::And, ReduceKind::Or, ReduceKind::Xor}, getKind());
  if (bitwise && !isa<IntegerType>(from))
    return emitOpError() << stringifyReduceKind(getKind())
                         << " needs integers, got " << from;
  // reduce-c5
  if (getIsUnsigned() && !isa<IntegerType>(from))
    return emitOpError("'unsigned' needs integers, got ") << from;
  // reduce-c6
  if (getRootBuffer(getSource()) == getRootBuffer(getTarget()))
    return emitOpError("expects 'target' to be another buffer than 'source'");
  return success();
}

//===----------------------------------------------------------------------===//
// ParallelOp
//===----------------------------------------------------------------------===//

void ParallelOp::build(
    OpBuilder &builder, OperationState &state, ArrayRef<OpFoldResult> extents,
    function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  SmallVector<Value> values;
  SmallVector<int64_t> constants;
  dispatchIndexOpFoldResults(extents, values, constants);
  state.addOperands(values);
  state.addAttribute(getStaticExtentsAttrName(state.name),
                     builder.getDenseI64ArrayAttr(constants));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  for (size_t i = 0; i < constants.size(); ++i)
    block->addArgument(builder.getIndexType(), state.location);
  if (body)
    body(builder, state.location, block->getArguments());
  ensureTerminator(*state.regions.front(), builder, state.location);
}

void ParallelOp::build(
    OpBuilder &builder, OperationState &state, ArrayRef<int64_t> extents,
    function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  build(builder, state, getAsIndexOpFoldResult(builder.getContext(), extents),
        body);
}

SmallVector<OpFoldResult> ParallelOp::getMixedExtents() {
  return getMixedValues(getStaticExtents(), getExtents(), getContext());
}

void ParallelOp::getAsmBlockArgumentNames(Region &region,
                                          OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral names[] = {"i", "j", "k", "l"};
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

ParseResult ParallelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> ivs;
  SmallVector<OpAsmParser::UnresolvedOperand> extents;
  SmallVector<int64_t> constants;
  if (parseIndexArguments(parser, ivs) || parser.parseKeyword("in") ||
      parseMixedIndices(parser, AsmParser::Delimiter::Paren, extents,
                        constants) ||
      parser.resolveOperands(extents, builder.getIndexType(), result.operands))
    return failure();
  result.addAttribute(getStaticExtentsAttrName(result.name),
                      builder.getDenseI64ArrayAttr(constants));
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, ivs))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

void ParallelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printIndexArguments(printer, getBody().front());
  printer << " in (";
  printMixedIndices(printer, getExtents(), getStaticExtents());
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getStaticExtentsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult ParallelOp::verify() {
  // parallel-c1
  size_t rank = getStaticExtents().size();
  if (rank == 0)
    return emitOpError("expects at least one dimension");
  size_t dynamic = llvm::count_if(getStaticExtents(), ShapedType::isDynamic);
  if (dynamic != getExtents().size())
    return emitOpError("expects one operand for each of the ")
           << dynamic << " extents that are not constant, got "
           << getExtents().size();
  // parallel-c2
  for (int64_t extent : getStaticExtents())
    if (!ShapedType::isDynamic(extent) && extent < 0)
      return emitOpError("expects extents of zero or more, got ") << extent;
  return success();
}

LogicalResult ParallelOp::verifyRegions() {
  // parallel-c3
  Block &body = getBody().front();
  if (body.getNumArguments() != getStaticExtents().size() ||
      !llvm::all_of(body.getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("expects one index block argument for each of the ")
           << getStaticExtents().size() << " dimensions";
  // parallel-c4
  WalkResult result = getBody().walk([&](Operation *op) -> WalkResult {
    if (op->hasTrait<WholeTile>()) {
      InFlightDiagnostic diag =
          op->emitOpError("works on a whole tile and must stand outside "
                          "elementwise loops");
      diag.attachNote(getLoc()) << "the loop is here";
      return diag;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// Constant extents become part of the op.
struct FoldConstantExtents : OpRewritePattern<ParallelOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ParallelOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> extents = op.getMixedExtents();
    if (failed(foldDynamicIndexList(extents, /*onlyNonNegative=*/true)))
      return rewriter.notifyMatchFailure(op, "no extent is constant");
    SmallVector<Value> values;
    SmallVector<int64_t> constants;
    dispatchIndexOpFoldResults(extents, values, constants);
    rewriter.modifyOpInPlace(op, [&] {
      op.getExtentsMutable().assign(values);
      op.setStaticExtents(constants);
    });
    return success();
  }
};

/// A loop without lanes or without statements does nothing.
struct EraseEmptyParallel : OpRewritePattern<ParallelOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ParallelOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(op.getStaticExtents(), 0) &&
        !llvm::hasSingleElement(op.getBody().front()))
      return rewriter.notifyMatchFailure(op, "box and body are not empty");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void ParallelOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<EraseEmptyParallel, FoldConstantExtents>(context);
}
