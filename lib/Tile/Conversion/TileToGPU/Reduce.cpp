//===- Reduce.cpp - Reductions of one thread --------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread combines its own registers, lanes combine by butterflies, warps
// through scratch in shared memory, where all of them read the partial results
// in the same order. So every copy of a result is the same to the bit, and so
// is every run.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "Tile/IR/Integers.h"
#include "Tile/Transforms/Scratch.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using layout::FragmentLayout;

static Value absolute(ImplicitLocOpBuilder &b, Value value, bool isUnsigned) {
  if (isa<FloatType>(value.getType()))
    return math::AbsFOp::create(b, value);
  return isUnsigned ? value : Value(math::AbsIOp::create(b, value));
}

template <typename OpTy> Combiner ThreadCode::getCombiner(OpTy op) {
  Type type = op.getTargetType().getElementType();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    type = b.getF32Type();
  return {op.getKind(), isTakenUnsigned(type, op.getIsUnsigned()),
          op.getFastmath() | launch.getFastmath(), type};
}

namespace tile::gpu_code {
template Combiner ThreadCode::getCombiner(ReduceOp);
template Combiner ThreadCode::getCombiner(ScanOp);
} // namespace tile::gpu_code

Value ThreadCode::combine(ReduceOp op, Value x, Value y) {
  return combine(getCombiner(op), x, y);
}

/// Combines partial results, in which absolute values are taken already.
Value ThreadCode::combine(const Combiner &combiner, Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  bool isUnsigned = combiner.isUnsigned;
  auto flags = arith::FastMathFlagsAttr::get(b.getContext(), combiner.flags);
  bool ignoresNaN =
      arith::bitEnumContainsAny(flags.getValue(), arith::FastMathFlags::nnan);
  switch (combiner.kind) {
  case ReduceKind::Sum:
  case ReduceKind::AbsSum:
    return isFloat ? Value(arith::AddFOp::create(b, x, y, flags))
                   : Value(arith::AddIOp::create(b, x, y));
  case ReduceKind::Product:
    return isFloat ? Value(arith::MulFOp::create(b, x, y, flags))
                   : Value(arith::MulIOp::create(b, x, y));
  case ReduceKind::Max:
  case ReduceKind::AbsMax:
    if (isFloat)
      return ignoresNaN ? Value(arith::MaxNumFOp::create(b, x, y, flags))
                        : Value(arith::MaximumFOp::create(b, x, y, flags));
    return isUnsigned || combiner.kind == ReduceKind::AbsMax
               ? Value(arith::MaxUIOp::create(b, x, y))
               : Value(arith::MaxSIOp::create(b, x, y));
  case ReduceKind::Min:
    if (isFloat)
      return ignoresNaN ? Value(arith::MinNumFOp::create(b, x, y, flags))
                        : Value(arith::MinimumFOp::create(b, x, y, flags));
    return isUnsigned ? Value(arith::MinUIOp::create(b, x, y))
                      : Value(arith::MinSIOp::create(b, x, y));
  case ReduceKind::And:
    return arith::AndIOp::create(b, x, y);
  case ReduceKind::Or:
    return arith::OrIOp::create(b, x, y);
  case ReduceKind::Xor:
    return arith::XOrIOp::create(b, x, y);
  }
  llvm_unreachable("every kind is handled");
}

Value ThreadCode::getIdentity(const Combiner &combiner) {
  Type type = combiner.type;
  auto floating = dyn_cast<FloatType>(type);
  bool isUnsigned = combiner.isUnsigned;
  TypedAttr value;
  auto infinity = [&](bool negative) {
    return b.getFloatAttr(
        type, APFloat::getInf(floating.getFloatSemantics(), negative));
  };
  unsigned width = type.getIntOrFloatBitWidth();
  switch (combiner.kind) {
  case ReduceKind::Product:
    value = floating ? TypedAttr(b.getFloatAttr(type, 1.0))
                     : TypedAttr(b.getIntegerAttr(type, 1));
    break;
  case ReduceKind::Max:
    value = floating ? TypedAttr(infinity(true))
                     : TypedAttr(b.getIntegerAttr(
                           type, isUnsigned ? APInt::getMinValue(width)
                                            : APInt::getSignedMinValue(width)));
    break;
  case ReduceKind::Min:
    value = floating ? TypedAttr(infinity(false))
                     : TypedAttr(b.getIntegerAttr(
                           type, isUnsigned ? APInt::getMaxValue(width)
                                            : APInt::getSignedMaxValue(width)));
    break;
  case ReduceKind::And:
    value = b.getIntegerAttr(type, APInt::getAllOnes(width));
    break;
  default:
    value = cast<TypedAttr>(b.getZeroAttr(type));
  }
  return arith::ConstantOp::create(b, value);
}

