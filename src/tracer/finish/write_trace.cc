#include "tracer/finish/write_trace.h"
#include "tracer/startup/trace_path.h"
#include "tracer/state/peers.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "format/encode/encode.h"
#include "format/encode/trace_file_writer.h"
#include "tracer/calls/forwarded_functions.h"
#include "tracer/finish/cluster_library.h"
#include "tracer/finish/outcome.h"
#include "tracer/finish/rank_clusters.h"
#include "tracer/state/complain.h"
#include "tracer/state/memory.h"
#include "tracer/times/call_times.h"
#include "tracer/times/segment_times.h"

namespace refrain::tracer {

namespace {

// What may be there without asking.
constexpr uint64_t kToWrite = uint64_t{4} << 20;

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
    if (written.ok() || (by_marks && has_peers())) return written;
    complain(p, ("no segments, but the times of all calls, for `refrain reduce`: " +
                 written.error().to_string())
                    .c_str());
    spec = {};
    spec.mode = format::TimeMode::kExact;
    trace.meta.text["timing"] = spec.to_string();
  }
  return write_times(path, trace, spec, times, TimeLog::Which::kKept);
}

// Those that stand for others, from here on.
void take_clusters(const RankClusters& clusters, format::TraceData& trace, TimeSource* times) {
  trace.clusters = clusters.data;
  // Until write_lead_endpoints() members have calls of their own, as many as they made.
  trace.clusters.has_lead_endpoints = false;
  trace.losses.push_back(clusters.loss);
  if (times == nullptr) return;
  const std::vector<uint32_t> of = format::time_ranks(clusters.data, trace.meta.ranks);
  std::vector<bool> wanted(of.size());
  for (size_t r = 0; r < of.size(); ++r) wanted[r] = of[r] == r;
  times->only(std::move(wanted));
}

// A second trace, in which every rank has its own times, and exact ones.
void write_copy(Process& p, format::TraceData& trace, TimeSource& times) {
  const bool is_exact = p.times->spec().mode == format::TimeMode::kExact;
  const std::string& path = is_exact ? p.options.full_copy : p.times->copy();
  if (path.empty()) return;
  format::TimeSpec exact;
  exact.mode = format::TimeMode::kExact;
  trace.meta.text["timing"] = exact.to_string();
  times.only({});
  const auto copied = write_times(path, trace, exact, times,
                                  is_exact ? TimeLog::Which::kKept : TimeLog::Which::kExactCopy);
  if (!copied.ok()) complain(p, ("no exact copy: " + copied.error().to_string()).c_str());
}

// The trace with the times. Without room for these it is written without them.
base::Status write_file(Process& p, const std::string& path, format::TraceData& trace,
                        TimeSource& times, const RankClusters* clusters) {
  format::TraceData full;
  const bool has_full = clusters != nullptr && !p.options.full_copy.empty();
  if (has_full) full = trace;
  if (clusters != nullptr) take_clusters(*clusters, trace, &times);
  auto written = write_times(p, path, trace, times);
  if (!written.ok()) {
    complain(p, ("no times of calls in the trace: " + written.error().to_string()).c_str());
    trace.losses.push_back({"times_missing", 0, -1, "they could not be written"});
    const auto bytes = format::encode(trace);
    return bytes.ok() ? write_bytes(path, bytes.value()) : bytes.error();
  }
  write_copy(p, has_full ? full : trace, times);
  return written;
}

// The bytes of a run without times of calls.
base::Result<std::string> encode_all(Process& p, format::TraceData& trace,
                                     const RankClusters* clusters) {
  if (!p.options.full_copy.empty()) {
    const auto bytes = format::encode(trace);
    const auto copied =
        bytes.ok() ? write_bytes(p.options.full_copy, *bytes) : base::Status(bytes.error());
    if (!copied.ok()) complain(p, ("no exact copy: " + copied.error().to_string()).c_str());
  }
  if (clusters != nullptr) take_clusters(*clusters, trace, nullptr);
  return format::encode_and_free(trace);
}

// Members get the calls of their leads: who reads calls makes another file of the first one. If
// that fails, the first one is the trace: its clusters are the same, and members keep their own
// calls.
base::Status write_lead_endpoints(Process& p, const std::string& from, const std::string& to) {
  const auto bytes = ask_cluster_library(format::ClusterQuestion::kLeadEndpoints, 0, from);
  const base::Status written = bytes.ok() ? write_bytes(to, *bytes) : base::Status(bytes.error());
  if (written.ok()) return unlink(from.c_str()), written;
  complain(p, ("ranks keep their own calls: " + written.error().to_string()).c_str());
  if (rename(from.c_str(), to.c_str()) == 0) return base::Done{};
  unlink(from.c_str());
  return written;
}

// False, and says why.
bool fail(const Process& p, const base::Error& e) {
  return complain(p, (e.to_string() + where_it_stays(p)).c_str()), false;
}

}  // namespace

std::optional<format::TraceData> finish_trace(Process& p, format::PartialTrace merged) {
  if (!memory_for(kToWrite)) {
    fail(p, base::fail("no memory to write the trace"));
    return std::nullopt;
  }
  auto trace = format::finish(std::move(merged));
  if (!trace.ok()) return fail(p, trace.error()), std::nullopt;
  name_unknown_functions(p, trace->losses);
  return std::move(*trace);
}

bool write_trace(Process& p, format::TraceData trace, TimeSource* times,
                 const RankClusters* clusters) {
  const auto bytes = times == nullptr ? encode_all(p, trace, clusters) : std::string();
  if (!bytes.ok()) return fail(p, bytes.error());
  const FolderLock lock(p.options.output);
  const std::string path = free_output(p);
  const bool was_there = is_there(path);
  const bool takes_calls = clusters != nullptr && clusters->data.has_lead_endpoints;
  const std::string first = takes_calls ? path + ".members" : path;
  auto written =
      times == nullptr ? write_bytes(first, *bytes) : write_file(p, first, trace, *times, clusters);
  if (written.ok() && takes_calls) written = write_lead_endpoints(p, first, path);
  if (!written.ok()) return fail(p, written.error());
  if (path != p.options.output)
    complain(p, ("another job wrote " + p.options.output + ": this trace is " + path).c_str());
  say_written(p, path, trace, was_there);
  return true;
}

}  // namespace refrain::tracer
