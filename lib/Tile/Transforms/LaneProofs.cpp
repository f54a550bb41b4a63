//===- LaneProofs.cpp - What follows from the form of indices ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two arguments. The algebraic one takes two lanes whose forms agree and
// derives that more and more of their terms agree: a sum whose coefficients
// grow faster than the terms below them can reach is a number in a mixed radix,
// so its digits agree; quotient and remainder together give back the number. It
// works for boxes of any size and with unknown offsets. Where it fails and the
// box is small, all lanes are tried.
//
//===----------------------------------------------------------------------===//

#include "LaneForms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Terms over the lanes
//===----------------------------------------------------------------------===//

bool LaneForms::isUniform(TermId id) {
  if (auto known = uniformTerms.find(id); known != uniformTerms.end())
    return known->second;
  auto formIsUniform = [&](const LaneForm &form) {
    return llvm::all_of(form.terms,
                        [&](auto term) { return isUniform(term.first); });
  };
  const Term &term = terms[id];
  bool result = false;
  switch (term.kind) {
  case Kind::Coordinate:
    result = extents[term.number] <= 1 &&
             !ShapedType::isDynamic(extents[term.number]);
    break;
  case Kind::Symbol:
    result = isUniform(term.value);
    break;
  case Kind::Quotient:
  case Kind::Remainder:
  case Kind::Product:
    result = formIsUniform(term.form) && formIsUniform(term.factor);
    break;
  }
  return uniformTerms[id] = result;
}

/// How far two lanes' values of a term can lie apart.
std::optional<int64_t> LaneForms::getWidth(TermId id) {
  if (isUniform(id))
    return 0;
  if (auto known = widths.find(id); known != widths.end())
    return known->second;
  LaneBounds range = bounds[id];
  std::optional<int64_t> width;
  if (range.lower && range.upper)
    width = llvm::checkedSub(*range.upper, *range.lower);
  // An unknown offset leaves the bounds of a quotient open, but not its width.
  const Term &term = terms[id];
  if (term.kind == Kind::Quotient)
    if (std::optional<int64_t> inner = getWidth(term.form)) {
      int64_t own = llvm::divideCeil(*inner, term.number);
      width = width ? std::min(*width, own) : own;
    }
  return widths[id] = width;
}

std::optional<int64_t> LaneForms::getWidth(const LaneForm &form) {
  std::optional<int64_t> sum = 0;
  for (auto [term, coefficient] : form.terms) {
    std::optional<int64_t> width = getWidth(term);
    if (!width || !sum)
      return std::nullopt;
    sum = llvm::checkedMulAdd(*width, std::abs(coefficient), *sum);
  }
  return sum;
}

SmallVector<TermId> LaneForms::getCoordinates() const {
  // They are interned first, one for each dimension.
  return llvm::to_vector(llvm::seq<TermId>(0, extents.size()));
}

//===----------------------------------------------------------------------===//
// The algebraic argument
//===----------------------------------------------------------------------===//

/// What is known to agree between two lanes.
class LaneForms::Determination {
public:
  Determination(LaneForms &owner, ArrayRef<LaneForm> equal)
      : owner(owner), equal(equal) {
    for (bool learned = true; learned; settled.clear()) {
      learned = readDigits();
      learned |= joinQuotients();
    }
  }

  /// True if the term has one value for both lanes.
  bool agrees(TermId id) {
    if (known.contains(id) || owner.isUniform(id))
      return true;
    const Term &term = owner.terms[id];
    if (term.kind == Kind::Coordinate || term.kind == Kind::Symbol)
      return false;
    if (auto it = settled.find(id); it != settled.end())
      return it->second;
    bool result = agrees(term.form) && agrees(term.factor);
    return settled[id] = result;
  }
  bool agrees(const LaneForm &form) {
    return llvm::all_of(form.terms,
                        [&](auto term) { return agrees(term.first); });
  }

private:
  /// Reads sums as numbers in a mixed radix; true if something was learned.
  bool readDigits() {
    bool learned = false;
    for (const LaneForm &form : equal) {
      SmallVector<std::pair<int64_t, TermId>> open;
      for (auto [term, coefficient] : form.terms)
        if (!agrees(term))
          open.push_back({std::abs(coefficient), term});
      if (open.empty())
        continue;
      llvm::sort(open);
      std::optional<int64_t> reach = 0;
      bool unique = true;
      for (auto [coefficient, term] : open) {
        unique &= reach && coefficient > *reach;
        std::optional<int64_t> width = owner.getWidth(term);
        if (!reach || !width) {
          reach = std::nullopt;
          continue;
        }
        reach = llvm::checkedMulAdd(*width, coefficient, *reach);
        // Numbers that far apart meet again where indices wrap around.
        unique &= reach.has_value();
      }
      if (!unique)
        continue;
      for (auto [coefficient, term] : open)
        known.insert(term);
      learned = true;
    }
    return learned;
  }

