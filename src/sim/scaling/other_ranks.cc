#include "sim/scaling/other_ranks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "format/signatures/file_forms.h"
#include "format/trace_data.h"
#include "mpi/call_ids.h"
#include "mpi/call_name.h"
#include "reader/internal.h"
#include "sim/scaling/follow.h"
#include "sim/scaling/group_times.h"

namespace refrain::sim {
namespace {

using format::RankExpr;
using format::TraceData;

// "1, 3 and 8"
std::string listed(const Three& values) {
  return std::to_string(values[0]) + ", " + std::to_string(values[1]) + " and " +
         std::to_string(values[2]);
}

class Maker {
 public:
  Maker(std::array<const TraceData*, 3> from, const Sizes& sizes) : from_(from), sizes_(sizes) {}

  base::Result<TraceData> make() {
    out_.meta = from_[2]->meta;
    out_.meta.ranks = sizes_.wanted;
    out_.meta.duration_ns = 0;
    out_.meta.hosts = {"simulated"};
    out_.meta.host_of_rank = {};
    out_.meta.host_of_rank.append_run(0, 0, sizes_.wanted);
    if (!definitions() || !tables() || !signatures() || !grammars() || !groups())
      return base::unsupported(problem_ + ", with " + listed(as_three(sizes_.runs)) +
                               " ranks, and " + std::to_string(sizes_.wanted) +
                               " ranks do not follow");
    return std::move(out_);
  }

 private:
  static Three as_three(const std::array<uint64_t, 3>& of) {
    return {static_cast<int64_t>(of[0]), static_cast<int64_t>(of[1]), static_cast<int64_t>(of[2])};
  }
  template <class Part>
  static Three three(const std::array<const TraceData*, 3>& from, Part part) {
    return {static_cast<int64_t>(part(*from[0])), static_cast<int64_t>(part(*from[1])),
            static_cast<int64_t>(part(*from[2]))};
  }
  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  // The same number in all three.
  template <class Part>
  bool as_many(const char* what, Part part) {
    const Three n = three(from_, part);
    return (n[0] == n[1] && n[1] == n[2]) || stop("the runs have " + listed(n) + ' ' + what);
  }
  template <class Part>
  std::optional<int64_t> number(Part part, const std::string& what) {
    const Three values = three(from_, part);
    const auto found = follow(sizes_, values);
    if (!found) stop(what + " is " + listed(values));
    return found;
  }
  template <class Part>
  std::optional<base::RunList> list(Part part, const std::string& what) {
    auto found = follow(sizes_, std::array<const base::RunList*, 3>{
                                    &part(*from_[0]), &part(*from_[1]), &part(*from_[2])});
    if (!found) stop(what + " has no common structure");
    return found;
  }

  bool definitions() {
    const auto count = [](const TraceData& t) { return t.definitions.size(); };
    if (!as_many("communicators, datatypes and other objects", count)) return false;
    for (size_t i = 0; i < from_[0]->definitions.size(); ++i) {
      std::array<format::FilePayload, 3> payloads;
      const format::Definition& first = from_[0]->definitions[i];
      const std::string what = "object " + std::to_string(i);
      for (size_t run = 0; run < 3; ++run) {
        const format::Definition& one = from_[run]->definitions[i];
        payloads[run] = format::strip_payload(one);
        if (one.kind != first.kind || one.refs != first.refs ||
            payloads[run].structure != payloads[0].structure ||
            payloads[run].numbers.size() != payloads[0].numbers.size())
          return stop(what + " is another one");
      }
      format::FilePayload next = payloads[0];
      for (size_t k = 0; k < next.numbers.size(); ++k) {
        const Three values{payloads[0].numbers[k], payloads[1].numbers[k], payloads[2].numbers[k]};
        const auto found = follow(sizes_, values);
        if (!found) return stop("a number of " + what + " is " + listed(values));
        next.numbers[k] = *found;
      }
      const auto payload = format::restore_payload(next);
      if (!payload) return stop(what + " has no common structure");
      out_.definitions.push_back({first.kind, *payload, first.refs});
    }
    return true;
  }

