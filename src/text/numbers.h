// Numbers as people read them: counts, times, bytes, shares, runs of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/runs.h"
#include "base/text.h"

namespace refrain::text {

using base::count_text;
using base::counted_text;

// The nearest number; 0 and the largest one for what lies beyond them: sums of a damaged trace may.
uint64_t rounded(double v);

// "0.0123", "4.25", "1 020": three digits, and all of those before the point. Not negative.
std::string ratio_text(double v);

// "1.5 s", "310 us": three digits and a unit.
std::string duration_text(uint64_t ns);
std::string time_text(double ns);  // the same, of a sum or a mean

std::string bytes_text(uint64_t bytes);               // "512 B", "1.50 KiB", "3.20 GiB"
std::string percent_text(double part, double whole);  // "12.3 %"; "-" when there is no whole

// "+1.5", "-0.2": a change, with its sign. What is rounded to none is "+0.0", and never "-0.0".
std::string signed_text(double v, int digits);

// "0", "1-3", "0-62:2, 5": runs of ranks, with a step when it is not 1. Past `max_runs` runs it
// ends in "...".
std::string rank_list_text(const base::RunList& ranks, size_t max_runs);

}  // namespace refrain::text
