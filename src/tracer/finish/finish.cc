#include "tracer/finish/finish.h"

#include <optional>
#include <string>
#include <utility>

#include "base/no_cancel.h"
#include "format/merge/merge.h"
#include "mpi_runtime/rank_exchange.h"
#include "mpi_runtime/world.h"
#include "options/environment.h"
#include "tracer/calls/posix_calls.h"
#include "tracer/code/late_events.h"
#include "tracer/filter/control.h"
#include "tracer/filter/size_filter.h"
#include "tracer/finish/rank_clusters.h"
#include "tracer/finish/record.h"
#include "tracer/finish/write_trace.h"
#include "tracer/messages/rank_log.h"
#include "tracer/paths/path_check.h"
#include "tracer/spool/spool.h"
#include "tracer/startup/cores.h"
#include "tracer/startup/join.h"
#include "tracer/startup/spawned.h"
#include "tracer/state/abandon.h"
#include "tracer/state/complain.h"
#include "tracer/state/current.h"
#include "tracer/state/file_room.h"
#include "tracer/state/live_world.h"
#include "tracer/state/memory.h"
#include "tracer/state/peers.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/symbolic/buffers.h"
#include "tracer/times/call_times.h"
#include "tracer/times/segment_times.h"

namespace refrain::tracer {

namespace {

constexpr int kTag = 0;

// What may be there without asking.
constexpr uint64_t kSmall = 64 * 1024;

// A guess at what merging our record takes.
uint64_t memory_of(const Process& p) {
  uint64_t bytes = 4 * p.signatures.next_growth(0) + 256 * p.signatures.size();
  for (const Location* l : p.locations) bytes += 4 * l->grammar.memory_bytes();
  return bytes + kSmall;
}

format::PartialTrace nothing(uint64_t world_size) {
  format::PartialTrace none;
  none.world_size = world_size;
  return none;
}

format::PartialTrace own_part(Process& p) {
  if (is_abandoned()) return nothing(static_cast<uint64_t>(p.size));
  if (!memory_for(memory_of(p))) {
    complain(p, "no memory to hand its record over; its calls are lost");
    return nothing(static_cast<uint64_t>(p.size));
  }
  auto record = make_record(p);
  if (record.ok()) tell_run_end(p, *record);
  auto leaf = record.ok() ? format::leaf(std::move(record.value()), static_cast<uint64_t>(p.size))
                          : base::Result<format::PartialTrace>(record.error());
  if (leaf.ok() && p.times != nullptr && p.times->segments() != nullptr)
    p.times->segments()->learn(*leaf);
  if (leaf.ok()) return std::move(leaf.value());
  complain(p, leaf.error().to_string().c_str());
  return nothing(static_cast<uint64_t>(p.size));
}

// Binomial tree: in round k, ranks whose bit k is set hand over to the one below them.
void merge_over_ranks(Process& p, format::PartialTrace& mine) {
  for (int step = 1; step < peers().count; step *= 2) {
    if ((peers().mine & step) != 0) {
      if (!send_bytes(recorders(), format::serialise(mine), peers().mine - step, kTag))
        complain(p, "cannot hand the record over; its calls are lost");
      return;
    }
    if (peers().mine + step >= peers().count) continue;
    mpi_runtime::Message message;
    if (!receive_message(recorders(), message, peers().mine + step, kTag, memory_for)) {
      complain(p, "cannot receive another rank's record; its calls are lost");
      continue;
    }
    auto both = format::merge_bytes(std::move(mine), message.view());
    if (both.ok()) {
      mine = std::move(both.value());
    } else {
      complain(p, both.error().to_string().c_str());
      mine = nothing(static_cast<uint64_t>(p.size));
    }
  }
}

#ifndef REFRAIN_SMPI

// Spool files go when the trace has all that they have, and not before.
void close_spool(Process& p, bool whole) {
  uint64_t done = whole ? 1 : 0;
  if (!as_rank_0_says(recorders(), &done)) return;
  if (done != 0 && p.spool != nullptr) p.spool->remove();
}

// Whether the analyser writes the trace (`record --live-only`): on all ranks or on none. One whose
// spool is not whole has the rest in its memory, which can be merged only.
bool leave_to_analyser(Process& p) {
  if (!live_world().is_on || !options::is_given(options::RecordOption::kLiveOnly)) return false;
  if (control().sizes != nullptr) control().sizes->held.flush_all(p);
  add_late_losses(p);
  if (p.spool != nullptr) p.spool->last_statistics();
  tell_run_end(p);
  uint64_t is_cut = p.spool == nullptr || !p.spool->is_whole() ? 1 : 0;
  if (!greatest_of_all(recorders(), &is_cut, 1) || is_cut != 0) return false;
  p.spool->leave();
  return true;
}

// Merging and writing take memory, too.
void rest_spool(Process& p) {
  if (p.spool != nullptr) p.spool->let_pages_go();
}

#else

void close_spool(Process&, bool) {}  // SMPI has none
bool leave_to_analyser(Process&) { return false; }
void rest_spool(Process&) {}

#endif

void leave_ranks() {
  leave_peers();
  free_comm(&recorders());
  free_group(&world_group());
}

}  // namespace

void at_finalize() {
  Process& p = process();
  if (p.finalize != nullptr) {
    p.end_finalize(p);
  } else if (Location* const l = current_location(); l != nullptr && has_peers()) {
    // Nobody called our MPI_Finalize: it was taken from a handle of the MPI library, by dlsym().
    p.lose("not_seen", "MPI_Finalize and maybe others, from a handle of the MPI library");
    finish_world(*l);
  }
}

void finish_world(Location& location) {
  const base::NoCancel no_cancel;
  Process& p = *location.process;
  const FileRoom room;
  set_slow_path_reason(slow_path_reasons::kNotRecording, true);
  location.in_recorder = true;
  expect_unloads();
  disconnect_heap(p);
  end_posix();
  if (p.path_check != nullptr) p.path_check->report();
  end_rank_log();
  if (!has_peers()) return;
  if (live_world().is_ending != nullptr) live_world().is_ending();
  end_run(p);
  check_spawned(p);
  if (p.sink != nullptr) p.sink->set_state(format::spool::State::kFinishing);
  p.clock.refine();
  if (p.times != nullptr) p.times->end_clock(p);
  if (leave_to_analyser(p)) return leave_ranks();
  format::PartialTrace mine = own_part(p);
  rest_spool(p);
  const std::string record = record_to_cluster(p, mine);
  merge_over_ranks(p, mine);
  if (p.times != nullptr && p.times->plain().on)
    if (std::string text = plain_text(p); !text.empty()) mine.text["plain_trace"] = std::move(text);
  const bool has_all = mine.ranks.size() == static_cast<uint64_t>(peers().count);
  mine.missing_is_told = peers().is_partial() && has_all;
  std::optional<format::TraceData> trace;
  if (peers().mine == 0) trace = finish_trace(p, std::move(mine));
  const auto clusters = find_clusters(p, record, trace ? &*trace : nullptr);
  bool whole = trace && has_all;
  const auto write = [&](TimeSource* times) {
    if (trace && !write_trace(p, std::move(*trace), times, clusters ? &*clusters : nullptr))
      whole = false;
  };
  p.times == nullptr ? write(nullptr) : hand_times_over(p, [&](TimeSource& t) { write(&t); });
  close_spool(p, whole);
  leave_ranks();
}

}  // namespace refrain::tracer