Value ThreadCode::exchange(Value value, Exchange kind, int64_t distance) {
  auto exchange = [&](Value word) -> Value {
    gpu::ShuffleMode mode =
        kind == Exchange::Xor ? gpu::ShuffleMode::XOR : gpu::ShuffleMode::UP;
    return gpu::ShuffleOp::create(b, word, i32(distance), i32(layout::warpSize),
                                  mode)
        .getShuffleResult();
  };
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 32)
    return exchange(value);
  if (bits == 64) {
    // Two halves; the hardware exchanges 32 bits.
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    Value raw =
        type == i64 ? value : Value(arith::BitcastOp::create(b, i64, value));
    Value shift = arith::ConstantIntOp::create(b, i64, 32);
    Value low = exchange(arith::TruncIOp::create(b, i32, raw));
    Value high = exchange(
        arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, raw, shift)));
    Value both = arith::OrIOp::create(
        b, arith::ExtUIOp::create(b, i64, low),
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, high), shift));
    return type == i64 ? both : Value(arith::BitcastOp::create(b, type, both));
  }
  Type integer = b.getIntegerType(bits);
  Value raw = isa<FloatType>(type)
                  ? Value(arith::BitcastOp::create(b, integer, value))
                  : value;
  Value word = arith::ExtUIOp::create(b, b.getI32Type(), raw);
  Value back = arith::TruncIOp::create(b, integer, exchange(word));
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, type, back))
                              : back;
}

Value ThreadCode::reduceAcrossLanes(ReduceOp op, Value value,
                                    ArrayRef<int64_t> laneSteps) {
  for (int64_t step : laneSteps)
    value = combine(op, value, exchange(value, Exchange::Xor, step));
  return value;
}

/// Combines over groups of threads: `digits` are the place and the extent of
/// each digit of the thread number that tells the group's members apart.
void ThreadCode::reduceAcrossWarps(
    ReduceOp op, Values &values, ArrayRef<std::pair<int64_t, int64_t>> digits) {
  Type type = values.front().getType();
  Type storage = storageType(type);
  int64_t bytes = storage.getIntOrFloatBitWidth() / 8;
  View scratch;
  scratch.base = getScratch(bytes * threads * values.size());
  scratch.element = type;
  scratch.space = Space::Shared;

  Value thread = arith::IndexCastUIOp::create(b, b.getIndexType(), threadId);
  // The member zero of this thread's group.
  Value first = thread;
  int64_t members = 1;
  for (auto [place, extent] : digits) {
    Value digit = b.createOrFold<arith::DivUIOp>(thread, constant(place));
    digit = b.createOrFold<arith::RemUIOp>(digit, constant(extent));
    first = b.createOrFold<arith::SubIOp>(first, mul(digit, constant(place)));
    members *= extent;
  }
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(
        b, toStorage(value),
        getAddress(scratch, add(thread, constant(i * threads))));
  barrier();
  for (auto [i, value] : llvm::enumerate(values)) {
    Value result;
    for (int64_t member = 0; member < members; ++member) {
      int64_t offset = i * threads, rest = member;
      for (auto [place, extent] : digits) {
        offset += rest % extent * place;
        rest /= extent;
      }
      View group = scratch;
      group.base = getAddress(scratch, first);
      Value loaded = fromStorage(
          LLVM::LoadOp::create(b, storage, getAddress(group, constant(offset))),
          type);
      result = result ? combine(op, result, loaded) : loaded;
    }
    value = result;
  }
}

Value ThreadCode::loadPartial(ReduceOp op, int64_t reg) {
  Value value = convert(loadRegister(op.getSource(), reg),
                        {getCombiner(op).type, false, op.getIsUnsigned()});
  bool isAbsolute =
      op.getKind() == ReduceKind::AbsSum || op.getKind() == ReduceKind::AbsMax;
  return isAbsolute ? absolute(b, value, op.getIsUnsigned()) : value;
}

