//===- VectorizeMemory.cpp - Loads and stores of many lanes -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An access whose last index is linear and whose others are uniform is one load
// or store of a vector; one that is the same in all lanes stays scalar; others
// gather and scatter. Lanes that a condition or a bound turns off are masked.
//
//===----------------------------------------------------------------------===//

#include "Prefetch.h"
#include "Vectorizer.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

Vectorizer::Access Vectorizer::getAccess(Location loc, Value buffer,
                                         ValueRange indices, Value mask) {
  Access access{scalar(buffer), {}, mask};
  for (Value index : indices)
    access.indices.push_back(get(index));
  if (varying(buffer)) // a local buffer, one element a lane
    access.indices.push_back({{}, constantIndex(b, loc, 0), 1, {}});
  auto type = cast<MemRefType>(access.buffer.getType());
  access.hasAll =
      isGlobal(type) ? options.inside : hasEveryElement(type, indices);
  if (!options.guard || !isGlobal(type))
    return access;
  for (auto [from, index, range] : llvm::zip(
           indices, access.indices, getExistingRanges(b, loc, access.buffer))) {
    Value inside;
    if (index.base && std::abs(index.stride) <= (1 << 20)) {
      // No buffer reaches as far as the limits, so that lanes which start
      // beyond them are outside in any case, also those that wrap around.
      Lanes line = index;
      if (!isModerate(from))
        line.base = clamp(loc, line.base, kModerate);
      Value end = b.createOrFold<arith::MinSIOp>(
          loc, range.high, constantIndex(b, loc, kModerate / 2));
      Value begin = range.low ? range.low : constantIndex(b, loc, 0);
      inside =
          conjoin(loc, compareLinear(loc, arith::CmpIPredicate::slt, line, end),
                  compareLinear(loc, arith::CmpIPredicate::sge, line, begin));
    } else {
      auto compare = [&](arith::CmpIPredicate predicate, const Lanes &x,
                         Value bound) -> Value {
        if (x.uniform)
          return splat(
              b, loc,
              arith::CmpIOp::create(b, loc, predicate, x.uniform, bound),
              lanes);
        return arith::CmpIOp::create(b, loc, predicate, vectorOf(loc, x),
                                     splat(b, loc, bound, lanes));
      };
      // As unsigned numbers, negative indices lie beyond every extent.
      inside = compare(arith::CmpIPredicate::ult, index, range.high);
      if (range.low)
        inside = conjoin(loc, inside,
                         compare(arith::CmpIPredicate::sge, index, range.low));
    }
    access.mask = conjoin(loc, access.mask, inside);
  }
  return access;
}

/// Whether a buffer has the elements for all lanes.
bool Vectorizer::hasEveryElement(MemRefType type, ValueRange indices) {
  return llvm::all_of(
      llvm::zip(indices, type.getShape()), [&](const auto &pair) {
        auto [index, extent] = pair;
        std::optional<Interval> interval = intervals.get(index);
        return interval && interval->low >= 0 && interval->high < extent;
      });
}

bool Vectorizer::isContiguousAccess(const Access &access) {
  if (access.indices.empty() ||
      !isContiguous(cast<MemRefType>(access.buffer.getType())))
    return false;
  const Lanes &last = access.indices.back();
  return last.base && last.stride == 1 &&
         llvm::all_of(ArrayRef(access.indices).drop_back(),
                      [](const Lanes &index) { return !!index.uniform; });
}

SmallVector<Value> Vectorizer::startOf(const Access &access) {
  SmallVector<Value> start;
  for (const Lanes &index : access.indices)
    start.push_back(index.uniform ? index.uniform : index.base);
  return start;
}

/// The buffer as one dimension and each lane's place in it, for accesses of any
/// form.
std::pair<Value, Value> Vectorizer::flatten(Location loc,
                                            const Access &access) {
  auto type = cast<MemRefType>(access.buffer.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(b, loc, access.buffer);
  Value place = splat(b, loc, constantIndex(b, loc, 0), lanes);
  for (auto [index, stride] :
       llvm::zip(access.indices, metadata.getStrides())) {
    Value scaled = arith::MulIOp::create(b, loc, vectorOf(loc, index),
                                         splat(b, loc, stride, lanes));
    place = arith::AddIOp::create(b, loc, place, scaled);
  }
  // The extent is not looked at; masked lanes are not touched.
  auto flat = MemRefType::get(
      {ShapedType::kDynamic}, type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}),
      type.getMemorySpace());
  Value view = memref::ReinterpretCastOp::create(
      b, loc, flat, metadata.getBaseBuffer(),
      OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  return {view, place};
}

