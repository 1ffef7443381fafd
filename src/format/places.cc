#include "format/places.h"

#include <algorithm>

#include "format/limits.h"

namespace refrain::format {

void put(base::ByteWriter& out, const RankPlace& place) {
  out.put_varint(place.cores);
  out.put_varint(place.cpus.size());
  uint64_t end = 0;
  for (const CpuRun& run : place.cpus) {
    out.put_varint(run.first - end);
    out.put_varint(run.count - 1);
    end = run.first + run.count;
  }
}

RankPlace read_place(base::ByteReader& in) {
  RankPlace place;
  place.cores = in.varint();
  const uint64_t runs = in.count(kMaxCpus);
  uint64_t end = 0;
  for (uint64_t i = 0; i < runs && in.ok(); ++i) {
    const uint64_t gap = in.varint(), more = in.varint();
    if (gap > kMaxCpus || more >= kMaxCpus) return in.fail(), place;
    place.cpus.push_back({end + gap, more + 1});
    end += gap + more + 1;
    if (end > kMaxCpus) in.fail();
  }
  return place;
}

std::string problem_of(const RankPlace& place) {
  if (place.cores == 0 || place.cores > kMaxCpus) return "no cores";
  if (place.cpus.empty()) return "no CPUs to run on";
  uint64_t end = 0;
  for (const CpuRun& run : place.cpus) {
    const bool is_first = &run == place.cpus.data();
    if (run.count == 0 || run.first < end || (!is_first && run.first == end) ||
        run.first >= kMaxCpus || run.count > kMaxCpus - run.first)
      return "CPUs that are not in order";
    end = run.first + run.count;
  }
  return {};
}

uint64_t cpu_count(const RankPlace& place) {
  uint64_t count = 0;
  for (const CpuRun& run : place.cpus) count += run.count;
  return count;
}

std::vector<uint64_t> small_own_work(const TraceData& trace) {
  std::vector<uint64_t> out;
  for (const RankTotals& t : trace.totals) out.push_back(t.own_ns);
  for (const OwnWork& work : trace.own_work)
    for (const OwnPiece& piece : work.pieces)
      if (work.rank < out.size()) out[work.rank] -= std::min(out[work.rank], piece.ns);
  return out;
}

}  // namespace refrain::format
