#include "analysis/clusters/lead_endpoints.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/clusters/objects_of_ranks.h"
#include "analysis/clusters/signature_event.h"
#include "events/pairing/pair_anew.h"
#include "events/payload.h"
#include "format/signatures/slot_evaluator.h"
#include "format/signatures/walk.h"
#include "grammar/fold.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {

namespace {

using format::FieldTag;
using format::RankExpr;
using format::RankPosition;

enum class Role : uint8_t { kNumber, kRank, kDefinition };

// Parameters of MPI_Comm_split.
constexpr int kSplitColor = 1, kSplitKey = 2, kSplitComm = 3;

// What each slot of a shape is.
class RoleFinder : public format::Visitor {
 public:
  std::vector<Role> roles;
  size_t color = SIZE_MAX, key = SIZE_MAX, new_comm = SIZE_MAX;  // slots of MPI_Comm_split

  void call(uint32_t id) override { info_ = mpi::find_call(static_cast<CallId>(id)); }
  void open(FieldTag tag) override {
    if (open_.empty()) ++field_;
    if (!open_.empty()) ++open_.back().children;
    open_.push_back({tag, 0});
  }
  void close(FieldTag) override { open_.pop_back(); }
  int64_t slot(format::SlotNature nature, int64_t v, size_t, size_t) override {
    roles.push_back(nature == format::SlotNature::kDefinition ? Role::kDefinition
                    : is_rank()                               ? Role::kRank
                                                              : Role::kNumber);
    if (info_ != nullptr && info_->id == mpi::kMPI_Comm_split && open_.size() == 1)
      note_split(roles.size() - 1);
    return v;
  }
  bool is_split() const { return std::max({color, key, new_comm}) != SIZE_MAX; }

 private:
  struct Open {
    FieldTag tag;
    int children;
  };
  void note_split(size_t slot) {
    const int param = field_ - 1;
    if (param == kSplitColor) color = slot;
    if (param == kSplitKey) key = slot;
    if (param == kSplitComm) new_comm = slot;
  }
  bool is_rank() const {
    if (open_.empty() || open_.back().tag != FieldTag::kInt) return false;
    if (open_.size() >= 2) {
      const Open& around = open_[open_.size() - 2];
      if (around.tag == FieldTag::kStatus || around.tag == FieldTag::kStatusError ||
          around.tag == FieldTag::kMatched)
        return around.children == 1;  // the source is the first
    }
    const int param = field_ - 1;  // the call site comes before
    // Leaders are as roots are: all ranks of a group name the same ones.
    if (info_ != nullptr && info_->id == mpi::kMPI_Intercomm_create) return false;
    return info_ != nullptr && param >= 0 && static_cast<size_t>(param) < info_->params.size() &&
           info_->params[static_cast<size_t>(param)].kind == mpi::ParamKind::kRank &&
           param != info_->root_param;
  }

  const mpi::CallInfo* info_ = nullptr;
  int field_ = -1;
  std::vector<Open> open_;
};

class Rewriter {
 public:
  Rewriter(const format::TraceData& old, format::TraceData& out)
      : old_(old), out_(out), evaluator_(old), objects_(old) {}

  void run() {
    std::vector<bool> is_sampled(old_.meta.ranks, false);
    const auto& sampled = old_.clusters.sampled;
    for (uint64_t i = 0; i < sampled.size(); ++i)
      is_sampled[static_cast<size_t>(sampled.at(i))] = true;
    for (const format::Cluster& c : old_.clusters.clusters)
      note_splits(static_cast<int64_t>(c.lead));
    for (const format::Cluster& c : old_.clusters.clusters) {
      std::vector<int64_t> ranks;
      for (uint64_t i = 0; i < c.members.size(); ++i) {
        const int64_t rank = c.members.at(i);
        const bool is_own = is_sampled[static_cast<size_t>(rank)];
        if (!is_own || static_cast<uint64_t>(rank) == c.lead) ranks.push_back(rank);
        if (is_own && static_cast<uint64_t>(rank) != c.lead) add_group(rank, {rank});
      }
      add_group(static_cast<int64_t>(c.lead), ranks);
    }
  }

