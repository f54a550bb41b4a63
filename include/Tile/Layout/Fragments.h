//===- Fragments.h - The fragments of the hardware, and tilings -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The register layouts that PTX prescribes for matrix instructions and matrix
// loads, layouts for elementwise work, and the repetition of a small fragment
// over the warps and registers of a larger tile. Tiles are named by the matrix:
// A is m x k, B is k x n, C is m x n, whatever order memory has them in.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_FRAGMENTS_H
#define TILE_LAYOUT_FRAGMENTS_H

#include "Tile/Layout/FragmentLayout.h"

namespace tile::layout {

enum class Operand { A, B, C };

struct MmaShape {
  int64_t m, n, k;
};

/// The shapes of mma.sync for multiplicands of a width (1, 4, 8, 16, 32 for
/// tf32, 64): none for other widths. The Volta shape m8n8k4 in f16 is left out:
/// it works on four quads of lanes at once and chips since sm_80 emulate it.
std::vector<MmaShape> mmaShapes(int64_t elementBits);

/// A fragment of mma.sync. `elementBits` is the width of the multiplicands,
/// also for C. PTX: "Matrix Fragments for mma.m*n*k*".
Expected<FragmentLayout> mmaFragment(MmaShape shape, Operand operand,
                                     int64_t elementBits);

/// The accumulator of wgmma m64nNk*, n a multiple of 8 from 8 to 256, over the
/// 128 threads of a warpgroup. PTX: "WGMMA.64xN.. register fragment for matrix
/// D".
Expected<FragmentLayout> wgmmaAccumulator(int64_t n);
/// The A operand of wgmma in registers: 64 x (256 bits of k).
Expected<FragmentLayout> wgmmaOperandA(int64_t elementBits);

/// The 8x8 matrices (of 16-bit elements; 8 rows of 16 bytes whatever the width)
/// of an ldmatrix or stmatrix, as they lie in the tile in memory.
struct MatrixGrid {
  enum class Order { Down, Across };
  int64_t rows = 1, columns = 1;
  /// Whether matrix 1 is below or beside matrix 0 where both are possible.
  Order order = Order::Down;
};
enum class Transposed { No, Yes };

/// What each lane has in registers after ldmatrix .x1, .x2, .x4 of a stored
/// tile, and must have before stmatrix. Coordinates are those of the stored
/// tile, also with .trans, which exists for 16-bit elements.
Expected<FragmentLayout> ldmatrixFragment(MatrixGrid grid, int64_t elementBits,
                                          Transposed transposed);
/// Which row of 16 bytes each lane hands to ldmatrix or stmatrix as an address:
/// registers 0 ... stand for the elements of that row.
Expected<FragmentLayout> ldmatrixAddresses(MatrixGrid grid,
                                           int64_t elementBits);

/// Elements dealt out to threads in row-major order, `vector` neighbours at a
/// time (or the largest divisor of it that divides the last extent), wrapping
/// around until the tile is used up. Surplus threads hold replicas where that
/// comes out even and nothing otherwise.
Expected<FragmentLayout> blockedFragment(const Coordinate &tile,
                                         int64_t threads, int64_t vector);

/// How a tile is made of copies of an atom.
struct Tiling {
  /// Groups of the atom's threads, the fastest first: `count` groups along
  /// `dim`, or `count` replicas where there is no dim.
  struct Group {
    std::optional<int64_t> dim;
    int64_t count;
  };
  std::vector<Group> groups;
  /// Which dimension the registers go along first when a thread holds several
  /// atoms. Dimensions left out follow, the last first.
  std::vector<int64_t> repeatOrder;
  /// Whether neighbouring atoms belong to neighbouring groups, or each group
  /// has one contiguous block.
  enum class Placement {
    Interleaved,
    Blocked
  } placement = Placement::Interleaved;
};

/// Repeats an atom over a tile of the same rank. Where the atoms overhang the
/// tile the slots outside are idle.
Expected<FragmentLayout> repeatFragment(const FragmentLayout &atom,
                                        const Coordinate &tile,
                                        const Tiling &tiling);

} // namespace tile::layout

#endif // TILE_LAYOUT_FRAGMENTS_H