  /// x mod c and x div c together give x.
  bool joinQuotients() {
    bool learned = false;
    SmallVector<TermId> found(known.begin(), known.end());
    for (TermId id : found) {
      if (owner.terms[id].kind != Kind::Remainder)
        continue;
      LaneForm whole = owner.terms[id].form;
      int64_t divisor = owner.terms[id].number;
      if (llvm::is_contained(equal, whole) ||
          !agrees(owner.quotient(whole, divisor)))
        continue;
      equal.push_back(whole);
      learned = true;
    }
    return learned;
  }

  LaneForms &owner;
  SmallVector<LaneForm> equal;
  DenseSet<TermId> known;
  DenseMap<TermId, bool> settled;
};

bool LaneForms::determines(ArrayRef<LaneForm> equal, ArrayRef<Value> ivs) {
  Determination determination(*this, equal);
  return llvm::all_of(ivs,
                      [&](Value iv) { return determination.agrees(get(iv)); });
}

//===----------------------------------------------------------------------===//
// Meeting at one element
//===----------------------------------------------------------------------===//

std::pair<LaneForm, LaneForm> LaneForms::split(const LaneForm &form) {
  LaneForm shared, rest;
  rest.constant = form.constant;
  for (auto term : form.terms)
    (isUniform(term.first) ? shared : rest).terms.push_back(term);
  return {shared, rest};
}

/// True if the two forms have no value in common, whatever the lanes.
bool LaneForms::areApart(const LaneForm &a, const LaneForm &b) {
  auto [sharedA, restA] = split(a);
  auto [sharedB, restB] = split(b);
  if (!(sharedA == sharedB))
    return false;
  LaneBounds x = getBounds(restA), y = getBounds(restB);
  return (x.upper && y.lower && *x.upper < *y.lower) ||
         (y.upper && x.lower && *y.upper < *x.lower);
}

bool LaneForms::mayMeet(ArrayRef<LaneForm> a, ArrayRef<LaneForm> b) {
  assert(a.size() == b.size() && "indices of one buffer");
  SmallVector<LaneForm> equal;
  for (auto [x, y] : llvm::zip(a, b)) {
    if (areApart(x, y))
      return false;
    if (x == y)
      equal.push_back(x);
  }
  Determination determination(*this, equal);
  if (llvm::all_of(getCoordinates(),
                   [&](TermId term) { return determination.agrees(term); }))
    return false;
  return meetByEnumeration(a, b);
}

/// Marks the terms that `form` is computed from; false if one of them is a
/// symbol.
bool LaneForms::collectTerms(const LaneForm &form,
                             std::vector<bool> &needed) const {
  SmallVector<TermId> worklist;
  auto push = [&](const LaneForm &inner) {
    for (auto [term, coefficient] : inner.terms)
      if (!needed[term]) {
        needed[term] = true;
        worklist.push_back(term);
      }
  };
  push(form);
  while (!worklist.empty()) {
    const Term &term = terms[worklist.pop_back_val()];
    LaneBounds inner = getBounds(term.form), factor = getBounds(term.factor);
    // Known bounds also tell that nothing overflows on the way.
    if (term.kind == Kind::Symbol || !inner.lower || !inner.upper ||
        !factor.lower || !factor.upper)
      return false;
    push(term.form);
    push(term.factor);
  }
  return true;
}

