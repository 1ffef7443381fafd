// Which ranks are logged, and which ranks are a group: the texts of `record --messages`, `--map`
// and
// `--node-size`, which the command line checks and the recorder obeys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/messages/layout.h"

namespace refrain::format::messages {

// "0-3,8", in any order; ascending and without repetition afterwards. Fails with a word on what is
// wrong.
base::Result<std::vector<RankRun>> parse_ranks(std::string_view list);
// In any order, with repetitions: ascending, and joined where they touch.
std::vector<RankRun> joined(std::vector<RankRun> runs);
std::string ranks_text(const std::vector<RankRun>& ranks);
bool is_among(const std::vector<RankRun>& ranks, uint64_t rank);

struct Selection {
  bool all = false;
  std::vector<RankRun> ranks;  // unless all
  bool has(uint64_t rank) const { return all || is_among(ranks, rank); }
};
// "all", or "ranks:LIST".
base::Result<Selection> parse_selection(std::string_view text);

// What `refrain similarity --plan` has written (docs/similarity.md).
struct Plan {
  uint64_t ranks = 0;
  std::vector<uint32_t> representatives;
};
base::Result<Plan> parse_plan(std::string_view text);
base::Result<Plan> read_plan(const std::string& path);

// A file that says which ranks are on one node: a list of ranks in each line, nothing or a comment
// (#) in others. No rank is in two of them.
base::Result<std::vector<std::vector<RankRun>>> parse_map(std::string_view text);
base::Result<std::vector<std::vector<RankRun>>> read_map(const std::string& path);

// The ranks of the node of `rank`: `node_size` consecutive ones, or those of the map; itself alone
// if the map does not have it.
std::vector<RankRun> node_of(uint64_t rank, uint64_t ranks, uint64_t node_size);
std::vector<RankRun> node_of(uint64_t rank, const std::vector<std::vector<RankRun>>& map);

}  // namespace refrain::format::messages
