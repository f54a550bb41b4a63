//===- Format.h - Figures for people ----------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Durations, rates and sizes as people read them, and tables of them.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_FORMAT_H
#define TILE_RUNTIME_FORMAT_H

#include <cstdint>
#include <string>
#include <vector>

namespace tile::runtime {

/// Seconds as "12.3 µs", "4.56 ms", "1.23 s": three significant digits.
std::string formatDuration(double seconds);
/// Operations a second as "690 TFLOP/s" or "1.2 GFLOP/s".
std::string formatFlopRate(double flopsPerSecond);
/// Bytes a second as "4.26 TB/s", in powers of ten as vendors count.
std::string formatByteRate(double bytesPerSecond);
/// Bytes as "512 B", "1.5 KiB", "3.64 TiB".
std::string formatBytes(double bytes);
/// The shortest decimal form that reads back as the same double; "inf", "nan".
std::string formatNumber(double value);
/// Three significant digits in scientific form: "1.23e-07"; 0 is "0".
std::string formatError(double value);

/// Rows of text printed in columns as wide as their widest cell.
class Table {
public:
  enum class Align : uint8_t { Left, Right };

  void addColumn(std::string title, Align align = Align::Left);
  /// Missing cells are empty; there are no more cells than columns.
  void addRow(std::vector<std::string> cells);
  /// The title line and one line a row, without trailing spaces.
  std::string print() const;

private:
  struct Column {
    std::string title;
    Align align;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_FORMAT_H
