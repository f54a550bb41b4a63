//===- TruthTest.cpp - Against a GPU's recorded answers --------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test/Emulator/truth: small kernels and what an H200 made of them. Each runs
// here on the recorded inputs and must agree bit for bit, or within the bound
// the record states for approximations.
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"
#include <cmath>
#include <map>

using namespace tile::emulator;
using namespace tile::emulator::test;

TEST(Truth, RecordedAnswersOfTheGpu) {
  Diagnostics problems;
  auto module = Module::parse(readTestFile("truth/truth.ptx"), problems);
  ASSERT_TRUE(module) << problems.front().str();
  std::istringstream records(readTestFile("truth/truth.txt"));
  std::map<std::string, std::vector<uint32_t>> inputs;
  unsigned index = 0;
  for (std::string line; std::getline(records, line);) {
    std::istringstream words(line);
    std::string what, name, kind, tolerance;
    words >> what;
    auto readWords = [&](std::vector<uint32_t> &list) {
      for (std::string word; words >> word;)
        list.push_back(uint32_t(std::stoul(word, nullptr, 16)));
    };
    if (what == "input") {
      words >> name;
      readWords(inputs[name]);
      continue;
    }
    // As in `32x2`, where two blocks of a cluster take part.
    unsigned threads = 0, blocks = 1, outputs = 0;
    words >> name >> kind >> tolerance >> threads;
    if (words.peek() == 'x')
      words.ignore() >> blocks;
    words >> outputs;
    std::vector<uint32_t> expected;
    readWords(expected);
    ASSERT_EQ(expected.size(), threads * outputs) << name;
    const std::vector<uint32_t> &input = inputs.at(kind);
    Array<uint32_t> in(input.size()), out(expected.size());
    std::copy(input.begin(), input.end(), in.data());
    LaunchConfig config;
    config.block = {threads, 1, 1};
    config.grid = {blocks, 1, 1};
    if (blocks > 1)
      config.cluster = Dim3{blocks, 1, 1};
    config.buffers = {{in.data(), in.bytes(), "in", 4, true, true},
                      {out.data(), out.bytes(), "out", 4, false, false}};
    config.arguments = {Argument::pointer(in.data()),
                        Argument::pointer(out.data())};
    auto result =
        module->launch("k" + std::to_string(index++), config, problems);
    ASSERT_TRUE(result) << name << ": " << problems.front().str();
    for (const Report &report : result->reports)
      ADD_FAILURE() << name << ": " << report.str();
    unsigned wrong = 0;
    std::string first;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (out[i] == expected[i])
        continue;
      if (tolerance != "exact") {
        float got = __builtin_bit_cast(float, out[i]);
        float want = __builtin_bit_cast(float, expected[i]);
        if (std::fabs(got - want) <=
            std::stof(tolerance) * std::max(1.0f, std::fabs(want)))
          continue;
      }
      char text[96];
      snprintf(text, sizeof text, "thread %zu word %zu: %08x, the GPU %08x",
               i / outputs, i % outputs, out[i], expected[i]);
      if (!wrong++)
        first = text;
    }
    EXPECT_EQ(wrong, 0u) << name << " of " << expected.size() << ", " << first;
  }
  EXPECT_GT(index, 240u);
}
