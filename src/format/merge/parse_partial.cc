// PartialTrace from the bytes that serialise() made of it. Both ends are the same build, yet this
// is as strict as the file's decoder: a damaged message must not take the traced program down.
#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "format/limits.h"
#include "format/merge/list_bytes.h"
#include "format/merge/merge.h"
#include "format/places.h"
#include "format/posix.h"
#include "grammar/grammar.h"

namespace refrain::format {

namespace {

using base::ByteReader;
using base::ByteWriter;

class Parser {
 public:
  // `beside`: the trace that the result goes into, or null.
  explicit Parser(std::string_view bytes, PartialTrace* beside = nullptr)
      : in_(bytes), bytes_(bytes.size()), beside_(beside) {}

  // Later parts are checked against earlier ones: shapes name definitions, groups name grammars and
  // shapes.
  bool run(PartialTrace& p) {
    p.world_size = in_.varint();
    // First, because it bounds everything that is by rank.
    if (p.world_size == 0 || p.world_size > kMaxRanks) return false;
    return definitions(p) && shapes(p) && grammars(p) && groups(p) && rest(p) && in_.ok() &&
           in_.at_end();
  }

 private:
  // A definition refers to those before it only: references have no cycles.
  bool definitions(PartialTrace& p) {
    const uint64_t n = in_.count(kMaxDefinitions);
    for (uint64_t i = 0; i < n && in_.ok(); ++i) {
      Definition d;
      // An unknown kind is carried along: nothing here depends on it.
      d.kind = static_cast<DefinitionKind>(in_.u8());
      d.payload = in_.string(kMaxDefinitionBytes);
      // count() also compares with the bytes that are left, so a wrong length cannot make memory be
      // taken.
      const uint64_t refs = in_.count(kMaxDefinitionRefs);
      for (uint64_t k = 0; k < refs && in_.ok(); ++k) {
        const uint64_t r = in_.varint();
        if (r >= i) return false;
        d.refs.push_back(static_cast<uint32_t>(r));
      }
      p.definitions.push_back(std::move(d));
    }
    return in_.ok();
  }
  // A shape is a signature without the values in its slots. Each is there once, or the numbers of
  // shapes would mean two things.
  bool shapes(PartialTrace& p) {
    const uint64_t n = in_.count(kMaxSignatures);
    for (uint64_t i = 0; i < n && in_.ok(); ++i) {
      bool is_new = false;
      const uint32_t shape = p.shapes.add(in_.string(kMaxSignatureBytes), &is_new);
      if (!is_new || !p.shapes.structure(shape).is_good) return false;
    }
    return in_.ok();
  }
  // How many signatures a grammar needs is noted, as the groups that use it come later.
  bool grammars(PartialTrace& p) {
    if (beside_ != nullptr && are_grammars_beside()) return p.shares_grammars = true;
    const uint64_t n = in_.count(kMaxGrammars);
    for (uint64_t i = 0; i < n && in_.ok(); ++i) {
      // A grammar of a few rules may stand for very many calls; what it may cost is bound by the
      // length of the message.
      auto g = grammar::read(in_, grammar::Limits{bytes_});
      if (!g.ok()) return false;
      terminals_.push_back(terminals_of(*g));
      p.grammars.push_back(std::move(*g));
    }
    return in_.ok();
  }
  // What their bytes say. They are not made where those beside are the same: a grammar is as long
  // as the program where no two calls are alike.
  bool are_grammars_beside() {
    constexpr size_t kMostKept = 64 << 10;
    WrittenGrammars& known = beside_->written;
    if (known.bytes.empty() || known.count != beside_->grammars.size()) {
      ByteWriter out;
      put(out, beside_->grammars);
      known = {beside_->grammars.size(), out.take(), {}};
      for (const grammar::Grammar& g : beside_->grammars)
        known.terminals.push_back(terminals_of(g));
    }
    const bool are_same = in_.rest().starts_with(known.bytes);
    if (are_same) {
      in_.bytes(known.bytes.size());
      terminals_ = known.terminals;
    }
    if (known.bytes.size() > kMostKept) known = {};
    return are_same;
  }
  static uint64_t terminals_of(const grammar::Grammar& g) {
    uint64_t terminals = 0;
    for (const grammar::Symbol& s : g.symbols)
      if (!s.is_rule) terminals = std::max(terminals, uint64_t{s.id} + 1);
    return terminals;
  }
  bool groups(PartialTrace& p) {
    const uint64_t n = in_.count(p.world_size);
    like_ = n == 1 ? group_beside(p) : nullptr;
    for (uint64_t i = 0; i < n && in_.ok(); ++i) {
      p.groups.emplace_back();
      if (!group(p, p.groups.back())) return false;
    }
    return in_.ok();
  }
  // The one that the only group of the message may be like, if numbers of definitions and shapes
  // mean the same beside.
  const PartialGroup* group_beside(const PartialTrace& p) const {
    if (beside_ == nullptr || beside_->groups.size() != 1 ||
        p.definitions.size() > beside_->definitions.size() ||
        p.shapes.size() > beside_->shapes.size() ||
        !std::equal(p.definitions.begin(), p.definitions.end(), beside_->definitions.begin()))
      return nullptr;
    for (uint32_t i = 0; i < p.shapes.size(); ++i)
      if (p.shapes[i] != beside_->shapes[i]) return nullptr;
    return &beside_->groups[0];
  }
  // Ranks that did the same. For each thread, which rank has which grammar; then the signatures, in
  // one of three forms: plain values of a single rank, values that all ranks share (kSettled), or
  // each slot by itself (kEach).
  bool group(PartialTrace& p, PartialGroup& g) {
    if (!ranks(g.ranks, p.world_size) || g.ranks.empty()) return false;
    const uint64_t locations = in_.count(kMaxLocations);
    for (uint64_t i = 0; i < locations && in_.ok(); ++i) {
      PartialLocation& l = g.locations.emplace_back();
      l.thread = static_cast<uint32_t>(in_.varint());
      l.grammars = base::NestedRuns::read(in_, g.ranks.size());
      if (l.grammars.size() != g.ranks.size() || !within(l.grammars, terminals_.size()))
        return false;
    }
    const uint64_t n = in_.count(kMaxSignatures);
    const auto form = static_cast<ListForm>(in_.u8());
    if (form == ListForm::kEach) {
      for (uint64_t t = 0; t < n && in_.ok(); ++t) {
        if (!signature(p, g, t)) return false;
      }
    } else if (!in_.ok() || form != (g.ranks.size() == 1 ? ListForm::kPlain : ListForm::kSettled)) {
      return false;
    } else if (like_ != nullptr && ListMatcher(in_, like_->signatures).matches(n)) {
      g.is_like = true;
      if (form == ListForm::kSettled) g.signatures.settle_all();
    } else if (!ListReader(in_, p.shapes, p.definitions.size()).read(form, n, g.signatures)) {
      return false;
    }
    if (in_.ok()) g.signatures.durations().take(in_, n);
    if (in_.u8() != 0 && in_.ok()) g.signatures.gaps().take(in_, n);
    return in_.ok() && has_signatures(g, n);
  }
  // One group, one form: plain values where it has one rank.
  bool signature(const PartialTrace& p, PartialGroup& g, uint64_t terminal) {
    const uint64_t head = in_.varint(), shape = head >> 1;
    if (!in_.ok() || shape >= p.shapes.size()) return false;
    // By an earlier call, or following them would not end (GroupView::place).
    for (const uint32_t request : p.shapes.requests(shape)) {
      if (request >= terminal) return false;
    }
    const bool is_plain = g.ranks.size() == 1, is_short = (head & 1) != 0;
    // A single rank has nothing that would need a state.
    if (is_plain && !is_short) return false;
    g.signatures.begin(static_cast<uint32_t>(shape));
    for (const SlotNature nature : p.shapes.structure(shape).slots) {
      const bool is_int = nature == SlotNature::kInt;
      if (is_short) {
        const int64_t v = in_.zigzag();
        if (!is_int && !is_definition(p, v)) return false;
        is_plain ? g.signatures.push_value(v) : g.signatures.push_settled(v);
        continue;
      }
      SlotState slot{in_.u8(), 0, 0};
      if (slot.alive == 0) {
        base::NestedRuns values = base::NestedRuns::read(in_, g.ranks.size());
        if (!in_.ok() || values.size() != g.ranks.size() ||
            (!is_int && !definitions_only(p, values)))
          return false;
        g.signatures.push_values(std::move(values));
        continue;
      }
      slot.first = in_.zigzag();
      // Before a second sample there is no slope.
      if ((slot.alive & SlotState::kSlopeFixed) != 0) slot.slope = in_.zigzag();
      if (!in_.ok() || !is_good(p, is_int, slot)) return false;
      g.signatures.push_state(slot);
    }
    return in_.ok();
  }
  static bool is_definition(const PartialTrace& p, int64_t v) {
    return v >= 0 && static_cast<uint64_t>(v) < p.definitions.size();
  }
  // What is known of a slot whose ranks have different values: which rank expressions still fit
  // (alive), and the first value. A definition is the same on all ranks, or it is a list.
  static bool is_good(const PartialTrace& p, bool is_int, const SlotState& slot) {
    if (is_int)
      return (slot.alive & ~(SlotState::kAllAlive | SlotState::kSlopeFixed)) == 0 &&
             (slot.alive & SlotState::kAllAlive) != 0;
    return slot.alive == SlotState::kSettled && slot.slope == 0 && is_definition(p, slot.first);
  }
  // Every terminal of the group's grammars has one. A run of grammars is expanded: it is at most as
  // long as there are ranks.
  bool has_signatures(const PartialGroup& g, uint64_t signatures) const {
    bool good = true;
    for (const PartialLocation& l : g.locations) {
      l.grammars.for_each_run([&](int64_t start, int64_t step, uint64_t count) {
        for (uint64_t i = 0; i < (step == 0 ? 1 : count) && good; ++i)
          good =
              terminals_[static_cast<size_t>(start + step * static_cast<int64_t>(i))] <= signatures;
      });
    }
    return good;
  }
  static bool definitions_only(const PartialTrace& p, const base::NestedRuns& values) {
    return within(values, p.definitions.size());
  }
  static bool within(const base::NestedRuns& values, uint64_t limit) {
    const auto n = static_cast<int64_t>(limit);
    bool good = true;
    values.for_each_run([&](int64_t start, int64_t step, uint64_t count) {
      // A run is monotone unless it overflows; the limits on counts and sizes rule that out.
      good = good && start >= 0 && start < n && step > -n && step < n;
      if (!good) return;
      const int64_t last = start + step * static_cast<int64_t>(count - 1);
      good = last >= 0 && last < n;
    });
    return good;
  }
  // Ascending ranks below `limit`.
  bool ranks(base::NestedRuns& list, uint64_t limit) {
    list = base::NestedRuns::read(in_, limit);
    const auto end = static_cast<int64_t>(limit);
    int64_t before = -1;
    bool good = in_.ok();
    list.for_each_run([&](int64_t start, int64_t step, uint64_t count) {
      good = good && start > before && start < end && step >= 0 && step <= end;
      if (!good || (count > 1 && step == 0)) {
        good = false;
        return;
      }
      before = start + step * static_cast<int64_t>(count - 1);
    });
    return good && before < end;
  }
  bool rest(PartialTrace& p) {
    if (!ranks(p.ranks, p.world_size)) return false;
    const uint64_t totals = in_.count(p.world_size);
    // Lists by rank have one entry for each rank that is in the record, and for no other.
    if (totals != p.ranks.size() || totals > in_.remaining()) return false;
    p.totals.reserve(totals);
    for (uint64_t i = 0; i < totals; ++i) {
      TotalCodes t;
      t.in_mpi = in_.u16(), t.outside = in_.u16();
      t.memory = in_.u16(), t.time = in_.u16();
      t.own = in_.u16(), t.switches = in_.u8();
      // 0 of the memory says that nothing is known (leaf.cc, codes_of).
      if (t.memory == 0 && t.time != 0) return false;
      p.totals.push_back(t);
    }
    const uint64_t hosts = in_.count(kMaxHosts);
    for (uint64_t i = 0; i < hosts && in_.ok(); ++i)
      p.hosts.emplace_back(in_.string(kMaxTextBytes));
    p.host_of_rank = base::NestedRuns::read(in_, p.world_size);
    if (p.host_of_rank.size() != p.ranks.size()) return false;
    if (!places(p) || !own_work(p) || !posix(p)) return false;
    const uint64_t losses = in_.count(kMaxLosses);
    for (uint64_t i = 0; i < losses && in_.ok(); ++i) {
      LossRecord l;
      l.reason = in_.string(kMaxTextBytes);
      l.calls = in_.varint();
      l.rank = in_.zigzag();
      l.detail = in_.string(kMaxTextBytes);
      p.losses.push_back(std::move(l));
    }
    const uint64_t texts = in_.count(kMaxTexts);
    for (uint64_t i = 0; i < texts && in_.ok(); ++i) {
      std::string key(in_.string(kMaxTextBytes));
      p.text[std::move(key)] = in_.string(kMaxTextBytes);
    }
    if (!p.programs.read(in_, p.world_size)) return false;
    p.duration_ns = in_.varint();
    p.lacks_gaps = in_.u8() != 0;
    return in_.ok();
  }

