//===- FragmentViews.cpp - Reshaped, permuted, sliced views ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views keep the registers where they are and change the tile they stand for.
// Where the box is the tile they only rewrite strides, which also keeps idle
// slots strided; otherwise they go through the table.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"

#include <map>

using namespace tile::layout;

Expected<FragmentLayout> FragmentLayout::reshape(Coordinate shape) const {
  if (std::optional<Failure> bad = checkSizes(shape, threadCount))
    return *bad;
  if (productOf(shape) != numElements())
    return Failure{"tile " + shapeText(tileShape) + " has " +
                   std::to_string(numElements()) + " elements, " +
                   shapeText(shape) + " has " +
                   std::to_string(productOf(shape))};
  Expected<FragmentLayout> renumbered =
      enumerated(shape, threadCount, elements());
  if (!form || (renumbered && renumbered->form && renumbered->isBoxTile()))
    return renumbered;
  return strided(std::move(shape), threadCount, *form);
}

FragmentLayout
FragmentLayout::permuteDims(const std::vector<int64_t> &order) const {
  assert(int64_t(order.size()) == rank() && "one entry a dimension");
  auto permute = [&](const Coordinate &coordinate) {
    Coordinate result;
    for (int64_t dim : order)
      result.push_back(coordinate[dim]);
    return result;
  };
  const Coordinate shape = permute(tileShape);
  if (form && isBoxTile()) {
    FragmentModes modes = *form;
    modes.box = shape;
    for (std::vector<Mode> *list : {&modes.threads, &modes.registers})
      for (Mode &mode : *list)
        mode.strides = permute(mode.strides);
    return *strided(shape, threadCount, std::move(modes));
  }
  std::vector<int64_t> moved = elements();
  for (int64_t &element : moved)
    if (element != idle)
      element = linearize(permute(delinearize(element, tileShape)), shape);
  return *enumerated(shape, threadCount, std::move(moved));
}

/// A tile keeps at least one dimension: the slice of a vector is 1 element.
static Coordinate dropDim(Coordinate coordinate, int64_t dim, int64_t last) {
  coordinate.erase(coordinate.begin() + dim);
  if (coordinate.empty())
    coordinate.push_back(last);
  return coordinate;
}

FragmentLayout::Slice FragmentLayout::slice(int64_t dim) const {
  assert(dim >= 0 && dim < rank() && "no such dimension");
  const Coordinate shape = dropDim(tileShape, dim, 1);
  if (form && isBoxTile()) {
    FragmentModes modes{{}, {}, shape};
    for (const Mode &mode : form->threads)
      modes.threads.push_back({mode.extent, dropDim(mode.strides, dim, 0)});
    // Register digits that step only along the lost dimension merge.
    std::vector<int64_t> registerOf(registerCount, 0);
    int64_t prefix = 1, kept = 1;
    for (const Mode &mode : form->registers) {
      Mode rest{mode.extent, dropDim(mode.strides, dim, 0)};
      if (rest.strides != Coordinate(shape.size(), 0)) {
        for (int64_t reg = 0; reg < registerCount; ++reg)
          registerOf[reg] += reg / prefix % mode.extent * kept;
        kept *= mode.extent;
        modes.registers.push_back(std::move(rest));
      }
      prefix *= mode.extent;
    }
    return {*strided(shape, threadCount, std::move(modes)),
            std::move(registerOf)};
  }
  std::vector<int64_t> held = elements(), registerOf;
  for (int64_t &element : held)
    if (element != idle)
      element =
          linearize(dropDim(delinearize(element, tileShape), dim, 0), shape);
  std::map<std::vector<int64_t>, int64_t> columns;
  std::vector<std::vector<int64_t>> distinct;
  for (int64_t reg = 0; reg < registerCount; ++reg) {
    std::vector<int64_t> column;
    for (int64_t thread = 0; thread < threadCount; ++thread)
      column.push_back(held[thread * registerCount + reg]);
    auto [at, isNew] = columns.try_emplace(column, int64_t(distinct.size()));
    if (isNew)
      distinct.push_back(std::move(column));
    registerOf.push_back(at->second);
  }
  std::vector<int64_t> table;
  for (int64_t thread = 0; thread < threadCount; ++thread)
    for (const std::vector<int64_t> &column : distinct)
      table.push_back(column[thread]);
  return {*enumerated(shape, threadCount, std::move(table)),
          std::move(registerOf)};
}

Expected<FragmentLayout::Subview>
FragmentLayout::subview(const Coordinate &offset,
                        const Coordinate &shape) const {
  if (std::optional<Failure> bad = checkSizes(shape, threadCount))
    return *bad;
  bool fits =
      offset.size() == tileShape.size() && shape.size() == offset.size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = offset[d] >= 0 && offset[d] <= tileShape[d] - shape[d];
  if (!fits)
    return Failure{"a part " + shapeText(shape) + " at " +
                   coordinateText(offset) + " is not within a tile " +
                   shapeText(tileShape)};
  std::vector<int64_t> held = elements();
  std::vector<bool> isUsed(registerCount, false);
  for (size_t slot = 0; slot < held.size(); ++slot) {
    if (held[slot] == idle)
      continue;
    Coordinate at = delinearize(held[slot], tileShape);
    for (size_t d = 0; d < at.size(); ++d)
      at[d] -= offset[d];
    held[slot] = linearize(at, shape);
    if (held[slot] != idle)
      isUsed[slot % registerCount] = true;
  }
  std::vector<int64_t> registers, table;
  for (int64_t reg = 0; reg < registerCount; ++reg)
    if (isUsed[reg])
      registers.push_back(reg);
  if (registers.empty())
    return Failure{"no thread holds an element of the part " +
                   shapeText(shape) + " at " + coordinateText(offset)};
  for (int64_t thread = 0; thread < threadCount; ++thread)
    for (int64_t reg : registers)
      table.push_back(held[thread * registerCount + reg]);
  return Subview{*enumerated(shape, threadCount, std::move(table)),
                 std::move(registers)};
}
