//===- Statistics.cpp - Summaries of measured times -----------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Statistics.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace tile::runtime;

double tile::runtime::getQuantile(const std::vector<double> &sorted,
                                  double part) {
  assert(!sorted.empty() && part >= 0 && part <= 1 && "no such quantile");
  double place = part * double(sorted.size() - 1);
  size_t below = size_t(place);
  size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (place - double(below)) * (sorted[above] - sorted[below]);
}

Summary tile::runtime::summarize(std::vector<double> samples) {
  Summary summary;
  if (samples.empty())
    return summary;
  std::sort(samples.begin(), samples.end());
  summary.count = samples.size();
  summary.minimum = samples.front();
  summary.maximum = samples.back();
  summary.mean = std::accumulate(samples.begin(), samples.end(), 0.0) /
                 double(samples.size());
  summary.median = getQuantile(samples, 0.5);
  summary.lowTenth = getQuantile(samples, 0.1);
  summary.highTenth = getQuantile(samples, 0.9);
  return summary;
}
