//===- LaunchPlan.cpp - What a host function does, as data ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All values are computed before the first step: a plan has no loops, so that
// is a few dozen operations. Every division has a result, that of the language:
// by zero, zero and the dividend as remainder.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/LaunchPlan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tile::runtime;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::vector<std::string_view> splitWords(std::string_view line) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < line.size()) {
    size_t start = line.find_first_not_of(' ', at);
    if (start == std::string_view::npos)
      break;
    size_t end = std::min(line.find(' ', start), line.size());
    words.push_back(line.substr(start, end - start));
    at = end;
  }
  return words;
}

static bool parseInt(std::string_view text, int64_t &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<LaunchPlan::Operation>
LaunchPlan::parseOperation(std::string_view name) {
  // A plan is parsed once and evaluated at every launch.
  static constexpr std::pair<std::string_view, Operation> names[] = {
      {"const", Operation::constant},
      {"constf", Operation::constantReal},
      {"extent", Operation::extent},
      {"stride", Operation::stride},
      {"address", Operation::address},
      {"scalar", Operation::scalar},
      {"workspace", Operation::workspace},
      {"reports", Operation::reports},
      {"addi", Operation::addi},
      {"subi", Operation::subi},
      {"muli", Operation::muli},
      {"divsi", Operation::divsi},
      {"remsi", Operation::remsi},
      {"divui", Operation::divui},
      {"remui", Operation::remui},
      {"floordivsi", Operation::floordivsi},
      {"ceildivsi", Operation::ceildivsi},
      {"ceildivui", Operation::ceildivui},
      {"andi", Operation::andi},
      {"ori", Operation::ori},
      {"xori", Operation::xori},
      {"shli", Operation::shli},
      {"shrui", Operation::shrui},
      {"shrsi", Operation::shrsi},
      {"minsi", Operation::minsi},
      {"maxsi", Operation::maxsi},
      {"minui", Operation::minui},
      {"maxui", Operation::maxui},
      {"eq", Operation::eq},
      {"ne", Operation::ne},
      {"slt", Operation::slt},
      {"sle", Operation::sle},
      {"sgt", Operation::sgt},
      {"sge", Operation::sge},
      {"ult", Operation::ult},
      {"ule", Operation::ule},
      {"ugt", Operation::ugt},
      {"uge", Operation::uge},
      {"select", Operation::select},
      {"sext", Operation::sext},
      {"zext", Operation::zext},
      {"addf", Operation::addf},
      {"subf", Operation::subf},
      {"mulf", Operation::mulf},
      {"divf", Operation::divf},
      {"sqrt", Operation::sqrt},
      {"sitofp", Operation::sitofp},
      {"uitofp", Operation::uitofp},
      {"roundf32", Operation::roundf32},
  };
  for (auto [known, operation] : names)
    if (known == name)
      return operation;
  return std::nullopt;
}

Status LaunchPlan::parseLine(const std::vector<std::string_view> &words) {
  auto malformed = [&]() -> Status {
    std::string line;
    for (std::string_view word : words)
      line += (line.empty() ? "" : " ") + std::string(word);
    return Error{"malformed line in a launch plan: " + line};
  };
  // An index of something that came before.
  auto parseIndex = [](std::string_view text, size_t limit, size_t &index) {
    int64_t value;
    if (!parseInt(text, value) || value < 0 || size_t(value) >= limit)
      return false;
    index = size_t(value);
    return true;
  };

  if (words[0] == "plan" && words.size() == 2) {
    name = words[1];
    return {};
  }
  if (words[0] == "argument" && words.size() >= 3) {
    PlanParameter parameter;
    parameter.name = words[1];
    std::string_view type = words[2];
    parameter.isScalar = type.substr(0, 7) == "scalar:";
    if (parameter.isScalar)
      type.remove_prefix(7);
    std::optional<DType> element = parseDType(type);
    if (!element)
      return malformed();
    parameter.type = *element;
    for (size_t i = 3; i < words.size(); ++i) {
      int64_t extent = -1;
      if (words[i] != "?" && !parseInt(words[i], extent))
        return malformed();
      parameter.shape.push_back(extent);
    }
    parameters.push_back(std::move(parameter));
    return {};
  }
  if (words[0] == "value" && words.size() >= 2) {
    Value value;
    std::optional<Operation> operation = parseOperation(words[1]);
    if (!operation)
      return Error{"a launch plan uses the unknown operation '" +
                   std::string(words[1]) + "'"};
    value.operation = *operation;
    if (value.operation == Operation::constantReal) {
      if (words.size() != 3)
        return malformed();
      value.real = std::strtod(std::string(words[2]).c_str(), nullptr);
    } else {
      for (size_t i = 2; i < words.size(); ++i)
        if (!parseInt(words[i], value.operands.emplace_back()))
          return malformed();
    }
    bool refersToArguments = value.operation == Operation::extent ||
                             value.operation == Operation::stride ||
                             value.operation == Operation::address ||
                             value.operation == Operation::scalar;
    if (refersToArguments) {
      bool hasDim = value.operation == Operation::extent ||
                    value.operation == Operation::stride;
      if (value.operands.size() != (hasDim ? 2u : 1u) ||
          value.operands[0] < 0 ||
          size_t(value.operands[0]) >= parameters.size())
        return malformed();
      const Shape &shape = parameters[value.operands[0]].shape;
      if (hasDim &&
          (value.operands[1] < 0 || size_t(value.operands[1]) >= shape.size()))
        return malformed();
    } else if (value.operation == Operation::reports) {
      if (!value.operands.empty())
        return malformed();
    } else if (value.operation != Operation::constant &&
               value.operation != Operation::constantReal) {
      for (int64_t operand : value.operands)
        if (operand < 0 || size_t(operand) >= values.size())
          return malformed();
      // Missing operands read as value 0; there are at most three.
      if (value.operands.empty() || value.operands.size() > 3)
        return malformed();
    } else if (value.operation == Operation::constant &&
               value.operands.size() != 1) {
      return malformed();
    }
    values.push_back(std::move(value));
    return {};
  }
  if (words[0] == "if" && words.size() == 4) {
    Step step;
    step.kind = Step::Kind::Condition;
    size_t most = std::numeric_limits<int32_t>::max();
    if (!parseIndex(words[1], values.size(), step.condition) ||
        !parseIndex(words[2], most, step.thenSteps) ||
        !parseIndex(words[3], most, step.elseSteps))
      return malformed();
    steps.push_back(std::move(step));
    return {};
  }
  if (words[0] == "check" && words.size() == 3) {
    Step step;
    step.kind = Step::Kind::Check;
    if (!parseIndex(words[1], values.size(), step.condition) ||
        !parseIndex(words[2], reports.size(), step.report))
      return malformed();
    steps.push_back(std::move(step));
    return {};
  }
  if (words[0] == "launch" && words.size() >= 9) {
    Step step;
    step.kernel = words[1];
    for (int i = 0; i < 3; ++i)
      if (!parseIndex(words[2 + i], values.size(), step.grid[i]) ||
          !parseIndex(words[5 + i], values.size(), step.block[i]))
        return malformed();
    if (!parseIndex(words[8], values.size(), step.shared))
      return malformed();
    for (size_t i = 9; i < words.size(); ++i) {
      Argument argument;
      argument.kind = words[i][0];
      size_t colon = words[i].find(':');
      int64_t bytes = 8;
      if (colon == std::string_view::npos ||
          !parseInt(words[i].substr(1, colon - 1), bytes) || bytes < 1 ||
          bytes > 8 || (argument.kind != 'i' && argument.kind != 'f') ||
          !parseIndex(words[i].substr(colon + 1), values.size(),
                      argument.value))
        return malformed();
      argument.bytes = uint32_t(bytes);
      step.arguments.push_back(argument);
    }
    steps.push_back(std::move(step));
    return {};
  }
  return malformed();
}

Result<LaunchPlan> LaunchPlan::parse(std::string_view text) {
  LaunchPlan plan;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    constexpr std::string_view report = "report ";
    if (line.substr(0, report.size()) == report) {
      plan.reports.emplace_back(line.substr(report.size()));
      continue;
    }
    std::vector<std::string_view> words = splitWords(line);
    if (words.empty())
      continue;
    if (Status status = plan.parseLine(words); !status)
      return status.error();
  }
  // Branches hold the steps behind them.
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].kind == Step::Kind::Condition &&
        plan.steps[i].thenSteps + plan.steps[i].elseSteps >
            plan.steps.size() - i - 1)
      return Error{"a condition in a launch plan reaches past its end"};
  return plan;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t ceilDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

