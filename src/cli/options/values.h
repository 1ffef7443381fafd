// Checks of option values. The message of a check names the value and the allowed values in one
// line, with the same text for every version of CLI11.
//
// Use: verb->add_option("--top", top, "...")->check(whole_number(0))->type_name("COUNT").
// Those whose name ends in "_with_unit" change the text, and so go with ->transform().
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace refrain::cli {

struct ValueCheck {
  // Returns what is wrong with the text, or "". Those that know units put the plain number in its
  // place.
  std::function<std::string(std::string&)> check;
  std::string range;  // what help shows: "{text,json}", "in [0 - 32]"
};

// One of these words; help and completion show them.
ValueCheck one_of(std::vector<std::string> words);

// Digits only. Bounds are shown by help where there are any.
ValueCheck whole_number(uint64_t least = 0, uint64_t most = UINT64_MAX);

// A rank of MPI_COMM_WORLD; whether the trace has it is seen later, by check_rank().
ValueCheck rank_number();

// A decimal number from `least` to `most`.
ValueCheck real_number(double least, double most);
// A decimal number above 0.
ValueCheck positive_number();

// "0.5%" or "0.5": above 0, at most 100.
ValueCheck percent_with_sign();

// "1s", "20ms", "1200000" (nanoseconds) becomes nanoseconds.
ValueCheck time_with_unit(uint64_t least_ns = 0, uint64_t most_ns = UINT64_MAX);
// "60", "60s" or "1min" becomes seconds; 0, or what lies between the bounds.
ValueCheck seconds_with_unit(double least, double most);

// "256" (MiB), "256M" or "1G" becomes a number of MiB.
ValueCheck mebibytes_with_unit(uint64_t least, uint64_t most);
// "65536" or "64K" becomes bytes.
ValueCheck bytes_with_unit(uint64_t least, uint64_t most);

}  // namespace refrain::cli
