#include "format/content.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "format/clusters/cluster_rules.h"
#include "format/codes/quantise.h"
#include "format/definitions.h"
#include "format/layout.h"
#include "format/limits.h"
#include "format/places.h"
#include "format/posix.h"
#include "format/signatures/walk.h"

namespace refrain::format {

std::string Finding::to_string() const {
  std::string s = section;
  if (offset >= 0) s += (in_raw ? ", raw byte " : ", byte ") + std::to_string(offset);
  return s + ": " + text + " (rule " + std::to_string(rule) + ")";
}

namespace {

std::string numbered(std::string_view what, uint64_t i, std::string_view rest = {}) {
  std::string s;
  s.append(what).append(" ").append(std::to_string(i)).append(rest);
  return s;
}

class Checker {
 public:
  Checker(const TraceData& t, size_t max) : t_(t), max_(max) {}

  std::vector<Finding> run() {
    meta(), definitions(), signatures();
    statistics(SectionType::kDurations, kRuleDurations, t_.durations);
    if (!t_.gaps.empty()) statistics(SectionType::kGaps, kRuleGaps, t_.gaps);
    grammars(), groups(), table_owners(), rest();
    for (const auto& f : check_clusters(t_)) add(SectionType::kClusters, f.rule, f.text);
    return std::move(findings_);
  }

 private:
  void add(SectionType section, int rule, std::string text) {
    if (findings_.size() >= max_) return;
    findings_.push_back(Finding{rule, std::string(to_string(section)), -1, false, std::move(text)});
  }

  // Every value of the list is in [low, high).
  static bool within(const base::RunList& list, int64_t low, int64_t high) {
    for (const auto& run : list.runs()) {
      if (run.start < low || run.start >= high) return false;
      // Below 2^26 values of steps below 2^32: no overflow.
      const int64_t span = high - low;
      if (run.step <= -span || run.step >= span) return false;
      const int64_t last = run.start + run.step * static_cast<int64_t>(run.count - 1);
      if (last < low || last >= high) return false;
    }
    return true;
  }

  void meta() {
    const uint64_t ranks = t_.meta.ranks;
    if (ranks == 0 || ranks > kMaxRanks)
      add(SectionType::kMeta, kRuleRanks, std::to_string(ranks) + " ranks");
    if (t_.meta.host_of_rank.size() != ranks ||
        !within(t_.meta.host_of_rank, -1, static_cast<int64_t>(t_.meta.hosts.size())))
      add(SectionType::kMeta, kRuleHosts, "hosts do not match the ranks");
  }

  void definitions() {
    constexpr auto kAt = SectionType::kDefinitions;
    for (size_t i = 0; i < t_.definitions.size(); ++i) {
      const Definition& d = t_.definitions[i];
      if (std::any_of(d.refs.begin(), d.refs.end(), [&](uint32_t r) { return r >= i; }))
        add(kAt, kRuleDefinitionRefs, numbered("definition", i, " refers to a later one"));
      if (!good_payload(d))
        add(kAt, kRuleDefinitionPayload, numbered("definition", i, " has a malformed payload"));
    }
  }

  bool good_payload(const Definition& d) const {
    base::ByteReader in(d.payload);
    switch (d.kind) {
      case DefinitionKind::kSite: {
        base::ByteWriter again;  // the file keeps the number only, so it must be its shortest form
        again.put_zigzag(in.zigzag());
        return in.ok() && again.view() == d.payload &&
               (d.refs.empty() || is_kind(d.refs[0], DefinitionKind::kModule));
      }
      case DefinitionKind::kModule:
        in.string(kMaxTextBytes);
        in.string(kMaxTextBytes);
        return in.ok() && in.at_end();
      case DefinitionKind::kComm: {
        const auto comm = parse_comm(d.payload);
        const auto world = static_cast<int64_t>(t_.meta.ranks);
        return comm && within(comm->local, -1, world) && within(comm->remote, -1, world);
      }
      case DefinitionKind::kDatatype:
        return parse_datatype(d.payload).has_value() && are_kind(d.refs, DefinitionKind::kDatatype);
      case DefinitionKind::kPath: return !d.refs.empty() && are_kind(d.refs, DefinitionKind::kSite);
      case DefinitionKind::kRegion: return true;
      default:
        if (d.kind > DefinitionKind::kStream) return true;  // from a later minor version
        in.zigzag();
        return in.ok();  // more may follow the symbolic id
    }
  }

