//===- LaneForms.h - Indices as functions of the lane -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index values in the body of an elementwise loop, written as sums of terms in
// the lane's coordinates, and what can be proved from that: that two lanes
// never meet at one element, or that a value is the same for all lanes.
//
// Sums, products with constants, divisions and remainders by constants are
// taken apart; everything else is a symbol. Two lanes have the same value of a
// symbol only where it is uniform. Indices are taken not to overflow 64 bits.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_LANEFORMS_H
#define TILE_TRANSFORMS_LANEFORMS_H

#include "Tile/IR/TileDialect.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>

namespace tile {

using TermId = unsigned;

/// The sum of coefficient times term, plus a constant.
struct LaneForm {
  /// Sorted by term; no coefficient is zero.
  llvm::SmallVector<std::pair<TermId, int64_t>, 2> terms;
  int64_t constant = 0;

  bool operator==(const LaneForm &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator<(const LaneForm &other) const {
    return std::tie(constant, terms) < std::tie(other.constant, other.terms);
  }
};

/// The least and greatest value, where known.
struct LaneBounds {
  std::optional<int64_t> lower, upper;
};

class LaneForms {
public:
  explicit LaneForms(ParallelOp loop);

  /// The form of an index or integer that `loop` can see.
  LaneForm get(mlir::Value value);

  /// `a * b + c`; none if a coefficient would overflow.
  std::optional<LaneForm> multiplyAdd(const LaneForm &a, const LaneForm &b,
                                      const LaneForm &c);

  /// True if all lanes that compute `value` in one statement get the same, and
  /// it can be computed outside the loop.
  bool isUniform(mlir::Value value) const;

  /// From now on `iv`, the index of a loop in the body, counts as uniform: the
  /// loop is run once for all lanes.
  void addUniform(mlir::Value iv);

  /// False if no two different lanes have equal values of all of `a` and `b`,
  /// in whatever iterations of the loops in the body.
  bool mayMeet(llvm::ArrayRef<LaneForm> a, llvm::ArrayRef<LaneForm> b);

  /// True if equal values of all of `forms`, in any two lanes and iterations,
  /// imply equal values of all of `ivs`.
  bool determines(llvm::ArrayRef<LaneForm> forms,
                  llvm::ArrayRef<mlir::Value> ivs);

  /// True if two lanes certainly exist that agree in all of `fixed` and differ
  /// in `varying`.
  bool certainlyDiffers(llvm::ArrayRef<LaneForm> fixed,
                        const LaneForm &varying);

private:
  enum class Kind { Coordinate, Symbol, Quotient, Remainder, Product };
  struct Term {
    Kind kind;
    /// The dimension of a coordinate; the divisor of a quotient or remainder.
    int64_t number = 0;
    mlir::Value value;
    LaneForm form, factor;

    bool operator<(const Term &other) const {
      const void *own = value.getAsOpaquePointer();
      const void *others = other.value.getAsOpaquePointer();
      return std::tie(kind, number, own, form, factor) <
             std::tie(other.kind, other.number, others, other.form,
                      other.factor);
    }
  };

  // LaneForms.cpp: building forms.
  TermId intern(Term term, LaneBounds bounds);
  LaneForm symbol(mlir::Value value);
  LaneBounds getSymbolBounds(mlir::Value value);
  LaneForm computeOrSymbol(mlir::Value value);
  std::optional<LaneForm> compute(mlir::Operation *op);
  std::optional<LaneForm> computeAffine(mlir::AffineExpr expr,
                                        mlir::ValueRange operands,
                                        unsigned numDims);
  std::optional<LaneForm> add(const LaneForm &a, const LaneForm &b,
                              int64_t factor = 1);
  std::optional<LaneForm> scale(const LaneForm &a, int64_t factor);
  std::optional<LaneForm> multiply(const LaneForm &a, const LaneForm &b);
  LaneForm quotient(const LaneForm &a, int64_t divisor);
  LaneForm remainder(const LaneForm &a, int64_t divisor);
  LaneBounds getBounds(const LaneForm &form) const;
  unsigned getNesting(const LaneForm &form) const;
  bool fits(const LaneForm &form, mlir::Type type) const;
  void markUniform(mlir::Region &region);

  // LaneProofs.cpp: what follows from them.
  class Determination;
  bool isUniform(TermId term);
  std::optional<int64_t> getWidth(const LaneForm &form);
  std::optional<int64_t> getWidth(TermId term);
  llvm::SmallVector<TermId> getCoordinates() const;
  /// Splits into the terms that all lanes share and the rest.
  std::pair<LaneForm, LaneForm> split(const LaneForm &form);
  bool areApart(const LaneForm &a, const LaneForm &b);
  bool meetByEnumeration(llvm::ArrayRef<LaneForm> a,
                         llvm::ArrayRef<LaneForm> b);
  bool collectTerms(const LaneForm &form, std::vector<bool> &needed) const;

  mlir::Region *body;
  llvm::SmallVector<int64_t> extents;
  std::vector<Term> terms;
  std::vector<LaneBounds> bounds;
  std::map<Term, TermId> ids;
  llvm::DenseMap<mlir::Value, LaneForm> forms;
  llvm::DenseSet<mlir::Value> uniform;
  /// How deeply terms are nested in each other.
  std::vector<unsigned> nesting;
  /// Cleared when more becomes uniform.
  llvm::DenseMap<TermId, bool> uniformTerms;
  llvm::DenseMap<TermId, std::optional<int64_t>> widths;
  /// How many definitions outside the loop are being looked through.
  unsigned depth = 0;
};

} // namespace tile

#endif // TILE_TRANSFORMS_LANEFORMS_H
