//===- Named.h - Layouts by name or text ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What people type to speak of a layout: `mma.m16n8k16.A.f16`, or any text
// form.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_NAMED_H
#define TILE_LAYOUT_NAMED_H

#include "Tile/Layout/SharedLayout.h"

namespace tile::layout {

struct NamedLayout {
  std::variant<Layout, ComposedLayout, FragmentLayout> layout;
  /// Where the name says it.
  std::optional<int64_t> elementBits;
};

Expected<NamedLayout> layoutByName(std::string_view text);

/// A pattern of names, one of them, and what it stands for.
struct NamePattern {
  const char *pattern, *example, *meaning;
};
std::vector<NamePattern> namePatterns();

/// The width of an element type by name, such as f16, e4m3 or tf32.
std::optional<int64_t> elementBitsByName(std::string_view type);

} // namespace tile::layout

#endif // TILE_LAYOUT_NAMED_H
