// Decides the precision of the numbers in the statistics.
//
// Users look at one function at one call site: its time, its shortest and its longest call. These
// stay as precise as a time code; the contributions of single signatures need not. So at each call
// site the extremes, and the numbers that make up much of the time, are precise, and the errors of
// the others are chosen so that they cancel.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "format/stats/items.h"
#include "format/stats/model.h"
#include "format/trace_data.h"

namespace refrain::format {

// The statistics of a family that shares them, or of one signature.
struct StatEntry {
  StatItem item;
  uint16_t min = 0, mean = 0, max = 0;  // time codes
  Histogram histogram;                  // of three calls and more
};

// There may be millions: the list takes the room of the statistics that it is made of.
using StatEntries = std::deque<StatEntry>;

// The numbers as they are.
inline StatNumbers exact_numbers(const StatEntry& e) {
  StatNumbers numbers;
  numbers.min = e.min, numbers.mean = e.mean, numbers.max = e.max;
  return numbers;
}

// What is to be written of each entry. Nothing: with all bits of the mantissa that is what they
// are.
std::vector<StatNumbers> plan_statistics(const StatEntries& entries, StatPrecision precision);

// Bits that this would save against writing everything fine, about.
uint64_t bits_saved(const StatEntries& entries, unsigned mantissa_bits);

}  // namespace refrain::format
