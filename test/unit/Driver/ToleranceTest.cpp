//===- ToleranceTest.cpp - Texts and defaults of tolerances -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Tolerance.h"
#include "Support.h"

using namespace tile;
using namespace tile::driver;
using runtime::Array;
using runtime::DType;

TEST(Tolerance, ParsesWhatItPrints) {
  ToleranceSpec spec =
      get(ToleranceSpec::parse("norm=0.5, atol=1e-06,rtol=0.25,products=2"));
  EXPECT_EQ(spec.norm, 0.5);
  EXPECT_EQ(spec.print(), "norm=0.5,atol=1e-06,rtol=0.25,products=2");
  ToleranceSpec both = get(ToleranceSpec::parse("0.125"));
  EXPECT_EQ(both.print(), "atol=0.125,rtol=0.125");
  EXPECT_FALSE(both.norm.has_value());
}

TEST(Tolerance, SaysWhatIsWrong) {
  EXPECT_EQ(getMessage(ToleranceSpec::parse("nrom=1")),
            "tolerance 'nrom=1': expected norm, atol, rtol or products, got "
            "'nrom'");
  for (const char *text : {"", "x", "norm=", "norm=-1", "nan", "1e999", "1,2"})
    EXPECT_TRUE(hasPart(getMessage(ToleranceSpec::parse(text)),
                        "expected a finite number of zero or more"))
        << text;
  EXPECT_EQ(getMessage(ToleranceSpec::parse("norm=1,norm=2")),
            "tolerance 'norm=1,norm=2': 'norm' is given twice");
}

TEST(Tolerance, DefaultsFollowTheType) {
  Array reference = get(Array::allocate(DType::F64, {4}));
  reference.fill(2);
  ToleranceSpec half = ToleranceSpec::getDefault(DType::F16, reference);
  EXPECT_EQ(half.rtol, 8 * 0x1p-10);
  EXPECT_EQ(half.atol, 16 * 0x1p-10);
  ToleranceSpec single = ToleranceSpec::getDefault(DType::F32, reference);
  EXPECT_EQ(single.norm, 64 * 0x1p-23);
  ToleranceSpec integer = ToleranceSpec::getDefault(DType::I32, reference);
  EXPECT_FALSE(integer.norm.has_value());
  EXPECT_EQ(integer.atol, 0);
  EXPECT_EQ(integer.rtol, 0);
}