  bool is_kind(uint32_t definition, DefinitionKind kind) const {
    return definition < t_.definitions.size() && t_.definitions[definition].kind == kind;
  }
  bool are_kind(const std::vector<uint32_t>& refs, DefinitionKind kind) const {
    return std::all_of(refs.begin(), refs.end(), [&](uint32_t r) { return is_kind(r, kind); });
  }

  void signatures() {
    const SignatureTable& all = t_.signatures;
    const uint64_t definitions = t_.definitions.size();
    const auto is_good = [=](uint32_t w) { return (w & 1) == 0 && w >> 1 < definitions; };
    std::vector<uint32_t> slots;
    for (size_t i = 0, end = 0; i < all.size();) {
      end = all.alike_until(i);
      const bool is_plain = signature(i) && all.is_constant(i) && all.requests(i).empty();
      // Of the others only numbers differ, and only definitions among these have limits.
      if (is_plain) slots = all.definitions_that_differ(i, end - i);
      for (++i; i < end && !(is_plain && slots.empty()); ++i) {
        const uint32_t* const words = is_plain ? all.words(i) : nullptr;
        if (words == nullptr ||
            !std::ranges::all_of(slots, is_good, [=](uint32_t k) { return words[k]; }))
          signature(i);
      }
      i = end;
    }
  }

  // False: it is malformed.
  bool signature(size_t i) {
    constexpr auto kAt = SectionType::kSignatures;
    const SignatureTable& all = t_.signatures;
    const ShapeStructure& structure = all.structure(i);
    const std::vector<ExprCode>& codes = all.codes(i);
    const size_t n = codes.size();
    if (!structure.is_good || structure.slots.size() != n) {
      add(kAt, kRuleShape, numbered("signature", i, " is malformed"));
      return false;
    }
    if (std::ranges::any_of(all.requests(i), [i](uint32_t r) { return r >= i; }))
      add(kAt, kRuleRequestOrder, numbered("signature", i, " has a request of a later one"));
    // Any number is a good constant.
    for (size_t k = 0; k < n; ++k)
      if (codes[k] != ExprCode::kConst || structure.slots[k] == SlotNature::kDefinition)
        expr(i, structure.slots[k], all.expr(i, k));
    return true;
  }

  void expr(size_t i, SlotNature nature, const RankExpr& e) {
    constexpr auto kAt = SectionType::kSignatures;
    const auto definitions = static_cast<int64_t>(t_.definitions.size());
    if (e.kind == RankExpr::Kind::kTable) {
      const auto t = static_cast<uint64_t>(e.a);
      if (t >= t_.tables.size()) {
        add(kAt, kRuleTableIndex, numbered("signature", i, numbered(" uses table", t)));
      } else if (nature == SlotNature::kDefinition && !within(t_.tables[t], 0, definitions)) {
        add(kAt, kRuleDefinitionSlot,
            numbered("signature", i, " has a table of unknown definitions"));
      }
      return;
    }
    if (nature == SlotNature::kDefinition &&
        (e.kind != RankExpr::Kind::kConst || e.a < 0 || e.a >= definitions))
      add(kAt, kRuleDefinitionSlot, numbered("signature", i, " uses an unknown definition"));
    if ((e.kind == RankExpr::Kind::kCart || e.kind == RankExpr::Kind::kDigit) &&
        (e.a <= 0 || e.b <= 0))
      add(kAt, kRuleExpr, numbered("signature", i, " has a grid without extent"));
  }

  void statistics(SectionType at, Rule rule, const std::deque<DurationStats>& all) {
    if (all.size() != t_.signatures.size()) add(at, rule, "not as many as signatures");
    size_t i = 0;
    for (const DurationStats& d : all) {
      if (d.min_ns > d.max_ns || !(d.sum_ns >= 0))
        add(at, rule, numbered(to_string(at), i, " contradict themselves"));
      ++i;
    }
  }

  void grammars() {
    for (size_t i = 0; i < t_.grammars.size(); ++i) {
      const auto ok = grammar::validate(t_.grammars[i], grammar::Limits{uint64_t{1} << 32});
      if (!ok)
        add(SectionType::kGrammars, kRuleGrammar,
            numbered("number", i, ": ").append(ok.error().message));
    }
  }

