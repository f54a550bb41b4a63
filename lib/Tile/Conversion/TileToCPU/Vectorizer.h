//===- Vectorizer.h - Lanes of an elementwise loop as vectors ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of one vectorised body, for the two files that emit it: values and
// control flow (Vectorize.cpp) and memory (VectorizeMemory.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOCPU_VECTORIZER_H
#define TILE_CONVERSION_TILETOCPU_VECTORIZER_H

#include "Intervals.h"
#include "Varying.h"
#include "mlir/IR/IRMapping.h"

namespace tile::cpu {

/// What a value of the body is in the vector code. Exactly one of the forms.
struct Lanes {
  mlir::Value uniform;
  mlir::Value base; // linear: base + lane * stride
  int64_t stride = 0;
  mlir::Value vector;
};

class Vectorizer {
public:
  Vectorizer(mlir::OpBuilder &b, int64_t vectorBytes, ParallelOp op,
             int64_t lanes, VectorizeOptions options,
             IntervalAnalysis &intervals)
      : b(b), vectorBytes(vectorBytes), lanes(lanes), options(options),
        intervals(intervals), varying(op), parallel(op),
        launch(op->getParentOfType<LaunchOp>()), isRare(options.guard) {}

  /// Quotients and remainders of linear values by uniform ones.
  using Quotients = llvm::DenseSet<mlir::Operation *>;

  /// Whether for all quotients of `op` that it finds the lanes between `ivs`
  /// and the last have one and the same, as an i1; null where there are none.
  mlir::Value findSteadyQuotients(ParallelOp op, mlir::ValueRange ivs,
                                  Quotients &found);

  /// Takes the code to be for few of the vectors, at edges: it shall be small.
  void setRare() { isRare = true; }

  /// Emits the body; the quotients in `known` are the same in all lanes.
  void run(ParallelOp op, mlir::ValueRange ivs, const Quotients &known = {}) {
    steady = known;
    begin(op, ivs);
    emit(op.getBody().front(), /*mask=*/{});
  }

private:
  void begin(ParallelOp op, mlir::ValueRange ivs) {
    for (auto [argument, iv] : llvm::zip(op.getInductionVars(), ivs))
      setUniform(argument, iv);
    values[op.getInductionVars().back()] = {{}, ivs.back(), 1, {}};
  }

  // Values.
  void setUniform(mlir::Value from, mlir::Value to) {
    values[from] = {to, {}, 0, {}};
    mapping.map(from, to);
  }
  void setVector(mlir::Value from, mlir::Value to) {
    values[from] = {{}, {}, 0, to};
  }
  Lanes get(mlir::Value value) {
    auto it = values.find(value);
    if (it != values.end())
      return it->second;
    return {value, {}, 0, {}}; // defined outside the loop
  }
  mlir::Value scalar(mlir::Value value) {
    Lanes form = get(value);
    assert(form.uniform && "a uniform value was expected");
    return form.uniform;
  }
  mlir::Value vectorOf(mlir::Location loc, const Lanes &form);
  mlir::Value vectorOf(mlir::Location loc, mlir::Value value) {
    return vectorOf(loc, get(value));
  }
  mlir::VectorType vectorType(mlir::Type element) {
    return mlir::VectorType::get({lanes}, element);
  }

