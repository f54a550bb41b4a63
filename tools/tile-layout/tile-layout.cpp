//===- tile-layout.cpp - Look at a layout ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws a layout given by name or text, says what it is good for, and shows
// what a conversion between two of them costs. The pictures of docs/Layouts.md
// are made with it.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/Conversion.h"
#include "Tile/Layout/Drawing.h"
#include "Tile/Layout/Named.h"

#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>

using namespace tile::layout;

static const char usage[] = R"(tile-layout: look at a layout

  tile-layout LAYOUT [--svg FILE] [--title TEXT] [--bits N]
      Describe LAYOUT and draw it as a table, or into FILE as SVG (- for stdout).
  tile-layout convert FROM TO [--bits N]
      The cheapest way from one fragment layout to another, and its cost.
  tile-layout list
      The names of layouts.

LAYOUT is a name or a text form:

  mma.m16n8k16.A.f16      a fragment of an instruction: which thread's register
                          holds which element (Tt over Rr: thread t, register r)
  (4,8):(8,1)             shape:stride. Element (i,j) is at 8*i + 1*j; the first
                          coordinate is the fastest when read as one number
  (4,(2,3)):(1,(8,4))     modes nest
  'Sw<3,3,3> o 0 o (8,64):(64,1)'
                          shared memory: the offset is XORed with 3 of its own
                          bits, taken 3 higher up, from bit 3 on
  '16x16 threads 32 (4,8):(2@1,1@0) registers (2,2,2):(1@1,8@0,8@1)'
                          a fragment: thread digits and register digits step
                          along dimensions of the tile; 2@1 is 2 along dimension 1

--bits is the width of an element: it decides banks, vector widths and shuffles.
It is 32 unless the name says it.
)";

namespace {
struct Options {
  std::vector<std::string> positional;
  std::optional<std::string> svg, title;
  std::optional<int64_t> bits;
};
} // namespace

static int fail(const std::string &message) {
  std::cerr << "tile-layout: " << message << "\n";
  return 1;
}

static Expected<Options> parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word != "--svg" && word != "--title" && word != "--bits") {
      if (word.size() > 1 && word[0] == '-')
        return Failure{"unknown option '" + word + "'; see --help"};
      options.positional.push_back(word);
      continue;
    }
    if (++i == argc)
      return Failure{word + " needs a value"};
    const std::string value = argv[i];
    if (word == "--svg") {
      options.svg = value;
    } else if (word == "--title") {
      options.title = value;
    } else {
      int64_t bits = 0;
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), bits);
      if (error != std::errc() || end != value.data() + value.size() ||
          bits < 1 || bits > 128 || (bits & (bits - 1)) != 0)
        return Failure{"--bits is a power of two from 1 to 128, got " + value};
      options.bits = bits;
    }
  }
  return options;
}

static int list() {
  for (const NamePattern &pattern : namePatterns()) {
    std::cout << "  " << pattern.pattern
              << std::string(42 - std::strlen(pattern.pattern), ' ')
              << pattern.meaning << "\n    for instance " << pattern.example
              << "\n";
  }
  std::cout << "types: b1 s4 u4 s8 u8 e4m3 e5m2 f16 bf16 tf32 f32 s32 f64\n";
  return 0;
}

