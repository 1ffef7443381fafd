#include "analysis/clusters/matching.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "events/payload.h"
#include "grammar/fold.h"
#include "mpi/call_meaning.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "refrain/calls.h"
#include "similarity/ranks/rank_signature.h"

namespace refrain::analysis::clusters {

namespace {

using Counts = std::array<uint32_t, kCompared>;

// Of one call: how many there are of each, and how many of these are equal in the other.
struct Comparison {
  Counts all{}, equal{};
};

void compare(const Value& a, const Value& b, Compared what, Comparison& out) {
  if (a.is_null()) return;
  const auto i = static_cast<size_t>(what);
  ++out.all[i];
  // Ends and tags that a call leaves open are what it asked for.
  if (a == b) ++out.equal[i];
}

Comparison compared(const Signature& a, const Signature& b) {
  Comparison out;
  const auto calls = static_cast<size_t>(Compared::kCalls);
  out.all[calls] = 1;
  out.equal[calls] = a.call == b.call ? 1 : 0;
  static const Value kNothing;
  const mpi::CallInfo* info = mpi::find_call(a.call);
  if (info == nullptr) return out;
  const bool is_same = a.call == b.call;
  uint64_t seen = 0;
  for (const mpi::BufferInfo& buffer : mpi::meaning_of(a.call).buffers) {
    const int at = buffer.count_param;
    if (at < 0 || at >= 64 || (seen >> at & 1) != 0) continue;
    seen |= uint64_t{1} << at;
    compare(events::argument(a, at), is_same ? events::argument(b, at) : kNothing, Compared::kCount,
            out);
  }
  for (size_t i = 0; i < info->params.size() && i < a.args.size(); ++i) {
    const mpi::ParamInfo& param = info->params[i];
    if (param.direction == mpi::Direction::kOut) continue;
    const Value& mine = a.args[i].value.at_entry();
    const Value& other = is_same && i < b.args.size() ? b.args[i].value.at_entry() : kNothing;
    if (param.kind == mpi::ParamKind::kTag) compare(mine, other, Compared::kTag, out);
    if (param.kind != mpi::ParamKind::kRank) continue;
    if (param.name == "source") compare(mine, other, Compared::kSource, out);
    if (param.name == "dest" || param.name == "target_rank")
      compare(mine, other, Compared::kDestination, out);
  }
  return out;
}

class Matcher {
 public:
  Matcher(const Trace& full, const Trace& clustered) : full_(full), clustered_(clustered) {}

  Result<Matching> run() {
    for (Rank rank = 0; rank < full_.rank_count(); ++rank) {
      const Status done = add_rank(rank);
      if (!done.ok()) return done.error();
    }
    return out_;
  }

 private:
  const grammar::Grammar& grammar_of(const Trace& trace, const Location& l) const {
    return reader::data_of(trace).grammars[l.grammar];
  }

  Status add_rank(Rank rank) {
    RankReader a(full_, rank), b(clustered_, rank);
    known_.clear();
    const std::vector<Location> ours = full_.locations(rank), theirs = clustered_.locations(rank);
    for (size_t i = 0; i < ours.size(); ++i) {
      const auto other = std::find_if(theirs.begin(), theirs.end(), [&](const Location& l) {
        return l.thread == ours[i].thread;
      });
      if (other == theirs.end()) {
        add_missing(a, ours[i]);
        continue;
      }
      const grammar::Grammar &mine = grammar_of(full_, ours[i]),
                             &its = grammar_of(clustered_, *other);
      const auto loop = static_cast<size_t>(Compared::kLoop);
      ++out_.all[loop];
      if (similarity::loops_of(mine) == similarity::loops_of(its)) ++out_.equal[loop];
      if (mine == its) {
        fold(a, b, mine);
      } else if (const Status walked = walk(a, b, ours[i]); !walked.ok()) {
        return walked;
      }
    }
    return base::Done{};
  }

  void fold(RankReader& a, RankReader& b, const grammar::Grammar& g) {
    const auto &mine = signatures_of(full_, a.rank()), &its = signatures_of(clustered_, b.rank());
    const std::vector<uint64_t> occurs = grammar::occurrences(g, std::max(mine.size(), its.size()));
    for (size_t t = 0; t < std::min(mine.size(), its.size()); ++t)
      if (occurs[t] > 0)
        add(compared(a.signature(SignatureId(mine[t])), b.signature(SignatureId(its[t]))),
            occurs[t]);
  }

  Status walk(RankReader& a, RankReader& b, const Location& where) {
    auto mine = a.cursor(where.thread), its = b.cursor(where.thread);
    if (!mine.ok()) return mine.error();
    if (!its.ok()) return its.error();
    static const Signature kNothing;
    while (const Call* call = mine->next()) {
      const Call* other = its->next();
      const std::pair key{call->signature, other == nullptr ? &kNothing : other->signature};
      auto [at, is_new] = known_.try_emplace(key);
      if (is_new) at->second = compared(*key.first, *key.second);
      add(at->second, 1);
    }
    return base::Done{};
  }

  void add_missing(RankReader& a, const Location& where) {
    static const Signature kNothing;
    const auto& mine = signatures_of(full_, a.rank());
    const std::vector<uint64_t> occurs =
        grammar::occurrences(grammar_of(full_, where), mine.size());
    for (size_t t = 0; t < mine.size(); ++t)
      if (occurs[t] > 0) add(compared(a.signature(SignatureId(mine[t])), kNothing), occurs[t]);
    ++out_.all[static_cast<size_t>(Compared::kLoop)];
  }

  static const std::vector<uint32_t>& signatures_of(const Trace& trace, Rank rank) {
    static const std::vector<uint32_t> kNone;
    const auto group = trace.group_of(rank);
    return group ? reader::data_of(trace).groups[*group].signatures : kNone;
  }

  void add(const Comparison& c, uint64_t calls) {
    for (size_t i = 0; i < kCompared; ++i) {
      out_.all[i] = events::add(out_.all[i], events::multiply(c.all[i], calls));
      out_.equal[i] = events::add(out_.equal[i], events::multiply(c.equal[i], calls));
    }
  }

  const Trace &full_, &clustered_;
  Matching out_;
  std::map<std::pair<const Signature*, const Signature*>, Comparison> known_;  // of this rank
};

}  // namespace

std::string_view to_string(Compared what) {
  constexpr std::array<std::string_view, kCompared> kNames = {"COUNT", "LOOP", "EVENTS",
                                                              "SRC",   "DEST", "TAG"};
  return kNames[static_cast<size_t>(what)];
}

Result<Matching> matching(const Trace& full, const Trace& clustered) {
  if (full.rank_count() != clustered.rank_count())
    return base::usage("other ranks than " + full.name(), clustered.name());
  return Matcher(full, clustered).run();
}

}  // namespace refrain::analysis::clusters