  void groups() {
    constexpr auto kAt = SectionType::kGroups;
    for (size_t g = 0; g < t_.groups.size(); ++g) {
      const Group& group = t_.groups[g];
      locations(g, group);
      if (std::any_of(group.signatures.begin(), group.signatures.end(),
                      [&](uint32_t s) { return s >= t_.signatures.size(); }))
        add(kAt, kRuleGroupSignatures, numbered("group", g, " uses an unknown signature"));
    }
    ranks();
    for (size_t g = 0; g < t_.groups.size();) {
      size_t end = g + 1;
      while (end < t_.groups.size() && t_.groups[end].is_like_before) ++end;
      if (!is_family(g, end))
        add(kAt, kRuleGroupLocations,
            numbered("group", g, " and those like it do not fit together"));
      g = end;
    }
  }

  // Groups that differ in loop counts only share signatures and threads, and their ranks stand in
  // tables in the order of all of them. Ranks were looked at before.
  bool is_family(size_t begin, size_t end) const {
    const Group& first = t_.groups[begin];
    if (first.is_like_before) return false;
    if (end - begin == 1) return first.places.empty();
    std::vector<std::pair<int64_t, int64_t>> places;
    for (size_t g = begin; g < end; ++g) {
      const Group& group = t_.groups[g];
      const bool is_like = group.signatures == first.signatures &&
                           group.places.size() == group.ranks.size() &&
                           std::ranges::equal(group.locations, first.locations, {},
                                              &ThreadGrammar::thread, &ThreadGrammar::thread);
      if (!is_like || group.ranks.size() > t_.meta.ranks) return false;
      for (uint64_t i = 0; i < group.ranks.size(); ++i)
        places.emplace_back(group.ranks.at(i), group.places.at(i));
    }
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i].second != static_cast<int64_t>(i)) return false;
    return true;
  }

  void ranks() {
    constexpr auto kAt = SectionType::kGroups;
    if (t_.meta.ranks > kMaxRanks) return;
    std::vector<bool> seen(t_.meta.ranks, false);
    uint64_t covered = 0;
    for (size_t g = 0; g < t_.groups.size(); ++g) {
      const base::RunList& list = t_.groups[g].ranks;
      bool good = !list.empty() && within(list, 0, static_cast<int64_t>(t_.meta.ranks));
      int64_t before = -1;
      for (size_t r = 0; r < list.runs().size() && good; ++r) {
        const auto& run = list.runs()[r];
        for (uint64_t i = 0; i < run.count && good; ++i) {
          const int64_t rank = run.start + run.step * static_cast<int64_t>(i);
          good = rank > before && !seen[static_cast<size_t>(rank)];
          if (good) seen[static_cast<size_t>(rank)] = true;
          before = rank;
          ++covered;
        }
      }
      if (!good) add(kAt, kRuleGroupRanks, numbered("ranks of group", g, " are not in order"));
    }
    if (t_.meta.complete && covered != t_.meta.ranks)
      add(kAt, kRuleGroupRanks,
          std::to_string(covered) + " ranks in groups of a complete trace of " +
              std::to_string(t_.meta.ranks));
  }

  void locations(size_t g, const Group& group) {
    constexpr auto kAt = SectionType::kGroups;
    for (size_t l = 0; l < group.locations.size(); ++l) {
      const ThreadGrammar& loc = group.locations[l];
      if (loc.grammar >= t_.grammars.size() ||
          (l > 0 && loc.thread <= group.locations[l - 1].thread)) {
        add(kAt, kRuleGroupLocations, numbered("locations of group", g, " are not in order"));
        return;
      }
      const auto& symbols = t_.grammars[loc.grammar].symbols;
      if (std::any_of(symbols.begin(), symbols.end(), [&](const grammar::Symbol& s) {
            return !s.is_rule && s.id >= group.signatures.size();
          }))
        add(kAt, kRuleTerminals, numbered("group", g, " lacks a signature that its grammar uses"));
    }
  }

  // Ranks of a group and of those like it.
  std::vector<uint64_t> family_sizes() const {
    std::vector<uint64_t> sizes(t_.groups.size());
    for (size_t g = 0, first = 0; g < t_.groups.size(); ++g) {
      if (!t_.groups[g].is_like_before) first = g;
      sizes[first] += t_.groups[g].ranks.size();
    }
    return sizes;
  }

