//===- KernelOps.cpp - Launches and parameters ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules, assembly and simplification of launches, tunables and constraints. The
// launch also checks what no single op inside can see: that on-chip buffers are
// named and never passed around.
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

void LaunchOp::build(OpBuilder &builder, OperationState &state, ValueRange grid,
                     std::optional<int64_t> threads) {
  IntegerAttr staticThreads;
  if (threads)
    staticThreads = builder.getI64IntegerAttr(*threads);
  build(builder, state, grid, /*threads=*/Value(), staticThreads,
        /*raster=*/RasterAttr(), /*registers=*/IntegerAttr(), Bounds::Guard,
        arith::FastMathFlags::none, /*alignment=*/IntegerAttr());
  Region &region = *state.regions.front();
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&region);
  for (Value extent : grid)
    body->addArgument(extent.getType(), extent.getLoc());
  ensureTerminator(region, builder, state.location);
}

void LaunchOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral names[] = {"bx", "by", "bz"};
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> ids;
  SmallVector<OpAsmParser::UnresolvedOperand> grid;
  if (parser.parseKeyword("blocks") || parseIndexArguments(parser, ids) ||
      parser.parseKeyword("in") ||
      parser.parseOperandList(grid, OpAsmParser::Delimiter::Paren))
    return failure();

  std::optional<OpAsmParser::UnresolvedOperand> threads;
  if (succeeded(parser.parseOptionalKeyword("threads"))) {
    IntegerAttr constant;
    if (parseConstantOrValue(parser, threads, constant))
      return failure();
    if (constant)
      result.addAttribute(getStaticThreadsAttrName(result.name), constant);
  }
  RasterAttr raster;
  if (parseOptionalRaster(parser, raster))
    return failure();
  if (raster)
    result.addAttribute(getRasterAttrName(result.name), raster);
  if (succeeded(parser.parseOptionalKeyword("registers"))) {
    int64_t registers;
    if (parser.parseLParen() || parser.parseInteger(registers) ||
        parser.parseRParen())
      return failure();
    result.addAttribute(getRegistersAttrName(result.name),
                        builder.getI64IntegerAttr(registers));
  }
  if (succeeded(parser.parseOptionalKeyword("bounds"))) {
    StringRef keyword;
    SMLoc loc;
    if (parser.parseLParen() || parser.getCurrentLocation(&loc) ||
        parser.parseKeyword(&keyword) || parser.parseRParen())
      return failure();
    std::optional<Bounds> bounds = symbolizeBounds(keyword);
    if (!bounds)
      return parser.emitError(loc)
             << "expected guard, trap or assume, got '" << keyword << "'";
    result.addAttribute(getBoundsAttrName(result.name),
                        BoundsAttr::get(builder.getContext(), *bounds));
  }
  if (succeeded(parser.parseOptionalKeyword("fastmath"))) {
    arith::FastMathFlagsAttr flags;
    if (parser.parseCustomAttributeWithFallback(flags))
      return failure();
    result.addAttribute(getFastmathAttrName(result.name), flags);
  }
  if (succeeded(parser.parseOptionalKeyword("alignment"))) {
    int64_t bytes;
    if (parser.parseLParen() || parser.parseInteger(bytes) ||
        parser.parseRParen())
      return failure();
    result.addAttribute(getAlignmentAttrName(result.name),
                        builder.getI64IntegerAttr(bytes));
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, ids))
    return failure();
  ensureTerminator(*body, builder, result.location);

  Type index = builder.getIndexType();
  if (parser.resolveOperands(grid, index, result.operands) ||
      (threads && parser.resolveOperand(*threads, index, result.operands)))
    return failure();
  result.addAttribute(
      getOperandSegmentSizesAttrName(result.name),
      builder.getDenseI32ArrayAttr(
          {static_cast<int32_t>(grid.size()), threads ? 1 : 0}));
  return success();
}

