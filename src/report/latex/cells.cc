#include "report/latex/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

namespace refrain::report::latex {
namespace {

constexpr size_t kPathBlocks = 40;  // TeX copies a path for each part of it

// The colours of the page (web/src/colours.js): Okabe and Ito's palette by class of call, cividis
// (Nunez, Anderton, Renslow 2018) for amounts. Both are told apart whatever one's eyes.
constexpr std::array<std::string_view, 8> kClasses = {"ffffff", "0072b2", "56b4e9", "e69f00",
                                                      "009e73", "cc79a7", "c9b400", "8a8f98"};
constexpr std::array<uint32_t, 10> kCividis = {0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173,
                                               0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838};
// Darker than on the page, so that it is told from a completion without colours as well.
constexpr std::string_view kWaiting = "8a3d00";
constexpr std::array<int, 3> kStrength = {30, 60, 100};  // percent of the colour

uint32_t amount_rgb(double level) {
  const double at = level * (kCividis.size() - 1);
  const auto i = std::min(static_cast<size_t>(at), kCividis.size() - 2);
  uint32_t out = 0;
  for (int shift = 16; shift >= 0; shift -= 8) {
    const auto part = [&](size_t n) { return static_cast<double>(kCividis[n] >> shift & 255); };
    const double v = part(i) + (part(i + 1) - part(i)) * (at - static_cast<double>(i));
    out |= static_cast<uint32_t>(std::lround(v)) << shift;
  }
  return out;
}

}  // namespace

std::vector<Block> blocks_of(const Cells& cells) {
  std::vector<Block> out;
  std::vector<size_t> above(cells.columns, SIZE_MAX);  // block that begins here in the row before
  for (size_t y = 0; y < cells.rows; ++y) {
    std::vector<size_t> here(cells.columns, SIZE_MAX);
    for (size_t x = 0; x < cells.columns;) {
      const Ink ink = cells.at(x, y);
      size_t end = x + 1;
      while (end < cells.columns && cells.at(end, y) == ink) ++end;
      if (ink != kPaper) {
        const size_t known = above[x];
        if (known != SIZE_MAX && out[known].width == end - x && out[known].ink == ink) {
          ++out[known].height;
          here[x] = known;
        } else {
          here[x] = out.size();
          out.push_back({x, y, end - x, 1, ink});
        }
      }
      x = end;
    }
    above = std::move(here);
  }
  return out;
}

std::string draw_cells(const Cells& cells, double cell_width_mm, double cell_height_mm,
                       InkName name) {
  std::map<Ink, std::vector<Block>> by_ink;
  for (const Block& block : blocks_of(cells)) by_ink[block.ink].push_back(block);
  std::string out =
      fmt::format("\\rfcells{{{:.4f}mm}}{{{:.4f}mm}}%\n", cell_width_mm, cell_height_mm);
  for (const auto& [ink, blocks] : by_ink) {
    out += "\\pgfsetcolor{" + name(ink) + "}%\n";
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Block& b = blocks[i];
      out += fmt::format("\\rfcell{{{}}}{{{}}}{{{}}}{{{}}}", b.x, cells.rows - b.y - b.height,
                         b.width, b.height);
      if ((i + 1) % kPathBlocks == 0 || i + 1 == blocks.size()) out += "\\rfink%\n";
    }
  }
  return out + "\\pgfsetcolor{black}%\n";
}

Ink amount_ink(double level) {
  return static_cast<Ink>(1 + std::clamp(static_cast<int>(level * kAmounts), 0, kAmounts - 1));
}
std::string amount_name(Ink ink) { return fmt::format("rfamount{}", ink - 1); }

double log_level(double value, double least, double most) {
  if (!(value > 0)) return 0;
  if (!(most > least) || !(least > 0)) return 1;
  return 0.05 + 0.95 * std::log(value / least) / std::log(most / least);
}

std::string amount_legend(const std::string& least, const std::string& most) {
  std::string out = least + "~";
  for (Ink ink = 1; ink <= kAmounts; ++ink) out += "\\rfswatch{" + amount_name(ink) + "}";
  return "\\mbox{" + out + "~" + most + "}";
}

Ink state_ink(int call_class, int strength) {
  return static_cast<Ink>(1 + call_class * static_cast<int>(kStrength.size()) + strength);
}
std::string state_name(Ink ink) { return fmt::format("rfstate{}", ink - 1); }

std::string waiting_name(Ink) { return "rfwaiting"; }

std::string key(const std::string& colour, const std::string& what) {
  return "\\mbox{\\rfkey{" + colour + "}~" + what + "}";
}

std::string colour_definitions() {
  std::string out;
  for (Ink ink = 1; ink <= kAmounts; ++ink)
    out += fmt::format("\\definecolor{{{}}}{{HTML}}{{{:06X}}}\n", amount_name(ink),
                       amount_rgb((ink - 1) / (kAmounts - 1.0)));
  out += fmt::format("\\definecolor{{rfwaiting}}{{HTML}}{{{}}}\n", kWaiting);
  for (size_t c = 0; c < kClasses.size(); ++c) {
    out += fmt::format("\\definecolor{{rfclass{}}}{{HTML}}{{{}}}\n", c, kClasses[c]);
    for (size_t s = 0; s < kStrength.size(); ++s)
      out += fmt::format("\\colorlet{{{}}}{{rfclass{}!{}}}\n",
                         state_name(state_ink(static_cast<int>(c), static_cast<int>(s))), c,
                         kStrength[s]);
  }
  return out;
}

}  // namespace refrain::report::latex