static std::string joined(const Coordinate &coordinate) {
  std::string text;
  for (int64_t value : coordinate)
    text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

static void describe(const FragmentLayout &layout, int64_t bits) {
  std::cout << layout.str() << "\n";
  const FragmentLayout::Coverage coverage = layout.coverage();
  std::cout << "coverage: ";
  if (coverage.holes != 0)
    std::cout << coverage.holes
              << " elements are held by nobody, the first is ("
              << joined(*coverage.firstHole) << ")";
  else if (coverage.isExactlyOnce())
    std::cout << "every element exactly once";
  else
    std::cout << "every element, by " << coverage.minOwners << " to "
              << coverage.maxOwners << " owners";
  if (coverage.idleSlots != 0)
    std::cout << ", " << coverage.idleSlots << " idle slots";
  std::cout << "\nvectors:";
  for (int64_t dim = 0; dim < layout.rank(); ++dim)
    std::cout << (dim == 0 ? " " : ", ") << layout.vectorWidth(dim)
              << " along dimension " << dim;
  std::cout << " (elements of " << bits << " bits)\n";
}

static void describe(const ComposedLayout &layout, int64_t bits) {
  std::cout << layout.str() << "\n"
            << layout.allocation() * bits / 8 << " bytes, aligned to "
            << std::max<int64_t>(1, layout.alignment() * bits / 8);
  if (std::optional<SwizzleMode> mode = layout.mode(bits))
    std::cout << (*mode == SwizzleMode::None
                      ? std::string(", not swizzled")
                      : ", the " + std::to_string(rowBytes(*mode)) +
                            "-byte swizzle of TMA and wgmma");
  std::cout << "\n";
  if (layout.tile().size() == 2)
    if (Expected<SharedAccess> access = matrixAccess(layout.tile(), 1, 1, bits);
        access && pieceWidth(layout, bits, *access) == access->vector) {
      const Wavefronts count = countWavefronts(layout, bits, *access);
      std::cout << "ldmatrix: " << count.actual << " wavefronts for "
                << count.instructions << " matrices\n";
    }
}

static void describe(const Layout &layout, int64_t) {
  std::cout << layout.str() << "\nsize " << layout.size() << ", cosize "
            << layout.cosize() << ", coalesced " << coalesce(layout).str()
            << "\n";
}

static Expected<Picture> draw(const FragmentLayout &layout, int64_t) {
  return pictureOf(layout);
}
static Expected<Picture> draw(const ComposedLayout &layout, int64_t bits) {
  return pictureOf(layout, bits);
}
static Expected<Picture> draw(const Layout &layout, int64_t) {
  return pictureOf(layout);
}

template <typename T>
static int show(const T &layout, int64_t bits, const Options &options) {
  Expected<Picture> picture = draw(layout, bits);
  if (!options.svg) {
    describe(layout, bits);
    if (!picture)
      return fail(picture.reason());
    std::cout << "\n" << textOf(*picture);
    return 0;
  }
  if (!picture)
    return fail(picture.reason());
  if (options.title)
    picture->title = *options.title;
  if (*options.svg == "-") {
    std::cout << svgOf(*picture);
    return 0;
  }
  std::ofstream file(*options.svg);
  file << svgOf(*picture);
  file.close();
  return file ? 0 : fail("cannot write " + *options.svg);
}

static int convert(const Options &options) {
  if (options.positional.size() != 3)
    return fail("convert takes two layouts; see --help");
  std::vector<FragmentLayout> layouts;
  int64_t bits = 32;
  for (size_t i = 1; i < 3; ++i) {
    Expected<NamedLayout> named = layoutByName(options.positional[i]);
    if (!named)
      return fail(named.reason());
    const FragmentLayout *fragment =
        std::get_if<FragmentLayout>(&named->layout);
    if (!fragment)
      return fail("'" + options.positional[i] + "' is not a fragment layout");
    layouts.push_back(*fragment);
    bits = named->elementBits.value_or(bits);
  }
  bits = options.bits.value_or(bits);
  const Expected<Conversion> plan =
      planConversion(layouts[0], layouts[1], bits);
  if (!plan)
    return fail(plan.reason());
  static const char *kinds[] = {"nothing to do", "renames registers",
                                "shuffles within warps",
                                "goes through shared memory"};
  const ConversionCost &cost = plan->cost;
  std::cout << "from " << layouts[0].str() << "\nto   " << layouts[1].str()
            << "\n"
            << kinds[int(plan->kind)] << ": " << cost.instructions
            << " instructions a thread, " << cost.shuffles
            << " of them shuffles, " << cost.sharedBytes << " bytes in "
            << cost.wavefronts << " wavefronts of shared memory, "
            << cost.barriers << " barriers; about "
            << cost.cycles(layouts[0].numWarps()) << " cycles\n";
  if (plan->shared)
    std::cout << "buffer " << plan->shared->str() << ", stores of "
              << plan->storeWidth << " and loads of " << plan->loadWidth
              << " elements of " << bits << " bits\n";
  return 0;
}

static int run(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h")) {
      std::cout << usage;
      return 0;
    }
  const Expected<Options> options = parseOptions(argc, argv);
  if (!options)
    return fail(options.reason());
  if (options->positional.empty()) {
    std::cerr << usage;
    return 1;
  }
  if (options->positional[0] == "list")
    return list();
  if (options->positional[0] == "convert")
    return convert(*options);
  if (options->positional.size() != 1)
    return fail("expected one layout; put texts with blanks in quotes");
  const Expected<NamedLayout> named = layoutByName(options->positional[0]);
  if (!named)
    return fail(named.reason());
  const int64_t bits = options->bits.value_or(named->elementBits.value_or(32));
  return std::visit(
      [&](const auto &layout) { return show(layout, bits, *options); },
      named->layout);
}

int main(int argc, char **argv) {
  int code = run(argc, argv);
  if (!std::cout.flush())
    code = fail("the output cannot be written");
  return code;
}
