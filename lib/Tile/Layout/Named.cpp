//===- Named.cpp - Layouts by name or text ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names are words joined by dots; the first picks the family, and each family
// says which words it expects.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/Named.h"

#include "Coordinates.h"
#include "Cursor.h"
#include "Tile/Layout/Fragments.h"

#include <algorithm>

using namespace tile::layout;

using Words = std::vector<std::string_view>;

std::vector<NamePattern> tile::layout::namePatterns() {
  return {
      {"mma.m<M>n<N>k<K>.<A|B|C>.<type>", "mma.m16n8k16.A.f16",
       "an operand or the accumulator of mma.sync"},
      {"wgmma.n<N>.C", "wgmma.n32.C", "the accumulator of wgmma m64n<N>"},
      {"wgmma.A.<type>", "wgmma.A.f16", "the A operand of wgmma in registers"},
      {"ldmatrix.x<1|2|4>[.trans]", "ldmatrix.x4.trans",
       "what ldmatrix leaves in registers (stmatrix: takes)"},
      {"ldmatrix.x<1|2|4>.addresses", "ldmatrix.x4.addresses",
       "the rows whose addresses the lanes pass"},
      {"blocked.<tile>.t<threads>.v<vector>", "blocked.8x32.t32.v4",
       "elements dealt out to threads in row-major order"},
      {"shared.<tile>.<type>.<none|32B|64B|128B>", "shared.8x64.f16.128B",
       "shared memory with a swizzle of TMA and wgmma"},
      {"shared.<tile>.<type>.pad<elements>", "shared.8x64.f16.pad8",
       "shared memory with padded rows"},
  };
}

std::optional<int64_t> tile::layout::elementBitsByName(std::string_view type) {
  static constexpr std::pair<std::string_view, int64_t> types[] = {
      {"b1", 1},    {"s4", 4},   {"u4", 4},    {"i4", 4},   {"s8", 8},
      {"u8", 8},    {"i8", 8},   {"e4m3", 8},  {"e5m2", 8}, {"f16", 16},
      {"bf16", 16}, {"i16", 16}, {"tf32", 32}, {"f32", 32}, {"i32", 32},
      {"s32", 32},  {"f64", 64}, {"i64", 64}};
  for (auto [name, bits] : types)
    if (name == type)
      return bits;
  return std::nullopt;
}

