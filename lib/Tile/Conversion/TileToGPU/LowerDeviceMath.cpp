//===- LowerDeviceMath.cpp - Functions the GPU does not have ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPU has approximate reciprocal square root, 2^x and log2 x, good to about
// 2 ulp where they are well conditioned. exp is put together from 2^x with its
// argument reduced exactly, as that of sin and cos is; log and the rest take
// upstream's polynomials, except under `afn`, where the program accepts the
// hardware's. So nothing has to be linked.
//
//===----------------------------------------------------------------------===//

#include "DeviceF64.h"
#include "DeviceFP8.h"
#include "Tile/Conversion/GPUPasses.h"
#include "Tile/IR/Chips.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_TILELOWERDEVICEMATH
#include "Tile/Conversion/GPUPasses.h.inc"
} // namespace tile

static Value callIntrinsic(ImplicitLocOpBuilder &b, StringRef name, Type type,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands)
      .getResult(0);
}

static bool isApproximate(arith::FastMathFlags flags) {
  return arith::bitEnumContainsAny(flags, arith::FastMathFlags::afn);
}

static Value constantF32(ImplicitLocOpBuilder &b, float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

namespace {
/// 2^x is one instruction, which needs help only with subnormal numbers.
Value exp2(ImplicitLocOpBuilder &b, Value x, bool flushes = false) {
  return callIntrinsic(
      b, flushes ? "llvm.nvvm.ex2.approx.ftz" : "llvm.nvvm.ex2.approx",
      b.getF32Type(), x);
}

struct LowerExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, exp2(b, op.getOperand(), isApproximate(op.getFastmath())));
    return success();
  }
};

/// e^x = 2^n * 2^r with n = round(x log2 e), and r the rest with log2 e in two
/// parts, so that a large x keeps its digits. 2^n is taken in two steps: n
/// reaches beyond the exponents of f32 for results that are subnormal.
struct LowerExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getOperand();
    Value log2e = constantF32(b, 1.44269502f);
    if (isApproximate(op.getFastmath())) {
      Value scaled = arith::MulFOp::create(b, x, log2e, op.getFastmathAttr());
      rewriter.replaceOp(op, exp2(b, scaled, /*flushes=*/true));
      return success();
    }
    // Beyond these bounds the result is zero or infinity either way.
    Value bounded = arith::MinimumFOp::create(b, x, constantF32(b, 104.f));
    bounded = arith::MaximumFOp::create(b, bounded, constantF32(b, -110.f));
    Value scaled = arith::MulFOp::create(b, bounded, log2e);
    Value n = math::RoundEvenOp::create(b, scaled);
    Value negative = arith::NegFOp::create(b, n);
    Value rest = math::FmaOp::create(b, bounded, log2e, negative);
    rest =
        math::FmaOp::create(b, bounded, constantF32(b, 1.92596303e-8f), rest);
    Value half = arith::MulFOp::create(b, n, constantF32(b, 0.5f));
    half = math::FloorOp::create(b, half);
    Value otherHalf = arith::SubFOp::create(b, n, half);
    Value result = arith::MulFOp::create(b, exp2(b, rest), exp2(b, half));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, result, exp2(b, otherHalf));
    return success();
  }
};

struct LowerRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (op.getType().isF32()) {
      rewriter.replaceOp(op, callIntrinsic(b, "llvm.nvvm.rsqrt.approx.f",
                                           b.getF32Type(), op.getOperand()));
      return success();
    }
    if (!op.getType().isF64())
      return rewriter.notifyMatchFailure(op, "not f32 or f64");
    Value one = arith::ConstantOp::create(b, b.getF64FloatAttr(1.0));
    rewriter.replaceOpWithNewOp<arith::DivFOp>(
        op, one, math::SqrtOp::create(b, op.getOperand()));
    return success();
  }
};

/// Under `afn` the program takes the hardware's log2 x and tanh x.
struct LowerApproximateLog : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::LogOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() || !isApproximate(op.getFastmath()))
      return rewriter.notifyMatchFailure(op, "not an approximate f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value log2 = callIntrinsic(b, "llvm.nvvm.lg2.approx.f", b.getF32Type(),
                               op.getOperand());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, log2,
                                               constantF32(b, 0.693147182f));
    return success();
  }
};
struct LowerApproximateLog2 : OpRewritePattern<math::Log2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Log2Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() || !isApproximate(op.getFastmath()))
      return rewriter.notifyMatchFailure(op, "not an approximate f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, callIntrinsic(b, "llvm.nvvm.lg2.approx.f",
                                         b.getF32Type(), op.getOperand()));
    return success();
  }
};
/// By log2, whichever that is.
struct LowerLog10 : OpRewritePattern<math::Log10Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Log10Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value log2 = math::Log2Op::create(b, op.getOperand(), op.getFastmathAttr());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, log2,
                                               constantF32(b, 0.301029996f));
    return success();
  }
};
struct LowerApproximateTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() || !isApproximate(op.getFastmath()))
      return rewriter.notifyMatchFailure(op, "not an approximate f32");
    auto tanh = LLVM::InlineAsmOp::create(
        rewriter, op.getLoc(), op.getType(), op.getOperand(),
        "tanh.approx.f32 $0, $1;", "=f,f", /*has_side_effects=*/false,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
    rewriter.replaceOp(op, tanh.getRes());
    return success();
  }
};