  bool tables() {
    if (!as_many("tables of values", [](const TraceData& t) { return t.tables.size(); }))
      return false;
    for (size_t i = 0; i < from_[0]->tables.size(); ++i) {
      auto table = list(
          [i](const TraceData& t) -> const auto& { return t.tables[i]; }, table_name(i));
      if (!table) return false;
      out_.tables.push_back(std::move(*table));
    }
    return true;
  }

  // By the first signature that has it.
  std::string table_name(size_t table) const {
    const format::SignatureTable& all = from_[0]->signatures;
    for (size_t s = 0; s < all.size(); ++s)
      for (const RankExpr& e : all[s].slots)
        if (e.kind == RankExpr::Kind::kTable && e.a == static_cast<int64_t>(table))
          return "a value by ranks of " + name(s);
    return "a value by ranks";
  }

  std::string name(size_t signature) const {
    return "signature " + std::to_string(signature) + " (" +
           mpi::call_name(from_[0]->signatures.structure(signature).call_id) + ")";
  }

  bool signatures() {
    const size_t least = std::min(
        {from_[0]->signatures.size(), from_[1]->signatures.size(), from_[2]->signatures.size()});
    for (size_t i = 0; i < least; ++i)
      if (!signature(i)) return false;
    return as_many("signatures", [](const TraceData& t) { return t.signatures.size(); });
  }

  bool signature(size_t i) {
    std::array<format::StoredSignature, 3> all;
    std::array<format::FileShape, 3> shapes;
    for (size_t run = 0; run < 3; ++run) {
      all[run] = from_[run]->signatures.get(i);
      shapes[run] = format::strip_shape(all[run].shape);
    }
    const uint32_t call = from_[0]->signatures.structure(i).call_id;
    // Its parameters are the words of the command, which no message depends on.
    const bool is_init = call == mpi::kMPI_Init || call == mpi::kMPI_Init_thread;
    for (size_t run = 1; run < 3; ++run) {
      if (from_[run]->signatures.structure(i).call_id != call ||
          all[run].slots.size() != all[0].slots.size())
        return stop(name(i) + " is another call, or stands for others");
      if (!is_init &&
          (shapes[run].bytes != shapes[0].bytes || shapes[run].requests != shapes[0].requests ||
           shapes[run].counts.size() != shapes[0].counts.size()))
        return stop(name(i) + " has parameters of another form");
    }
    format::FileShape shape = shapes[0];
    for (size_t k = 0; k < shape.counts.size() && !is_init; ++k) {
      const Three values{shapes[0].counts[k], shapes[1].counts[k], shapes[2].counts[k]};
      const auto found = follow(sizes_, values);
      if (!found) return stop("a length in " + name(i) + " is " + listed(values));
      shape.counts[k] = *found;
    }
    const auto restored = is_init ? std::optional(all[0].shape) : format::restore_shape(shape);
    if (!restored) return stop(name(i) + " has parameters of another form");
    format::StoredSignature next{*restored, {}};
    for (size_t k = 0; k < all[0].slots.size(); ++k) {
      const auto found = expression(i, {all[0].slots[k], all[1].slots[k], all[2].slots[k]});
      if (!found) return false;
      next.slots.push_back(*found);
    }
    out_.signatures.push_back(next);
    return true;
  }

  std::optional<RankExpr> expression(size_t signature, const std::array<RankExpr, 3>& all) {
    RankExpr out = all[0];
    if (all[1].kind != out.kind || all[2].kind != out.kind) {
      stop("a value of " + name(signature) + " depends on the rank in other ways");
      return std::nullopt;
    }
    for (int64_t RankExpr::*const operand :
         {&RankExpr::a, &RankExpr::b, &RankExpr::d, &RankExpr::c}) {
      const Three values{all[0].*operand, all[1].*operand, all[2].*operand};
      const auto found = follow(sizes_, values);
      if (!found) {
        stop("a value of " + name(signature) + " is " + listed(values));
        return std::nullopt;
      }
      out.*operand = *found;
    }
    return out;
  }

