//===- LoopOps.cpp - Loops over tiles ---------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules, assembly and simplification of the pipelined loop.
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "Steps.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

void PipelinedOp::build(OpBuilder &builder, OperationState &state, Value lower,
                        Value upper, Value step, std::optional<int64_t> stages,
                        function_ref<void(OpBuilder &, Location, Value)> body) {
  state.addOperands({lower, upper});
  if (step)
    state.addOperands(step);
  if (stages)
    state.addAttribute(getStaticStagesAttrName(state.name),
                       builder.getI64IntegerAttr(*stages));
  state.addAttribute(getOperandSegmentSizesAttrName(state.name),
                     builder.getDenseI32ArrayAttr({1, 1, step ? 1 : 0, 0}));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  block->addArgument(builder.getIndexType(), state.location);
  if (body)
    body(builder, state.location, block->getArgument(0));
  ensureTerminator(*state.regions.front(), builder, state.location);
}

void PipelinedOp::getAsmBlockArgumentNames(Region &region,
                                           OpAsmSetValueNameFn setName) {
  if (!region.empty() && region.getNumArguments() == 1)
    setName(region.getArgument(0), "k");
}

std::optional<SmallVector<Value>> PipelinedOp::getLoopInductionVars() {
  return SmallVector<Value>{getInductionVar()};
}
std::optional<SmallVector<OpFoldResult>> PipelinedOp::getLoopLowerBounds() {
  return SmallVector<OpFoldResult>{getLower()};
}
std::optional<SmallVector<OpFoldResult>> PipelinedOp::getLoopUpperBounds() {
  return SmallVector<OpFoldResult>{getUpper()};
}
std::optional<SmallVector<OpFoldResult>> PipelinedOp::getLoopSteps() {
  if (getStep())
    return SmallVector<OpFoldResult>{getStep()};
  return SmallVector<OpFoldResult>{Builder(getContext()).getIndexAttr(1)};
}
SmallVector<Region *> PipelinedOp::getLoopRegions() { return {&getBody()}; }

ParseResult PipelinedOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  OpAsmParser::Argument iv;
  iv.type = builder.getIndexType();
  OpAsmParser::UnresolvedOperand lower, upper, step;
  if (parser.parseArgument(iv) || parser.parseEqual() ||
      parser.parseOperand(lower) || parser.parseKeyword("to") ||
      parser.parseOperand(upper))
    return failure();
  bool hasStep = succeeded(parser.parseOptionalKeyword("step"));
  if (hasStep && parser.parseOperand(step))
    return failure();
  std::optional<OpAsmParser::UnresolvedOperand> stages;
  if (succeeded(parser.parseOptionalKeyword("stages"))) {
    IntegerAttr constant;
    if (parseConstantOrValue(parser, stages, constant))
      return failure();
    if (constant)
      result.addAttribute(getStaticStagesAttrName(result.name), constant);
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, iv))
    return failure();
  ensureTerminator(*body, builder, result.location);

  Type index = builder.getIndexType();
  if (parser.resolveOperand(lower, index, result.operands) ||
      parser.resolveOperand(upper, index, result.operands) ||
      (hasStep && parser.resolveOperand(step, index, result.operands)) ||
      (stages && parser.resolveOperand(*stages, index, result.operands)))
    return failure();
  result.addAttribute(
      getOperandSegmentSizesAttrName(result.name),
      builder.getDenseI32ArrayAttr({1, 1, hasStep ? 1 : 0, stages ? 1 : 0}));
  return success();
}

void PipelinedOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printOperand(getInductionVar());
  printer << " = " << getLower() << " to " << getUpper();
  if (getStep())
    printer << " step " << getStep();
  if (getStages() || getStaticStages()) {
    printer << " stages";
    printConstantOrValue(printer, getStages(), getStaticStages());
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getOperandSegmentSizesAttrName(), getStaticStagesAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult PipelinedOp::verify() {
  // pipelined-c1
  if (getStages() && getStaticStages())
    return emitOpError(
        "expects 'stages' as a constant or as a value, got both");
  // pipelined-c2
  llvm::APInt step;
  if (getStep() && matchPattern(getStep(), m_ConstantInt(&step)) &&
      !step.isStrictlyPositive())
    return emitOpError("expects a positive step, got ") << step.getSExtValue();
  if (std::optional<int64_t> stages = getStaticStages(); stages && *stages < 1)
    return emitOpError("expects 'stages' to be 1 or more, got ") << *stages;
  return success();
}

LogicalResult PipelinedOp::verifyRegions() {
  // pipelined-c3
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 ||
      !isa<IndexType>(body.getArgument(0).getType()))
    return emitOpError("expects one index block argument, the loop's index");
  return verifySteps(*this);
}

namespace {
/// stages(%c) with a constant becomes stages(3).
struct FoldConstantStages : OpRewritePattern<PipelinedOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PipelinedOp op,
                                PatternRewriter &rewriter) const override {
    llvm::APInt stages;
    if (!op.getStages() ||
        !matchPattern(op.getStages(), m_ConstantInt(&stages)))
      return rewriter.notifyMatchFailure(op, "stages are no constant");
    if (!stages.isStrictlyPositive())
      return rewriter.notifyMatchFailure(op, "stages are not positive");
    rewriter.modifyOpInPlace(op, [&] {
      op.setStaticStages(stages.getSExtValue());
      op.getStagesMutable().clear();
    });
    return success();
  }
};

/// A loop without iterations or without statements does nothing.
struct EraseEmptyLoop : OpRewritePattern<PipelinedOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PipelinedOp op,
                                PatternRewriter &rewriter) const override {
    llvm::APInt lower, upper;
    bool empty = matchPattern(op.getLower(), m_ConstantInt(&lower)) &&
                 matchPattern(op.getUpper(), m_ConstantInt(&upper)) &&
                 lower.sge(upper);
    if (!empty && !llvm::hasSingleElement(op.getBody().front()))
      return rewriter.notifyMatchFailure(op, "range and body are not empty");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void PipelinedOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<EraseEmptyLoop, FoldConstantStages>(context);
}
