//===- FormatTest.cpp - Figures and statistics ----------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Format.h"
#include "Tile/Runtime/Statistics.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::runtime;

TEST(Format, DurationsHaveThreeDigits) {
  EXPECT_EQ(formatDuration(0), "0.00 ns");
  EXPECT_EQ(formatDuration(1.5e-9), "1.50 ns");
  EXPECT_EQ(formatDuration(12.34e-6), "12.3 µs");
  EXPECT_EQ(formatDuration(0.9996e-3), "1.00 ms");
  EXPECT_EQ(formatDuration(0.4567), "457 ms");
  EXPECT_EQ(formatDuration(9.996), "10.0 s");
  EXPECT_EQ(formatDuration(1234), "1234 s");
  EXPECT_EQ(formatDuration(NAN), "nan ns");
}

TEST(Format, RatesAndSizes) {
  EXPECT_EQ(formatFlopRate(690e12), "690 TFLOP/s");
  EXPECT_EQ(formatFlopRate(1.234e9), "1.23 GFLOP/s");
  EXPECT_EQ(formatByteRate(4.26e12), "4.26 TB/s");
  EXPECT_EQ(formatBytes(512), "512 B");
  EXPECT_EQ(formatBytes(1536), "1.50 KiB");
  EXPECT_EQ(formatBytes(4e12), "3.64 TiB");
  EXPECT_EQ(formatBytes(1e30), "8.88e+14 PiB");
}

TEST(Format, NumbersReadBack) {
  EXPECT_EQ(formatNumber(0.1), "0.1");
  EXPECT_EQ(formatNumber(-2), "-2");
  EXPECT_EQ(formatNumber(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(formatNumber(-INFINITY), "-inf");
  EXPECT_EQ(formatNumber(-NAN), "nan");
  EXPECT_EQ(formatError(1.234e-7), "1.23e-07");
  EXPECT_EQ(formatError(0), "0");
}

TEST(Format, TablesAlignLettersOfAnyLength) {
  Table table;
  table.addColumn("function");
  table.addColumn("time", Table::Align::Right);
  table.addColumn("note");
  table.addRow({"add", "12.3 µs", "ok"});
  table.addRow({"softmax_long", "1.00 ms"});
  EXPECT_EQ(table.print(), "function         time  note\n"
                           "add           12.3 µs  ok\n"
                           "softmax_long  1.00 ms\n");
}

TEST(Statistics, SummarizesSamples) {
  Summary summary = summarize({4, 1, 3, 2});
  EXPECT_EQ(summary.count, 4u);
  EXPECT_EQ(summary.minimum, 1);
  EXPECT_EQ(summary.maximum, 4);
  EXPECT_EQ(summary.mean, 2.5);
  EXPECT_EQ(summary.median, 2.5);
  EXPECT_NEAR(summary.lowTenth, 1.3, 1e-12);
  EXPECT_NEAR(summary.highTenth, 3.7, 1e-12);
  EXPECT_EQ(summarize({5}).highTenth, 5);
  EXPECT_EQ(summarize({}).count, 0u);
}