/// What is left of an angle without its right angles, in f32, and how many
/// these were, modulo four.
struct Angle {
  Value rest, quadrant;
};

/// x less the nearest multiple of pi/2, a sum of `parts`: k * part is exact
/// inside an fma, and the parts after the first have digits to spare. Adding
/// 1.5 * 2^(digits - 1) leaves k in the last digits of the sum.
Angle reduceAngle(ImplicitLocOpBuilder &b, Value x, double roundingShift,
                  ArrayRef<double> parts) {
  auto c = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(x.getType(), value));
  };
  Value turns = arith::MulFOp::create(b, x, c(0.63661977236758134));
  Value shifted = arith::AddFOp::create(b, turns, c(roundingShift));
  Value k = arith::SubFOp::create(b, shifted, c(roundingShift));
  Value rest = x;
  for (double part : parts)
    rest = math::FmaOp::create(b, k, c(-part), rest);
  Type word = b.getIntegerType(x.getType().getIntOrFloatBitWidth());
  Value quadrant = arith::BitcastOp::create(b, word, shifted);
  if (!x.getType().isF32()) {
    rest = arith::TruncFOp::create(b, b.getF32Type(), rest);
    quadrant = arith::TruncIOp::create(b, b.getI32Type(), quadrant);
  }
  return {rest, quadrant};
}

/// The sine of x + quarter right angles: the angle reduced to [-pi/4, pi/4] (in
/// f64 where k has more digits than f32 can take off), and the polynomials of
/// Moshier's Cephes, sinf.c.
template <typename Op, int quarter> struct LowerSine : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getOperand();
    auto c = [&](float value) { return constantF32(b, value); };
    auto bits = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
    };
    Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                          math::AbsFOp::create(b, x), c(48039));
    auto angle = scf::IfOp::create(b, TypeRange{b.getF32Type(), b.getI32Type()},
                                   isSmall, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(angle.thenBlock());
      Angle near = reduceAngle(b, x, 0x1.8p23,
                               {0x1.921fb4p0, 0x1.4442d0p-24, 0x1.846988p-48});
      scf::YieldOp::create(b, ValueRange{near.rest, near.quadrant});
      b.setInsertionPointToStart(angle.elseBlock());
      Value wide = arith::ExtFOp::create(b, b.getF64Type(), x);
      Angle far = reduceAngle(b, wide, 0x1.8p52,
                              {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54});
      scf::YieldOp::create(b, ValueRange{far.rest, far.quadrant});
    }
    Value r = angle.getResult(0);
    Value z = arith::MulFOp::create(b, r, r);
    auto fma = [&](Value left, Value right, Value to) -> Value {
      return math::FmaOp::create(b, left, right, to);
    };
    auto mul = [&](Value left, Value right) -> Value {
      return arith::MulFOp::create(b, left, right);
    };
    Value sine = fma(fma(c(-1.9515295891e-4f), z, c(8.3321608736e-3f)), z,
                     c(-1.6666654611e-1f));
    sine = fma(mul(r, z), sine, r);
    Value cosine =
        fma(fma(c(2.443315711809948e-5f), z, c(-1.388731625493765e-3f)), z,
            c(4.166664568298827e-2f));
    cosine = fma(mul(z, z), cosine, fma(z, c(-0.5f), c(1)));
    Value quadrant =
        arith::AddIOp::create(b, angle.getResult(1), bits(quarter));
    auto has = [&](int32_t bit) -> Value {
      return arith::CmpIOp::create(
          b, arith::CmpIPredicate::ne,
          arith::AndIOp::create(b, quadrant, bits(bit)), bits(0));
    };
    Value result = arith::SelectOp::create(b, has(1), cosine, sine);
    result = arith::SelectOp::create(b, has(2),
                                     arith::NegFOp::create(b, result), result);
    // The sign of a zero is lost in the sum.
    if (quarter == 0)
      result = arith::SelectOp::create(
          b, arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, c(0)), x,
          result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// What convert-math-to-llvm takes and LLVM's back end has instructions for.
bool hasInstruction(Operation *op) {
  return isa<math::AbsIOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(op);
}

