//===- LaunchPlan.h - What a host function does, as data --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host side of a compiled function without host code: values computed from
// extents, strides, addresses and scalars of the arguments, and steps that
// launch kernels with them, under conditions. In text, one item a line:
//
//   plan matmul
//   argument A f16 ? 64           an array; ? is an extent left open
//   argument n i64                a scalar
//   value const 128               values are numbered from 0
//   value extent 0 1              of argument 0, dimension 1
//   value stride 0 0              in elements
//   value address 0               of the first element, in bytes
//   value scalar 1
//   report f.mlir:7:3: assertion failed: n is odd
//                                 numbered from 0; what a call may report
//   value workspace 0             the address of so many bytes for this call
//   value reports                 that of a word for each report, zero at
//   first,
//                                 which kernels set
//   value ceildivsi 1 0           an operation on earlier values
//   if 5 3 1                      condition, steps of then, steps of else
//   check 5 0                     report the latter unless the condition holds
//   launch kernel 2 3 3 0 3 3 7 p4 w1 f8   grid, block, shared bytes, arguments
//
// Integers are 64 bits wide and wrap around, as on the device; floats are
// doubles that are rounded where the program says so.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_LAUNCHPLAN_H
#define TILE_RUNTIME_LAUNCHPLAN_H

#include "Tile/Runtime/Array.h"
#include "Tile/Runtime/Result.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// An argument as a kernel sees it: a scalar's bits, or an array's place.
struct PlanArgument {
  /// In the memory that kernels read.
  uint64_t address = 0;
  Shape shape, strides;
  /// The bits of an integer, or of a double.
  int64_t integer = 0;
  double real = 0;
};

struct PlanParameter {
  std::string name;
  DType type = DType::F32;
  bool isScalar = false;
  /// -1 is an extent left open.
  Shape shape;
};

/// One kernel with all it needs.
struct KernelLaunch {
  std::string kernel;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  /// The bits of each parameter in the size the kernel declares.
  struct Parameter {
    uint64_t bits = 0;
    uint32_t bytes = 8;
  };
  std::vector<Parameter> parameters;
};

/// Gives memory that kernels may write, at a multiple of 256 bytes, until the
/// last launch of the call is over.
using AllocateWorkspace = std::function<Result<uint64_t>(uint64_t bytes)>;

/// What one call of a function does.
struct PlannedCall {
  /// In order.
  std::vector<KernelLaunch> launches;
  /// Numbers of the reports that are due before any kernel has run.
  std::vector<size_t> reports;
};

/// A kernel that a plan launches, with what does not depend on arguments.
struct PlannedKernel {
  std::string name;
  /// Of a block.
  std::optional<uint32_t> threads, sharedBytes;
};

class LaunchPlan {
public:
  static Result<LaunchPlan> parse(std::string_view text);

  const std::string &getName() const { return name; }
  const std::vector<PlanParameter> &getParameters() const { return parameters; }

  /// One for each launch that the plan holds, whether it is taken or not.
  std::vector<PlannedKernel> getKernels() const;

  /// What a call may report: a line of text each.
  const std::vector<std::string> &getReports() const { return reports; }

  /// The launches for these arguments. Errors: a value that cannot be computed,
  /// or a grid beyond the hardware's. A launch with an empty grid is left out.
  /// `allocate` is called for each workspace of the plan, however large.
  /// `words` is the address, in the memory that kernels write, of a word for
  /// each report.
  Result<PlannedCall> evaluate(const std::vector<PlanArgument> &arguments,
                               const AllocateWorkspace &allocate = {},
                               uint64_t words = 0) const;

  /// Success, or what the call reported: before its kernels ran and by the
  /// words that they left, one for each report of the plan.
  Status judge(const PlannedCall &call, const uint32_t *words) const;

private:
  /// What computes a value: arith's ops by their names, and what a call brings.
  enum class Operation : uint8_t {
    constant,
    constantReal,
    extent,
    stride,
    address,
    scalar,
    workspace,
    reports,
    addi,
    subi,
    muli,
    divsi,
    remsi,
    divui,
    remui,
    floordivsi,
    ceildivsi,
    ceildivui,
    andi,
    ori,
    xori,
    shli,
    shrui,
    shrsi,
    minsi,
    maxsi,
    minui,
    maxui,
    eq,
    ne,
    slt,
    sle,
    sgt,
    sge,
    ult,
    ule,
    ugt,
    uge,
    select,
    sext,
    zext,
    addf,
    subf,
    mulf,
    divf,
    sqrt,
    sitofp,
    uitofp,
    roundf32
  };
  struct Value {
    Operation operation = Operation::constant;
    std::vector<int64_t> operands;
    double real = 0;
  };
  struct Argument {
    /// p: address, i8 to i64 and f16 to f64 by the size in bytes.
    char kind = 'i';
    uint32_t bytes = 8;
    size_t value = 0;
  };
  struct Step {
    enum class Kind { Launch, Condition, Check } kind = Kind::Launch;
    size_t condition = 0, thenSteps = 0, elseSteps = 0, report = 0;
    std::string kernel;
    size_t grid[3] = {}, block[3] = {}, shared = 0;
    std::vector<Argument> arguments;
  };
  struct Number {
    int64_t integer = 0;
    double real = 0;
  };

  static std::optional<Operation> parseOperation(std::string_view name);
  Status parseLine(const std::vector<std::string_view> &words);
  Result<Number> compute(const Value &value, const std::vector<Number> &numbers,
                         const std::vector<PlanArgument> &arguments,
                         const AllocateWorkspace &allocate,
                         uint64_t words) const;
  Status run(size_t first, size_t count, const std::vector<Number> &numbers,
             PlannedCall &call) const;

  std::string name;
  std::vector<PlanParameter> parameters;
  std::vector<std::string> reports;
  std::vector<Value> values;
  std::vector<Step> steps;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_LAUNCHPLAN_H