/// Emits `body` for each lane that makes the access, with the lane's indices;
/// where a lane does not, `body`'s results are zeros.
SmallVector<Value> Vectorizer::emitByLane(
    Location loc, const Access &access, TypeRange results,
    function_ref<SmallVector<Value>(OpBuilder &, int64_t, ValueRange)> body) {
  SmallVector<Value> all, indices;
  for (const Lanes &index : access.indices)
    indices.push_back(index.uniform ? index.uniform : vectorOf(loc, index));
  for (int64_t lane = 0; lane < lanes; ++lane) {
    SmallVector<Value> at;
    for (auto [index, form] : llvm::zip(indices, access.indices))
      at.push_back(form.uniform
                       ? index
                       : vector::ExtractOp::create(b, loc, index, lane));
    if (!access.mask) {
      llvm::append_range(all, body(b, lane, at));
      continue;
    }
    Value active = vector::ExtractOp::create(b, loc, access.mask, lane);
    auto test = scf::IfOp::create(b, loc, results, active,
                                  /*withElseRegion=*/!results.empty());
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(test.thenBlock());
    SmallVector<Value> made = body(b, lane, at);
    if (results.empty())
      continue;
    scf::YieldOp::create(b, loc, made);
    b.setInsertionPointToStart(test.elseBlock());
    SmallVector<Value> zeros;
    for (Type type : results)
      zeros.push_back(zeroOf(b, loc, type));
    scf::YieldOp::create(b, loc, zeros);
    llvm::append_range(all, test.getResults());
  }
  return all;
}

/// Truth values have a byte each in memory and a bit each in a vector. LLVM
/// turns gathers and scatters of neighbouring elements into accesses to a
/// vector, which would take the bytes for bits, so they go lane by lane.
Value Vectorizer::loadTruthValues(Location loc, const Access &access) {
  Type type = b.getI1Type();
  SmallVector<Value> values = emitByLane(
      loc, access, type,
      [&](OpBuilder &builder, int64_t, ValueRange at) -> SmallVector<Value> {
        return {memref::LoadOp::create(builder, loc, access.buffer, at)};
      });
  return vector::FromElementsOp::create(b, loc, vectorType(type), values);
}

void Vectorizer::storeTruthValues(Location loc, const Access &access,
                                  Value vector) {
  emitByLane(loc, access, TypeRange(),
             [&](OpBuilder &builder, int64_t lane,
                 ValueRange at) -> SmallVector<Value> {
               Value value =
                   vector::ExtractOp::create(builder, loc, vector, lane);
               memref::StoreOp::create(builder, loc, value, access.buffer, at);
               return {};
             });
}

Value Vectorizer::emitMaskedLoad(Location loc, VectorType type,
                                 const Access &access) {
  SmallVector<Value> start = startOf(access);
  auto masked = [&](OpBuilder &builder) -> Value {
    return vector::MaskedLoadOp::create(builder, loc, type, access.buffer,
                                        start, access.mask,
                                        zeroOf(builder, loc, type));
  };
  if (getElementBits(type.getElementType()) >= maskedBits())
    return masked(b);
  // Most often all lanes are on, but for those at an edge.
  auto test = scf::IfOp::create(
      b, loc, areAllActive(loc, access.mask),
      [&](OpBuilder &builder, Location) {
        Value whole =
            vector::LoadOp::create(builder, loc, type, access.buffer, start);
        scf::YieldOp::create(builder, loc, whole);
      },
      [&](OpBuilder &builder, Location) {
        scf::YieldOp::create(builder, loc, masked(builder));
      });
  return test.getResult(0);
}

void Vectorizer::emitMaskedStore(Location loc, Value vector,
                                 const Access &access) {
  SmallVector<Value> start = startOf(access);
  auto masked = [&](OpBuilder &builder) {
    vector::MaskedStoreOp::create(builder, loc, access.buffer, start,
                                  access.mask, vector);
  };
  Type element = getElementTypeOrSelf(vector.getType());
  if (getElementBits(element) >= maskedBits())
    return masked(b);
  scf::IfOp::create(
      b, loc, areAllActive(loc, access.mask),
      [&](OpBuilder &builder, Location) {
        vector::StoreOp::create(builder, loc, vector, access.buffer, start);
        scf::YieldOp::create(builder, loc);
      },
      [&](OpBuilder &builder, Location) {
        masked(builder);
        scf::YieldOp::create(builder, loc);
      });
}

