//===- MixedRadix.cpp - The strided form of a table ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MixedRadix.h.
//
//===----------------------------------------------------------------------===//

#include "MixedRadix.h"

using namespace tile::layout;

std::optional<std::vector<RadixMode>>
tile::layout::findModes(const std::vector<int64_t> &values, int64_t rank,
                        LastDigit last) {
  const int64_t count = rank == 0 ? 1 : int64_t(values.size()) / rank;
  auto isMultiple = [&](int64_t at, int64_t of, int64_t times) {
    for (int64_t d = 0; d < rank; ++d)
      if (values[at * rank + d] != times * values[of * rank + d])
        return false;
    return true;
  };
  if (!isMultiple(0, 0, 0))
    return std::nullopt;

  std::vector<RadixMode> modes;
  int64_t step = 1, remaining = count;
  while (remaining > 1) {
    int64_t run = 1;
    while (run < remaining && isMultiple(run * step, step, run))
      ++run;
    if (last == LastDigit::Full && remaining % run != 0)
      return std::nullopt;
    modes.push_back(
        {run,
         {values.begin() + step * rank, values.begin() + (step + 1) * rank}});
    step *= run;
    remaining = (remaining + run - 1) / run;
  }

  for (int64_t i = 0; i < count; ++i)
    for (int64_t d = 0; d < rank; ++d) {
      int64_t sum = 0, rest = i;
      for (const RadixMode &mode : modes) {
        sum += rest % mode.extent * mode.strides[d];
        rest /= mode.extent;
      }
      if (sum != values[i * rank + d])
        return std::nullopt;
    }
  return modes;
}
