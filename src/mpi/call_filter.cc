#include "mpi/call_filter.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/nearest.h"

namespace refrain::mpi {

namespace {

constexpr std::array<std::string_view, 7> kAlwaysKept = {
    "MPI_Init",     "MPI_Init_thread",  "MPI_Finalize",        "MPI_Abort",
    "MPI_Pcontrol", "MPI_Session_init", "MPI_Session_finalize"};

bool has_request(const CallInfo& call, Direction direction) {
  return std::any_of(call.params.begin(), call.params.end(), [direction](const ParamInfo& p) {
    return p.kind == ParamKind::kRequest && p.direction == direction;
  });
}

bool works_on_requests(const CallInfo& call) {
  if (call.group == CallGroup::kPersist) return has_request(call, Direction::kInOut);
  // A generalized request is the program's own affair, from its begin to its end.
  return call.group == CallGroup::kCompletion && call.name.find("Grequest") == call.name.npos &&
         (has_request(call, Direction::kIn) || has_request(call, Direction::kInOut));
}

// Sends, receives, and what takes a message that a probe found.
bool is_one_end(const CallInfo& call) {
  if (filter_group(call) != CallGroup::kP2p) return false;
  return call.traffic != Traffic::kNothing ||
         std::any_of(call.params.begin(), call.params.end(), [](const ParamInfo& p) {
           return p.kind == ParamKind::kMessage || p.kind == ParamKind::kRequest;
         });
}

bool is_function(const CallInfo& call, std::string_view word) {
  return call.name == word || (call.name.size() == word.size() + 2 && call.name.ends_with("_c") &&
                               call.name.starts_with(word));
}

std::vector<std::string> group_words() {
  std::vector<std::string> words;
  CallGroup last = CallGroup::kMisc;
  std::bitset<64> seen;
  for (const CallInfo& call : all_calls()) {
    if (filter_role(call) != FilterRole::kWord) continue;
    last = filter_group(call);
    if (seen[static_cast<size_t>(last)]) continue;
    seen[static_cast<size_t>(last)] = true;
    words.emplace_back(to_string(last));
  }
  return words;
}

base::Error unknown_word(std::string_view word) {
  std::vector<std::string> known = group_words();
  std::string groups;
  for (const std::string& group : known) groups.append(groups.empty() ? "" : ", ").append(group);
  for (const CallInfo& call : all_calls()) known.emplace_back(call.name);
  return base::usage("no function or group '" + std::string(word) + "'" +
                     base::did_you_mean(word, known) + " (groups: " + groups + ")");
}

// Enters the functions that the word means; an error when it means none, or half of something.
base::Status find(std::string_view word, std::bitset<CallFilter::kCalls>& found) {
  bool known = false;
  for (const CallInfo& call : all_calls()) {
    const bool named = is_function(call, word);
    const FilterRole role = filter_role(call);
    if (named && role == FilterRole::kAlways)
      return base::usage(std::string(word) + " is always recorded");
    if (named && role == FilterRole::kFollows)
      return base::usage(std::string(word) +
                         " follows the requests it works on: name what makes them");
    if (named && is_one_end(call))
      return base::usage(std::string(word) + " is one end of a message: say p2p, which keeps both");
    if (role != FilterRole::kWord || call.id >= CallFilter::kCalls) continue;
    if (!named && to_string(filter_group(call)) != word) continue;
    found[call.id] = true;
    known = true;
  }
  if (known) return base::Done{};
  return unknown_word(word);
}

}  // namespace

FilterRole filter_role(const CallInfo& call) {
  if (call.group == CallGroup::kMark ||
      std::find(kAlwaysKept.begin(), kAlwaysKept.end(), call.name) != kAlwaysKept.end())
    return FilterRole::kAlways;
  return works_on_requests(call) ? FilterRole::kFollows : FilterRole::kWord;
}

CallGroup filter_group(const CallInfo& call) {
  if (call.group == CallGroup::kCompletion) return CallGroup::kMisc;
  if (call.group != CallGroup::kPersist) return call.group;
  const bool moves = call.traffic == Traffic::kSend || call.traffic == Traffic::kRecv;
  return moves || has_request(call, Direction::kIn) ? CallGroup::kP2p : CallGroup::kColl;
}

base::Result<CallFilter> CallFilter::parse(std::string_view only, std::string_view without) {
  CallFilter filter;
  if (only.empty() && without.empty()) return filter;
  std::bitset<kCalls> kept, dropped;
  base::Status good = base::Done{};
  const auto collect = [&good](const char* option, std::string_view words,
                               std::bitset<kCalls>& found) {
    for_each_word(words, [&](std::string_view word) {
      if (!good.ok()) return;
      good = find(word, found);
      if (!good.ok()) good = base::usage(std::string(option) + ": " + good.error().message);
    });
  };
  collect("--only", only, kept);
  collect("--without", without, dropped);
  if (!good.ok()) return good.error();
  for (const CallInfo& call : all_calls()) {
    if (filter_role(call) != FilterRole::kWord || call.id >= kCalls) continue;
    filter.left_out_[call.id] = dropped[call.id] || (!only.empty() && !kept[call.id]);
  }
  return filter;
}

}  // namespace refrain::mpi