 private:
  const format::Group* group_of(int64_t rank) const {
    for (const format::Group& g : old_.groups)
      if (g.ranks.find(rank) >= 0) return &g;
    return nullptr;
  }

  // The communicators that a lead splits off: their ranks gave the color that it gave.
  void note_splits(int64_t lead) {
    const format::Group* of = group_of(lead);
    if (of == nullptr) return;
    const RankPosition who{static_cast<uint64_t>(lead), static_cast<uint64_t>(of->place_of(lead))};
    for (const uint32_t s : of->signatures) {
      RoleFinder finder;
      format::walk_signature(old_.signatures[s].shape, format::Form::kSplit, finder);
      if (!finder.is_split()) continue;
      const std::vector<int64_t>& values = evaluator_.values(s, who);
      if (values.size() == finder.roles.size())
        objects_.note_split(values[finder.new_comm], values[finder.color], values[finder.key],
                            who.rank);
    }
  }

  void add_group(int64_t lead, const std::vector<int64_t>& ranks) {
    const format::Group* of = group_of(lead);
    if (of == nullptr) return;  // the lead left no record
    lead_ = {static_cast<uint64_t>(lead), static_cast<uint64_t>(of->place_of(lead))};
    ranks_ = &ranks;
    taken_.clear();
    format::Group group;
    for (const int64_t r : ranks) group.ranks.append(r);
    take_all(of->signatures);
    for (const uint32_t s : of->signatures) group.signatures.push_back(taken_[s]);
    for (const format::ThreadGrammar& l : of->locations) {
      const auto [at, is_new] =
          grammars_.try_emplace(l.grammar, static_cast<uint32_t>(out_.grammars.size()));
      if (is_new) out_.grammars.push_back(old_.grammars[l.grammar]);
      group.locations.push_back({l.thread, at->second});
      const auto occurs = grammar::occurrences(old_.grammars[l.grammar], group.signatures.size());
      for (size_t t = 0; t < occurs.size(); ++t) {
        const uint64_t calls = occurs[t] * ranks.size();
        out_.durations[group.signatures[t]].count += calls;
        if (!old_.gaps.empty()) out_.gaps[group.signatures[t]].count += calls;
      }
    }
    out_.groups.push_back(std::move(group));
  }

  // Those of the lead with the ones that their requests come from, which have smaller numbers.
  void take_all(const std::vector<uint32_t>& signatures) {
    std::vector<uint32_t> open(signatures.rbegin(), signatures.rend());
    std::set<uint32_t> all;
    while (!open.empty()) {
      const uint32_t s = open.back();
      open.pop_back();
      if (!all.insert(s).second) continue;
      for (const uint32_t r : old_.signatures.requests(s)) open.push_back(r);
    }
    for (const uint32_t s : all) take(s);
  }

  // The lead's signature for all ranks of the group.
  void take(uint32_t signature) {
    const auto view = old_.signatures[signature];
    std::map<uint32_t, uint32_t> requests;
    for (const uint32_t r : old_.signatures.requests(signature)) requests[r] = taken_[r];
    std::string shape(view.shape);
    if (!requests.empty()) {
      std::vector<uint32_t> map(requests.rbegin()->first + 1, 0);
      for (const auto& [from, to] : requests) map[from] = to;
      if (const auto renumbered = format::renumber_requests(shape, map)) shape = *renumbered;
    }
    const std::vector<int64_t> values = evaluator_.values(signature, lead_);
    const format::CommPlace place = evaluator_.context_of(signature, lead_).place;
    RoleFinder finder;
    format::walk_signature(view.shape, format::Form::kSplit, finder);
    std::vector<RankExpr> slots;
    bool has_table = false;
    for (size_t k = 0; k < values.size(); ++k) {
      const Role role = k < finder.roles.size() ? finder.roles[k] : Role::kNumber;
      slots.push_back(expression(values[k], role, place));
      has_table = has_table || slots.back().kind == RankExpr::Kind::kTable;
    }
    if (finder.is_split() && values.size() == finder.roles.size())
      has_table = split_as_recorded(finder, values, slots) || has_table;
    taken_[signature] = intern(signature, {std::move(shape), std::move(slots)}, has_table);
  }

