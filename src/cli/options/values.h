// Checks of option values. The message of a check names the value and the allowed values in one
// line, with the same text for every version of CLI11.
//
// Use: verb.add_option("--top", top, "...")->check(whole_number(0))->type_name("COUNT").
// Those whose name ends in "_with_unit" change the text, and so go with ->transform().
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace refrain::cli {

// One of these words; help and completion show them.
CLI::Validator one_of(std::vector<std::string> words);

// Digits only. Bounds are shown by help where there are any.
CLI::Validator whole_number(uint64_t least = 0, uint64_t most = UINT64_MAX);

// A rank of MPI_COMM_WORLD; whether the trace has it is seen later, by check_rank().
CLI::Validator rank_number();

// A decimal number from `least` to `most`.
CLI::Validator real_number(double least, double most);
// A decimal number above 0.
CLI::Validator positive_number();

// "0.5%" or "0.5": above 0, at most 100.
CLI::Validator percent_with_sign();

// "1s", "20ms", "1200000" (nanoseconds) becomes nanoseconds.
CLI::Validator time_with_unit(uint64_t least_ns = 0, uint64_t most_ns = UINT64_MAX);
// "60", "60s" or "1min" becomes seconds; 0, or what lies between the bounds.
CLI::Validator seconds_with_unit(double least, double most);

// "256" (MiB), "256M" or "1G" becomes a number of MiB.
CLI::Validator mebibytes_with_unit(uint64_t least, uint64_t most);
// "65536" or "64K" becomes bytes.
CLI::Validator bytes_with_unit(uint64_t least, uint64_t most);

}  // namespace refrain::cli