bool LaneForms::meetByEnumeration(ArrayRef<LaneForm> a, ArrayRef<LaneForm> b) {
  // Takes a few milliseconds at most.
  constexpr int64_t limit = 1 << 16;
  int64_t lanes = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent) || extent > limit)
      return true;
    lanes *= extent;
    if (lanes > limit)
      return true;
  }

  // The dimensions that can be computed, and a code for their values.
  std::vector<bool> needed(terms.size());
  SmallVector<std::pair<LaneForm, LaneForm>> pairs;
  SmallVector<std::pair<int64_t, int64_t>> radix; // lower bound, extent
  int64_t codes = 1;
  for (auto [x, y] : llvm::zip(a, b)) {
    auto [sharedX, restX] = split(x);
    auto [sharedY, restY] = split(y);
    std::vector<bool> with = needed;
    if (!(sharedX == sharedY) || !collectTerms(restX, with) ||
        !collectTerms(restY, with))
      continue;
    LaneBounds p = getBounds(restX), q = getBounds(restY);
    if (!p.lower || !p.upper || !q.lower || !q.upper)
      continue;
    int64_t lower = std::min(*p.lower, *q.lower);
    auto extent = llvm::checkedSub(std::max(*p.upper, *q.upper), lower);
    auto total = extent && *extent < INT64_MAX
                     ? llvm::checkedMul(codes, *extent + 1)
                     : std::nullopt;
    if (!total || *total >= INT64_MAX - 1)
      continue;
    codes = *total;
    needed = std::move(with);
    pairs.push_back({restX, restY});
    radix.push_back({lower, *extent + 1});
  }
  if (pairs.empty())
    return true;

  // Inner terms have smaller numbers than those they stand in.
  SmallVector<TermId> order;
  for (TermId id = 0; id < terms.size(); ++id)
    if (needed[id])
      order.push_back(id);
  std::vector<int64_t> values(terms.size());
  auto evaluate = [&](const LaneForm &form) {
    int64_t sum = form.constant;
    for (auto [term, coefficient] : form.terms)
      sum += coefficient * values[term];
    return sum;
  };
  auto setLane = [&](int64_t lane) {
    for (int64_t dim = extents.size(); dim-- > 0;) {
      values[dim] = lane % extents[dim];
      lane /= extents[dim];
    }
    for (TermId id : order) {
      const Term &term = terms[id];
      if (term.kind == Kind::Quotient)
        values[id] = llvm::divideFloorSigned(evaluate(term.form), term.number);
      else if (term.kind == Kind::Remainder)
        values[id] = llvm::mod(evaluate(term.form), term.number);
      else if (term.kind == Kind::Product)
        values[id] = evaluate(term.form) * evaluate(term.factor);
    }
  };
  auto getCode = [&](bool second) {
    int64_t code = 0;
    for (auto [forms, digit] : llvm::zip(pairs, radix))
      code = code * digit.second +
             evaluate(second ? forms.second : forms.first) - digit.first;
    return code;
  };

  constexpr int64_t several = -1;
  DenseMap<int64_t, int64_t> laneAt;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    setLane(lane);
    auto [it, isNew] = laneAt.try_emplace(getCode(false), lane);
    if (!isNew)
      it->second = several;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    setLane(lane);
    auto it = laneAt.find(getCode(true));
    if (it != laneAt.end() && it->second != lane)
      return true;
  }
  return false;
}

bool LaneForms::certainlyDiffers(ArrayRef<LaneForm> fixed,
                                 const LaneForm &varying) {
  // Along one coordinate: the fixed forms do not depend on it in any way, the
  // varying one in a linear way only.
  for (TermId coordinate : getCoordinates()) {
    if (ShapedType::isDynamic(extents[coordinate]) || extents[coordinate] < 2)
      continue;
    auto dependsOnlyLinearly = [&](const LaneForm &form, bool &linear) {
      for (auto [id, coefficient] : form.terms) {
        if (id == coordinate)
          linear = true;
        else if (terms[id].kind != Kind::Coordinate && !isUniform(id))
          return false;
      }
      return true;
    };
    bool moves = false, stays = false;
    if (dependsOnlyLinearly(varying, moves) && moves &&
        llvm::all_of(fixed,
                     [&](const LaneForm &form) {
                       return dependsOnlyLinearly(form, stays);
                     }) &&
        !stays)
      return true;
  }
  return false;
}