  bool places(PartialTrace& p) {
    const uint64_t n = in_.count(kMaxPlaces);
    for (uint64_t i = 0; i < n && in_.ok(); ++i) {
      // As bytes: equal places are found by comparing them, and are read when the file is made.
      p.places.emplace_back(in_.string(kMaxTextBytes));
      ByteReader place(p.places.back());
      if (p.places.back().empty()) continue;
      if (!problem_of(read_place(place)).empty() || !place.ok() || !place.at_end()) return false;
    }
    p.place_of_rank = base::NestedRuns::read(in_, p.world_size);
    return p.place_of_rank.size() == p.ranks.size();
  }
  bool posix(PartialTrace& p) {
    const uint64_t n = in_.count(p.world_size);
    for (uint64_t i = 0; i < n && in_.ok(); ++i) {
      const uint64_t rank = in_.varint();
      if (rank >= p.world_size || (i > 0 && rank <= p.posix.back().rank)) return false;
      p.posix.push_back({rank, read_posix_uses(in_)});
    }
    return in_.ok();
  }
  // Ranks and calls are in order, as those of each part are.
  bool own_work(PartialTrace& p) {
    const uint64_t n = in_.count(UINT64_MAX);
    for (uint64_t i = 0; i < n && in_.ok(); ++i) {
      OwnWork& work = p.own_work.emplace_back();
      work.rank = in_.varint();
      work.thread = static_cast<uint32_t>(in_.varint());
      if (work.rank >= p.world_size) return false;
      const uint64_t pieces = in_.count(UINT64_MAX);
      for (uint64_t k = 0; k < pieces && in_.ok(); ++k) {
        const uint64_t call = in_.varint();
        work.pieces.push_back({call, in_.varint()});
      }
    }
    return in_.ok();
  }

  ByteReader in_;
  const size_t bytes_;               // every terminal takes one at least
  std::vector<uint64_t> terminals_;  // by grammar: how many it may have
  PartialTrace* const beside_;
  const PartialGroup* like_ = nullptr;  // what the only group may be like
};

}  // namespace

base::Result<PartialTrace> parse(std::string_view bytes) {
  PartialTrace p;
  if (!Parser(bytes).run(p)) return base::fail("damaged record of a rank in the merge");
  for (PartialGroup& g : p.groups) g.signatures.own_durations();
  return p;
}

base::Result<PartialTrace> merge_bytes(PartialTrace a, std::string_view bytes) {
  PartialTrace b;
  const bool is_alone = a.ranks.empty();  // there is nothing to merge it with
  if (!Parser(bytes, is_alone ? nullptr : &a).run(b))
    return base::fail("damaged record of a rank in the merge");
  if (is_alone || b.ranks.empty())
    for (PartialGroup& g : b.groups) g.signatures.own_durations();
  return merge(std::move(a), std::move(b));
}

}  // namespace refrain::format
