// The same call of many ranks as one text with holes: ranks of a group differ in a few numbers.
//
//   rank 0: dest=1, tag=7     rank 1: dest=2, tag=7     ->  "dest=@, tag=7", [1 2 ...]
//
// If words differ as well (a partner on most ranks, MPI_PROC_NULL on some), there are several
// texts, and a list of the text of each rank. Numbers are stored as runs, so numbers that are a
// linear function of the rank take almost no space.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/runs.h"

namespace refrain::report {

// `runs` as a list of [start, step, count].
nlohmann::ordered_json runs_json(const base::RunList& runs);

class TextTemplate {
 public:
  // The text of the next rank. Its bytes are UTF-8, without control characters.
  void add(std::string_view text);
  uint64_t size() const { return which_.size(); }
  // How much it takes, in runs.
  size_t cost() const;
  // {"texts": [...], "which": runs, "holes": [[runs, ...], ...]}; a hole is the character U+0001.
  nlohmann::ordered_json to_json() const;

 private:
  struct Form {
    std::string text;
    std::vector<base::RunList> holes;
    nlohmann::ordered_json filled() const;
  };
  std::vector<Form> forms_;
  std::map<std::string, size_t, std::less<>> known_;
  base::RunList which_;
};

}  // namespace refrain::report