Result<LaunchPlan::Number>
LaunchPlan::compute(const Value &value, const std::vector<Number> &numbers,
                    const std::vector<PlanArgument> &arguments,
                    const AllocateWorkspace &allocate, uint64_t words) const {
  Operation op = value.operation;
  const std::vector<int64_t> &operands = value.operands;
  if (op == Operation::constant)
    return Number{operands[0], 0};
  if (op == Operation::constantReal)
    return Number{0, value.real};
  if (op == Operation::extent)
    return Number{arguments[operands[0]].shape[operands[1]], 0};
  if (op == Operation::stride)
    return Number{arguments[operands[0]].strides[operands[1]], 0};
  if (op == Operation::address)
    return Number{int64_t(arguments[operands[0]].address), 0};
  if (op == Operation::scalar)
    return Number{arguments[operands[0]].integer, arguments[operands[0]].real};
  if (op == Operation::reports)
    return Number{int64_t(words), 0};
  if (op == Operation::workspace) {
    int64_t bytes = numbers[operands[0]].integer;
    if (!allocate)
      return Error{"'" + name + "' needs a workspace of " +
                   std::to_string(bytes) + " bytes, which this call has not"};
    if (bytes < 0)
      return Error{"'" + name + "' needs a workspace beyond all memory"};
    Result<uint64_t> address = allocate(uint64_t(bytes));
    if (!address)
      return address.error();
    return Number{int64_t(*address), 0};
  }

  auto integer = [&](size_t i) {
    return i < operands.size() ? numbers[operands[i]].integer : 0;
  };
  auto real = [&](size_t i) {
    return i < operands.size() ? numbers[operands[i]].real : 0.0;
  };
  int64_t a = integer(0), b = integer(1);
  uint64_t ua = uint64_t(a), ub = uint64_t(b);
  double x = real(0), y = real(1);
  // The least integer divided by minus one is itself.
  auto quotient = [&](int64_t (*divide)(int64_t, int64_t)) {
    return Number{b == 0 ? 0 : b == -1 ? int64_t(-ua) : divide(a, b), 0};
  };
  auto truth = [](bool condition) { return Number{condition, 0}; };
  auto whole = [](uint64_t result) { return Number{int64_t(result), 0}; };
  auto fraction = [](double result) { return Number{0, result}; };

  if (op == Operation::addi)
    return whole(ua + ub);
  if (op == Operation::subi)
    return whole(ua - ub);
  if (op == Operation::muli)
    return whole(ua * ub);
  if (op == Operation::divsi)
    return quotient([](int64_t x, int64_t y) { return x / y; });
  if (op == Operation::remsi)
    return whole(b == 0 ? ua : b == -1 ? 0 : uint64_t(a % b));
  if (op == Operation::divui)
    return whole(b ? ua / ub : 0);
  if (op == Operation::remui)
    return whole(b ? ua % ub : ua);
  if (op == Operation::floordivsi)
    return quotient(floorDivide);
  if (op == Operation::ceildivsi)
    return quotient(ceilDivide);
  if (op == Operation::ceildivui)
    return whole(b ? ua / ub + (ua % ub != 0) : 0);
  if (op == Operation::andi)
    return whole(ua & ub);
  if (op == Operation::ori)
    return whole(ua | ub);
  if (op == Operation::xori)
    return whole(ua ^ ub);
  if (op == Operation::shli)
    return whole(ub < 64 ? ua << ub : 0);
  if (op == Operation::shrui)
    return whole(ub < 64 ? ua >> ub : 0);
  if (op == Operation::shrsi)
    return whole(a >> std::min<uint64_t>(ub, 63));
  if (op == Operation::minsi)
    return whole(std::min(a, b));
  if (op == Operation::maxsi)
    return whole(std::max(a, b));
  if (op == Operation::minui)
    return whole(std::min(ua, ub));
  if (op == Operation::maxui)
    return whole(std::max(ua, ub));
  if (op == Operation::eq)
    return truth(a == b);
  if (op == Operation::ne)
    return truth(a != b);
  if (op == Operation::slt)
    return truth(a < b);
  if (op == Operation::sle)
    return truth(a <= b);
  if (op == Operation::sgt)
    return truth(a > b);
  if (op == Operation::sge)
    return truth(a >= b);
  if (op == Operation::ult)
    return truth(ua < ub);
  if (op == Operation::ule)
    return truth(ua <= ub);
  if (op == Operation::ugt)
    return truth(ua > ub);
  if (op == Operation::uge)
    return truth(ua >= ub);
  if (op == Operation::select)
    return numbers[operands[a ? 1 : std::min<size_t>(2, operands.size() - 1)]];
  // The width is the second operand's value.
  if (op == Operation::sext) {
    int64_t shift = 64 - std::clamp<int64_t>(b, 1, 64);
    return whole(uint64_t(int64_t(ua << shift) >> shift));
  }
  if (op == Operation::zext)
    return whole(b >= 64 ? ua
                         : ua & ((uint64_t(1) << std::max<int64_t>(b, 0)) - 1));
  if (op == Operation::addf)
    return fraction(x + y);
  if (op == Operation::subf)
    return fraction(x - y);
  if (op == Operation::mulf)
    return fraction(x * y);
  if (op == Operation::divf)
    return fraction(x / y);
  if (op == Operation::sqrt)
    return fraction(std::sqrt(x));
  if (op == Operation::sitofp)
    return fraction(double(a));
  if (op == Operation::uitofp)
    return fraction(double(ua));
  if (op == Operation::roundf32)
    return fraction(double(float(x)));
  return Error{"a launch plan uses an operation that has no meaning"};
}

