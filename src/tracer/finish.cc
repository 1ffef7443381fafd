#include "tracer/finish.h"

#include <string>
#include <utility>

#include "format/encode/encode.h"
#include "format/encode/trace_file_writer.h"
#include "format/merge/merge.h"
#include "tracer/abandon.h"
#include "tracer/buffers.h"
#include "tracer/call_scope.h"
#include "tracer/call_times.h"
#include "tracer/complain.h"
#include "tracer/completion.h"
#include "tracer/cores.h"
#include "tracer/exit.h"
#include "tracer/forwarded_call.h"
#include "tracer/join.h"
#include "tracer/memory.h"
#include "tracer/objects.h"
#include "tracer/outcome.h"
#include "tracer/path_check.h"
#include "tracer/peers.h"
#include "tracer/rank_exchange.h"
#include "tracer/record.h"
#include "tracer/segment_times.h"
#include "tracer/slow_path_reasons.h"
#include "tracer/spawned.h"
#include "tracer/spool.h"
#include "tracer/write_trace.h"

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
      if (!send_bytes(p, format::serialise(mine), peers().mine - step, kTag))
        complain(p, "cannot hand the record over; its calls are lost");
      return;
    }
    if (peers().mine + step >= peers().count) continue;
    std::string bytes;
    if (!receive_bytes(p, bytes, peers().mine + step, kTag)) {
      complain(p, "cannot receive another rank's record; its calls are lost");
      continue;
    }
    auto theirs = format::parse(bytes);
    std::string().swap(bytes);  // there may be much of it
    if (theirs.ok()) theirs = format::merge(std::move(mine), std::move(theirs.value()));
    if (theirs.ok()) {
      mine = std::move(theirs.value());
    } else {
      complain(p, theirs.error().to_string().c_str());
      mine = nothing(static_cast<uint64_t>(p.size));
    }
  }
}

#ifndef REFRAIN_SMPI

// Spool files go when the trace has all that they have, and not before.
void close_spool(Process& p, bool whole) {
  uint64_t done = whole ? 1 : 0;
  if (!as_rank_0_says(p, &done)) return;
  if (done != 0 && p.spool != nullptr) p.spool->remove();
}

#else

void close_spool(Process&, bool) {}  // SMPI has none

#endif

}  // namespace

void end_in_finalize(Process& p) {
  CallScope& scope = *std::exchange(p.finalize, nullptr);
  scope.end();
  scope.encoder(MPI_SUCCESS);
  scope.commit();
  finish_world(scope.location());
}

void finish_world(Location& location) {
  Process& p = *location.process;
  set_slow_path_reason(slow_path_reasons::kNotRecording, true);
  location.in_recorder = true;
  disconnect_heap(p);
  if (p.path_check != nullptr) p.path_check->report();
  if (p.comm == MPI_COMM_NULL) return;
  end_run(p);
  check_spawned(p);
  if (p.spool != nullptr) p.spool->set_state(format::spool::State::kFinishing);
  p.clock.refine();
  if (p.times != nullptr) p.times->end_clock(p);
  format::PartialTrace mine = own_part(p);
  merge_over_ranks(p, mine);
  if (p.times != nullptr && p.times->plain().on)
    if (std::string text = plain_text(p); !text.empty()) mine.text["plain_trace"] = std::move(text);
  const bool has_all = mine.ranks.size() == static_cast<uint64_t>(peers().count);
  mine.missing_is_told = peers().is_partial() && has_all;
  bool whole = peers().mine == 0 && has_all;
  const auto write = [&](TimeSource* times) {
    if (peers().mine == 0 && !write_trace(p, std::move(mine), times)) whole = false;
  };
  p.times == nullptr ? write(nullptr) : hand_times_over(p, [&](TimeSource& t) { write(&t); });
  close_spool(p, whole);
  leave_peers();
  REFRAIN_REAL(PMPI_Comm_free)(&p.comm);
  REFRAIN_REAL(PMPI_Group_free)(&p.world_group);
}

}  // namespace refrain::tracer
