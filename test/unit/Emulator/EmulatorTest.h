//===- EmulatorTest.h - Running PTX in tests -------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A harness that owns buffers, launches one kernel and keeps its reports.
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_EMULATOR_EMULATORTEST_H
#define TILE_TEST_UNIT_EMULATOR_EMULATORTEST_H

#include "Tile/Emulator/Emulator.h"
#include "gtest/gtest.h"
#include <deque>
#include <fstream>
#include <random>
#include <sstream>

namespace tile::emulator::test {

inline std::string readTestFile(const std::string &name) {
  std::ifstream file(std::string(TILE_EMULATOR_TEST_DIR) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A module with one entry `k` around `body`; the body declares its registers.
inline std::string kernel(const std::string &parameters,
                          const std::string &body,
                          const std::string &moduleScope = "") {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n" + moduleScope +
         "\n.visible .entry k(" + parameters + ")\n{\n" + body + "\nret;\n}\n";
}

/// An aligned vector the emulator may touch.
template <typename T> class Array {
public:
  explicit Array(size_t count, T value = T())
      : storage(count * sizeof(T) + 256), count(count) {
    auto raw = reinterpret_cast<uintptr_t>(storage.data());
    first = reinterpret_cast<T *>((raw + 255) & ~uintptr_t(255));
    for (size_t i = 0; i < count; ++i)
      first[i] = value;
  }
  Array(const Array &) = delete;
  T &operator[](size_t i) { return first[i]; }
  T *data() { return first; }
  size_t size() const { return count; }
  uint64_t bytes() const { return count * sizeof(T); }

private:
  std::vector<uint8_t> storage;
  size_t count;
  T *first;
};

class Harness {
public:
  explicit Harness(const std::string &text) {
    module = Module::parse(text, problems);
    EXPECT_TRUE(module) << firstProblem();
  }

  template <typename T>
  Harness &buffer(Array<T> &array, const std::string &name,
                  bool isInitialized = true) {
    config.buffers.push_back(
        {array.data(), array.bytes(), name, sizeof(T), false, isInitialized});
    return *this;
  }
  template <typename T>
  Harness &pointer(Array<T> &array, const std::string &name,
                   bool isInitialized = true) {
    buffer(array, name, isInitialized);
    config.arguments.push_back(Argument::pointer(array.data()));
    return *this;
  }
  template <typename T> Harness &value(T scalar) {
    config.arguments.push_back(Argument::of(scalar));
    return *this;
  }
  Harness &map(const TensorMap &description) {
    TensorMapBytes bytes;
    std::string problem;
    EXPECT_TRUE(encodeTensorMap(description, bytes, problem)) << problem;
    config.arguments.push_back(Argument::tensorMap(bytes));
    return *this;
  }

  /// Runs; every report goes to `result`.
  bool run(const std::string &entry = "k") {
    if (!module)
      return false;
    auto launched = module->launch(entry, config, problems);
    EXPECT_TRUE(launched) << firstProblem();
    if (!launched)
      return false;
    result = std::move(*launched);
    return true;
  }

  /// Runs and expects no fault.
  void runClean(const std::string &entry = "k") {
    if (run(entry)) {
      EXPECT_TRUE(result.reports.empty()) << result.reports.front().str();
      EXPECT_TRUE(result.completed);
    }
  }

  /// Runs under several seeds and expects this fault under at least one.
  void runFaulty(ReportKind kind, const std::string &entry = "k",
                 unsigned seeds = 4) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
      config.seed = seed;
      if (!run(entry))
        return;
      if (has(kind))
        return;
    }
    ADD_FAILURE() << "expected a report of '" << reportKindName(kind)
                  << "', got "
                  << (result.reports.empty() ? "none"
                                             : result.reports.front().str());
  }

  bool has(ReportKind kind) const { return find(kind) != nullptr; }
  const Report *find(ReportKind kind) const {
    for (const Report &report : result.reports)
      if (report.kind == kind)
        return &report;
    return nullptr;
  }
  std::string firstProblem() const {
    return problems.empty() ? "" : problems.front().str();
  }

  std::unique_ptr<Module> module;
  LaunchConfig config;
  LaunchResult result;
  Diagnostics problems;
};

/// The first diagnostic of parsing and lowering `text`, or "".
inline std::string firstDiagnostic(const std::string &text,
                                   const std::string &entry = "k") {
  Diagnostics problems;
  auto module = Module::parse(text, problems);
  if (module)
    module->check(entry, checks::All, problems);
  return problems.empty() ? "" : problems.front().str();
}

/// Bits of a half, for test data.
inline uint16_t half(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude < 0x38800000) { // subnormal or zero
    float scaled = __builtin_bit_cast(float, magnitude) * 0x1p24f;
    return uint16_t(sign | uint32_t(__builtin_rintf(scaled)));
  }
  if (magnitude >= 0x477ff000)
    return uint16_t(sign | 0x7c00);
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return uint16_t(sign | (magnitude - 0x38000000) >> 13);
}
inline float fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float mantissa = float(bits & 0x3ff);
  float value = exponent == 31 ? (mantissa ? __builtin_nanf("") : INFINITY)
                : exponent == 0
                    ? __builtin_ldexpf(mantissa, -24)
                    : __builtin_ldexpf(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

inline void fillNormal(Array<uint16_t> &array, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < array.size(); ++i)
    array[i] = half(normal(random));
}

} // namespace tile::emulator::test

#endif // TILE_TEST_UNIT_EMULATOR_EMULATORTEST_H
