//===- ExampleReport.cpp - Reports for people -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Example.h"
#include "Tile/Runtime/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>

using namespace tile;
using namespace tile::driver;
using runtime::Table;

/// The shortest number that the scalar's type rounds to its value.
static std::string formatScalar(const runtime::Array &scalar) {
  double value = scalar.getDouble(0);
  for (int digits = 1; digits < 17; ++digits) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
    double shorter = std::strtod(text.c_str(), nullptr);
    if (runtime::Array::scalar(scalar.getType(), shorter).getDouble(0) == value)
      return text;
  }
  return runtime::formatNumber(value);
}

/// "A 64x32xf16, n=3 -> C 64xf32".
static std::string formatShapes(const ExampleReport &report) {
  std::string inputs, outputs;
  const auto &parameters = report.kernel->getSignature().parameters;
  for (auto [parameter, argument] : llvm::zip(parameters, report.arguments)) {
    std::string &list = parameter.isWritten ? outputs : inputs;
    list += list.empty() ? "" : ", ";
    list += parameter.name;
    if (!parameter.isScalar)
      list += " " + argument.value.formatType();
    else if (runtime::isFloat(parameter.type))
      list += "=" + formatScalar(argument.value);
    else
      list += "=" + std::to_string(argument.value.getInt(0));
  }
  return outputs.empty() ? inputs : inputs + " -> " + outputs;
}

/// The largest relative error in the norm, and whether all is right.
static std::string formatError(const ExampleReport &report) {
  if (!report.trap.empty())
    return "TRAPPED";
  bool compared = false;
  double worst = 0;
  for (const OutputReport &output : report.outputs)
    if (!output.reference.empty()) {
      compared = true;
      worst = std::max(worst, output.comparison.relativeNorm);
    }
  std::string text = compared ? runtime::formatError(worst) : "";
  if (!report.isRight())
    return "WRONG" + (compared ? " " + text : "");
  return compared ? text : "unchecked";
}

/// Work a second in units of 10^9, three significant digits.
static std::string formatRate(std::optional<double> work, double seconds) {
  if (!work || !(seconds > 0))
    return "-";
  double rate = *work / seconds * 1e-9;
  int digits = rate >= 100 ? 0 : rate >= 10 ? 1 : rate >= 1 ? 2 : 3;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", digits, rate);
  return text;
}

std::string tile::driver::formatTable(llvm::ArrayRef<ExampleReport> reports) {
  bool isBench = llvm::any_of(reports, [](const ExampleReport &report) {
    return report.seconds.count > 1;
  });
  Table table;
  table.addColumn("function");
  table.addColumn("target");
  table.addColumn("shapes");
  table.addColumn("error", Table::Align::Right);
  table.addColumn(isBench ? "median" : "time", Table::Align::Right);
  if (isBench) {
    table.addColumn("min", Table::Align::Right);
    table.addColumn("max", Table::Align::Right);
  }
  table.addColumn("GFLOP/s", Table::Align::Right);
  table.addColumn("GB/s", Table::Align::Right);
  for (const ExampleReport &report : reports) {
    const runtime::Summary &seconds = report.seconds;
    auto formatTime = [&](double time) {
      return seconds.count ? runtime::formatDuration(time) : "-";
    };
    std::vector<std::string> row = {report.kernel->getSignature().function,
                                    getName(report.kernel->getTarget()).str(),
                                    formatShapes(report), formatError(report),
                                    formatTime(seconds.median)};
    if (isBench) {
      row.push_back(formatTime(seconds.minimum));
      row.push_back(formatTime(seconds.maximum));
    }
    row.push_back(formatRate(report.flops, seconds.median));
    row.push_back(formatRate(report.bytes, seconds.median));
    table.addRow(std::move(row));
  }
  return table.print();
}

std::string tile::driver::formatFaults(const ExampleReport &report) {
  const std::string &function = report.kernel->getSignature().function;
  std::string text;
  if (!report.trap.empty())
    text += "'" + function + "' reported while it ran:\n" + report.trap + "\n";
  for (const OutputReport &output : report.outputs)
    for (const std::string &fault : output.faults) {
      text += "'" + function + "': output '" + output.name + "': " + fault;
      text += text.back() == '\n' ? "" : "\n";
    }
  return text;
}

std::string
tile::driver::formatResources(llvm::ArrayRef<KernelResources> resources,
                              llvm::StringRef chip) {
  if (resources.empty())
    return "";
  Table table;
  table.addColumn("kernel");
  table.addColumn("chip");
  for (const char *name : {"registers", "shared", "spill stores", "spill loads",
                           "stack", "occupancy"})
    table.addColumn(name, Table::Align::Right);
  for (const KernelResources &each : resources) {
    std::vector<std::string> row = {each.kernel, chip.str()};
    for (int64_t number : {each.registers, each.sharedBytes, each.spillStores,
                           each.spillLoads, each.stackBytes})
      row.push_back(std::to_string(number));
    std::string occupancy = "-";
    if (each.occupancy) {
      occupancy.clear();
      llvm::raw_string_ostream(occupancy)
          << llvm::format("%.2f", *each.occupancy);
    }
    row.push_back(occupancy);
    table.addRow(std::move(row));
  }
  return table.print() + "\n";
}

std::string tile::driver::formatCompileTimes(const Kernel &kernel) {
  Table table;
  table.addColumn("step of '" + kernel.getSignature().function + "'");
  table.addColumn("time", Table::Align::Right);
  for (const PhaseTime &time : kernel.getTimes())
    table.addRow({time.name, runtime::formatDuration(time.seconds)});
  table.addRow({"all", runtime::formatDuration(kernel.getCompileSeconds())});
  return table.print();
}
