#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"
#include "events/pairing/ends.h"
#include "format/signatures/slot_evaluator.h"
#include "format/signatures/walk.h"
#include "grammar/fold.h"
#include "mpi/call_table.h"
#include "reader/internal.h"

namespace refrain::events {

namespace {

using format::FieldTag;
using format::RankExpr;

// Where the parameters of a call stand in its shape.
class ParameterFinder : public format::Visitor {
 public:
  struct Place {
    size_t slot = SIZE_MAX;
    size_t begin = 0, end = 0;  // the bytes of its field
  };
  std::map<std::string_view, Place> places;  // those that are single integers

  void call(uint32_t id) override { info_ = mpi::find_call(static_cast<CallId>(id)); }
  void open(FieldTag) override {
    if (depth_++ == 0) ++field_;
  }
  void close(FieldTag) override { --depth_; }
  int64_t slot(format::SlotNature, int64_t v, size_t, size_t) override {
    if (depth_ == 1) last_ = slots_;
    ++slots_;
    return v;
  }
  void field_bytes(FieldTag tag, size_t begin, size_t end) override {
    if (depth_ != 0 || tag != FieldTag::kInt || last_ == SIZE_MAX) return;
    const int param = field_ - 1;  // the call site comes before
    if (info_ != nullptr && param >= 0 && static_cast<size_t>(param) < info_->params.size())
      places[info_->params[static_cast<size_t>(param)].name] = {last_, begin, end};
    last_ = SIZE_MAX;
  }

 private:
  const mpi::CallInfo* info_ = nullptr;
  int field_ = -1, depth_ = 0;
  size_t slots_ = 0, last_ = SIZE_MAX;
};

// Writes the ends into the trace.
class Writer {
 public:
  Writer(const Trace& trace, const std::vector<End>& ends)
      : trace_(trace), old_(reader::data_of(trace)), evaluator_(old_) {
    for (const End& e : ends)
      if (e.is_moved || e.is_nobody || e.elements > 0)
        (e.sends ? sends_ : receives_)[{e.me, e.signature}] = &e;
  }

  // False: a call that does not say its end in a way that can be changed.
  bool run(format::TraceData& out) {
    out = old_;
    out.signatures.clear();
    out.durations.clear();
    out.gaps.clear();
    out.tables.clear();
    out.groups.clear();
    out_ = &out;
    for (const format::Group& group : old_.groups) {
      // Ranks whose calls have partners, or not, in the same places.
      std::map<std::vector<uint64_t>, std::vector<int64_t>> parts;
      for (uint64_t i = 0; i < group.ranks.size(); ++i)
        parts[nobodies(group, group.ranks.at(i))].push_back(group.ranks.at(i));
      for (const auto& [nobody, ranks] : parts)
        if (!add_group(group, ranks)) return false;
    }
    return true;
  }

 private:
  const End* changed(bool sends, int64_t rank, uint32_t signature) const {
    const auto& all = sends ? sends_ : receives_;
    const auto at = all.find({static_cast<Rank>(rank), signature});
    return at == all.end() ? nullptr : at->second;
  }

  std::vector<uint64_t> nobodies(const format::Group& group, int64_t rank) const {
    std::vector<uint64_t> out;
    for (const uint32_t s : group.signatures)
      for (const bool sends : {true, false})
        if (const End* e = changed(sends, rank, s); e != nullptr && e->is_nobody)
          out.push_back(2 * uint64_t{s} + (sends ? 1 : 0));
    return out;
  }

  bool add_group(const format::Group& of, const std::vector<int64_t>& ranks) {
    taken_.clear();
    format::Group group;
    for (const int64_t r : ranks) group.ranks.append(r);
    std::vector<uint32_t> open(of.signatures.rbegin(), of.signatures.rend());
    std::set<uint32_t> all;  // makers of requests have smaller numbers
    while (!open.empty()) {
      const uint32_t s = open.back();
      open.pop_back();
      if (!all.insert(s).second) continue;
      for (const uint32_t r : old_.signatures.requests(s)) open.push_back(r);
    }
    for (const uint32_t s : all)
      if (!take(of, s, ranks)) return false;
    for (const uint32_t s : of.signatures) group.signatures.push_back(taken_[s]);
    group.locations = of.locations;
    for (const format::ThreadGrammar& l : of.locations) {
      const auto occurs = grammar::occurrences(old_.grammars[l.grammar], group.signatures.size());
      for (size_t t = 0; t < occurs.size(); ++t) count(of.signatures[t], occurs[t] * ranks.size());
    }
    out_->groups.push_back(std::move(group));
    return true;
  }

  // The statistics of a signature are those that it had, of so many calls.
  void count(uint32_t old, uint64_t calls) {
    const auto add = [&](const format::DurationStats& from, format::DurationStats& to) {
      const double mean = from.count > 0 ? from.sum_ns / static_cast<double>(from.count) : 0;
      to.count += calls;
      to.sum_ns += mean * static_cast<double>(calls);
    };
    add(old_.durations[old], out_->durations[taken_[old]]);
    if (!old_.gaps.empty()) add(old_.gaps[old], out_->gaps[taken_[old]]);
  }

