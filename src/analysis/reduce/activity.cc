#include "analysis/reduce/activity.h"

#include <map>
#include <utility>

#include "reader/call_gaps.h"
#include "refrain/calls.h"

namespace refrain::analysis::reduce {

namespace {

using CallPlace = std::pair<DefinitionId, CallId>;

struct Spent {
  uint64_t mpi_ns = 0, computation_ns = 0;
};

// Until the first call without a time.
Status add_location(RankReader& reader, uint32_t thread, std::map<CallPlace, Spent>* places) {
  Result<Cursor> cursor = reader.cursor(thread);
  if (!cursor.ok()) return cursor.error();
  reader::CallGaps gaps(reader.trace(), reader.rank(), thread);
  for (const Call* call = cursor->next(); call != nullptr && call->has_time;
       call = cursor->next()) {
    Spent& spent = (*places)[{call->signature->site, call->signature->call}];
    if (call->end_ns > call->begin_ns) spent.mpi_ns += call->end_ns - call->begin_ns;
    spent.computation_ns += gaps.before(*call).value_or(0);
  }
  return cursor->time_status();
}

}  // namespace

const char* measure_name(Measure measure) {
  switch (measure) {
    case Measure::kWait: return "wait";
    case Measure::kMpi: return "mpi";
    case Measure::kComputation: return "computation";
  }
  return "";
}

Result<std::vector<Activity>> activities(const Trace& trace) {
  std::vector<Activity> out;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    RankReader reader(trace, rank, Times::kRead);
    std::map<CallPlace, Spent> places;
    for (const Location& location : trace.locations(rank))
      if (const Status s = add_location(reader, location.thread, &places); !s.ok())
        return s.error();
    for (const auto& [place, times] : places) {
      if (times.mpi_ns > 0)
        out.push_back({Measure::kMpi, place.first, place.second, rank, times.mpi_ns});
      if (times.computation_ns > 0)
        out.push_back(
            {Measure::kComputation, place.first, place.second, rank, times.computation_ns});
    }
  }
  return out;
}

}  // namespace refrain::analysis::reduce
