// Numbers as people read them; durations and counts are in info_text.h.
#pragma once

#include <cstdint>
#include <string>

namespace refrain::report {

// The nearest number; 0 and the largest one for what lies beyond them: sums of a damaged trace may.
uint64_t rounded(double v);

std::string bytes_text(uint64_t bytes);               // "512 B", "1.50 KiB", "3.20 GiB"
std::string percent_text(double part, double whole);  // "12.3 %"; "-" when there is no whole

}  // namespace refrain::report
