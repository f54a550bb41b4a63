//===- FragmentLayout.h - Which thread's register holds what ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fragment layout says which element of a tile each register of each thread
// holds. A *register* here is a slot for one element; how many slots share a
// hardware register is a matter of the element's width. Thread t is lane t % 32
// of warp t / 32.
//
// Nearly all such maps are strided: the coordinate is a sum over digits of the
// thread number and digits of the register number, each digit with one stride
// for each dimension of the tile. The A operand of mma.m16n8k16 in f16 is
//
//   16x16 threads 32 (4,8):(2@1,1@0) registers (2,2,2):(1@1,8@0,8@1)
//
// where 2@1 is a step of 2 along dimension 1: lane t sits at row t/4 and column
// 2*(t%4), and register r adds column r%2, row 8*(r/2%2), column 8*(r/4). So in
// code the coordinate is base(thread) + constant(register): what a lowering
// needs.
//
// Three liberties keep the form general without refusing any shape:
//  - A stride of 0 replicates: several threads hold one element.
//  - A coordinate may lie outside of the tile. Such a slot is *idle*: it holds
//    nothing, and code that touches it is predicated.
//  - The strides may step through a *box*, another shape of as many elements,
//    whose row-major numbering stands for the tile's. A 6x10 tile dealt out
//    element by element to 32 threads has the box 60. Reshapes stay strided so.
//
// Where even that does not fit, the map is a table of element numbers. Layouts
// made from tables look for their strided form, so it is used whenever it
// exists.
//
// Values are immutable and compare as functions: two layouts are equal when
// each register of each thread holds the same element in both.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_FRAGMENTLAYOUT_H
#define TILE_LAYOUT_FRAGMENTLAYOUT_H

#include "Tile/Layout/Layout.h"

namespace tile::layout {

using Coordinate = std::vector<int64_t>;

constexpr int64_t warpSize = 32;

/// A digit of a thread or register number; strides[d] is its step along
/// dimension d of the box.
struct Mode {
  int64_t extent;
  Coordinate strides;

  friend bool operator==(const Mode &a, const Mode &b) {
    return a.extent == b.extent && a.strides == b.strides;
  }
};

/// The strided form. The fastest digit comes first. The last thread digit may
/// stop early: 32 threads can be 5 to a row in 7 rows.
struct FragmentModes {
  std::vector<Mode> threads, registers;
  /// Empty stands for the tile itself.
  Coordinate box = {};

  friend bool operator==(const FragmentModes &a, const FragmentModes &b) {
    return a.threads == b.threads && a.registers == b.registers &&
           a.box == b.box;
  }
};

/// The slot that holds an element.
struct Owner {
  int64_t thread, reg;

  friend bool operator==(const Owner &a, const Owner &b) {
    return a.thread == b.thread && a.reg == b.reg;
  }
};

class FragmentLayout {
public:
  /// The element number of an idle slot.
  static constexpr int64_t idle = -1;

  static Expected<FragmentLayout> strided(Coordinate tile, int64_t threads,
                                          FragmentModes modes);
  /// elements[thread * registers + reg] is a row-major element number or idle.
  static Expected<FragmentLayout> enumerated(Coordinate tile, int64_t threads,
                                             std::vector<int64_t> elements);
  /// From a layout (threads, registers) -> row-major element number.
  static Expected<FragmentLayout> fromLayout(Coordinate tile,
                                             const Layout &layout);

  const Coordinate &tile() const { return tileShape; }
  int64_t rank() const { return int64_t(tileShape.size()); }
  int64_t numElements() const;
  int64_t numThreads() const { return threadCount; }
  int64_t numWarps() const { return (threadCount + warpSize - 1) / warpSize; }
  int64_t numRegisters() const { return registerCount; }

  /// The row-major number of the element in a slot, or idle.
  int64_t element(int64_t thread, int64_t reg) const;
  std::optional<Coordinate> coordinate(int64_t thread, int64_t reg) const;
  /// element() of every slot, by thread, then register.
  std::vector<int64_t> elements() const;

