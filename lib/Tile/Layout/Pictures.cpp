//===- Pictures.cpp - What the cells of a picture say ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Labels and colours; how they are set on the page is in Drawing.cpp.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "Tile/Layout/Drawing.h"

#include <algorithm>
#include <cmath>

using namespace tile::layout;

static constexpr int64_t mostCells = 1 << 15;

/// Hue in degrees, the rest from 0 to 1. Hexadecimal, because viewers of SVG
/// differ in which of CSS's other notations they know.
static std::string hexColour(double hue, double saturation, double lightness) {
  const double chroma = saturation * std::min(lightness, 1 - lightness);
  std::string text = "#";
  for (int offset : {0, 8, 4}) {
    const double k = std::fmod(offset + hue / 30, 12);
    const double channel =
        lightness - chroma * std::clamp(std::min(k - 3, 9 - k), -1.0, 1.0);
    const int value = int(std::lround(channel * 255));
    text += "0123456789abcdef"[value / 16];
    text += "0123456789abcdef"[value % 16];
  }
  return text;
}

/// One of 32 colours that stay apart and let black text stand out: eight hues,
/// four shades of each.
static std::string colourOf(int64_t index) {
  // Further apart where the eye tells hues apart less well.
  static constexpr double hues[8] = {212, 28, 140, 0, 270, 52, 180, 322};
  const double shade = double(index % 4);
  return hexColour(hues[index / 4 % 8], 0.78 - 0.06 * shade,
                   0.88 - 0.07 * shade);
}

static Expected<Picture> emptyPicture(const Coordinate &tile,
                                      std::string title) {
  if (std::optional<Failure> bad = checkSizes(tile, 1))
    return *bad;
  if (productOf(tile) > mostCells)
    return Failure{"a picture shows at most " + std::to_string(mostCells) +
                   " elements, " + shapeText(tile) + " has " +
                   std::to_string(productOf(tile))};
  Picture picture;
  picture.columns = tile.back();
  picture.rows = productOf(tile) / picture.columns;
  picture.cells.resize(productOf(tile));
  picture.title = std::move(title);
  const Coordinate outer(tile.begin(), tile.end() - 1);
  for (int64_t row = 0; row < picture.rows; ++row) {
    std::string label;
    for (int64_t index : delinearize(row, outer))
      label += (label.empty() ? "" : ",") + std::to_string(index);
    picture.rowLabels.push_back(label);
  }
  return picture;
}

Expected<Picture> tile::layout::pictureOf(const FragmentLayout &layout) {
  auto counted = [](int64_t count, const char *thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
  };
  Expected<Picture> picture = emptyPicture(
      layout.tile(), shapeText(layout.tile()) + " over " +
                         counted(layout.numThreads(), "thread") + ", " +
                         counted(layout.numRegisters(), "register") + " each");
  if (!picture)
    return picture;
  picture->caption =
      layout.modes() ? layout.str() : "a table of elements, without strides";
  const std::vector<std::vector<Owner>> owners = layout.inverse();
  for (size_t element = 0; element < owners.size(); ++element) {
    Picture::Cell &cell = picture->cells[element];
    cell.group = -1;
    if (owners[element].empty())
      continue;
    const Owner first = owners[element].front();
    cell.upper = "T" + std::to_string(first.thread);
    cell.lower = "R" + std::to_string(first.reg);
    if (owners[element].size() > 1)
      cell.lower += "\u00d7" + std::to_string(owners[element].size());
    cell.colour = colourOf(first.thread % warpSize);
    cell.group = first.thread / warpSize;
  }
  return picture;
}

Expected<Picture> tile::layout::pictureOf(const ComposedLayout &layout,
                                          int64_t elementBits) {
  Expected<Picture> picture =
      emptyPicture(layout.tile(), "shared " + shapeText(layout.tile()) + ", " +
                                      std::to_string(elementBits) +
                                      "-bit elements: offset and bank");
  if (!picture)
    return picture;
  picture->caption = layout.str();
  const std::vector<int64_t> offsets = layout.offsets();
  for (size_t element = 0; element < offsets.size(); ++element) {
    const int64_t bank = offsets[element] * elementBits / 32 % 32;
    picture->cells[element] = {std::to_string(offsets[element]),
                               "b" + std::to_string(bank), colourOf(bank), 0};
  }
  return picture;
}

Expected<Picture> tile::layout::pictureOf(const Layout &layout) {
  // One mode is a row, two a matrix, more are stacked.
  Coordinate tile;
  for (int64_t i = 0; i < layout.rank(); ++i)
    tile.push_back(layout.mode(i).size());
  Expected<Picture> picture = emptyPicture(tile, layout.str());
  if (!picture)
    return picture;
  const std::vector<int64_t> values = ComposedLayout{{}, 0, layout}.offsets();
  // Runs of values share a hue, so that one sees which way they go.
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const int64_t range = *most - *least + 1;
  for (size_t element = 0; element < values.size(); ++element)
    picture->cells[element] = {
        std::to_string(values[element]), "",
        colourOf(range <= 32 ? values[element] - *least
                             : (values[element] - *least) * 32 / range),
        0};
  return picture;
}
