#include "online/recovered_trace.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "analysis/reduce/reduce.h"
#include "format/encode/encode.h"
#include "format/encode/trace_file_writer.h"
#include "format/segments/reduced.h"
#include "format/time/clocks.h"
#include "reader/internal.h"
#include "reader/trace_file.h"

namespace refrain::online {

namespace {

base::Status write_times(const std::string& output, const format::TraceData& trace,
                         const format::TimeSpec& spec, const RecoveredTimes& timed) {
  auto writer =
      format::TraceFileWriter::create(output, trace, spec, format::from_zero(timed.clocks));
  if (!writer.ok()) return writer.error();
  for (const uint64_t number : timed.ranks) {
    const auto times = timed.of_rank(number);
    if (!times.ok()) return times.error();
    for (const format::spool::ThreadTimes& t : *times) {
      base::Status added = base::Done{};
      const auto append = [&, world_rank = number](std::vector<format::TimeBlock> blocks,
                                                   std::string_view coded) {
        added = writer->append({world_rank, t.thread, std::move(blocks)}, coded);
        return added.ok();
      };
      if (!format::spool::for_each_run(t, append)) return added;
    }
  }
  return writer->finish();
}

// What MPI_Finalize would have made of the exact times that are in the spool, or of what stands for
// them where segments were matched already.
base::Status reduce_to(const std::string& output, const std::string& exact,
                       const std::string& method) {
  const auto trace = Trace::open(exact);
  if (!trace.ok()) return trace.error();
  const auto word = [&trace](const char* key) {
    const auto& text = reader::data_of(*trace).meta.text;
    const auto it = text.find(key);
    return it == text.end() ? std::string() : it->second;
  };
  analysis::reduce::ReduceOptions how;
  const auto spec = similarity::parse_method(method);
  if (!spec.ok()) return spec.error();
  how.method = *spec;
  how.source = format::source_of(word("segments")).value_or(how.source);
  how.across = format::across_of(word("across_ranks")).value_or(how.across);
  const auto reduction = analysis::reduce::reduce(*trace, how);
  if (!reduction.ok()) return reduction.error();
  const auto bytes = encode(*trace, *reduction);
  return bytes.ok() ? format::write_file_atomically(output, *bytes) : bytes.error();
}

}  // namespace

RecoveredTimes::OfRank RecoveredTimes::of(const format::spool::RankSpool& rank) {
  return {static_cast<uint64_t>(rank.header.rank), rank.header.world_size, rank.timing, rank.clock,
          std::any_of(rank.times.begin(), rank.times.end(), format::spool::has_matched)};
}

void RecoveredTimes::add(OfRank of) {
  if (!of.spec.has_times()) return;
  spec = of.spec;
  clocks.resize(of.world_size);
  clocks[of.rank] = std::move(of.clock);
  ranks.push_back(of.rank);
  matched = matched || of.matched;
}

base::Status write_recovered(const std::string& output, format::TraceData& trace,
                             const RecoveredTimes& timed, const Complain& complain) {
  if (timed.ranks.empty()) {
    const auto bytes = format::encode(trace);
    return bytes.ok() ? format::write_file_atomically(output, *bytes) : bytes.error();
  }
  if (timed.spec.mode != format::TimeMode::kSegments)
    return write_times(output, trace, timed.spec, timed);
  format::TimeSpec exact;
  exact.mode = format::TimeMode::kExact;
  trace.meta.text["timing"] = exact.to_string();
  const std::string path = output + ".exact." + std::to_string(getpid());
  if (const auto written = write_times(path, trace, exact, timed); !written.ok()) return written;
  const auto reduced = reduce_to(output, path, timed.spec.method);
  if (reduced.ok()) {
    unlink(path.c_str());
    return reduced;
  }
  if (timed.matched) {
    unlink(path.c_str());
    complain({reduced.error().code, "no times of calls: " + reduced.error().message, output});
    trace.meta.text["timing"] = "stats";
    return write_recovered(output, trace, {}, complain);
  }
  complain({reduced.error().code,
            "no segments, but the times of all calls: " + reduced.error().message, output});
  if (rename(path.c_str(), output.c_str()) == 0) return base::Done{};
  return base::fail(std::strerror(errno), output);
}

}  // namespace refrain::online
