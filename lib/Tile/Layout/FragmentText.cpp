//===- FragmentText.cpp - The text form of fragment layouts ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   16x16 threads 32 (4,8):(2@1,1@0) registers (2,2,2):(1@1,8@0,8@1)
//   6x10 as 60 threads 32 (32):(1@0) registers (2):(32@0)
//   2x2 threads 2 table (0,3,1,_)
//
// 1@0+1@1 steps along two dimensions at once, 0 along none, _ is an idle slot.
// What is printed parses back to the same layout.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "Cursor.h"

using namespace tile::layout;

static std::string modesText(const std::vector<Mode> &modes) {
  std::string shape = "(", stride = "(";
  for (const Mode &mode : modes) {
    if (shape.size() > 1) {
      shape += ',';
      stride += ',';
    }
    shape += std::to_string(mode.extent);
    std::string steps;
    for (size_t d = 0; d < mode.strides.size(); ++d)
      if (mode.strides[d] != 0)
        steps += (steps.empty() ? "" : "+") + std::to_string(mode.strides[d]) +
                 "@" + std::to_string(d);
    stride += steps.empty() ? "0" : steps;
  }
  return shape + "):" + stride + ")";
}

std::string FragmentLayout::str() const {
  std::string text = shapeText(tileShape);
  if (form && !isBoxTile())
    text += " as " + shapeText(form->box);
  text += " threads " + std::to_string(threadCount);
  if (form)
    return text + " " + modesText(form->threads) + " registers " +
           modesText(form->registers);
  text += " table (";
  for (size_t slot = 0; slot < table.size(); ++slot) {
    if (slot != 0)
      text += ',';
    text += table[slot] == idle ? "_" : std::to_string(table[slot]);
  }
  return text + ")";
}

static Expected<Coordinate> parseShape(Cursor &cursor) {
  Coordinate shape;
  do {
    std::optional<int64_t> extent = cursor.integer();
    if (!extent)
      return cursor.expected("an extent");
    shape.push_back(*extent);
  } while (cursor.take('x'));
  return shape;
}

/// One stride: `0`, or steps `2@1` joined by '+'.
static std::optional<Failure> parseStride(Cursor &cursor, Coordinate &strides) {
  do {
    std::optional<int64_t> step = cursor.integer();
    if (!step)
      return cursor.expected("a stride such as 2@1");
    if (*step == 0 && cursor.peek() != '@')
      continue;
    std::optional<int64_t> dim;
    if (!cursor.take('@') || !(dim = cursor.integer()))
      return cursor.expected("'@' and a dimension");
    if (*dim < 0 || *dim >= int64_t(strides.size()))
      return Failure{"dimension " + std::to_string(*dim) +
                     " of a stride, got " + std::to_string(strides.size()) +
                     " dimensions"};
    strides[*dim] = *step;
  } while (cursor.take('+'));
  return std::nullopt;
}

static Expected<std::vector<Mode>> parseModes(Cursor &cursor, size_t rank) {
  std::vector<Mode> modes;
  if (!cursor.take('('))
    return cursor.expected("'(' and extents");
  if (!cursor.take(')')) {
    do {
      std::optional<int64_t> extent = cursor.integer();
      if (!extent)
        return cursor.expected("an extent");
      modes.push_back({*extent, Coordinate(rank, 0)});
    } while (cursor.take(','));
    if (!cursor.take(')'))
      return cursor.expected("',' or ')'");
  }
  if (!cursor.take(':') || !cursor.take('('))
    return cursor.expected("':(' and strides");
  for (size_t i = 0; i < modes.size(); ++i) {
    if (i != 0 && !cursor.take(','))
      return cursor.expected("',' and another stride");
    if (std::optional<Failure> bad = parseStride(cursor, modes[i].strides))
      return *bad;
  }
  if (!cursor.take(')'))
    return cursor.expected("')'");
  return modes;
}

Expected<FragmentLayout> FragmentLayout::parse(std::string_view text) {
  Cursor cursor(text);
  Expected<Coordinate> tile = parseShape(cursor);
  if (!tile)
    return tile.failure();
  FragmentModes modes;
  Coordinate box = *tile;
  if (cursor.take("as")) {
    Expected<Coordinate> shape = parseShape(cursor);
    if (!shape)
      return shape.failure();
    modes.box = box = *shape;
  }
  std::optional<int64_t> threads;
  if (!cursor.take("threads") || !(threads = cursor.integer()))
    return cursor.expected("'threads' and their number");

  if (cursor.take("table")) {
    if (!cursor.take('('))
      return cursor.expected("'(' and element numbers");
    std::vector<int64_t> elements;
    do {
      if (cursor.take('_')) {
        elements.push_back(idle);
        continue;
      }
      std::optional<int64_t> element = cursor.integer();
      if (!element)
        return cursor.expected("an element number or '_'");
      elements.push_back(*element);
    } while (cursor.take(','));
    if (!cursor.take(')') || !cursor.atEnd())
      return cursor.expected("')' and the end of the text");
    return enumerated(std::move(*tile), *threads, std::move(elements));
  }

  Expected<std::vector<Mode>> threadModes = parseModes(cursor, box.size());
  if (!threadModes)
    return threadModes.failure();
  if (!cursor.take("registers"))
    return cursor.expected("'registers'");
  Expected<std::vector<Mode>> registerModes = parseModes(cursor, box.size());
  if (!registerModes)
    return registerModes.failure();
  if (!cursor.atEnd())
    return cursor.expected("the end of the text");
  modes.threads = std::move(*threadModes);
  modes.registers = std::move(*registerModes);
  return strided(std::move(*tile), *threads, std::move(modes));
}
