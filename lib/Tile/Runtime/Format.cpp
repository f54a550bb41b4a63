//===- Format.cpp - Figures for people ------------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Format.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

using namespace tile::runtime;

/// Unlike printf, to_chars always writes a point, whatever the locale.
static std::string print(std::chars_format format, int precision,
                         double value) {
  char text[512];
  char *end =
      std::to_chars(text, text + sizeof text, value, format, precision).ptr;
  return std::string(text, end);
}

/// Three significant digits without an exponent, for 0 <= value < 10000.
static std::string printThreeDigits(double value) {
  // Rounding first: 9.996 has its three digits as 10.0.
  int precision = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return print(std::chars_format::fixed, precision, value);
}

static std::string printScaled(double value, double base,
                               const std::vector<const char *> &units) {
  if (!std::isfinite(value) || value < 0)
    return formatNumber(value) + " " + units.front();
  size_t unit = 0;
  // 999.6 would print as 1000 of the smaller unit.
  while (unit + 1 < units.size() && value >= base - 0.5) {
    value /= base;
    ++unit;
  }
  std::string digits = value >= 10000
                           ? print(std::chars_format::scientific, 2, value)
                           : printThreeDigits(value);
  return digits + " " + units[unit];
}

std::string tile::runtime::formatDuration(double seconds) {
  return printScaled(seconds * 1e9, 1000, {"ns", "µs", "ms", "s"});
}

std::string tile::runtime::formatFlopRate(double flopsPerSecond) {
  return printScaled(flopsPerSecond / 1e6, 1000,
                     {"MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"});
}

std::string tile::runtime::formatByteRate(double bytesPerSecond) {
  return printScaled(bytesPerSecond / 1e6, 1000,
                     {"MB/s", "GB/s", "TB/s", "PB/s"});
}

std::string tile::runtime::formatBytes(double bytes) {
  if (bytes < 1024)
    return print(std::chars_format::fixed, 0, bytes) + " B";
  return printScaled(bytes / 1024, 1024, {"KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string tile::runtime::formatNumber(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string tile::runtime::formatError(double value) {
  if (value == 0 || !std::isfinite(value))
    return formatNumber(value);
  return print(std::chars_format::scientific, 2, value);
}

/// Columns a UTF-8 text takes on a terminal, for the letters used here.
static size_t getWidth(const std::string &text) {
  return size_t(std::count_if(text.begin(), text.end(),
                              [](char c) { return (c & 0xC0) != 0x80; }));
}

void Table::addColumn(std::string title, Align align) {
  columns.push_back({std::move(title), align});
}

void Table::addRow(std::vector<std::string> cells) {
  assert(cells.size() <= columns.size() && "more cells than columns");
  cells.resize(columns.size());
  rows.push_back(std::move(cells));
}

std::string Table::print() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t width = getWidth(columns[i].title);
    for (const std::vector<std::string> &row : rows)
      width = std::max(width, getWidth(row[i]));
    widths.push_back(width);
  }
  std::string text;
  auto addLine = [&](auto getCell) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string &cell = getCell(i);
      std::string padding(widths[i] - getWidth(cell), ' ');
      if (i)
        line += "  ";
      line += columns[i].align == Align::Left ? cell + padding : padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  addLine([&](size_t i) -> const std::string & { return columns[i].title; });
  for (const std::vector<std::string> &row : rows)
    addLine([&](size_t i) -> const std::string & { return row[i]; });
  return text;
}
