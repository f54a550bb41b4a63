//===- Algebra.cpp - Operations between layouts ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composition, complement, inverses, division and multiplication. The essay in
// Layout.h says what each means.
//
//===----------------------------------------------------------------------===//

#include "MixedRadix.h"
#include "Tile/Layout/Layout.h"

#include <algorithm>
#include <numeric>

using namespace tile::layout;

namespace {
struct FlatMode {
  int64_t extent, stride;
  /// Product of the extents before this mode.
  int64_t prefix;
};
} // namespace

static std::vector<FlatMode> flatModes(const Layout &layout) {
  const std::vector<int64_t> sizes = layout.shape().leaves(),
                             steps = layout.stride().leaves();
  std::vector<FlatMode> modes;
  int64_t prefix = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    modes.push_back({sizes[i], steps[i], prefix});
    prefix *= sizes[i];
  }
  return modes;
}

static Layout fromPairs(const std::vector<std::pair<int64_t, int64_t>> &pairs) {
  std::vector<IntTuple> shape, stride;
  for (auto [extent, step] : pairs) {
    shape.push_back(extent);
    stride.push_back(step);
  }
  return coalesce(Layout(std::move(shape), std::move(stride)));
}

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

/// Tiles are far smaller; a table of more values than this is a mistake.
static constexpr int64_t largestTable = int64_t(1) << 22;

namespace {
/// Composes leaf by leaf, and keeps the largest digit each leaf of b brings to
/// each mode of a: where the sums stay below a's extents nothing carries, and a
/// is additive over the leaves of b.
class Composer {
public:
  explicit Composer(const Layout &a)
      : outer(coalesce(a)), modes(flatModes(outer)), digits(modes.size(), 0) {}

  Expected<Layout> compose(const IntTuple &shape, const IntTuple &stride) {
    if (shape.isLeaf())
      return leaf(shape.value(), stride.value());
    std::vector<Layout> parts;
    for (size_t i = 0; i < shape.items().size(); ++i) {
      Expected<Layout> part = compose(shape.items()[i], stride.items()[i]);
      if (!part)
        return part;
      parts.push_back(std::move(*part));
    }
    return concat(parts);
  }

  bool mayCarry() const {
    for (size_t i = 0; i < modes.size(); ++i)
      if (digits[i] >= modes[i].extent)
        return true;
    return false;
  }

private:
  Expected<Layout> leaf(int64_t extent, int64_t stride) {
    if (extent == 1 || stride == 0)
      return Layout(extent, 0);
    // A dense or evenly strided outer layout, of whatever size.
    if (modes.size() == 1) {
      digits[0] += (extent - 1) * stride;
      return Layout(extent, stride * modes[0].stride);
    }
    if (extent > largestTable)
      return Failure{"mode " + std::to_string(extent) + ":" +
                     std::to_string(stride) + " is too large to compose with " +
                     outer.str()};
    std::vector<int64_t> values, largest(modes.size(), 0);
    values.reserve(extent);
    for (int64_t k = 0; k < extent; ++k) {
      int64_t rest = k * stride, sum = 0;
      for (size_t i = 0; i < modes.size(); ++i) {
        const int64_t digit = rest % modes[i].extent;
        largest[i] = std::max(largest[i], digit);
        sum += digit * modes[i].stride;
        rest /= modes[i].extent;
      }
      values.push_back(sum);
    }
    for (size_t i = 0; i < modes.size(); ++i)
      digits[i] += largest[i];
    if (std::optional<Layout> found = Layout::fromValues(values))
      return *found;
    return Failure{"mode " + std::to_string(extent) + ":" +
                   std::to_string(stride) +
                   " does not step evenly through the modes of " + outer.str()};
  }

  Layout outer;
  std::vector<FlatMode> modes;
  std::vector<int64_t> digits;
};
} // namespace

