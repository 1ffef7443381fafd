// Epochs of windows in several threads: a process has one of a kind at a time, so threads that open
// some took turns.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mpi/call_ids.h"
#include "proxy/calls.h"

namespace refrain::proxy {
namespace {

struct Epoch {
  std::string_view which;  // empty: of MPI_Win_lock there is one for each target
  bool opens;
};

std::optional<Epoch> epoch_of(mpi::CallId id) {
  switch (id) {
    case mpi::kMPI_Win_lock: return Epoch{"", true};
    case mpi::kMPI_Win_unlock: return Epoch{"", false};
    case mpi::kMPI_Win_lock_all: return Epoch{"kOfAll", true};
    case mpi::kMPI_Win_unlock_all: return Epoch{"kOfAll", false};
    case mpi::kMPI_Win_start: return Epoch{"kOfStart", true};
    case mpi::kMPI_Win_complete: return Epoch{"kOfStart", false};
    case mpi::kMPI_Win_post: return Epoch{"kOfPost", true};
    case mpi::kMPI_Win_wait:
    case mpi::kMPI_Win_test: return Epoch{"kOfPost", false};
    default: return std::nullopt;
  }
}

}  // namespace

bool have_epochs_in_threads(Symbolic& symbolic, const std::vector<Family>& families) {
  std::map<uint32_t, std::set<uint32_t>> threads;  // that open some, by group
  for (const Family& family : families)
    for (const Kind& kind : family.kinds)
      for (const uint32_t t : kind.terminals()) {
        const auto epoch = epoch_of(symbolic.trace().call_of(kind.signature(t)));
        if (epoch && epoch->opens) threads[kind.number].insert(kind.thread);
        if (threads[kind.number].size() > 1) return true;
      }
  return false;
}

void Calls::take_turns(const Site& site, const Signature& decoded, Statement& out) {
  const auto epoch = has_epochs_in_threads_ ? epoch_of(site.call->info->id) : std::nullopt;
  if (!epoch || !has_flag(decoded)) return;
  const auto text_of = [&](const char* parameter) {
    const int at = arguments_.find(site, parameter);
    return arguments_.text(site, arguments_.plain(site, static_cast<size_t>(at)));
  };
  const std::string which = epoch->which.empty() ? text_of("rank") : std::string(epoch->which);
  const std::string line = fmt::format("{}({}, {});", epoch->opens ? "open_epoch" : "close_epoch",
                                       text_of("win"), which);
  if (epoch->opens)
    out.before.push_back(line);
  else
    out.behind.push_back(line);
}

}  // namespace refrain::proxy
