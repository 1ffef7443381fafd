// A rank's own record becomes the smallest PartialTrace: one group of one rank, whose signatures
// are split into shapes and values. The record was written by this process, so what is wrong with
// it is a bug of the recorder, and the message says so. A program whose calls never repeat has as
// many signatures as calls: what is taken over is freed on the way, so that record and leaf are not
// in memory whole at a time.

#include <algorithm>
#include <utility>

#include "format/codes/quantise.h"
#include "format/limits.h"
#include "format/merge/intern.h"
#include "format/merge/merge.h"
#include "format/merge/splitter.h"
#include "format/places.h"
#include "format/posix.h"

namespace refrain::format {

namespace {

base::Error broken(uint64_t rank, const std::string& what) {
  return base::fail("the recorder's own data is inconsistent: " + what + "; please report this",
                    "rank " + std::to_string(rank));
}

// What is wrong with the record, empty when nothing is.
std::string problem(const RankRecord& r, uint64_t world_size) {
  if (r.rank >= world_size || world_size > kMaxRanks) return "rank outside the world";
  for (size_t i = 0; i < r.definitions.size(); ++i) {
    for (const uint32_t ref : r.definitions[i].refs) {
      if (ref >= i) return "definition " + std::to_string(i) + " refers to a later one";
    }
  }
  // They come in one of two forms: a list that was built while the program ran, or one record each.
  if (r.listed_durations.empty() && r.durations.size() != r.signatures.size())
    return "durations do not match signatures";
  if (!r.gaps.empty() && r.gaps.size() != r.signatures.size())
    return "gaps do not match signatures";
  for (const RankRecord::Thread& t : r.threads) {
    for (const grammar::Symbol& s : t.grammar.symbols) {
      if (!s.is_rule && s.id >= r.signatures.size()) return "grammar uses an unknown signature";
    }
  }
  return {};
}

// The same of a signature; null when nothing is.
const char* problem(const ShapeTable& shapes, uint32_t shape, const std::vector<int64_t>& values,
                    size_t terminal, size_t definitions) {
  for (const uint32_t request : shapes.requests(shape)) {
    if (request >= terminal) return "a request of a later call";
  }
  for (const uint32_t k : shapes.structure(shape).definition_slots) {
    // Negative ones, too, as unsigned.
    if (static_cast<uint64_t>(values[k]) >= definitions) return "an unknown definition";
  }
  return nullptr;
}

uint64_t pieces_ns(const std::vector<OwnWork>& work) {
  uint64_t ns = 0;
  for (const OwnWork& w : work)
    for (const OwnPiece& piece : w.pieces) ns += piece.ns;
  return ns;
}

// Quantised here, not when the file is written: on their way through the tree totals take 11 bytes
// a rank. The code 0 of the memory says that the cost is not known, so a cost that is known is at
// least one byte.
TotalCodes codes_of(const RankRecord& r) {
  TotalCodes codes;
  codes.in_mpi = time_code(r.totals.in_mpi_ns);
  codes.outside = time_code(r.totals.outside_ns);
  // Pieces go their own way; here is the rest.
  codes.own = time_code(r.totals.own_ns - std::min(r.totals.own_ns, pieces_ns(r.own_work)));
  codes.switches = count_code(r.totals.switches);
  if (!r.knows_cost) return codes;
  codes.memory = time_code(std::max<uint64_t>(r.cost.memory_bytes, 1));
  codes.time = time_code(r.cost.time_ns);
  return codes;
}

// A call that was made once needs no histogram.
void take_first(std::deque<DurationStats>& from, DurationList& to) {
  const DurationStats& d = from.front();
  if (d.count == 1 && d.min_ns == d.max_ns && d.histogram.used() == 1 &&
      d.histogram.first() == Histogram::bucket_of(d.min_ns)) {
    to.push_one(d.min_ns, d.sum_ns);
  } else {
    to.push_back(d);
  }
  from.pop_front();
}

// What is wrong with them, empty when nothing is. Frees them on its way.
std::string take_signatures(RankRecord& record, ShapeTable& shapes, SignatureList& all) {
  Splitter splitter(shapes);
  all.durations() = std::move(record.listed_durations);
  const auto definitions = static_cast<uint32_t>(record.definitions.size());
  size_t begin = 0;  // of those of one shape
  uint32_t shape = ShapeTable::kNone;
  // Consecutive signatures often have one shape; they are entered as a run.
  const auto end_run = [&](size_t end) {
    if (end > begin) all.push_shapes(end - begin, shape, shapes.structure(shape).slots.size());
    begin = end;
  };
  for (size_t t = 0; t < record.signatures.size(); ++t) {
    const std::string_view bytes = record.signatures[t];
    if (!splitter.split_onto(bytes, record.signatures.bytes_behind(t), definitions,
                             all.numbers())) {
      const char* const p = splitter.split(bytes) ? problem(shapes, splitter.shape(),
                                                            splitter.values(), t, definitions)
                                                  : "bytes that are not a call";
      if (p != nullptr) return "signature " + std::to_string(t) + " has " + p;
      for (const int64_t v : splitter.values()) all.numbers().push_back(v);
    }
    if (splitter.shape() != shape) end_run(t);
    shape = splitter.shape();
    if (!record.durations.empty()) take_first(record.durations, all.durations());
    if (!record.gaps.empty()) take_first(record.gaps, all.gaps());
  }
  end_run(record.signatures.size());
  record.signatures = ByteStrings();
  return {};
}

}  // namespace

base::Result<PartialTrace> leaf(RankRecord record, uint64_t world_size) {
  if (std::string p = problem(record, world_size); !p.empty()) return broken(record.rank, p);
  PartialTrace out;
  out.world_size = world_size;
  out.lacks_gaps = record.gaps.empty() && !record.signatures.empty();
  PartialGroup group;
  group.ranks.append(static_cast<int64_t>(record.rank));

  if (std::string p = take_signatures(record, out.shapes, group.signatures); !p.empty())
    return broken(record.rank, p);

  // Compared as they are: one thread is the rule, and a key is as long as the grammar.
  for (RankRecord::Thread& t : record.threads) {
    const auto at = std::find(out.grammars.begin(), out.grammars.end(), t.grammar);
    const auto index = static_cast<int64_t>(at - out.grammars.begin());
    if (at == out.grammars.end()) out.grammars.push_back(std::move(t.grammar));
    PartialLocation& location = group.locations.emplace_back();
    location.thread = t.thread;
    location.grammars.append(index);
  }
  out.groups.push_back(std::move(group));
  out.definitions = std::move(record.definitions);
  out.ranks.append(static_cast<int64_t>(record.rank));
  out.totals.push_back(codes_of(record));
  out.hosts.push_back(std::move(record.host));
  out.host_of_rank.append(0);
  base::ByteWriter place;
  // A place that makes no sense is left out: it is no reason to lose the rank.
  if (problem_of(record.place).empty()) put(place, record.place);
  out.places.push_back(place.take());
  out.place_of_rank.append(0);
  out.own_work = std::move(record.own_work);
  // Numbers that make no sense are left out, as a place is.
  std::erase_if(record.posix, [](const PosixUse& use) { return !problem_of(use).empty(); });
  if (!record.posix.empty()) out.posix.push_back({record.rank, std::move(record.posix)});
  out.losses = std::move(record.losses);
  out.programs.take(record.rank, record.text);
  out.text = std::move(record.text);
  out.duration_ns = record.duration_ns;
  return out;
}

}  // namespace refrain::format