  RankExpr expression(int64_t value, Role role, format::CommPlace place) {
    // Ranks of the other group of an intercommunicator may lie beyond the own one.
    if (role == Role::kRank && value >= 0 && value < place.size && place.me >= 0)
      return {RankExpr::Kind::kMod, relative_rank(value, place.me, place.size), 0, 0};
    if (role != Role::kDefinition || value < 0) return {RankExpr::Kind::kConst, value, 0, 0};
    base::RunList list;
    bool is_same = true;
    for (const int64_t r : *ranks_) {
      list.append(objects_.of(static_cast<uint32_t>(value), static_cast<uint64_t>(r)));
      is_same = is_same && list.at(list.size() - 1) == list.at(0);
    }
    if (is_same) return {RankExpr::Kind::kConst, list.at(0), 0, 0};
    const auto [at, is_new] = tables_.try_emplace(value, static_cast<int64_t>(out_.tables.size()));
    if (is_new || table_group_ != out_.groups.size()) {
      if (table_group_ != out_.groups.size()) {
        tables_.clear();
        table_group_ = out_.groups.size();
      }
      tables_[value] = static_cast<int64_t>(out_.tables.size());
      out_.tables.push_back(list);
    }
    return {RankExpr::Kind::kTable, tables_[value], 0, 0};
  }

  // Color and key with which each rank gets the communicator that it got: those of the lead would
  // make other ones, which a replay makes once more. Whether they need tables.
  bool split_as_recorded(const RoleFinder& finder, const std::vector<int64_t>& values,
                         std::vector<RankExpr>& slots) {
    base::RunList colors, keys;
    for (const int64_t r : *ranks_) {
      const auto split = objects_.split_of(values[finder.new_comm], static_cast<uint64_t>(r));
      if (!split) return false;
      colors.append(split->color);
      keys.append(split->key);
    }
    slots[finder.color] = expression(colors);
    slots[finder.key] = expression(keys);
    return slots[finder.color].kind == RankExpr::Kind::kTable ||
           slots[finder.key].kind == RankExpr::Kind::kTable;
  }

  RankExpr expression(const base::RunList& values) {
    for (uint64_t i = 1; i < values.size(); ++i)
      if (values.at(i) != values.at(0)) {
        out_.tables.push_back(values);
        return {RankExpr::Kind::kTable, static_cast<int64_t>(out_.tables.size() - 1), 0, 0};
      }
    return {RankExpr::Kind::kConst, values.at(0), 0, 0};
  }

  // Groups share what is equal, but for tables, which are of one group.
  uint32_t intern(uint32_t like, format::StoredSignature s, bool has_table) {
    std::string key = s.shape;
    for (const RankExpr& e : s.slots) {
      base::ByteWriter out;
      out.put_u8(static_cast<uint8_t>(e.kind));
      out.put_zigzag(e.a);
      key += out.view();
    }
    if (has_table) key += "group " + std::to_string(out_.groups.size());
    const auto [at, is_new] =
        known_.try_emplace(std::move(key), static_cast<uint32_t>(out_.signatures.size()));
    if (is_new) {
      out_.signatures.push_back(s);
      take_mean(old_.durations[like], out_.durations, means_);
      if (!old_.gaps.empty()) take_mean(old_.gaps[like], out_.gaps, mean_gaps_);
    }
    return at->second;
  }

  static void take_mean(format::DurationStats stats, std::deque<format::DurationStats>& to,
                        std::vector<double>& means) {
    means.push_back(stats.count > 0 ? stats.sum_ns / static_cast<double>(stats.count) : 0);
    stats.count = 0;
    to.push_back(stats);
  }

 public:
  // Times of calls are known for all of a signature together: the mean stays.
  void finish_durations() {
    for (size_t s = 0; s < out_.durations.size(); ++s)
      out_.durations[s].sum_ns = means_[s] * static_cast<double>(out_.durations[s].count);
    for (size_t s = 0; s < out_.gaps.size(); ++s)
      out_.gaps[s].sum_ns = mean_gaps_[s] * static_cast<double>(out_.gaps[s].count);
  }

