//===- Scan.cpp - Running results of one thread -----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile goes through scratch, line by line along the scanned dimension, so
// that any layout will do on either side. A group of threads shares a line:
// each combines a stretch of neighbours, the stretches' results are scanned
// across lanes by shuffles and across warps through shared memory, and with
// what precedes its stretch each thread walks it again. Groups are as large as
// gives every thread a line's part to do.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using layout::FragmentLayout;

namespace {

/// How threads share the lines.
struct Division {
  int64_t lines, length;
  /// Threads of a group; a warp's part, or all of the block.
  int64_t group;
  /// Elements of a thread's stretch, odd so that the stretches of neighbours
  /// start in different banks.
  int64_t stretch;
  /// From line to line in scratch, in elements.
  int64_t pitch;

  Division(int64_t lines, int64_t length, int64_t threads)
      : lines(lines), length(length) {
    group = 1;
    while (group < layout::warpSize && lines * group * 2 <= threads &&
           group < length)
      group *= 2;
    // A few long lines: the whole block takes each of them.
    constexpr int64_t longStretch = 8;
    if (group == layout::warpSize && lines * group < threads &&
        length > longStretch * group)
      group = threads;
    stretch = llvm::divideCeil(length, group) | 1;
    pitch = length | 1;
  }
  bool spansWarps() const { return group > layout::warpSize; }
};

} // namespace

LogicalResult ThreadCode::emitScan(ScanOp op) {
  FragmentLayout source = *getFragmentLayout(op.getSourceType());
  FragmentLayout target = *getFragmentLayout(op.getTargetType());
  int64_t dim = op.getDim(), length = source.tile()[dim];
  Division division(source.numElements() / length, length, threads);
  Combiner combiner = getCombiner(op);
  int64_t bytes = storageType(combiner.type).getIntOrFloatBitWidth() / 8;

  // Lines, and behind them the results of the warps.
  int64_t elements = division.lines * division.pitch;
  int64_t warps = threads / layout::warpSize;
  View scratch;
  scratch.base = getScratch((elements + warps) * bytes);
  scratch.element = combiner.type;
  scratch.space = Space::Shared;
  scratch.sizes = {b.getIndexAttr(elements + warps)};
  scratch.strides = {b.getIndexAttr(1)};

  // An element's place: elements are in the order of the scan.
  auto place = [&](const Values &at) -> Value {
    Value line = constant(0);
    for (int64_t other = 0; other < source.rank(); ++other)
      if (other != dim)
        line = add(mul(line, constant(source.tile()[other])), at[other]);
    Value position =
        op.getReverse()
            ? b.createOrFold<arith::SubIOp>(constant(length - 1), at[dim])
            : at[dim];
    return add(mul(line, constant(division.pitch)), position);
  };

  {
    Slots slots(b, threadId, source);
    for (int64_t reg = 0; reg < source.numRegisters(); ++reg) {
      Value value = convert(loadRegister(op.getSource(), reg),
                            {combiner.type, false, op.getIsUnsigned()});
      Value acts = allOf(slots.isUsed(reg), slots.isOwner(reg));
      storeElement(scratch, place(slots.coordinates(reg)), value, acts);
    }
  }
  barrier();

  Value thread = arith::IndexCastUIOp::create(b, b.getIndexType(), threadId);
  Value member =
      b.createOrFold<arith::RemUIOp>(thread, constant(division.group));
  Value firstLine =
      b.createOrFold<arith::DivUIOp>(thread, constant(division.group));
  int64_t groups = threads / division.group;
  Value begin = mul(member, constant(division.stretch));
  Value end = arith::MinUIOp::create(b, add(begin, constant(division.stretch)),
                                     constant(length));
  begin = arith::MinUIOp::create(b, begin, constant(length));
  Value identity = getIdentity(combiner);

  // All groups run as often: they meet in shuffles and barriers.
  int64_t numRounds = llvm::divideCeil(division.lines, groups);
  auto rounds =
      scf::ForOp::create(b, constant(0), constant(numRounds), constant(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rounds.getBody());
    Value line =
        add(firstLine, mul(rounds.getInductionVar(), constant(groups)));
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, line,
                                         constant(division.lines));
    Value start = mul(line, constant(division.pitch));
    // A line that is not there is empty.
    Value last = arith::SelectOp::create(b, exists, end, begin);
    auto walk = [&](Value initial, bool writes) -> Value {
      auto loop =
          scf::ForOp::create(b, begin, last, constant(1), ValueRange(initial));
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(loop.getBody());
      Value at = add(start, loop.getInductionVar());
      Value before = loop.getRegionIterArgs().front();
      Value after = combine(combiner, before, loadElement(scratch, at));
      if (writes)
        storeElement(scratch, at, op.getExclusive() ? before : after, Value());
      scf::YieldOp::create(b, after);
      return loop.getResult(0);
    };
    Value sum = walk(identity, /*writes=*/false);

    // Inclusive across the lanes of a group, then what precedes each lane.
    int64_t lanes = std::min<int64_t>(division.group, layout::warpSize);
    Value lane = b.createOrFold<arith::RemUIOp>(thread, constant(lanes));
    auto preceding = [&](Value value, int64_t distance) -> Value {
      Value other = exchange(value, Exchange::Up, distance);
      Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, lane,
                                            constant(distance));
      return arith::SelectOp::create(b, isThere, other, identity);
    };
    for (int64_t distance = 1; distance < lanes; distance *= 2)
      sum = combine(combiner, preceding(sum, distance), sum);
    Value before = lanes > 1 ? preceding(sum, 1) : identity;

    if (division.spansWarps()) {
      Value warp =
          b.createOrFold<arith::DivUIOp>(thread, constant(layout::warpSize));
      Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane,
                                           constant(layout::warpSize - 1));
      storeElement(scratch, add(warp, constant(elements)), sum, isLast);
      barrier();
      auto loop = scf::ForOp::create(b, constant(0), warp, constant(1),
                                     ValueRange(identity));
      {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToStart(loop.getBody());
        Value other = loadElement(
            scratch, add(loop.getInductionVar(), constant(elements)));
        scf::YieldOp::create(
            b, combine(combiner, loop.getRegionIterArgs().front(), other));
      }
      before = combine(combiner, loop.getResult(0), before);
      // The next round writes the warps' results again.
      if (numRounds > 1)
        barrier();
    }
    walk(before, /*writes=*/true);
  }
  barrier();

  Slots slots(b, threadId, target);
  for (int64_t reg = 0; reg < target.numRegisters(); ++reg) {
    OpBuilder::InsertionGuard guard(b);
    if (Value isUsed = slots.isUsed(reg)) {
      auto condition = scf::IfOp::create(b, isUsed, /*withElseRegion=*/false);
      b.setInsertionPointToStart(&condition.getThenRegion().front());
    }
    Value value = loadElement(scratch, place(slots.coordinates(reg)));
    storeRegister(op.getTarget(), reg,
                  convert(value, {op.getTargetType().getElementType(), false,
                                  op.getIsUnsigned()}));
  }
  return success();
}
