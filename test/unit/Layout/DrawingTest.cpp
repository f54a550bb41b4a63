//===- DrawingTest.cpp - Pictures and names of layouts ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables are compared whole; of an SVG, that every element has its cell and its
// label and that warps are set apart. How it looks is seen in docs/images.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/Drawing.h"
#include "Tile/Layout/Named.h"

#include "gtest/gtest.h"

using namespace tile::layout;

static int64_t count(const std::string &text, const std::string &word) {
  int64_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + word.size()))
    ++found;
  return found;
}

TEST(Drawing, TablesOfEachKind) {
  EXPECT_EQ(textOf(*pictureOf(*Layout::parse("(2,3):(3,1)"))), "  | 0 1 2\n"
                                                               "--+------\n"
                                                               "0 | 0 1 2\n"
                                                               "1 | 3 4 5\n");
  EXPECT_EQ(textOf(*pictureOf(*FragmentLayout::parse(
                "2x3 threads 2 (2):(1@1) registers ():()"))),
            "  |     0     1 2\n"
            "--+--------------\n"
            "0 | T0:R0 T1:R0 -\n"
            "1 |     -     - -\n");
  EXPECT_EQ(textOf(*pictureOf(
                *ComposedLayout::parse("Sw<1,0,1> o 0 o (2,2):(2,1)"), 32)),
            "  |    0    1\n"
            "--+----------\n"
            "0 | 0:b0 1:b1\n"
            "1 | 3:b3 2:b2\n");
}

TEST(Drawing, ReplicasAreCounted) {
  const std::string text = textOf(*pictureOf(
      *FragmentLayout::parse("2 threads 8 (4,2):(0,1@0) registers ():()")));
  EXPECT_NE(text.find("T0:R0\u00d74 T4:R0\u00d74"), std::string::npos) << text;
}

TEST(Drawing, MoreDimensionsAreStacked) {
  const Picture picture = *pictureOf(*Layout::parse("(2,3,4):(12,4,1)"));
  EXPECT_EQ(picture.rows, 6);
  EXPECT_EQ(picture.columns, 4);
  EXPECT_EQ(picture.rowLabels[4], "1,1");
  EXPECT_EQ(picture.cells[4 * 4 + 2].upper, "18");
}

TEST(Drawing, SvgHasACellForEachElement) {
  const std::string svg = svgOf(*pictureOf(*FragmentLayout::parse(
      "8x16 threads 64 (4,8,2):(2@1,1@0,8@1) registers (2):(1@1)")));
  EXPECT_EQ(svg.find("<svg "), 0u);
  EXPECT_EQ(count(svg, "<rect "), 8 * 16 + 1); // and the background
  EXPECT_EQ(count(svg, ">T63</text>"), 2);
  EXPECT_EQ(count(svg, ">R1</text>"), 64);
  EXPECT_EQ(count(svg, "<path "), 8); // between two warps
  EXPECT_EQ(count(svg, "<g "), count(svg, "</g>"));
  // Nothing in a caption can end the document early.
  Picture picture = *pictureOf(*Layout::parse("2:1"));
  picture.title = "a<b & c>d";
  EXPECT_NE(svgOf(picture).find("a&lt;b &amp; c&gt;d"), std::string::npos);
}

TEST(Drawing, TooLargeToBeLookedAt) {
  EXPECT_EQ(pictureOf(*Layout::parse("(256,256):(256,1)")).reason(),
            "a picture shows at most 32768 elements, 256x256 has 65536");
  EXPECT_FALSE(pictureOf(*Layout::parse("(1048576,1048576):(0,1)")));
}

TEST(Named, EveryExampleHasItsLayout) {
  for (const NamePattern &pattern : namePatterns()) {
    const Expected<NamedLayout> named = layoutByName(pattern.example);
    EXPECT_TRUE(named) << named.reason();
  }
}

TEST(Named, TextsOfEveryKindAreTaken) {
  auto kind = [](const char *text) {
    const Expected<NamedLayout> named = layoutByName(text);
    return named ? int64_t(named->layout.index()) : -1;
  };
  EXPECT_EQ(kind("(4,8):(8,1)"), 0);
  EXPECT_EQ(kind("Sw<3,3,3> o 0 o (8,64):(64,1)"), 1);
  EXPECT_EQ(kind("8 threads 8 (8):(1@0) registers ():()"), 2);
  EXPECT_EQ(kind("stmatrix.x2"), 2);
}

TEST(Named, SaysWhatTheNameShouldBe) {
  auto reason = [](const char *text) { return layoutByName(text).reason(); };
  EXPECT_EQ(reason("mma.m16n8k16.D.f16"),
            "'mma.m16n8k16.D.f16' is not a name of the form "
            "mma.m<M>n<N>k<K>.<A|B|C>.<type>");
  EXPECT_EQ(reason("foo"), "no layout is called 'foo'; names begin with mma, "
                           "wgmma, ldmatrix, stmatrix, blocked or shared");
  EXPECT_EQ(reason("ldmatrix.x3"),
            "ldmatrix moves 1, 2 or 4 matrices, got 3 by 1");
  for (const char *text :
       {"", ".", "mma", "mma.", "mma.m16n8k16.A",
        "mma.m99999999999999999999n8k1.A.f16", "wgmma.n.C", "wgmma.A.f64",
        "blocked.0x4.t32.v1", "blocked.4x4.t0.v1", "blocked.4x4.t32.v0",
        "blocked.x.t1.v1", "shared.8x12.f16.128B", "shared.8.f16.128B",
        "shared.8x8.f99.none",
        "shared.1048576x1048576x1048576x1048576.f16.none"})
    EXPECT_FALSE(layoutByName(text)) << text;
}