  bool take(const format::Group& of, uint32_t signature, const std::vector<int64_t>& ranks) {
    const auto view = old_.signatures[signature];
    std::string shape(view.shape);
    ParameterFinder finder;
    format::walk_signature(view.shape, format::Form::kSplit, finder);
    std::vector<base::RunList> slots;
    std::vector<size_t> gone;
    for (const int64_t rank : ranks) {
      std::vector<int64_t> values = evaluator_.values(
          signature, {static_cast<uint64_t>(rank), static_cast<uint64_t>(of.place_of(rank))});
      if (slots.empty()) slots.resize(values.size());
      gone.clear();
      for (const bool sends : {true, false})
        if (const End* e = changed(sends, rank, signature); e != nullptr)
          if (!change(*e, finder, values, gone)) return false;
      for (size_t k = 0; k < values.size(); ++k) slots[k].append(values[k]);
    }
    if (!make_nobody(finder, gone, shape, slots)) return false;
    if (!renumber(signature, shape)) return false;
    taken_[signature] = add(signature, std::move(shape), slots);
    return true;
  }

  // `gone`: slots of partners that the call has no longer.
  bool change(const End& e, const ParameterFinder& finder, std::vector<int64_t>& values,
              std::vector<size_t>& gone) const {
    const auto set = [&](std::initializer_list<const char*> names, int64_t value) {
      for (const char* name : names) {
        const auto at = finder.places.find(name);
        if (at == finder.places.end()) continue;
        if (at->second.slot < values.size()) values[at->second.slot] = value;
        return true;
      }
      return false;
    };
    const char* const peer = e.sends ? "dest" : "source";
    if (e.is_nobody) {
      const auto at = finder.places.find(peer);
      if (at == finder.places.end()) return false;
      gone.push_back(at->second.slot);
      return true;
    }
    if (e.is_moved) {
      const auto place = place_of(e);
      if (!place || !set({peer}, *place)) return false;
      if (!e.sends && !set({"recvtag", "tag"}, e.tag)) return false;
    }
    return e.elements == 0 || set({"recvcount", "count"}, static_cast<int64_t>(e.elements));
  }

  // The number of a rank in the communicator of the call.
  std::optional<int64_t> place_of(const End& e) const {
    const auto in = trace_.communicator(e.context, e.me);
    const Communicator comm = in ? *in : trace_.world(e.me);
    const auto size = static_cast<int64_t>(comm.is_inter ? comm.remote_size() : comm.size());
    if (!in || comm.peer(e.peer) == e.peer) {
      if (e.peer < size && comm.peer(e.peer) == e.peer) return e.peer;
    }
    for (int64_t i = 0; i < size; ++i)
      if (comm.peer(i) == e.peer) return i;
    return std::nullopt;
  }

  static bool make_nobody(const ParameterFinder& finder, std::vector<size_t> gone,
                          std::string& shape, std::vector<base::RunList>& slots) {
    std::sort(gone.rbegin(), gone.rend());  // from the end, so that places stay
    base::ByteWriter nobody;
    nobody.put_u8(static_cast<uint8_t>(FieldTag::kConst));
    nobody.put_varint(mpi::constant_id("MPI_PROC_NULL"));
    for (const size_t slot : gone) {
      for (const auto& [name, place] : finder.places)
        if (place.slot == slot) shape.replace(place.begin, place.end - place.begin, nobody.view());
      slots.erase(slots.begin() + static_cast<ptrdiff_t>(slot));
    }
    return true;
  }

  bool renumber(uint32_t signature, std::string& shape) {
    const auto requests = old_.signatures.requests(signature);
    if (requests.empty()) return true;
    std::vector<uint32_t> map(*std::max_element(requests.begin(), requests.end()) + 1, 0);
    for (const uint32_t r : requests) map[r] = taken_[r];
    const auto renumbered = format::renumber_requests(shape, map);
    if (renumbered) shape = *renumbered;
    return renumbered.has_value();
  }

  uint32_t add(uint32_t like, std::string shape, const std::vector<base::RunList>& slots) {
    format::StoredSignature s{std::move(shape), {}};
    for (const base::RunList& values : slots) {
      const auto& runs = values.runs();
      if (runs.size() == 1 && (runs[0].count == 1 || runs[0].step == 0)) {
        s.slots.push_back({RankExpr::Kind::kConst, runs[0].start, 0, 0});
        continue;
      }
      s.slots.push_back({RankExpr::Kind::kTable, static_cast<int64_t>(out_->tables.size()), 0, 0});
      out_->tables.push_back(values);
    }
    const auto number = static_cast<uint32_t>(out_->signatures.size());
    out_->signatures.push_back(s);
    const auto empty = [](format::DurationStats stats) {
      stats.count = 0;
      stats.sum_ns = 0;
      return stats;
    };
    out_->durations.push_back(empty(old_.durations[like]));
    if (!old_.gaps.empty()) out_->gaps.push_back(empty(old_.gaps[like]));
    return number;
  }

  const Trace& trace_;
  const format::TraceData& old_;
  format::SlotEvaluator evaluator_;
  std::map<std::pair<Rank, uint32_t>, const End*> sends_, receives_;
  format::TraceData* out_ = nullptr;
  std::unordered_map<uint32_t, uint32_t> taken_;  // of this group, by old signature
};

}  // namespace

bool write_ends(const Trace& trace, const std::vector<End>& ends, format::TraceData& out) {
  return Writer(trace, ends).run(out);
}

}  // namespace refrain::events
