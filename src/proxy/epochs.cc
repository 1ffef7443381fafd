// Epochs of windows in several threads: a process has one of a kind at a time, so threads that open
// some took turns.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mpi/epoch_turns.h"
#include "proxy/calls.h"

namespace refrain::proxy {
namespace {

// As the runtime of a proxy has it; empty: the target is its name.
std::string_view name_of(mpi::EpochTurn::Of of) {
  switch (of) {
    case mpi::EpochTurn::Of::kTarget: return "";
    case mpi::EpochTurn::Of::kAll: return "kOfAll";
    case mpi::EpochTurn::Of::kStart: return "kOfStart";
    case mpi::EpochTurn::Of::kPost: return "kOfPost";
  }
  return "";
}

}  // namespace

bool have_epochs_in_threads(Symbolic& symbolic, const std::vector<Family>& families) {
  std::map<uint32_t, std::set<uint32_t>> threads;  // that open some, by group
  for (const Family& family : families)
    for (const Kind& kind : family.kinds)
      for (const uint32_t t : kind.terminals()) {
        const auto epoch = mpi::epoch_turn(symbolic.trace().call_of(kind.signature(t)));
        if (epoch && epoch->opens) threads[kind.number].insert(kind.thread);
        if (threads[kind.number].size() > 1) return true;
      }
  return false;
}

void Calls::take_turns(const Site& site, const Signature& decoded, Statement& out) {
  const auto epoch = has_epochs_in_threads_ ? mpi::epoch_turn(site.call->info->id) : std::nullopt;
  if (!epoch || !has_flag(decoded)) return;
  const auto text_of = [&](const char* parameter) {
    const int at = arguments_.find(site, parameter);
    return arguments_.text(site, arguments_.plain(site, static_cast<size_t>(at)));
  };
  const std::string_view name = name_of(epoch->of);
  const std::string which = name.empty() ? text_of("rank") : std::string(name);
  const std::string line = fmt::format("{}({}, {});", epoch->opens ? "open_epoch" : "close_epoch",
                                       text_of("win"), which);
  if (epoch->opens)
    out.before.push_back(line);
  else
    out.behind.push_back(line);
}

}  // namespace refrain::proxy