  // Masks.
  mlir::Value conjoin(mlir::Location loc, mlir::Value x, mlir::Value y) {
    if (!x || !y)
      return x ? x : y;
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  mlir::Value isAnyActive(mlir::Location loc, mlir::Value mask) {
    return mlir::vector::ReductionOp::create(
        b, loc, mlir::vector::CombiningKind::OR, mask);
  }
  mlir::Value areAllActive(mlir::Location loc, mlir::Value mask) {
    return mlir::vector::ReductionOp::create(
        b, loc, mlir::vector::CombiningKind::AND, mask);
  }
  /// Below this many bits, masked accesses go element by element.
  int64_t maskedBits() const { return vectorBytes >= 64 ? 8 : 32; }
  /// Differences of moderate numbers do not wrap around, nor do they with the
  /// strides of the lanes added.
  static constexpr int64_t kModerate = int64_t(1) << 61;
  bool isModerate(mlir::Value value);
  mlir::Value clamp(mlir::Location loc, mlir::Value value, int64_t limit);
  mlir::Value compareLinear(mlir::Location loc,
                            mlir::arith::CmpIPredicate predicate,
                            const Lanes &linear, mlir::Value bound);
  /// Records when `condition`, which compares `linear` with `bound`, holds in
  /// all lanes.
  void setHoldsForAll(mlir::Value condition, mlir::Location loc,
                      mlir::arith::CmpIPredicate predicate, const Lanes &linear,
                      mlir::Value bound);

  // Ops.
  void emit(mlir::Block &block, mlir::Value mask);
  void emitIf(mlir::scf::IfOp op, mlir::Value mask);
  void emitUnmaskedIf(mlir::scf::IfOp op, mlir::Value holds);
  void emitMaskedIf(mlir::scf::IfOp op, mlir::Value taken, mlir::Value mask);
  void emitFor(mlir::scf::ForOp op, mlir::Value mask);
  void emitUniform(mlir::Operation *op);
  void emitElementwise(mlir::Operation *op);
  bool emitLinear(mlir::Operation *op);
  bool isQuotientOfLine(mlir::Operation *op);
  void emitSteadyQuotient(mlir::Operation *op);
  void emitLoad(mlir::memref::LoadOp op, mlir::Value mask);
  void emitStore(mlir::memref::StoreOp op, mlir::Value mask);

  /// An access: its buffer, its indices (a lane index added for local buffers)
  /// and the lanes that make it.
  struct Access {
    mlir::Value buffer;
    llvm::SmallVector<Lanes> indices;
    mlir::Value mask;
    /// Lanes that are turned off have elements, too.
    bool hasAll = false;
    bool isUniform() const {
      return llvm::all_of(indices, [](const Lanes &i) { return !!i.uniform; });
    }
  };
  Access getAccess(mlir::Location loc, mlir::Value buffer,
                   mlir::ValueRange indices, mlir::Value mask);
  bool isContiguousAccess(const Access &access);
  mlir::Value emitMaskedLoad(mlir::Location loc, mlir::VectorType type,
                             const Access &access);
  void emitMaskedStore(mlir::Location loc, mlir::Value vector,
                       const Access &access);
  bool hasEveryElement(mlir::MemRefType type, mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> startOf(const Access &access);
  std::pair<mlir::Value, mlir::Value> flatten(mlir::Location loc,
                                              const Access &access);
  llvm::SmallVector<mlir::Value>
  emitByLane(mlir::Location loc, const Access &access, mlir::TypeRange results,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(
                 mlir::OpBuilder &, int64_t, mlir::ValueRange)>
                 body);
  mlir::Value loadTruthValues(mlir::Location loc, const Access &access);
  void storeTruthValues(mlir::Location loc, const Access &access,
                        mlir::Value vector);
  mlir::Value allActive(mlir::Location loc) {
    auto type = vectorType(b.getI1Type());
    return mlir::arith::ConstantOp::create(
        b, loc, mlir::DenseElementsAttr::get(type, true));
  }

  mlir::OpBuilder &b;
  int64_t vectorBytes, lanes;
  VectorizeOptions options;
  IntervalAnalysis &intervals;
  VaryingAnalysis varying;
  ParallelOp parallel;
  LaunchOp launch;
  bool isRare;
  Quotients steady;
  llvm::DenseMap<mlir::Value, Lanes> values;
  /// Of conditions that differ between lanes, an i1 that says they do not and
  /// hold.
  llvm::DenseMap<mlir::Value, mlir::Value> holdsForAll;
  /// The uniform values again, for cloning.
  mlir::IRMapping mapping;
};

} // namespace tile::cpu

#endif // TILE_CONVERSION_TILETOCPU_VECTORIZER_H