void LaunchOp::print(OpAsmPrinter &printer) {
  printer << " blocks";
  printIndexArguments(printer, getBody().front());
  printer << " in (" << getGrid() << ')';
  if (getThreads() || getStaticThreads()) {
    printer << " threads";
    printConstantOrValue(printer, getThreads(), getStaticThreads());
  }
  printOptionalRaster(printer, getRasterAttr());
  if (std::optional<uint64_t> registers = getRegisters())
    printer << " registers(" << *registers << ')';
  if (getBounds() != Bounds::Guard)
    printer << " bounds(" << stringifyBounds(getBounds()) << ')';
  if (getFastmath() != arith::FastMathFlags::none) {
    printer << " fastmath";
    printer.printStrippedAttrOrType(getFastmathAttr());
  }
  if (std::optional<uint64_t> alignment = getAlignment())
    printer << " alignment(" << *alignment << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getOperandSegmentSizesAttrName(), getStaticThreadsAttrName(),
       getRasterAttrName(), getRegistersAttrName(), getBoundsAttrName(),
       getFastmathAttrName(), getAlignmentAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

// Fixed by the programming model, not by a chip: every GPU of the last decade
// has warps of 32 and blocks of up to 1024 threads.
static constexpr int64_t kWarp = 32, kMaxThreads = 1024;
/// What a thread can be given on every GPU.
static constexpr uint64_t kMinRegisters = 24, kMaxRegisters = 255;

static bool isLegalThreads(int64_t threads) {
  return threads % kWarp == 0 && threads >= kWarp && threads <= kMaxThreads;
}

/// The number of threads where it is a constant, as an attribute or as a value.
static std::optional<int64_t> getConstantThreads(LaunchOp op) {
  llvm::APInt threads;
  if (op.getThreads() && matchPattern(op.getThreads(), m_ConstantInt(&threads)))
    return threads.getSExtValue();
  return op.getStaticThreads();
}

LogicalResult LaunchOp::verify() {
  // launch-c1
  size_t rank = getGrid().size();
  if (rank < 1 || rank > 3)
    return emitOpError("expects a grid of 1 to 3 dimensions, got ") << rank;
  // launch-c2
  if (getThreads() && getStaticThreads())
    return emitOpError(
        "expects 'threads' as a constant or as a value, got both");
  // launch-c3
  if (std::optional<int64_t> threads = getConstantThreads(*this);
      threads && !isLegalThreads(*threads))
    return emitOpError("expects 'threads' to be a multiple of ")
           << kWarp << " from " << kWarp << " to " << kMaxThreads << ", got "
           << *threads;
  // launch-c8
  if (std::optional<uint64_t> registers = getRegisters();
      registers && (*registers < kMinRegisters || *registers > kMaxRegisters))
    return emitOpError("expects 'registers' from ")
           << kMinRegisters << " to " << kMaxRegisters << ", got "
           << *registers;
  // launch-c9
  if (getRaster() && rank < 2)
    return emitOpError("orders blocks of two or more dimensions by 'raster', "
                       "got one dimension");
  // launch-c7
  if (std::optional<int64_t> alignment = getAlignment();
      alignment && (*alignment <= 0 || !llvm::isPowerOf2_64(*alignment)))
    return emitOpError("expects 'alignment' to be a power of two, got ")
           << *alignment;
  // launch-c4
  for (Operation *parent = (*this)->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<LaunchOp>(parent)) {
      InFlightDiagnostic diag =
          emitOpError("must not be nested in another launch; write two "
                      "launches one after the other");
      diag.attachNote(parent->getLoc()) << "the outer launch is here";
      return diag;
    }
  return success();
}

/// True for ops that may have an on-chip buffer as a result: they allocate it
/// or give another view of one that is named already.
static bool mayNameBuffer(Operation *op) {
  return isa<AllocSharedOp, AllocFragmentOp, AllocLocalOp, ViewLikeOpInterface,
             memref::ReshapeOp>(op);
}

/// True for the types that elements of a tile program's buffers may have.
static bool isElement(Type type) {
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type,
             Float8E4M3FNType, Float8E5M2Type, IndexType>(type) ||
         llvm::any_of(
             std::initializer_list<unsigned>{64, 32, 16, 8, 4, 1},
             [&](unsigned width) { return type.isSignlessInteger(width); });
}

LogicalResult LaunchOp::verifyRegions() {
  // launch-c5
  Block &body = getBody().front();
  if (body.getNumArguments() != getGrid().size() ||
      !llvm::all_of(body.getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("expects one index block argument for each of the ")
           << getGrid().size() << " grid dimensions";

  // launch-c6
  WalkResult result = getBody().walk([&](Operation *op) -> WalkResult {
    if (!mayNameBuffer(op))
      for (OpResult value : op->getResults())
        if (isOnChip(value.getType()))
          return op->emitOpError("result #")
                 << value.getResultNumber()
                 << " is an on-chip buffer; on-chip buffers are named by their "
                    "allocation or a view of it and not passed around, so use "
                    "the buffer itself on each path";
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (isOnChip(argument.getType()))
            return op->emitOpError("carries an on-chip buffer as argument #")
                   << argument.getArgNumber()
                   << " of a block; on-chip buffers are named, so use the "
                      "buffer itself inside the region";
    // launch-c10
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Type type : types)
      if (auto buffer = dyn_cast<BaseMemRefType>(type);
          buffer && !isElement(buffer.getElementType()))
        return op->emitOpError("touches a buffer of ")
               << buffer.getElementType()
               << "; in a launch, the elements of buffers are f64, f32, f16, "
                  "bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i4, i1 or index";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// threads(%c) with a constant becomes threads(128).
struct FoldConstantThreads : OpRewritePattern<LaunchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LaunchOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<int64_t> threads = getConstantThreads(op);
    if (!op.getThreads() || !threads)
      return rewriter.notifyMatchFailure(op, "threads are no constant value");
    // A constant that only now became one may be wrong: the verifier says so.
    if (!isLegalThreads(*threads))
      return rewriter.notifyMatchFailure(op, "threads are out of range");
    rewriter.modifyOpInPlace(op, [&] {
      op.setStaticThreads(*threads);
      op.getThreadsMutable().clear();
    });
    return success();
  }
};

/// A launch with an empty grid runs nothing.
struct EraseEmptyLaunch : OpRewritePattern<LaunchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LaunchOp op,
                                PatternRewriter &rewriter) const override {
    bool empty = llvm::any_of(op.getGrid(), [](Value extent) {
      llvm::APInt value;
      return matchPattern(extent, m_ConstantInt(&value)) &&
             !value.isStrictlyPositive();
    });
    if (!empty && !llvm::hasSingleElement(op.getBody().front()))
      return rewriter.notifyMatchFailure(op, "grid and body are not empty");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void LaunchOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<EraseEmptyLaunch, FoldConstantThreads>(context);
}

//===----------------------------------------------------------------------===//
// TunableOp
//===----------------------------------------------------------------------===//

void TunableOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  // Names from the program may hold characters that value names may not.
  if (llvm::all_of(getName(),
                   [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    setName(getResult(), getName());
}

LogicalResult TunableOp::verify() {
  // tunable-c1
  if (!(*this)->getParentOp() ||
      !isa<FunctionOpInterface>((*this)->getParentOp()))
    return emitOpError("must stand directly in a function's body, outside "
                       "loops and launches");
  // tunable-c2
  if (getName().empty() ||
      !(llvm::isAlpha(getName()[0]) || getName()[0] == '_') ||
      !llvm::all_of(getName(),
                    [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return emitOpError("expects a name of letters, digits and '_' that does "
                       "not start with a digit, got \"")
           << getName() << "\"";
  // tunable-c3
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t choice : getChoices()) {
    if (choice < 0)
      return emitOpError("expects choices of zero or more, got ") << choice;
    if (!seen.insert(choice).second)
      return emitOpError("expects each choice once, got ")
             << choice << " twice";
  }
  // tunable-c4
  if (!seen.contains(static_cast<int64_t>(getDefaultValue())))
    return emitOpError("expects the default to be one of the choices, got ")
           << getDefaultValue();
  // tunable-c5
  for (Operation *other = (*this)->getPrevNode(); other;
       other = other->getPrevNode())
    if (auto tunable = dyn_cast<TunableOp>(other);
        tunable && tunable.getName() == getName()) {
      InFlightDiagnostic diag = emitOpError("expects each name once in a "
                                            "function, got \"")
                                << getName() << "\" twice";
      diag.attachNote(tunable.getLoc()) << "the first is here";
      return diag;
    }
  return success();
}
