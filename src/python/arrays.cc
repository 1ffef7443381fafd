#include "python/arrays.h"

#include <pybind11/numpy.h>

#include <memory>
#include <utility>
#include <vector>

#include "analysis/window.h"
#include "python/errors.h"
#include "refrain/calls.h"

namespace refrain::python {

namespace py = pybind11;

namespace {

// The array takes the vector over.
template <class T>
py::array_t<T> array_of(std::vector<T> values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owner->data();
  const size_t size = owner->size();
  py::capsule keep(owner.get(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  owner.release();
  return py::array_t<T>(size, data, keep);
}

struct TimelineColumns {
  std::vector<int32_t> rank;
  std::vector<uint32_t> thread;
  std::vector<uint64_t> seq, begin_ns, end_ns;
  std::vector<uint16_t> call;
  std::vector<uint32_t> signature;

  void add(const Call& c) {
    rank.push_back(static_cast<int32_t>(c.rank));
    thread.push_back(c.thread);
    seq.push_back(c.seq);
    call.push_back(static_cast<uint16_t>(c.signature->call));
    signature.push_back(c.signature->id);
    begin_ns.push_back(c.begin_ns);
    end_ns.push_back(c.end_ns);
  }
};

Status add_location(RankReader& reader, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
                    TimelineColumns& out) {
  analysis::CallRange range;
  range.from_ns = from_ns;
  range.to_ns = to_ns;
  auto calls = analysis::CallsInRange::open(reader, thread, range);
  if (!calls.ok()) return calls.error();
  while (const Call* const call = calls->next())
    if (call->has_time) out.add(*call);
  return calls->time_status();
}

Status add_rank(const Trace& trace, Rank rank, uint64_t from_ns, uint64_t to_ns,
                TimelineColumns& out) {
  RankReader reader(trace, rank, Times::kRead);
  for (const Location& location : trace.locations(rank))
    if (const Status added = add_location(reader, location.thread, from_ns, to_ns, out);
        !added.ok())
      return added;
  return base::Done{};
}

Result<TimelineColumns> read_timeline(const Trace& trace, std::optional<Rank> rank,
                                      uint64_t from_ns, uint64_t to_ns) {
  TimelineColumns out;
  if (!trace.has_times())
    return base::unsupported(
        "the trace has no times of single calls; record with --timing exact "
        "or --timing bins:0.02",
        trace.name());
  const Rank first = rank.value_or(0), end = rank ? *rank + 1 : trace.rank_count();
  for (Rank r = first; r < end; ++r)
    if (const Status added = add_rank(trace, r, from_ns, to_ns, out); !added.ok())
      return added.error();
  return out;
}

}  // namespace

py::dict matrix_columns(const Trace& trace, analysis::MatrixKind kind, uint64_t from_ns,
                        uint64_t to_ns) {
  analysis::Matrix matrix;
  {
    const py::gil_scoped_release unlocked;
    matrix = unwrap(analysis::matrix(trace, kind, {from_ns, to_ns}));
  }
  std::vector<int64_t> source, dest;
  std::vector<uint64_t> messages, bytes;
  for (const analysis::MatrixEntry& e : matrix.entries) {
    source.push_back(e.source);
    dest.push_back(e.dest);
    messages.push_back(e.messages);
    bytes.push_back(e.bytes);
  }
  py::dict out;
  out["source"] = array_of(std::move(source));
  out["dest"] = array_of(std::move(dest));
  out["messages"] = array_of(std::move(messages));
  out["bytes"] = array_of(std::move(bytes));
  return out;
}

py::dict timeline_columns(const Trace& trace, std::optional<Rank> rank, uint64_t from_ns,
                          uint64_t to_ns) {
  Result<TimelineColumns> read = [&] {
    const py::gil_scoped_release unlocked;
    return read_timeline(trace, rank, from_ns, to_ns);
  }();
  TimelineColumns t = unwrap(std::move(read));
  py::dict out;
  out["rank"] = array_of(std::move(t.rank));
  out["thread"] = array_of(std::move(t.thread));
  out["seq"] = array_of(std::move(t.seq));
  out["call"] = array_of(std::move(t.call));
  out["signature"] = array_of(std::move(t.signature));
  out["begin_ns"] = array_of(std::move(t.begin_ns));
  out["end_ns"] = array_of(std::move(t.end_ns));
  return out;
}

}  // namespace refrain::python
