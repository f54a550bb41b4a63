//===- Drawing.cpp - Pictures as text tables and as SVG ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SVG sets its own background and uses no style sheets, so that it looks
// the same in a page, in a terminal viewer and in a slide.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/Drawing.h"

#include <algorithm>

using namespace tile::layout;

/// Letters, not bytes: labels may hold a multiplication sign.
static size_t width(const std::string &text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (c & 0xc0) != 0x80; });
}

static std::string labelOf(const Picture::Cell &cell) {
  if (cell.colour.empty())
    return "-";
  return cell.lower.empty() ? cell.upper : cell.upper + ":" + cell.lower;
}

std::string tile::layout::textOf(const Picture &picture) {
  std::vector<size_t> widths(picture.columns);
  for (int64_t column = 0; column < picture.columns; ++column) {
    widths[column] = std::to_string(column).size();
    for (int64_t row = 0; row < picture.rows; ++row)
      widths[column] = std::max(
          widths[column],
          width(labelOf(picture.cells[row * picture.columns + column])));
  }
  size_t margin = 0;
  for (const std::string &label : picture.rowLabels)
    margin = std::max(margin, label.size());
  auto padded = [](const std::string &text, size_t to) {
    return std::string(to - width(text), ' ') + text;
  };
  std::string out = padded("", margin) + " |";
  size_t line = margin + 2;
  for (int64_t column = 0; column < picture.columns; ++column) {
    out += " " + padded(std::to_string(column), widths[column]);
    line += widths[column] + 1;
  }
  out += "\n" + std::string(margin + 1, '-') + "+" +
         std::string(line - margin - 2, '-') + "\n";
  for (int64_t row = 0; row < picture.rows; ++row) {
    out += padded(picture.rowLabels[row], margin) + " |";
    for (int64_t column = 0; column < picture.columns; ++column)
      out +=
          " " + padded(labelOf(picture.cells[row * picture.columns + column]),
                       widths[column]);
    out += "\n";
  }
  return out;
}

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

static std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? std::string("&lt;")
           : c == '>' ? std::string("&gt;")
           : c == '&' ? std::string("&amp;")
                      : std::string(1, c);
  return out;
}

namespace {
/// Writes elements at whole pixels. Cells come by the hundreds, so what they
/// have in common is said once, by a group around them.
class Svg {
public:
  Svg(int64_t wide, int64_t high) {
    const std::string size = "width=\"" + std::to_string(wide) +
                             "\" height=\"" + std::to_string(high) + "\"";
    out = "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size +
          " viewBox=\"0 0 " + std::to_string(wide) + " " +
          std::to_string(high) +
          "\" font-family=\"DejaVu Sans, Verdana, Helvetica, sans-serif\">\n"
          "<rect " +
          size + " fill=\"#ffffff\"/>\n";
  }

  void begin(const std::string &attributes) {
    out += "<g " + attributes + ">\n";
  }
  void end() { out += "</g>\n"; }

  void rect(int64_t x, int64_t y, int64_t wide, int64_t high,
            const std::string &fill) {
    out += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
           "\" width=\"" + std::to_string(wide) + "\" height=\"" +
           std::to_string(high) + "\" fill=\"" + fill + "\"/>\n";
  }

  void line(int64_t x1, int64_t y1, int64_t x2, int64_t y2) {
    out += "<path d=\"M" + std::to_string(x1) + " " + std::to_string(y1) + "L" +
           std::to_string(x2) + " " + std::to_string(y2) + "\"/>\n";
  }

  void text(int64_t x, int64_t y, const std::string &text) {
    out += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
           "\">" + escaped(text) + "</text>\n";
  }

  std::string finish() { return out + "</svg>\n"; }

private:
  std::string out;
};

/// Where things are on the page.
class Page {
public:
  explicit Page(const Picture &picture) : picture(picture) {
    size_t widest = 2, margin = 1;
    for (const Picture::Cell &cell : picture.cells) {
      widest = std::max({widest, width(cell.upper), width(cell.lower)});
      hasTwoLines |= !cell.lower.empty();
    }
    for (const std::string &label : picture.rowLabels)
      margin = std::max(margin, label.size());
    cellWide = std::max<int64_t>(30, 8 * int64_t(widest) + 8);
    cellHigh = hasTwoLines ? 33 : 27;
    left = 20 + 7 * int64_t(margin);
  }