Status LaunchPlan::run(size_t first, size_t count,
                       const std::vector<Number> &numbers,
                       PlannedCall &call) const {
  for (size_t i = first; i < first + count;) {
    const Step &step = steps[i];
    bool holds = numbers[step.condition].integer & 1;
    if (step.kind == Step::Kind::Condition) {
      size_t begin = i + 1;
      if (Status status = holds ? run(begin, step.thenSteps, numbers, call)
                                : run(begin + step.thenSteps, step.elseSteps,
                                      numbers, call);
          !status)
        return status;
      i = begin + step.thenSteps + step.elseSteps;
      continue;
    }
    ++i;
    if (step.kind == Step::Kind::Check) {
      if (!holds)
        call.reports.push_back(step.report);
      continue;
    }
    KernelLaunch launch;
    launch.kernel = step.kernel;
    bool isEmpty = false;
    static constexpr int64_t largestGrid[] = {2147483647, 65535, 65535};
    for (int dim = 0; dim < 3; ++dim) {
      int64_t blocks = numbers[step.grid[dim]].integer;
      isEmpty |= blocks <= 0;
      if (blocks > largestGrid[dim])
        return Error{"kernel '" + step.kernel + "' needs " +
                     std::to_string(blocks) + " blocks along dimension " +
                     std::to_string(dim) + " of its grid, at most " +
                     std::to_string(largestGrid[dim]) + " are possible"};
      launch.grid[dim] = uint32_t(std::max<int64_t>(blocks, 0));
      launch.block[dim] = uint32_t(numbers[step.block[dim]].integer);
    }
    if (isEmpty)
      continue;
    launch.sharedBytes = uint32_t(numbers[step.shared].integer);
    for (const Argument &argument : step.arguments) {
      KernelLaunch::Parameter parameter;
      parameter.bytes = argument.bytes;
      const Number &number = numbers[argument.value];
      if (argument.kind == 'i') {
        parameter.bits = uint64_t(number.integer);
      } else if (argument.bytes == 4) {
        float narrow = float(number.real);
        std::memcpy(&parameter.bits, &narrow, sizeof(narrow));
      } else if (argument.bytes == 8) {
        std::memcpy(&parameter.bits, &number.real, sizeof(number.real));
      } else {
        // Narrower floats stay the bits they came as.
        parameter.bits = uint64_t(number.integer);
      }
      launch.parameters.push_back(parameter);
    }
    call.launches.push_back(std::move(launch));
  }
  return {};
}

