//===- Emulator.h - Running PTX on the host --------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The room's one entrance: parse PTX, launch one of its kernels over host
// memory, get the faults it committed. Nothing here needs a GPU or CUDA.
//
//   Diagnostics problems;
//   auto module = Module::parse(text, problems);
//   LaunchConfig config;
//   config.block = {128, 1, 1};
//   config.buffers.push_back({x.data(), bytes, "x"});
//   config.arguments.push_back(Argument::pointer(x.data()));
//   auto result = module->launch("kernel", config, problems);
//
// Global addresses are host addresses. Every access is checked against the
// registered buffers, always: a wild pointer is a report, not a crash. A
// Module may be used by several threads at once.
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_EMULATOR_H
#define TILE_EMULATOR_EMULATOR_H

#include "Tile/Emulator/Diagnostic.h"
#include "Tile/Emulator/Report.h"
#include "Tile/Emulator/TensorMap.h"
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

namespace tile::emulator {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// Faults that are looked for on request. Bounds, alignment, barriers,
/// collectives and deadlocks are always checked: without them there would be
/// nothing sound to run.
namespace checks {
enum : uint32_t {
  None = 0,
  Race = 1,          // data races on shared and global memory
  Proxy = 2,         // generic writes read by the async proxy without a fence
  Uninitialized = 4, // memory and registers read before they are written
  Register = 8,      // registers of a wgmma used before its wait
  Converge = 16,     // loops in which a warp may come apart, from the text
  All = 31
};
/// The mask of "race", "proxy", "uninit", "register", "converge", "all" or
/// "none", or of several separated by commas.
std::optional<uint32_t> parse(std::string_view names);
} // namespace checks

/// Memory a kernel may touch.
struct Buffer {
  void *data = nullptr;
  uint64_t bytes = 0;
  std::string name;
  unsigned elementBytes = 1; // for indices in reports
  bool isReadOnly = false;
  bool isInitialized = true; // false: reading before writing is a fault
};

/// The bytes of one kernel parameter.
struct Argument {
  std::vector<uint8_t> bytes;

  static Argument pointer(const void *address) { return of(address); }
  static Argument tensorMap(const TensorMapBytes &map) {
    return {std::vector<uint8_t>(map.begin(), map.end())};
  }
  template <typename T> static Argument of(const T &value) {
    Argument argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    return argument;
  }
};

struct LaunchConfig {
  Dim3 grid, block;
  std::optional<Dim3> cluster; // the entry's own shape otherwise, or 1
  uint32_t dynamicSharedBytes = 0;
  std::vector<Argument> arguments;
  std::vector<Buffer> buffers;
  uint32_t checks = checks::All;
  uint64_t seed = 0;        // of the order of warps and asynchronous effects
  unsigned workers = 0;     // host threads; 0: all cores
  unsigned maxReports = 50; // further kinds of faults are only counted
  unsigned residentClusters = 132; // that may be in progress at a time
  double hangSeconds = 10;         // without any progress, spinning included
  double timeLimitSeconds = 0;     // for the whole launch; 0: none
};

struct LaunchResult {
  std::vector<Report> reports;
  std::string output;     // of printf
  bool completed = false; // every thread ran to its end
};

class Module {
public:
  static std::unique_ptr<Module> parse(std::string_view text,
                                       Diagnostics &diagnostics);
  ~Module();

  std::vector<std::string> entries() const;
  /// Bytes of each parameter of an entry; empty if there is none by the name.
  std::vector<uint64_t> parameterBytes(std::string_view entry) const;

  /// Whether all that an entry needs is modelled. Host code is made of it when
  /// it is launched first.
  bool check(std::string_view entry, uint32_t checks, Diagnostics &diagnostics);

  /// Runs the grid to its end or to a fatal fault. Empty where the launch
  /// itself is wrong, with the reasons in `diagnostics`.
  std::optional<LaunchResult> launch(std::string_view entry,
                                     const LaunchConfig &config,
                                     Diagnostics &diagnostics);

private:
  Module();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tile::emulator

#endif // TILE_EMULATOR_EMULATOR_H