  bool grammars() {
    if (!as_many("sequences of calls", [](const TraceData& t) { return t.grammars.size(); }))
      return false;
    for (size_t g = 0; g < from_[0]->grammars.size(); ++g) {
      grammar::Grammar next = from_[0]->grammars[g];
      const std::string what = "the sequence of calls " + std::to_string(g);
      for (size_t run = 1; run < 3; ++run) {
        const grammar::Grammar& one = from_[run]->grammars[g];
        const bool is_same =
            one.rule_end == next.rule_end &&
            std::ranges::equal(one.symbols, next.symbols, [](const auto& a, const auto& b) {
              return a.id == b.id && a.is_rule == b.is_rule;
            });
        if (!is_same) return stop(what + " has other loops");
      }
      for (size_t k = 0; k < next.symbols.size(); ++k) {
        const auto count =
            number([g, k](const TraceData& t) { return t.grammars[g].symbols[k].count; },
                   "the count of a loop in " + what);
        if (!count) return false;
        if (*count < 1) return stop("the count of a loop in " + what + " comes to nothing");
        next.symbols[k].count = static_cast<uint64_t>(*count);
      }
      out_.grammars.push_back(std::move(next));
    }
    return true;
  }

  bool groups() {
    if (!as_many("groups of ranks that do the same",
                 [](const TraceData& t) { return t.groups.size(); }))
      return false;
    for (size_t g = 0; g < from_[0]->groups.size(); ++g) {
      const format::Group& first = from_[0]->groups[g];
      const std::string what = "group " + std::to_string(g);
      format::Group next = first;
      for (size_t run = 1; run < 3; ++run) {
        const format::Group& one = from_[run]->groups[g];
        const bool is_same =
            one.signatures == first.signatures && one.is_like_before == first.is_like_before &&
            std::ranges::equal(one.locations, first.locations, [](const auto& a, const auto& b) {
              return a.thread == b.thread && a.grammar == b.grammar;
            });
        if (!is_same) return stop(what + " of ranks makes other calls");
      }
      auto ranks = list(
          [g](const TraceData& t) -> const auto& { return t.groups[g].ranks; },
          "the ranks of " + what);
      if (!ranks) return false;
      auto places = list(
          [g](const TraceData& t) -> const auto& { return t.groups[g].places; },
          "the places of " + what);
      if (!places) return false;
      next.ranks = std::move(*ranks);
      next.places = std::move(*places);
      out_.groups.push_back(std::move(next));
    }
    return true;
  }

  std::array<const TraceData*, 3> from_;
  const Sizes& sizes_;
  TraceData out_;
  std::string problem_;
};

}  // namespace

base::Result<Trace> at_ranks(const std::vector<Trace>& traces, uint64_t ranks) {
  if (traces.size() != 3)
    return base::usage("a run on other ranks follows from three traces; here are " +
                       std::to_string(traces.size()));
  std::vector<Trace> sorted = traces;
  std::sort(sorted.begin(), sorted.end(),
            [](const Trace& a, const Trace& b) { return a.rank_count() < b.rank_count(); });
  Sizes sizes;
  sizes.wanted = ranks;
  std::array<const TraceData*, 3> from{};
  for (size_t i = 0; i < 3; ++i) {
    from[i] = &reader::data_of(sorted[i]);
    sizes.runs[i] = static_cast<uint64_t>(sorted[i].rank_count());
    if (i > 0 && sizes.runs[i] == sizes.runs[i - 1])
      return base::usage("has as many ranks as another one: three different numbers are needed",
                         sorted[i].name());
    if (sorted[i].clustering())
      return base::unsupported("ranks stand for others in it", sorted[i].name());
  }
  auto data = Maker(from, sizes).make();
  if (!data.ok()) return data.error();
  data->durations.resize(data->signatures.size());
  if (const auto done = add_times({&sorted[0], &sorted[1], &sorted[2]}, sizes, *data); !done.ok())
    return done.error();
  auto made =
      reader::trace_of(std::move(*data), "the run on " + std::to_string(ranks) + " ranks", 0);
  // Numbers that follow one by one need not fit together.
  if (!made.ok())
    return base::unsupported("does not follow: " + made.error().message, made.error().place);
  return made;
}

}  // namespace refrain::sim