Result<PlannedCall>
LaunchPlan::evaluate(const std::vector<PlanArgument> &arguments,
                     const AllocateWorkspace &allocate, uint64_t words) const {
  if (arguments.size() != parameters.size())
    return Error{"'" + name + "' takes " + std::to_string(parameters.size()) +
                 " arguments, got " + std::to_string(arguments.size())};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const PlanParameter &parameter = parameters[i];
    if (parameter.isScalar)
      continue;
    if (arguments[i].shape.size() != parameter.shape.size() ||
        arguments[i].strides.size() != parameter.shape.size())
      return Error{"argument '" + parameter.name + "' has rank " +
                   std::to_string(arguments[i].shape.size()) + ", expected " +
                   std::to_string(parameter.shape.size())};
    for (size_t dim = 0; dim < parameter.shape.size(); ++dim)
      if (parameter.shape[dim] >= 0 &&
          parameter.shape[dim] != arguments[i].shape[dim])
        return Error{"argument '" + parameter.name + "' has extent " +
                     std::to_string(arguments[i].shape[dim]) +
                     " in dimension " + std::to_string(dim) + ", expected " +
                     std::to_string(parameter.shape[dim])};
  }
  std::vector<Number> numbers;
  numbers.reserve(values.size());
  for (const Value &value : values) {
    Result<Number> number = compute(value, numbers, arguments, allocate, words);
    if (!number)
      return number.error();
    numbers.push_back(*number);
  }
  PlannedCall call;
  if (Status status = run(0, steps.size(), numbers, call); !status)
    return status.error();
  return call;
}

