// Pictures of small rectangles: timelines, matrices, maps. Equal neighbours become one rectangle,
// so that a document stays small and TeX quick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace refrain::report::latex {

using Ink = uint16_t;
inline constexpr Ink kPaper = 0;  // nothing is drawn

struct Cells {
  Cells(size_t columns_count, size_t rows_count)
      : columns(columns_count), rows(rows_count), ink(columns_count * rows_count, kPaper) {}
  Ink& at(size_t column, size_t row) { return ink[row * columns + column]; }
  Ink at(size_t column, size_t row) const { return ink[row * columns + column]; }

  size_t columns, rows;
  std::vector<Ink> ink;  // by row from the top, then by column
};

struct Block {
  size_t x = 0, y = 0, width = 0, height = 0;
  Ink ink = kPaper;
};

// Every cell that is not paper in exactly one block of its ink.
std::vector<Block> blocks_of(const Cells& cells);

// Names of colours, which the preamble of the document defines.
using InkName = std::string (*)(Ink);

// Commands for a tikzpicture: the cells, with their lower left corner at its origin.
std::string draw_cells(const Cells& cells, double cell_width_mm, double cell_height_mm,
                       InkName name);

// --- amounts: 16 colours from nothing to most ---
inline constexpr int kAmounts = 16;
Ink amount_ink(double level);  // 0 to 1
std::string amount_name(Ink ink);
// A value on a logarithmic scale, so that a value a thousand times the others hides none.
double log_level(double value, double least, double most);
// What the colours mean, as part of a line of text.
std::string amount_legend(const std::string& least, const std::string& most);

// --- states of the timeline: a class of call, in three strengths ---
Ink state_ink(int call_class, int strength);  // strength 0 to 2
std::string state_name(Ink ink);
// The colour of waiting.
std::string waiting_name(Ink ink);
// A square of a colour, as part of a line of text.
std::string key(const std::string& colour, const std::string& what);

// \definecolor for all of these.
std::string colour_definitions();

}  // namespace refrain::report::latex