void Vectorizer::emitLoad(memref::LoadOp op, Value mask) {
  Location loc = op.getLoc();
  Access access = getAccess(loc, op.getMemRef(), op.getIndices(), mask);
  Type element = op.getType();
  if (access.isUniform()) {
    // With a mask, the element need not exist.
    auto load = [&](OpBuilder &builder) -> Value {
      return memref::LoadOp::create(builder, loc, access.buffer,
                                    startOf(access));
    };
    if (!access.mask || access.hasAll) {
      setUniform(op.getResult(), load(b));
      return;
    }
    auto test = scf::IfOp::create(
        b, loc, isAnyActive(loc, access.mask),
        [&](OpBuilder &builder, Location) {
          scf::YieldOp::create(builder, loc, load(builder));
        },
        [&](OpBuilder &builder, Location) {
          scf::YieldOp::create(builder, loc, zeroOf(builder, loc, element));
        });
    setUniform(op.getResult(), test.getResult(0));
    return;
  }
  VectorType type = vectorType(element);
  if (isContiguousAccess(access)) {
    Value result = access.mask && !access.hasAll
                       ? emitMaskedLoad(loc, type, access)
                       : vector::LoadOp::create(b, loc, type, access.buffer,
                                                startOf(access))
                             .getResult();
    setVector(op.getResult(), result);
    if (isRare || access.mask || !isGlobal(op.getMemRefType()))
      return;
    if (std::optional<NextRows> next = findNextRows(launch, parallel, op))
      return buildPrefetch(b, loc, type, access.buffer, startOf(access),
                           next->dim, next->distance, /*localityHint=*/2);
    if (std::optional<unsigned> dim =
            findNextTile(launch, parallel, op.getIndices());
        dim && *dim + 1 == access.indices.size())
      buildPrefetch(b, loc, type, access.buffer, startOf(access), *dim,
                    parallel.getStaticExtents().back());
    return;
  }
  if (element.isInteger(1)) {
    setVector(op.getResult(), loadTruthValues(loc, access));
    return;
  }
  auto [view, place] = flatten(loc, access);
  Value zero = constantIndex(b, loc, 0);
  Value active = access.mask ? access.mask : allActive(loc);
  setVector(op.getResult(),
            vector::GatherOp::create(b, loc, type, view, ValueRange{zero},
                                     place, active, zeroOf(b, loc, type)));
}

void Vectorizer::emitStore(memref::StoreOp op, Value mask) {
  Location loc = op.getLoc();
  Access access = getAccess(loc, op.getMemRef(), op.getIndices(), mask);
  Lanes value = get(op.getValue());
  if (access.isUniform() && value.uniform) {
    auto store = [&](OpBuilder &builder) {
      memref::StoreOp::create(builder, loc, value.uniform, access.buffer,
                              startOf(access));
    };
    if (!access.mask)
      return store(b);
    scf::IfOp::create(b, loc, isAnyActive(loc, access.mask),
                      [&](OpBuilder &builder, Location) {
                        store(builder);
                        scf::YieldOp::create(builder, loc);
                      });
    return;
  }
  Value vector = vectorOf(loc, value);
  if (isContiguousAccess(access)) {
    // Nobody else writes to this block's memory in between.
    if (access.mask && access.hasAll && !isGlobal(access.buffer.getType())) {
      Value old =
          vector::LoadOp::create(b, loc, vectorType(op.getValue().getType()),
                                 access.buffer, startOf(access));
      vector = arith::SelectOp::create(b, loc, access.mask, vector, old);
      vector::StoreOp::create(b, loc, vector, access.buffer, startOf(access));
    } else if (access.mask)
      emitMaskedStore(loc, vector, access);
    else
      buildStore(b, loc, vector, access.buffer, startOf(access),
                 options.stream && isGlobal(access.buffer.getType()));
    return;
  }
  if (op.getValue().getType().isInteger(1))
    return storeTruthValues(loc, access, vector);
  auto [view, place] = flatten(loc, access);
  Value zero = constantIndex(b, loc, 0);
  Value active = access.mask ? access.mask : allActive(loc);
  vector::ScatterOp::create(b, loc, /*resultType=*/Type(), view,
                            ValueRange{zero}, place, active, vector);
}