Status LaunchPlan::judge(const PlannedCall &call, const uint32_t *words) const {
  std::string text;
  for (size_t i = 0; i < reports.size(); ++i) {
    bool isDue = words[i] != 0 ||
                 std::find(call.reports.begin(), call.reports.end(), i) !=
                     call.reports.end();
    if (isDue)
      text += (text.empty() ? "" : "\n") + reports[i];
  }
  if (text.empty())
    return {};
  return Error{text};
}

std::vector<PlannedKernel> LaunchPlan::getKernels() const {
  // Values whose operands are all known.
  std::vector<Number> numbers(values.size());
  std::vector<bool> isKnown(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Value &value = values[i];
    bool isConstant = value.operation == Operation::constant ||
                      value.operation == Operation::constantReal;
    bool known = value.operation != Operation::extent &&
                 value.operation != Operation::stride &&
                 value.operation != Operation::address &&
                 value.operation != Operation::scalar &&
                 value.operation != Operation::workspace &&
                 value.operation != Operation::reports;
    if (!isConstant && known)
      for (int64_t operand : value.operands)
        known = known && isKnown[size_t(operand)];
    if (!known)
      continue;
    if (Result<Number> number = compute(value, numbers, {}, {}, 0)) {
      numbers[i] = *number;
      isKnown[i] = true;
    }
  }
  std::vector<PlannedKernel> kernels;
  for (const Step &step : steps) {
    if (step.kind != Step::Kind::Launch)
      continue;
    PlannedKernel &kernel = kernels.emplace_back();
    kernel.name = step.kernel;
    if (isKnown[step.shared])
      kernel.sharedBytes = uint32_t(numbers[step.shared].integer);
    int64_t threads = 1;
    bool known = true;
    for (size_t extent : step.block) {
      known = known && isKnown[extent];
      threads *= numbers[extent].integer;
    }
    if (known)
      kernel.threads = uint32_t(threads);
  }
  return kernels;
}