/// Functions with an instruction become LLVM's intrinsics by name: upstream's
/// conversion of gpu modules makes library calls of the ops.
template <typename Op> struct CallIntrinsic : OpRewritePattern<Op> {
  CallIntrinsic(MLIRContext *context, StringRef name)
      : OpRewritePattern<Op>(context), name(name) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op,
                       callIntrinsic(b, name, op.getType(), op->getOperands()));
    return success();
  }
  StringRef name;
};

/// x - y * trunc(x / y), fused, which is what the hardware's own library does
/// for quotients that fit.
struct LowerRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getLhs(), y = op.getRhs();
    Value quotient = math::TruncOp::create(b, arith::DivFOp::create(b, x, y));
    Value negative = arith::NegFOp::create(b, quotient);
    rewriter.replaceOpWithNewOp<math::FmaOp>(op, negative, y, x);
    return success();
  }
};

void populateIntrinsics(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<CallIntrinsic<math::AbsFOp>>(context, "llvm.fabs");
  patterns.add<CallIntrinsic<math::CeilOp>>(context, "llvm.ceil");
  patterns.add<CallIntrinsic<math::CopySignOp>>(context, "llvm.copysign");
  patterns.add<CallIntrinsic<math::FloorOp>>(context, "llvm.floor");
  patterns.add<CallIntrinsic<math::FmaOp>>(context, "llvm.fma");
  patterns.add<CallIntrinsic<math::RoundEvenOp>>(context, "llvm.roundeven");
  patterns.add<CallIntrinsic<math::RoundOp>>(context, "llvm.round");
  patterns.add<CallIntrinsic<math::SqrtOp>>(context, "llvm.sqrt");
  patterns.add<CallIntrinsic<math::TruncOp>>(context, "llvm.trunc");
  patterns.add<CallIntrinsic<arith::MaxNumFOp>>(context, "llvm.maxnum");
  patterns.add<CallIntrinsic<arith::MinNumFOp>>(context, "llvm.minnum");
}

/// What has an instruction of its own in 16 bits, or is exact.
bool isNativeInNarrow(Operation *op) {
  return isa<math::AbsFOp, math::FmaOp, math::CopySignOp, math::FloorOp,
             math::CeilOp, math::TruncOp, math::RoundEvenOp>(op);
}

/// Functions of narrow floats are computed in f32 and rounded once.
struct WidenNarrow : RewritePattern {
  explicit WidenNarrow(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/3, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
        op->getNumResults() != 1 || isNativeInNarrow(op))
      return failure();
    auto isNarrow = [](Type type) {
      auto element = dyn_cast<FloatType>(type);
      return element && element.getWidth() < 32;
    };
    Type type = op->getResult(0).getType();
    if (!isNarrow(type) || !llvm::all_of(op->getOperandTypes(), isNarrow))
      return failure();
    IRMapping map;
    for (Value operand : op->getOperands())
      map.map(operand, arith::ExtFOp::create(rewriter, op->getLoc(),
                                             rewriter.getF32Type(), operand)
                           .getResult());
    Operation *wide = rewriter.clone(*op, map);
    wide->getResult(0).setType(rewriter.getF32Type());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, wide->getResult(0));
    return success();
  }
};

struct LowerDeviceMathPass
    : tile::impl::TileLowerDeviceMathBase<LowerDeviceMathPass> {
  using TileLowerDeviceMathBase::TileLowerDeviceMathBase;
  void runOnOperation() override {
    std::optional<tile::Chip> found = tile::getChip(chip, getOperation());
    if (!found)
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    math::populateExpansionPatterns(
        patterns,
        {"sinh", "cosh", "tan", "asinh", "acosh", "atanh", "powf", "fpowi"});
    patterns.add<LowerExp2, LowerExp, LowerRsqrt, LowerApproximateLog,
                 LowerApproximateLog2, LowerApproximateTanh, LowerLog10,
                 LowerSine<math::SinOp, 0>, LowerSine<math::CosOp, 1>>(
        &getContext(), /*benefit=*/5);
    patterns.add<WidenNarrow, LowerRemainder>(&getContext());
    populateIntrinsics(patterns);
    tile::gpu_code::populateFP8Patterns(patterns);
    tile::gpu_code::populateF64Patterns(patterns);
    bool failed = false;
    FrozenRewritePatternSet frozen(std::move(patterns));
    getOperation()->walk([&](gpu::GPUModuleOp module) {
      failed |= mlir::failed(applyPatternsGreedily(module, frozen));
    });
    getOperation()->walk([&](gpu::GPUModuleOp module) {
      module.walk([&](Operation *op) {
        if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
            hasInstruction(op))
          return;
        Type type = op->getResult(0).getType();
        op->emitOpError("of ") << type << " has no instruction on " << chip
                               << (type.isF32() ? "" : "; compute it in f32");
        failed = true;
      });
    });
    if (failed)
      signalPassFailure();
  }
};
} // namespace