  //===--- The strided form, for lowerings ----------------===//

  /// Normal form: as few modes as there can be. Null for a table.
  const FragmentModes *modes() const { return form ? &*form : nullptr; }
  /// The shape the strides step through; the tile for a table.
  const Coordinate &box() const;
  bool isBoxTile() const { return box() == tileShape; }
  /// Strided forms only: base(thread) and constant(register) in the box. Their
  /// sum is the coordinate; outside of the box it is an idle slot.
  Coordinate threadBase(int64_t thread) const;
  Coordinate registerOffset(int64_t reg) const;
  /// The thread digits as digits of the lane and of the warp; none where a
  /// digit lies across the boundary, or for a table.
  struct LanesAndWarps {
    std::vector<Mode> lanes, warps;
  };
  std::optional<LanesAndWarps> lanesAndWarps() const;
  /// (threads, registers) -> row-major element number, where strided and no
  /// thread digit stops early.
  std::optional<Layout> asLayout() const;

  //===--- Queries ----------------------------------------===//

  struct Coverage {
    int64_t holes = 0;
    std::optional<Coordinate> firstHole;
    /// Over the elements that have an owner.
    int64_t minOwners = 0, maxOwners = 0;
    int64_t idleSlots = 0;

    bool isComplete() const { return holes == 0; }
    bool isExactlyOnce() const { return holes == 0 && maxOwners == 1; }
    bool isReplicated() const { return maxOwners > 1; }
  };
  Coverage coverage() const;
  /// All slots that hold an element, by thread, then register. The first one is
  /// the writer where only one may write.
  std::vector<Owner> owners(const Coordinate &coordinate) const;
  /// The same for every element.
  std::vector<std::vector<Owner>> inverse() const;
  /// The largest w that divides the register count such that registers
  /// w*i ... w*i + w - 1 of every thread hold neighbours along `dim`, aligned
  /// to w.
  int64_t vectorWidth(int64_t dim) const;
  /// For each register, the register of `source` that holds the same element on
  /// every thread: how this layout is `source` in another register order.
  std::optional<std::vector<int64_t>>
  registersFrom(const FragmentLayout &source) const;

  friend bool operator==(const FragmentLayout &a, const FragmentLayout &b);
  friend bool operator!=(const FragmentLayout &a, const FragmentLayout &b) {
    return !(a == b);
  }

  //===--- Views ----------------------------------------===//

  /// The same registers seen as a tile of another shape.
  Expected<FragmentLayout> reshape(Coordinate shape) const;
  /// Dimension i of the result is dimension order[i]; {1, 0} transposes.
  FragmentLayout permuteDims(const std::vector<int64_t> &order) const;
  /// What a reduction along `dim` leaves: that dimension is gone, registers
  /// that differed only in it are merged, lanes that did are replicas; so are
  /// slots that were idle only by their place along `dim`.
  struct Slice;
  Slice slice(int64_t dim) const;

  /// The part of the tile of `shape` at `offset`. Registers that hold nothing
  /// of it on any thread are dropped; other slots outside of it become idle.
  struct Subview;
  Expected<Subview> subview(const Coordinate &offset,
                            const Coordinate &shape) const;

  //===--- Text ----------------------------------------===//

  std::string str() const;
  static Expected<FragmentLayout> parse(std::string_view text);

private:
  FragmentLayout() = default;

  Coordinate tileShape;
  int64_t threadCount = 0, registerCount = 0;
  std::optional<FragmentModes> form;
  /// The table; empty for a strided form.
  std::vector<int64_t> table;
};

struct FragmentLayout::Slice {
  FragmentLayout layout;
  /// For each register of the sliced layout, the register it falls into.
  std::vector<int64_t> registerOf;
};

struct FragmentLayout::Subview {
  FragmentLayout layout;
  /// For each register of the view, the register of the whole.
  std::vector<int64_t> registers;
};

} // namespace tile::layout

#endif // TILE_LAYOUT_FRAGMENTLAYOUT_H
