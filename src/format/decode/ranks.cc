// Where ranks ran, and the recorder's own work on each: the section `ranks`.
#include <string>

#include "base/bytes.h"
#include "format/codes/quantise.h"
#include "format/codes/run_codec.h"
#include "format/decode/section_readers.h"
#include "format/layout.h"
#include "format/places.h"

namespace refrain::format {

namespace {

std::string text_of(const RankPlace& place) {
  std::string text = std::to_string(place.cores) + " cores, CPUs";
  for (const CpuRun& run : place.cpus) {
    text.append(" ").append(std::to_string(run.first));
    if (run.count > 1) text.append("-").append(std::to_string(run.first + run.count - 1));
  }
  return text;
}

void read_place_of_rank(FieldReader& in, TraceData& trace) {
  const size_t form_at = in.position();
  const auto form = static_cast<PlaceForm>(in.u8("form of places of ranks"));
  if (!in.ok()) return;
  // All ranks have the one place: a list of a million equal numbers is not written.
  if (form == PlaceForm::kOne) {
    trace.place_of_rank.append_run(0, 0, trace.meta.ranks);
    return;
  }
  if (form != PlaceForm::kList) return in.fail(kRuleFields, form_at, "unknown form of places");
  const size_t begin = in.position();
  base::ByteReader structure(in.bytes().string()), numbers(in.bytes().string());
  uint64_t budget = kMaxRepeatedRunsPerSection;
  base::RunList list = read_runs(structure, numbers, trace.meta.ranks, budget);
  if (!in.bytes().ok() || !structure.ok() || !numbers.ok() || !structure.at_end() ||
      !numbers.at_end())
    return in.fail(kRuleFields, begin, "places of ranks are cut short or malformed");
  in.done(begin, "places of ranks", -1, std::to_string(list.size()) + " ranks");
  trace.place_of_rank = std::move(list);
}

void read_places(FieldReader& in, TraceData& trace) {
  const uint64_t places = in.count("places", kMaxPlaces);
  for (uint64_t i = 0; i < places && in.ok(); ++i) {
    const size_t begin = in.position();
    RankPlace place = read_place(in.bytes());
    if (!in.bytes().ok()) return in.fail(kRuleFields, begin, "a place is malformed");
    // The text is for `dump --bytes` alone.
    in.done(begin, "place", static_cast<int64_t>(i), in.tracing() ? text_of(place) : "");
    trace.places.push_back(std::move(place));
  }
  if (places > 0) read_place_of_rank(in, trace);
}

void read_own_work(FieldReader& in, TraceData& trace) {
  const uint64_t locations = in.count("locations with work of the recorder", UINT64_MAX);
  uint64_t rank = 0;
  for (uint64_t i = 0; i < locations && in.ok(); ++i) {
    OwnWork work;
    const size_t begin = in.position();
    rank += in.varint("rank", -1, trace.meta.ranks);
    work.rank = rank;
    work.thread = static_cast<uint32_t>(in.varint("thread", -1, UINT32_MAX));
    const uint64_t pieces = in.count("pieces of work", UINT64_MAX);
    // Before anything is added to a rank that is not there.
    if (rank >= trace.meta.ranks)
      return in.fail(kRuleOwnWork, begin, "work of the recorder on a rank beyond the world");
    uint64_t call = 0;
    for (uint64_t k = 0; k < pieces && in.ok(); ++k) {
      // Calls ascend; differences take one byte where numbers take three.
      call += in.varint("call");
      const uint64_t ns = in.varint("time after it");
      work.pieces.push_back({call, ns});
      // On top of the small work, which the totals have from the recorder as one sum: together they
      // are all its work.
      if (rank < trace.totals.size()) trace.totals[rank].own_ns += ns;
    }
    trace.own_work.push_back(std::move(work));
  }
}

}  // namespace

void read_ranks(FieldReader& in, Decoding& out) {
  TraceData& trace = out.trace;
  if (in.remaining() == 0) return;  // the same as no section
  read_places(in, trace);
  // Files before 1.4 have these as columns here; since then they are coded with the totals
  // (totals.cc).
  if (!out.is_compact) {
    for (size_t r = 0; r < trace.totals.size() && in.ok(); ++r)
      trace.totals[r].own_ns =
          time_of(in.u16("time of the recorder's small work on rank", static_cast<int64_t>(r)));
    for (size_t r = 0; r < trace.totals.size() && in.ok(); ++r)
      trace.totals[r].switches =
          count_of(in.u8("involuntary switches of rank", static_cast<int64_t>(r)));
  }
  read_own_work(in, trace);
}

}  // namespace refrain::format