  std::string draw() {
    const int64_t right = x(picture.columns), bottom = y(picture.rows);
    // The title and the caption may be wider than the grid.
    const int64_t wide =
        std::max({right, left + 10 * int64_t(width(picture.title)),
                  left + 7 * int64_t(width(picture.caption))});
    Svg svg(wide + 16, bottom + (picture.caption.empty() ? 14 : 36));
    svg.begin("font-size=\"15\" font-weight=\"bold\" fill=\"#111111\"");
    svg.text(left, 24, picture.title);
    svg.end();
    drawNumbers(svg);
    drawCells(svg);
    drawBorders(svg);
    if (!picture.caption.empty()) {
      svg.begin("font-size=\"11\" fill=\"#444444\" font-family=\"DejaVu Sans "
                "Mono, Menlo, monospace\"");
      svg.text(left, bottom + 24, picture.caption);
      svg.end();
    }
    return svg.finish();
  }

private:
  int64_t x(int64_t column) const { return left + column * cellWide; }
  int64_t y(int64_t row) const { return top + row * cellHigh; }
  const Picture::Cell &at(int64_t row, int64_t column) const {
    return picture.cells[row * picture.columns + column];
  }

  template <typename F> void forEachCell(F visit) const {
    for (int64_t row = 0; row < picture.rows; ++row)
      for (int64_t column = 0; column < picture.columns; ++column)
        visit(row, column, at(row, column));
  }

  void drawNumbers(Svg &svg) const {
    svg.begin("font-size=\"11\" fill=\"#666666\" text-anchor=\"middle\"");
    for (int64_t column = 0; column < picture.columns; ++column)
      svg.text(x(column) + cellWide / 2, top - 7, std::to_string(column));
    svg.end();
    svg.begin("font-size=\"11\" fill=\"#666666\" text-anchor=\"end\"");
    for (int64_t row = 0; row < picture.rows; ++row)
      svg.text(left - 8, y(row) + cellHigh / 2 + 4, picture.rowLabels[row]);
    svg.end();
  }

  void drawCells(Svg &svg) const {
    svg.begin("stroke=\"#8a8a8a\"");
    forEachCell([&](int64_t row, int64_t column, const Picture::Cell &cell) {
      svg.rect(x(column), y(row), cellWide, cellHigh,
               cell.colour.empty() ? "#f4f4f4" : cell.colour);
    });
    svg.end();
    svg.begin("font-size=\"12\" fill=\"#111111\" text-anchor=\"middle\"");
    forEachCell([&](int64_t row, int64_t column, const Picture::Cell &cell) {
      const bool isAlone = cell.colour.empty() || cell.lower.empty();
      svg.text(x(column) + cellWide / 2,
               y(row) + (isAlone ? cellHigh / 2 + 4 : 14),
               cell.colour.empty() ? "\u2013" : cell.upper);
    });
    svg.end();
    svg.begin("font-size=\"10\" fill=\"#444444\" text-anchor=\"middle\"");
    forEachCell([&](int64_t row, int64_t column, const Picture::Cell &cell) {
      if (!cell.lower.empty())
        svg.text(x(column) + cellWide / 2, y(row) + 27, cell.lower);
    });
    svg.end();
  }

  void drawBorders(Svg &svg) const {
    svg.begin("stroke=\"#222222\" stroke-width=\"2.5\" "
              "stroke-linecap=\"square\"");
    auto isBorder = [](const Picture::Cell &a, const Picture::Cell &b) {
      return a.group != b.group && !a.colour.empty() && !b.colour.empty();
    };
    forEachCell([&](int64_t row, int64_t column, const Picture::Cell &cell) {
      if (row > 0 && isBorder(cell, at(row - 1, column)))
        svg.line(x(column), y(row), x(column + 1), y(row));
      if (column > 0 && isBorder(cell, at(row, column - 1)))
        svg.line(x(column), y(row), x(column), y(row + 1));
    });
    svg.end();
  }

  static constexpr int64_t top = 56;
  const Picture &picture;
  bool hasTwoLines = false;
  int64_t cellWide, cellHigh, left;
};
} // namespace

std::string tile::layout::svgOf(const Picture &picture) {
  return Page(picture).draw();
}
