// The values of the options of `refrain record`, and the check of their combinations. The options
// themselves are rows of options/record.h.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "base/result.h"
#include "cli/launch/launch_line.h"
#include "cli/output/common.h"
#include "options/record.h"

namespace refrain::cli {

using options::RecordOption;

inline constexpr const char* kSmpiWord = "smpi";

// What a variable of the environment says; empty when it is not set.
std::string environment(const char* name);

// The values of all options, as the environment would have them: "0" or "1" for a flag.
class RecordOptions {
 public:
  RecordOptions() {
    for (const options::OptionRow& row : options::kRecordRows)
      values_[index(row.option)] = row.kind == options::OptionKind::kFlag ? "0" : row.otherwise;
  }

  const std::string& operator[](RecordOption option) const { return values_[index(option)]; }
  bool is_on(RecordOption flag) const { return (*this)[flag] == "1"; }
  // Whether the command line or the environment has it.
  bool is_given(RecordOption option) const { return given_[index(option)]; }

  void give(RecordOption option, std::string value) {
    values_[index(option)] = std::move(value);
    given_[index(option)] = true;
  }

 private:
  static size_t index(RecordOption option) { return static_cast<size_t>(option); }

  std::array<std::string, options::kRecordOptionCount> values_;
  std::array<bool, options::kRecordOptionCount> given_{};
};

// A usage error says what is wrong with the words that options were given.
base::Status check_words(const RecordOptions& options);

// What --messages says, with the representatives of a plan and the ranks of their nodes in place of
// the plan: all, or ranks:LIST. Given is what stands there, if it is empty as well.
base::Result<std::string> logged_ranks(const RecordOptions& options);

// The options that differ from what the environment says anyway, as the user would write them.
Words given_words(const RecordOptions& options);

// Variables of the environment that are none of Refrain's but look like one: "REFRAIN_TIMNG:
// unknown, and ignored; did you mean 'REFRAIN_TIMING'?". Other names with that begin may be
// anybody's.
Words misspelt_variables();

// The same number as `text`, as its environment variable has it.
std::string plain_number(const std::string& text);

}  // namespace refrain::cli