Expected<Layout> tile::layout::composition(const Layout &a, const Layout &b) {
  for (int64_t stride : b.stride().leaves())
    if (stride < 0)
      return Failure{b.str() +
                     " has a negative stride, which leaves the domain "
                     "of the outer layout"};
  if (b.cosize() > a.size())
    return Failure{b.str() + " reaches " + std::to_string(b.cosize() - 1) +
                   ", outside the domain of " + a.str() + ", which has " +
                   std::to_string(a.size()) + " elements"};
  Composer composer(a);
  Expected<Layout> result = composer.compose(b.shape(), b.stride());
  // Where digits may carry the leaves can still add up, by chance of the
  // strides; only a look at every value can tell.
  if (result && composer.mayCarry()) {
    if (b.size() > largestTable)
      return Failure{b.str() + " is too large to compose with " + a.str()};
    for (int64_t i = 0, e = b.size(); i < e; ++i)
      if ((*result)(i) != a(b(i)))
        return Failure{"the modes of " + b.str() +
                       " carry into each other inside " + a.str() +
                       ": at index " + std::to_string(i) + " it gives " +
                       std::to_string(a(b(i))) + ", strides would give " +
                       std::to_string((*result)(i))};
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Complement and inverses
//===----------------------------------------------------------------------===//

namespace {
/// The modes of an injective layout by rising stride, and the gaps below each:
/// gap values fit between one step of the modes below and one of this mode.
struct Skeleton {
  std::vector<FlatMode> modes;
  std::vector<int64_t> gaps;
  /// What the modes and gaps together cover: [0, span).
  int64_t span = 1;
};
} // namespace

static Expected<Skeleton> skeleton(const Layout &layout) {
  Skeleton result;
  for (const FlatMode &mode : flatModes(coalesce(layout)))
    if (mode.stride != 0)
      result.modes.push_back(mode);
  std::sort(
      result.modes.begin(), result.modes.end(),
      [](const FlatMode &a, const FlatMode &b) { return a.stride < b.stride; });
  for (const FlatMode &mode : result.modes) {
    if (mode.stride < 0 || mode.stride % result.span != 0)
      return Failure{"mode " + std::to_string(mode.extent) + ":" +
                     std::to_string(mode.stride) + " of " + layout.str() +
                     " does not step over whole spans of " +
                     std::to_string(result.span) +
                     ", which the modes below fill"};
    result.gaps.push_back(mode.stride / result.span);
    result.span = mode.stride * mode.extent;
  }
  return result;
}

/// The gaps as modes, then `last` copies of the whole span.
static Layout gapModes(const Skeleton &bones, int64_t last) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  int64_t span = 1;
  for (size_t i = 0; i < bones.modes.size(); ++i) {
    pairs.push_back({bones.gaps[i], span});
    span = bones.modes[i].stride * bones.modes[i].extent;
  }
  pairs.push_back({last, span});
  return fromPairs(pairs);
}

Expected<Layout> tile::layout::complement(const Layout &layout, int64_t bound) {
  Expected<Skeleton> bones = skeleton(layout);
  if (!bones)
    return bones.failure();
  if (bound < 1 || bound % bones->span != 0)
    return Failure{std::to_string(bound) + " is not a multiple of " +
                   std::to_string(bones->span) + ", the span of " +
                   layout.str()};
  return gapModes(*bones, bound / bones->span);
}

Layout tile::layout::rightInverse(const Layout &layout) {
  std::vector<FlatMode> modes = flatModes(coalesce(layout));
  std::sort(modes.begin(), modes.end(),
            [](const FlatMode &a, const FlatMode &b) {
              return std::make_pair(a.stride, -a.extent) <
                     std::make_pair(b.stride, -b.extent);
            });
  std::vector<std::pair<int64_t, int64_t>> pairs;
  int64_t reached = 1;
  for (const FlatMode &mode : modes)
    if (mode.stride == reached) {
      pairs.push_back({mode.extent, mode.prefix});
      reached *= mode.extent;
    }
  return fromPairs(pairs);
}

Expected<Layout> tile::layout::leftInverse(const Layout &layout) {
  Expected<Skeleton> bones = skeleton(layout);
  if (!bones)
    return bones.failure();
  std::vector<std::pair<int64_t, int64_t>> pairs;
  int64_t covered = 1;
  for (size_t i = 0; i < bones->modes.size(); ++i) {
    pairs.push_back({bones->gaps[i], 0});
    pairs.push_back({bones->modes[i].extent, bones->modes[i].prefix});
    covered *= bones->modes[i].extent;
  }
  if (covered != layout.size())
    return Failure{layout.str() +
                   " takes one value several times, so it has no left inverse"};
  return fromPairs(pairs);
}

//===----------------------------------------------------------------------===//
// Division and multiplication
//===----------------------------------------------------------------------===//

Expected<Layout> tile::layout::logicalDivide(const Layout &layout,
                                             const Layout &tiler) {
  Expected<Layout> rest = complement(tiler, layout.size());
  if (!rest)
    return rest;
  return composition(layout, concat({tiler, *rest}));
}

Expected<Layout>
tile::layout::logicalDivide(const Layout &layout,
                            const std::vector<Layout> &tilers) {
  if (int64_t(tilers.size()) != layout.rank())
    return Failure{layout.str() + " has " + std::to_string(layout.rank()) +
                   " modes, got " + std::to_string(tilers.size()) + " tilers"};
  std::vector<Layout> modes;
  for (int64_t i = 0; i < layout.rank(); ++i) {
    Expected<Layout> mode = logicalDivide(layout.mode(i), tilers[i]);
    if (!mode)
      return Failure{"in mode " + std::to_string(i) + ": " + mode.reason()};
    modes.push_back(std::move(*mode));
  }
  return concat(modes);
}

Expected<Layout> tile::layout::zippedDivide(const Layout &layout,
                                            const std::vector<Layout> &tilers) {
  Expected<Layout> divided = logicalDivide(layout, tilers);
  if (!divided)
    return divided;
  std::vector<Layout> inside, outside;
  for (int64_t i = 0; i < divided->rank(); ++i) {
    inside.push_back(divided->mode(i).mode(0));
    outside.push_back(divided->mode(i).mode(1));
  }
  return concat({concat(inside), concat(outside)});
}

Expected<Layout> tile::layout::logicalProduct(const Layout &block,
                                              const Layout &copies) {
  Expected<Skeleton> bones = skeleton(block);
  if (!bones)
    return bones.failure();
  // The gaps inside the block are filled first, then whole spans are added
  // until there is room for every copy.
  const int64_t inside = std::accumulate(bones->gaps.begin(), bones->gaps.end(),
                                         int64_t(1), std::multiplies<>());
  const int64_t spans = (copies.cosize() + inside - 1) / inside;
  Expected<Layout> placed = composition(gapModes(*bones, spans), copies);
  if (!placed)
    return placed;
  return concat({block, *placed});
}

Expected<Layout> tile::layout::blockedProduct(const Layout &block,
                                              const Layout &copies) {
  if (block.rank() != copies.rank())
    return Failure{"block " + block.str() + " and copies " + copies.str() +
                   " differ in rank"};
  Expected<Layout> product = logicalProduct(block, copies);
  if (!product)
    return product;
  const Layout placed = product->mode(1);
  std::vector<Layout> modes;
  for (int64_t i = 0; i < block.rank(); ++i)
    modes.push_back(concat(
        {block.mode(i), copies.shape().isLeaf() ? placed : placed.mode(i)}));
  return concat(modes);
}

Expected<Layout> tile::layout::quotient(const Layout &layout,
                                        const Layout &block) {
  const int64_t inner = block.size(), outer = layout.size() / inner;
  if (inner * outer != layout.size())
    return Failure{"the " + std::to_string(layout.size()) + " elements of " +
                   layout.str() + " are not copies of the " +
                   std::to_string(inner) + " of " + block.str()};
  Expected<Layout> split =
      composition(layout, Layout({inner, outer}, {1, inner}));
  if (!split)
    return split;
  if (!areEquivalent(split->mode(0), block))
    return Failure{layout.str() + " begins with " + split->mode(0).str() +
                   ", not with " + block.str()};
  return split->mode(1);
}
