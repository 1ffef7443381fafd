#include "analysis/waits/pattern.h"

#include <array>
#include <cstddef>
#include <string>

namespace refrain::analysis::waits {
namespace {

struct PatternRow {
  std::string_view name, title;
  Pattern parent;
};

// In the order of the enumeration, as its values are indices. Names are what scripts ask for and
// what JSON has: they stay. Titles are for people, and two patterns may share one.
constexpr std::array<PatternRow, kPatterns> kRows = {{
    {"all", "All waiting", Pattern::kAll},
    {"point_to_point", "Messages", Pattern::kAll},
    {"late_sender", "Late sender", Pattern::kPointToPoint},
    {"late_sender_wrong_order", "Messages in wrong order", Pattern::kLateSender},
    {"late_receiver", "Late receiver", Pattern::kPointToPoint},
    {"late_receiver_wrong_order", "Messages in wrong order", Pattern::kLateReceiver},
    {"collective", "Collectives", Pattern::kAll},
    {"early_reduce", "Early reduce", Pattern::kCollective},
    {"late_broadcast", "Late broadcast", Pattern::kCollective},
    {"early_scan", "Early scan", Pattern::kCollective},
    {"wait_at_nxn", "Wait at N x N", Pattern::kCollective},
    {"nxn_completion", "N x N completion", Pattern::kCollective},
    {"late_neighbour", "Late neighbour", Pattern::kCollective},
    {"wait_at_barrier", "Wait at barrier", Pattern::kCollective},
    {"barrier_completion", "Barrier completion", Pattern::kCollective},
    {"wait_at_collective_io", "Wait at collective I/O", Pattern::kCollective},
    {"one_sided", "One-sided communication", Pattern::kAll},
    {"wait_at_window", "Wait at making or freeing a window", Pattern::kOneSided},
    {"wait_at_fence", "Wait at fence", Pattern::kOneSided},
    {"late_post", "Late post", Pattern::kOneSided},
    {"early_wait", "Early wait", Pattern::kOneSided},
    {"lock_contention", "Lock contention", Pattern::kOneSided},
    {"start_and_end", "Start and end", Pattern::kAll},
    {"init_imbalance", "Imbalance at MPI_Init", Pattern::kStartAndEnd},
    {"finalize_imbalance", "Imbalance at MPI_Finalize", Pattern::kStartAndEnd},
}};

const PatternRow& row(Pattern pattern) { return kRows[static_cast<size_t>(pattern)]; }

// Letters and digits only, small ones: "Wait at N x N" and "wait_at_nxn" are one.
std::string simplified(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z')
      out += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      out += c;
  }
  return out;
}

}  // namespace

std::string_view name_of(Pattern pattern) { return row(pattern).name; }
std::string_view title_of(Pattern pattern) { return row(pattern).title; }
Pattern parent_of(Pattern pattern) { return row(pattern).parent; }

std::optional<Pattern> pattern_named(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<Pattern>(i);
  return std::nullopt;
}

std::vector<Pattern> patterns_called(std::string_view words) {
  // A name is unambiguous. A title need not be: "Messages in wrong order" is of senders and of
  // receivers, so all that it may mean are returned.
  if (const auto exact = pattern_named(words)) return {*exact};
  const std::string wanted = simplified(words);
  std::vector<Pattern> out;
  for (size_t i = 0; i < kRows.size() && !wanted.empty(); ++i)
    if (simplified(kRows[i].name) == wanted || simplified(kRows[i].title) == wanted)
      out.push_back(static_cast<Pattern>(i));
  return out;
}

int depth_of(Pattern pattern) {
  int depth = 0;
  for (; pattern != Pattern::kAll; pattern = parent_of(pattern)) ++depth;
  return depth;
}

bool contains(Pattern outer, Pattern inner) {
  // kAll is its own parent, which ends the loop and makes it contain everything.
  for (; inner != Pattern::kAll; inner = parent_of(inner))
    if (inner == outer) return true;
  return outer == Pattern::kAll;
}

}  // namespace refrain::analysis::waits