  // A table goes by position in one group and those like it: its length, and no other group.
  void table_owners() {
    constexpr auto kAt = SectionType::kGroups;
    if (t_.tables.empty()) return;
    const std::vector<uint64_t> sizes = family_sizes();
    std::vector<int64_t> owner(t_.signatures.size(), -1);
    for (size_t g = 0, first = 0; g < t_.groups.size(); ++g) {
      if (!t_.groups[g].is_like_before) first = g;
      for (const uint32_t s : t_.groups[g].signatures) {
        if (s >= t_.signatures.size() || !t_.signatures.has_table(s)) continue;
        for (const RankExpr& e : t_.signatures[s].slots) {
          if (e.kind != RankExpr::Kind::kTable || static_cast<uint64_t>(e.a) >= t_.tables.size())
            continue;
          const bool mine = owner[s] < 0 || owner[s] == static_cast<int64_t>(first);
          owner[s] = static_cast<int64_t>(first);
          if (mine && t_.tables[static_cast<size_t>(e.a)].size() == sizes[first]) continue;
          add(kAt, kRuleTableLengths, numbered("signature", s, numbered(" in group", g)));
          break;
        }
      }
    }
  }

  void cost(const Spread& s) {
    const double mean = s.sum / static_cast<double>(t_.cost.ranks);
    // Each is rounded for itself.
    constexpr double kRounded = 1.001;
    const bool good = t_.cost.ranks <= t_.meta.ranks && s.least_rank < t_.meta.ranks &&
                      s.greatest_rank < t_.meta.ranks && s.least <= s.greatest &&
                      static_cast<double>(s.least) <= mean * kRounded + 1 &&
                      mean <= static_cast<double>(s.greatest) * kRounded + 1;
    if (!good) add(SectionType::kTotals, kRuleTotals, "what the recorder cost contradicts itself");
  }

  // The summary is that of the ranks, where these are known.
  void costs() {
    if (t_.cost.ranks > 0) cost(t_.cost.memory_bytes), cost(t_.cost.time_ns);
    const RecorderCost own = cost_of(t_.totals);
    const auto same = [](const Spread& a, const Spread& b) {
      return time_code(a.least) == time_code(b.least) &&
             time_code(a.greatest) == time_code(b.greatest);
    };
    if (own.ranks > 0 &&
        (own.ranks != t_.cost.ranks || !same(own.memory_bytes, t_.cost.memory_bytes) ||
         !same(own.time_ns, t_.cost.time_ns)))
      add(SectionType::kTotals, kRuleTotals, "what the recorder cost is not that of the ranks");
  }

  void places() {
    constexpr auto kAt = SectionType::kRanks;
    for (size_t i = 0; i < t_.places.size(); ++i)
      if (const std::string p = problem_of(t_.places[i]); !p.empty())
        add(kAt, kRulePlaces, numbered("place", i, " has " + p));
    const uint64_t ranks = t_.places.empty() ? 0 : t_.meta.ranks;
    if (t_.place_of_rank.size() != ranks ||
        !within(t_.place_of_rank, -1, static_cast<int64_t>(t_.places.size())))
      add(kAt, kRulePlaces, "not every rank has a place");
  }

  void own_work() {
    const OwnWork* before = nullptr;
    for (const OwnWork& work : t_.own_work) {
      const bool is_behind = before == nullptr || work.rank > before->rank ||
                             (work.rank == before->rank && work.thread > before->thread);
      const auto& pieces = work.pieces;
      const bool is_in_order =
          std::adjacent_find(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
            return a.call >= b.call;
          }) == pieces.end();
      if (!is_behind || !is_in_order || pieces.empty() || work.rank >= t_.meta.ranks)
        add(SectionType::kRanks, kRuleOwnWork,
            numbered("the recorder's work on rank", work.rank, " is not in order"));
      before = &work;
    }
  }

  void rest() {
    if (!t_.totals.empty() && t_.totals.size() != t_.meta.ranks)
      add(SectionType::kTotals, kRuleTotals,
          std::to_string(t_.totals.size()) + " totals for " + std::to_string(t_.meta.ranks) +
              " ranks");
    costs(), places(), own_work();
    if (!is_sound(t_.posix, t_.meta.ranks))
      add(SectionType::kPosix, kRulePosix, "POSIX functions contradict themselves");
    for (size_t i = 0; i < t_.losses.size(); ++i) {
      const LossRecord& l = t_.losses[i];
      if (l.reason.empty() || l.rank < -1 || l.rank >= static_cast<int64_t>(t_.meta.ranks))
        add(SectionType::kLosses, kRuleLosses, numbered("loss", i, " has no reason or rank"));
    }
  }

  const TraceData& t_;
  const size_t max_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_content(const TraceData& trace, size_t max_findings) {
  return Checker(trace, max_findings).run();
}

}  // namespace refrain::format