static Words split(std::string_view text, char separator) {
  Words words;
  for (size_t end; (end = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(end + 1))
    words.push_back(text.substr(0, end));
  words.push_back(text);
  return words;
}

/// `n32` with prefix "n" -> 32.
static std::optional<int64_t> number(std::string_view word,
                                     std::string_view prefix) {
  Cursor cursor(word);
  std::optional<int64_t> value;
  if (!cursor.take(prefix) || !(value = cursor.integer()) || !cursor.atEnd() ||
      *value < 0 || *value > (1 << 20))
    return std::nullopt;
  return value;
}

static std::optional<Coordinate> tileOf(std::string_view word) {
  Coordinate tile;
  for (std::string_view extent : split(word, 'x')) {
    const std::optional<int64_t> value = number(extent, "");
    if (!value || *value < 1 || tile.size() == 8)
      return std::nullopt;
    tile.push_back(*value);
  }
  if (checkSizes(tile, 1))
    return std::nullopt;
  return tile;
}

static Failure wrongName(std::string_view text, std::string_view family) {
  std::string message =
      "'" + std::string(text) + "' is not a name of the form ";
  bool isFirst = true;
  for (const NamePattern &pattern : namePatterns())
    if (split(pattern.pattern, '.')[0] == family) {
      message += (isFirst ? "" : " or ") + std::string(pattern.pattern);
      isFirst = false;
    }
  return Failure{message};
}

static Expected<NamedLayout> named(const Expected<FragmentLayout> &layout,
                                   std::optional<int64_t> bits) {
  if (!layout)
    return layout.failure();
  return NamedLayout{*layout, bits};
}

static Expected<NamedLayout> mmaByName(std::string_view text,
                                       const Words &words) {
  if (words.size() != 4 || words[2].size() != 1)
    return wrongName(text, "mma");
  Cursor shape(words[1]);
  std::optional<int64_t> m, n, k, bits = elementBitsByName(words[3]);
  if (!shape.take('m') || !(m = shape.integer()) || !shape.take('n') ||
      !(n = shape.integer()) || !shape.take('k') || !(k = shape.integer()) ||
      !shape.atEnd() || !bits)
    return wrongName(text, "mma");
  const size_t operand = std::string_view("ABC").find(words[2][0]);
  if (operand == std::string_view::npos)
    return wrongName(text, "mma");
  return named(mmaFragment({*m, *n, *k}, Operand(operand), *bits),
               words[2] == "C" ? 32 : bits);
}

static Expected<NamedLayout> wgmmaByName(std::string_view text,
                                         const Words &words) {
  if (words.size() == 3 && words[1] == "A")
    if (std::optional<int64_t> bits = elementBitsByName(words[2]))
      return named(wgmmaOperandA(*bits), bits);
  if (words.size() == 3 && words[2] == "C")
    if (std::optional<int64_t> n = number(words[1], "n"))
      return named(wgmmaAccumulator(*n), 32);
  return wrongName(text, "wgmma");
}

static Expected<NamedLayout> ldmatrixByName(std::string_view text,
                                            const Words &words) {
  std::optional<int64_t> count;
  if (words.size() < 2 || words.size() > 3 || !(count = number(words[1], "x")))
    return wrongName(text, "ldmatrix");
  const MatrixGrid grid =
      *count == 4 ? MatrixGrid{2, 2} : MatrixGrid{*count, 1};
  if (words.size() == 3 && words[2] == "addresses")
    return named(ldmatrixAddresses(grid, 16), 16);
  if (words.size() == 3 && words[2] != "trans")
    return wrongName(text, "ldmatrix");
  return named(
      ldmatrixFragment(grid, 16,
                       words.size() == 3 ? Transposed::Yes : Transposed::No),
      16);
}

static Expected<NamedLayout> blockedByName(std::string_view text,
                                           const Words &words) {
  std::optional<Coordinate> tile;
  std::optional<int64_t> threads, vector;
  if (words.size() != 4 || !(tile = tileOf(words[1])) ||
      !(threads = number(words[2], "t")) || !(vector = number(words[3], "v")))
    return wrongName(text, "blocked");
  return named(blockedFragment(*tile, *threads, *vector), std::nullopt);
}

static Expected<NamedLayout> sharedByName(std::string_view text,
                                          const Words &words) {
  std::optional<Coordinate> tile;
  std::optional<int64_t> bits;
  if (words.size() != 4 || !(tile = tileOf(words[1])) ||
      !(bits = elementBitsByName(words[2])))
    return wrongName(text, "shared");
  if (std::optional<int64_t> padding = number(words[3], "pad"))
    return NamedLayout{rowMajorShared(*tile, *padding), bits};
  static constexpr std::pair<std::string_view, SwizzleMode> modes[] = {
      {"none", SwizzleMode::None},
      {"32B", SwizzleMode::Bytes32},
      {"64B", SwizzleMode::Bytes64},
      {"128B", SwizzleMode::Bytes128}};
  for (auto [name, mode] : modes)
    if (words[3] == name) {
      Expected<ComposedLayout> panels = swizzledPanels(*tile, mode, *bits);
      if (!panels)
        return panels.failure();
      return NamedLayout{*panels, bits};
    }
  return wrongName(text, "shared");
}

Expected<NamedLayout> tile::layout::layoutByName(std::string_view text) {
  const Words words = split(text, '.');
  if (words[0] == "mma")
    return mmaByName(text, words);
  if (words[0] == "wgmma")
    return wgmmaByName(text, words);
  if (words[0] == "ldmatrix" || words[0] == "stmatrix")
    return ldmatrixByName(text, words);
  if (words[0] == "blocked")
    return blockedByName(text, words);
  if (words[0] == "shared")
    return sharedByName(text, words);

  if (text.find("threads") != std::string_view::npos)
    return named(FragmentLayout::parse(text), std::nullopt);
  if (text.find("Sw<") != std::string_view::npos) {
    Expected<ComposedLayout> shared = ComposedLayout::parse(text);
    if (!shared)
      return shared.failure();
    return NamedLayout{*shared, std::nullopt};
  }
  const bool isWord = !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') ||
                                        (text[0] >= 'A' && text[0] <= 'Z'));
  if (isWord)
    return Failure{
        "no layout is called '" + std::string(text) +
        "'; names begin with mma, wgmma, ldmatrix, stmatrix, blocked "
        "or shared"};
  Expected<Layout> layout = Layout::parse(text);
  if (!layout)
    return layout.failure();
  return NamedLayout{*layout, std::nullopt};
}
