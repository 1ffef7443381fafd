#include "tracer/finish.h"

#include <string>
#include <utility>

#include "format/encode/encode.h"
#include "format/encode/trace_file_writer.h"
#include "format/merge/merge.h"
#include "tracer/abandon.h"
#include "tracer/buffers.h"
#include "tracer/call_scope.h"
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
#include "tracer/record.h"
#include "tracer/recording.h"
#include "tracer/segment_times.h"
#include "tracer/spawned.h"
#include "tracer/spool.h"
#include "tracer/times.h"
#include "tracer/together.h"

namespace refrain::tracer {

namespace {

constexpr int kTag = 0;

// What may be there without asking.
constexpr uint64_t kSmall = 64 * 1024;
constexpr uint64_t kToWrite = uint64_t{4} << 20;

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

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the latest first, while MPI still
// works: programs hang what they have to do at the end there. Ours is the first one that is set, so
// theirs are over, and recorded, when it is deleted.
int at_finalize(MPI_Comm, int, void*, void*) {
  Process& p = process();
  if (p.finalize != nullptr) {
    end_in_finalize(p);
  } else if (Location* const l = current_location(); l != nullptr && p.comm != MPI_COMM_NULL) {
    // Nobody called our MPI_Finalize: it was taken from a handle of the MPI library, by dlsym().
    p.lose("not_seen", "MPI_Finalize and maybe others, from a handle of the MPI library");
    finish_world(*l);
  }
  return MPI_SUCCESS;
}

bool call_at_finalize() {
  int key = MPI_KEYVAL_INVALID;
  if (REFRAIN_REAL(PMPI_Comm_create_keyval)(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr) !=
      MPI_SUCCESS)
    return false;
  const int rc = REFRAIN_REAL(PMPI_Comm_set_attr)(MPI_COMM_SELF, key, nullptr);
  REFRAIN_REAL(PMPI_Comm_free_keyval)(&key);
  return rc == MPI_SUCCESS;
}

// A rank without times would leave holes in every analysis, so all do without.
void forget_times(Process& p) {
  if (peers().mine == 0)
    complain(p, "the ranks do not agree about --timing: no times of calls are kept");
  p.times = nullptr;
  for (Location* const l : p.locations)
    if (l->times != nullptr) drop_times(*l);
}

// A communicator of the recorder's, and what all ranks must know of each other before the program
// goes on: both at once, as each takes several rounds. `run`: a number that is this run's.
bool get_acquainted(Process& p, uint64_t* run) {
  // All ranks give their spool files the same number, so that those of an earlier run which died
  // are not taken for ours. They may ask for different levels of thread support; how they agree on
  // ids must be one way.
  const uint64_t mine = Clock::monotonic_ns() ^ static_cast<uint64_t>(p.pid) << 40 ^ p.init_ticks;
  const uint64_t times = p.times != nullptr ? p.times->hash() : 0;
  uint64_t words[] = {p.threaded ? 1u : 0u, mine, times, ~times};
  const bool good = join_peers(p, words, 4);
  p.threads_anywhere = words[0] != 0;
  if (good && words[2] != ~words[3]) forget_times(p);
  *run = words[1];
  return good;
}

void open_spool(Process& p, uint64_t run) {
  Spool::open(p, run);
  note_unrecorded(p);
  if (p.times != nullptr && p.spool != nullptr)
    for (const format::ClockPoint& point : p.times->points()) p.spool->clock_point(point);
}

// Spool files go when the trace has all that they have, and not before.
void close_spool(Process& p, bool whole) {
  uint64_t done = whole ? 1 : 0;
  if (!as_rank_0_says(p, &done)) return;
  if (done != 0 && p.spool != nullptr) p.spool->remove();
}

#else

// SMPI: its ranks are threads, have none, and die together; thousands of spool files for one
// process are too many.
bool get_acquainted(Process& p, uint64_t*) { return join_peers(p, nullptr, 0); }
void open_spool(Process&, uint64_t) {}
void close_spool(Process&, bool) {}

// MPI_Finalize does not: what callbacks do in there is not recorded.
bool call_at_finalize() { return false; }

#endif

// Waiting for the disk would hold up all ranks, for longer than many a program runs.
constexpr format::Sync kSync = format::Sync::kSoon;

base::Status write_bytes(const std::string& path, std::string_view bytes) {
  return format::write_file_atomically(path, bytes, "the trace", kSync);
}

base::Status write_times(const std::string& path, const format::TraceData& trace,
                         const format::TimeSpec& spec, TimeSource& times, TimeLog::Which which) {
  auto writer = format::TraceFileWriter::create(path, trace, spec, times.clocks());
  if (!writer.ok()) return writer.error();
  base::Status written = base::Done{};
  times.each(which, [&](format::TimeChunk chunk, std::string_view bytes) {
    written = writer->append(std::move(chunk), bytes);
    return written.ok();
  });
  return written.ok() ? writer->finish(kSync) : written;
}

// The trace with representatives of segments instead of the times of all calls. These are still
// there when it fails.
base::Status write_segments(const std::string& path, const format::TraceData& trace,
                            const format::TimeSpec& spec, TimeSource& times) {
  const auto reduced = times.reduce(trace);
  if (!reduced.ok()) return reduced.error();
  auto writer = format::TraceFileWriter::create(path, trace, spec, {});
  if (!writer.ok()) return writer.error();
  base::Status written = base::Done{};
  times.each(TimeLog::Which::kSegments, [&](format::TimeChunk chunk, std::string_view bytes) {
    written = writer->append(std::move(chunk), bytes);
    return written.ok();
  });
  if (written.ok()) written = writer->append_representatives(reduced->info, reduced->bytes);
  return written.ok() ? writer->finish(kSync) : written;
}

// In the way that was asked for, or exactly.
base::Status write_times(Process& p, const std::string& path, format::TraceData& trace,
                         TimeSource& times) {
  format::TimeSpec spec = p.times->spec();
  if (spec.mode == format::TimeMode::kSegments) {
    const auto written = write_segments(path, trace, spec, times);
    const bool by_marks = p.times->segments()->how().source == format::SegmentSource::kMarks;
    // What was matched while the program ran is there no more.
    if (written.ok() || (by_marks && p.comm != MPI_COMM_NULL)) return written;
    complain(p, ("no segments, but the times of all calls, for `refrain reduce`: " +
                 written.error().to_string())
                    .c_str());
    spec = {};
    spec.mode = format::TimeMode::kExact;
    trace.meta.text["timing"] = spec.to_string();
  }
  return write_times(path, trace, spec, times, TimeLog::Which::kKept);
}

// The trace with the times. Without room for these it is written without them.
base::Status write_file(Process& p, const std::string& path, format::TraceData& trace,
                        TimeSource& times) {
  auto written = write_times(p, path, trace, times);
  if (!written.ok()) {
    complain(p, ("no times of calls in the trace: " + written.error().to_string()).c_str());
    trace.losses.push_back({"times_missing", 0, -1, "they could not be written"});
    const auto bytes = format::encode(trace);
    return bytes.ok() ? write_bytes(path, bytes.value()) : bytes.error();
  }
  if (p.times->copy().empty()) return written;
  format::TimeSpec exact;
  exact.mode = format::TimeMode::kExact;
  trace.meta.text["timing"] = exact.to_string();
  const auto copied = write_times(p.times->copy(), trace, exact, times, TimeLog::Which::kExactCopy);
  if (!copied.ok()) complain(p, ("no exact copy: " + copied.error().to_string()).c_str());
  return written;
}

}  // namespace

bool write_trace(Process& p, format::PartialTrace merged, TimeSource* times) {
  const auto failed = [&p](const base::Error& e) {
    return complain(p, (e.to_string() + where_it_stays(p)).c_str()), false;
  };
  if (!memory_for(kToWrite)) return failed(base::fail("no memory to write the trace"));
  auto trace = format::finish(std::move(merged));
  if (!trace.ok()) return failed(trace.error());
  name_unknown_functions(p, trace->losses);
  const auto bytes = times == nullptr ? format::encode(trace.value()) : std::string();
  if (!bytes.ok()) return failed(bytes.error());
  const FolderLock lock(p.options.output);
  const std::string path = free_output(p);
  const bool was_there = is_there(path);
  const auto written = times == nullptr ? write_bytes(path, bytes.value())
                                        : write_file(p, path, trace.value(), *times);
  if (!written.ok()) return failed(written.error());
  if (path != p.options.output)
    complain(p, ("another job wrote " + p.options.output + ": this trace is " + path).c_str());
  say_written(p, path, *trace, was_there);
  return true;
}

void world_is_up(Process& p, uint64_t init_ticks) {
  const uint64_t begin = p.clock.ticks();
  g_mpi_was_seen.store(true);
  p.clock.refine();
  if (!p.initialized) p.init_ticks = init_ticks;  // else a session was there before
  p.initialized = true;
  REFRAIN_REAL(PMPI_Comm_rank)(MPI_COMM_WORLD, &p.rank);
  REFRAIN_REAL(PMPI_Comm_size)(MPI_COMM_WORLD, &p.size);
  if (p.world_group != MPI_GROUP_NULL) REFRAIN_REAL(PMPI_Group_free)(&p.world_group);
  REFRAIN_REAL(PMPI_Comm_group)(MPI_COMM_WORLD, &p.world_group);
  uint64_t run = 0;
  if (!get_acquainted(p, &run)) return;
  learn_parent();
  REFRAIN_REAL(PMPI_Comm_set_errhandler)(p.comm, MPI_ERRORS_RETURN);
  begin_run(p);
  if (p.times != nullptr) p.times->begin_clock(p);
  open_spool(p, run);
  define_world(p);
  p.ends_in_finalize = call_at_finalize();
  if (p.threaded) learn_shared_handles(p);
  // MPI_Init, which is recorded when this is done, measures its own work from its end on.
  if (Location* const l = current_location(); l != nullptr)
    l->own_time.add_inside(p.clock.ticks() - begin);
}

void end_in_finalize(Process& p) {
  CallScope& scope = *std::exchange(p.finalize, nullptr);
  scope.end();
  scope.encoder(MPI_SUCCESS);
  scope.commit();
  finish_world(scope.location());
}

void finish_world(Location& location) {
  Process& p = *location.process;
  set_unusual(unusual::kNotRecording, true);
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