 private:
  const format::TraceData& old_;
  format::TraceData& out_;
  format::SlotEvaluator evaluator_;
  ObjectsOfRanks objects_;
  RankPosition lead_;
  const std::vector<int64_t>* ranks_ = nullptr;
  std::unordered_map<uint32_t, uint32_t> taken_;  // of this group, by old signature
  std::unordered_map<uint32_t, uint32_t> grammars_;
  std::map<int64_t, int64_t> tables_;  // of this group, by the lead's definition
  size_t table_group_ = SIZE_MAX;
  std::unordered_map<std::string, uint32_t> known_;
  std::vector<double> means_, mean_gaps_;  // by signature
};

// Whether there is a collective that a rank calls with an array of counts.
bool counts_of_each_rank(const Trace& trace) {
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    RankReader reader(trace, trace.group_rank(g, 0));
    for (const Trace::Occurrence& seen : trace.occurrences(g)) {
      const Signature& call = reader.signature(seen.signature);
      for (const mpi::BufferInfo& buffer : mpi::meaning_of(call.call).buffers)
        if (buffer.count_param >= 0 && events::argument(call, buffer.count_param).is_array())
          return true;
    }
  }
  return false;
}

// The arrays of counts that a rank calls collectives with, whatever their order.
std::set<std::vector<int64_t>> count_arrays(const Trace& trace, Rank rank) {
  std::set<std::vector<int64_t>> out;
  const auto group = trace.group_of(rank);
  if (!group) return out;
  RankReader reader(trace, rank);
  for (const Trace::Occurrence& seen : trace.occurrences(*group)) {
    const Signature& call = reader.signature(seen.signature);
    for (const mpi::BufferInfo& buffer : mpi::meaning_of(call.call).buffers) {
      if (buffer.count_param < 0) continue;
      const Value& counts = events::argument(call, buffer.count_param);
      if (!counts.is_array()) continue;
      std::vector<int64_t> all = {static_cast<int64_t>(call.call), buffer.count_param};
      counts.for_each([&](const Value& count) { all.push_back(count.integer_or(-1)); });
      out.insert(std::move(all));
    }
  }
  return out;
}

// Ranks may pass as many elements in all, and others to each rank: no feature tells.
bool have_other_arrays(const Trace& trace, const format::ClusterData& clusters) {
  for (const format::Cluster& cluster : clusters.clusters) {
    const auto of_lead = count_arrays(trace, static_cast<Rank>(cluster.lead));
    for (uint64_t i = 0; i < cluster.members.size(); ++i)
      if (count_arrays(trace, static_cast<Rank>(cluster.members.at(i))) != of_lead) return true;
  }
  return false;
}

}  // namespace

void take_lead_endpoints(const Trace& trace, format::TraceData& data) {
  format::TraceData old = std::move(data);
  data = old;
  data.signatures.clear();
  data.durations.clear();
  data.gaps.clear();
  data.grammars.clear();
  data.groups.clear();
  data.tables.clear();
  Rewriter rewriter(old, data);
  rewriter.run();
  rewriter.finish_durations();
  if (!data.clusters.is_replayable) return;
  const auto say = [&](std::string why) {
    data.clusters.is_replayable = false;
    data.clusters.why_not = std::move(why);
  };
  const auto changed = reader::trace_of(data, trace.name(), 0);
  if (!changed.ok()) return say("the calls do not fit together: " + changed.error().message);
  // Collectives were the same for all ranks, but for those with a count for each of them.
  constexpr auto kCount = static_cast<size_t>(similarity::RankFeature::kCount);
  const bool has_sizes = std::any_of(data.clusters.clusters.begin(), data.clusters.clusters.end(),
                                     [](const format::Cluster& c) { return c.radius[kCount] > 0; });
  if (counts_of_each_rank(trace) && (has_sizes || have_other_arrays(trace, data.clusters)))
    return say("a collective has a count for each rank, and members have other ones than leads");
  events::PairedAnew paired;
  const auto again = events::paired_trace(*changed, paired);
  if (!again.ok()) return say(paired.why_not.empty() ? again.error().message : paired.why_not);
  const Unpaired left = unpaired_messages(*again), before = unpaired_messages(trace);
  if (left.messages > before.messages)
    say(std::to_string(left.messages) + " of " + std::to_string(left.of) +
        " sends and receives have no other end");
}

}  // namespace refrain::analysis::clusters
