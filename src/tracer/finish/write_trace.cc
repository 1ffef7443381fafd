#include "tracer/finish/write_trace.h"
#include "tracer/startup/trace_path.h"
#include "tracer/state/peers.h"

#include <string>
#include <utility>

#include "format/encode/encode.h"
#include "format/encode/trace_file_writer.h"
#include "tracer/calls/forwarded_functions.h"
#include "tracer/finish/outcome.h"
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
  const auto bytes = times == nullptr ? format::encode_and_free(trace.value()) : std::string();
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

}  // namespace refrain::tracer
