//===- Drawing.h - Layouts as text tables and as SVG ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A picture has one cell for each element of the tile. Fragments show who holds
// it, coloured by lane, with heavier lines between warps. Shared memory shows
// its offset, coloured by bank. A plain layout shows its values. Tiles of more
// than two dimensions are stacked.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_DRAWING_H
#define TILE_LAYOUT_DRAWING_H

#include "Tile/Layout/SharedLayout.h"

namespace tile::layout {

struct Picture {
  struct Cell {
    /// `T5` over `R2`; the lower line may be empty.
    std::string upper, lower;
    /// CSS, empty for a cell that nobody owns.
    std::string colour;
    /// Lines between cells of different groups are heavy.
    int64_t group = 0;
  };
  int64_t rows = 1, columns = 1;
  /// Row by row.
  std::vector<Cell> cells;
  std::vector<std::string> rowLabels;
  std::string title, caption;
};

/// All fail for tiles too large to be looked at.
Expected<Picture> pictureOf(const FragmentLayout &layout);
Expected<Picture> pictureOf(const ComposedLayout &layout, int64_t elementBits);
Expected<Picture> pictureOf(const Layout &layout);

std::string textOf(const Picture &picture);
std::string svgOf(const Picture &picture);

} // namespace tile::layout

#endif // TILE_LAYOUT_DRAWING_H