void ThreadCode::storeResult(ReduceOp op, int64_t reg, Value value) {
  if (op.getAccumulate()) {
    Value before = convert(loadRegister(op.getTarget(), reg),
                           {value.getType(), false, op.getIsUnsigned()});
    value = combine(op, before, value);
  }
  storeRegister(op.getTarget(), reg,
                convert(value, {op.getTargetType().getElementType(), false,
                                op.getIsUnsigned()}));
}

LogicalResult ThreadCode::emitReduce(ReduceOp op) {
  std::optional<ReductionPlan> plan = ReductionPlan::get(op);
  assert(plan && "tile-infer-layouts gave layouts");
  if (plan->goesThroughMemory()) {
    reduceThroughMemory(op, plan->source, plan->target, plan->dim);
    return success();
  }

  const FragmentLayout &source = plan->source;
  const FragmentLayout::Slice &slice = plan->slice;
  Slots slots(b, threadId, source);
  Values values(slice.layout.numRegisters());
  for (int64_t reg = 0; reg < source.numRegisters(); ++reg) {
    Value value = loadPartial(op, reg);
    if (Value isUsed = slots.isUsed(reg))
      value = arith::SelectOp::create(b, isUsed, value,
                                      getIdentity(getCombiner(op)));
    Value &sum = values[slice.registerOf[reg]];
    sum = sum ? combine(op, sum, value) : value;
  }
  for (Value &value : values)
    value = reduceAcrossLanes(op, value, plan->steps->lanes);
  if (!plan->steps->digits.empty())
    reduceAcrossWarps(op, values, plan->steps->digits);
  for (auto [reg, from] : llvm::enumerate(*plan->registers))
    storeResult(op, reg, values[from]);
  return success();
}

/// For layouts whose threads cross rows: the whole tile goes to scratch, and
/// whoever holds a result combines its row from there.
void ThreadCode::reduceThroughMemory(ReduceOp op, const FragmentLayout &source,
                                     const FragmentLayout &target,
                                     int64_t dim) {
  Type type = getCombiner(op).type;
  View scratch;
  scratch.element = type;
  scratch.space = Space::Shared;
  scratch.base = getScratch(source.numElements() *
                            storageType(type).getIntOrFloatBitWidth() / 8);
  scratch.sizes = getAsIndexOpFoldResult(b.getContext(), source.tile());
  SmallVector<int64_t> strides(source.rank());
  int64_t next = 1;
  for (int64_t at = source.rank() - 1; at >= 0; --at) {
    strides[at] = next;
    next *= source.tile()[at];
  }
  scratch.strides = getAsIndexOpFoldResult(b.getContext(), strides);

  Slots from(b, threadId, source);
  Value firstCopy = from.isFirstCopy();
  for (int64_t reg = 0; reg < source.numRegisters(); ++reg)
    storeElement(scratch, from.coordinates(reg), loadPartial(op, reg),
                 allOf(from.isUsed(reg), firstCopy));
  barrier();

  Slots to(b, threadId, target);
  for (int64_t reg = 0; reg < target.numRegisters(); ++reg) {
    OpBuilder::InsertionGuard guard(b);
    if (Value isUsed = to.isUsed(reg)) {
      auto condition = scf::IfOp::create(b, isUsed, /*withElseRegion=*/false);
      b.setInsertionPointToStart(&condition.getThenRegion().front());
    }
    Values indices = to.coordinates(reg);
    if (op.getSourceType().getRank() == 1)
      indices = {constant(0)};
    indices.insert(indices.begin() + dim, constant(0));
    Value start = loadElement(scratch, indices);
    auto loop = scf::ForOp::create(b, constant(1), constant(source.tile()[dim]),
                                   constant(1), ValueRange(start));
    {
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(loop.getBody());
      indices[dim] = loop.getInductionVar();
      Value sum = combine(op, loop.getRegionIterArgs().front(),
                          loadElement(scratch, indices));
      scf::YieldOp::create(b, sum);
    }
    storeResult(op, reg, loop.getResult(0));
  }
}
