//===- Statistics.h - Summaries of measured times ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a benchmark says about its samples.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_STATISTICS_H
#define TILE_RUNTIME_STATISTICS_H

#include <cstddef>
#include <vector>

namespace tile::runtime {

/// In the unit of the samples; all zero for none.
struct Summary {
  size_t count = 0;
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double median = 0;
  /// A tenth of the samples lies below the one, a tenth above the other.
  double lowTenth = 0;
  double highTenth = 0;
};

Summary summarize(std::vector<double> samples);

/// The value below which the fraction `part` (0 to 1) of the sorted samples
/// lies, interpolated linearly between neighbours. There is at least one.
double getQuantile(const std::vector<double> &sorted, double part);

} // namespace tile::runtime

#endif // TILE_RUNTIME_STATISTICS_H
