// Two records of neighbouring ranks become one. Groups of both that made the same calls become one
// group, whose slots then say what explains the values on all of its ranks; groups without a
// partner stay as they are. Definitions, shapes and grammars are united first, so that equal ones
// have one index and can be compared by it.

#include "format/merge/merge.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "format/merge/combine.h"
#include "format/merge/intern.h"
#include "format/merge/renumber.h"
#include "grammar/skeleton.h"

namespace refrain::format {

namespace {

// The definition of the call site, or -1.
uint32_t site_of(const SignatureList& all, size_t t, const ShapeStructure& structure) {
  if (structure.slots.empty() || structure.slots[0] != SlotNature::kDefinition) return UINT32_MAX;
  if (!all.has_states()) return static_cast<uint32_t>(all.value(t, 0));
  const SlotState s = all.state(t, 0);
  return s.alive != 0 ? static_cast<uint32_t>(s.first) : UINT32_MAX;
}

// Equal numbers for grammars that differ in counts only. With one grammar there is nothing to
// compare.
std::vector<uint32_t> skeletons_of(const std::vector<grammar::Grammar>& grammars) {
  if (grammars.size() == 1) return {0};
  Interner known;
  std::vector<uint32_t> out;
  out.reserve(grammars.size());
  for (const grammar::Grammar& g : grammars) out.push_back(known.add(skeleton_key(g)).first);
  return out;
}

uint32_t skeleton_of(const PartialLocation& l, const std::vector<uint32_t>& skeletons) {
  return skeletons[static_cast<size_t>(l.grammars.first())];
}

// What two groups must have in common to become one: calls of equal form in equal order, from equal
// places. Ranks that do something else in another part of the program have nothing in common that
// expressions could say.
// `skeletons`: by grammar, equal where they differ in counts only.
bool same_calls(const PartialGroup& a, const PartialGroup& b, const ShapeTable& shapes,
                const std::vector<uint32_t>& skeletons) {
  if (a.locations.size() != b.locations.size() ||
      (!b.is_like && a.signatures.size() != b.signatures.size()))
    return false;
  for (size_t i = 0; i < a.locations.size(); ++i) {
    if (a.locations[i].thread != b.locations[i].thread ||
        skeleton_of(a.locations[i], skeletons) != skeleton_of(b.locations[i], skeletons))
      return false;
  }
  if (b.is_like) return true;
  const SignatureList &x = a.signatures, &y = b.signatures;
  // Shapes are numbers of one table now (merge_groups): equal numbers are equal shapes.
  if (x.shapes().equal_until(y.shapes()) < x.size()) return false;
  // Equal numbers are equal places.
  for (size_t t = x.is_simple() && y.is_simple() ? x.has_numbers_of(y) : 0; t < x.size(); ++t) {
    const ShapeStructure& structure = shapes.structure(x.shape(t));
    if (site_of(x, t, structure) != site_of(y, t, structure)) return false;
  }
  return true;
}

// Equal where these are the same.
uint64_t calls_hash(const PartialGroup& g, const ShapeTable& shapes,
                    const std::vector<uint32_t>& skeletons) {
  uint64_t sum = g.locations.size();
  const auto add = [&sum](uint64_t v) {
    sum = (sum ^ v) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 32;
  };
  for (const PartialLocation& l : g.locations)
    add(uint64_t{l.thread} << 32 | skeleton_of(l, skeletons));
  for (size_t t = 0; t < g.signatures.size(); ++t) {
    const uint32_t shape = g.signatures.shape(t);
    add(uint64_t{shape} << 32 | site_of(g.signatures, t, shapes.structure(shape)));
  }
  return sum;
}

// As unite(), which makes a key of each: a grammar is as long as the program where no two calls are
// alike, and then mostly the same everywhere.
std::vector<uint32_t> unite_grammars(std::vector<grammar::Grammar>& to,
                                     std::vector<grammar::Grammar>& from) {
  const auto same = [](const grammar::Grammar& x, const grammar::Grammar& y) {
    return x.rule_end == y.rule_end && x.symbols == y.symbols;
  };
  if (from.size() > to.size() || !std::equal(from.begin(), from.end(), to.begin(), same))
    return unite(to, from);
  std::vector<uint32_t> map(from.size());
  std::iota(map.begin(), map.end(), 0u);
  return map;
}

void merge_groups(PartialTrace& a, PartialTrace& b, const std::vector<uint32_t>& definitions) {
  std::vector<uint32_t> shape_map;
  shape_map.reserve(b.shapes.size());
  for (size_t i = 0; i < b.shapes.size(); ++i) shape_map.push_back(a.shapes.add(b.shapes[i]));
  b.shapes.clear();
  const std::vector<uint32_t> grammar_map =
      b.shares_grammars ? std::vector<uint32_t>() : unite_grammars(a.grammars, b.grammars);
  const std::vector<uint32_t> skeletons = skeletons_of(a.grammars);
  const bool same_definitions = is_identity(definitions), same_shapes = is_identity(shape_map),
             same_grammars = is_identity(grammar_map);
  for (PartialGroup& g : b.groups) {
    for (PartialLocation& l : g.locations)
      if (!same_grammars) l.grammars = renumber(l.grammars, grammar_map);
    if (same_definitions && same_shapes) continue;
    renumber_list(g.signatures, a.shapes, shape_map, definitions, same_definitions);
  }
  CommPlaces places(a.definitions, a.world_size);
  const size_t own = a.groups.size();
  // Two are compared as they are.
  const bool is_pair = own == 1 && b.groups.size() == 1;
  const auto hash = [&](const PartialGroup& g) {
    return is_pair ? 0 : calls_hash(g, a.shapes, skeletons);
  };
  std::unordered_multimap<uint64_t, size_t> known;
  for (size_t i = 0; i < own; ++i) known.emplace(hash(a.groups[i]), i);
  for (PartialGroup& g : b.groups) {
    const auto [begin, end] = known.equal_range(hash(g));
    const auto same = std::find_if(begin, end, [&](const auto& one) {
      return same_calls(a.groups[one.second], g, a.shapes, skeletons);
    });
    if (same != end) {
      combine(a.groups[same->second], g, a.shapes, places);
      g = PartialGroup();
    } else {
      if (g.is_like) g.signatures.copy_numbers(a.groups[0].signatures);
      g.is_like = false;
      g.signatures.own_durations();
      a.groups.push_back(std::move(g));
    }
  }
}

// Losses with the same reason and detail are one; unknown amounts stay apart from known ones.
void merge_losses(std::vector<LossRecord>& to, std::vector<LossRecord>& from) {
  for (LossRecord& f : from) {
    const auto same = std::find_if(to.begin(), to.end(), [&](const LossRecord& t) {
      return t.reason == f.reason && t.detail == f.detail && (t.calls == 0) == (f.calls == 0);
    });
    if (same == to.end()) {
      to.push_back(std::move(f));
      continue;
    }
    same->calls += f.calls;
    if (same->rank != f.rank) same->rank = -1;
  }
}

}  // namespace

base::Result<PartialTrace> merge(PartialTrace a, PartialTrace b) {
  if (a.world_size != b.world_size) return base::fail("cannot merge records of different worlds");
  if (b.ranks.empty()) return a;
  if (a.ranks.empty()) return b;
  // The tree pairs neighbours, so that lists of ranks can be appended and runs go on.
  if (a.ranks.last() >= b.ranks.first())
    return base::fail("cannot merge records: ranks out of order");

  // Definitions first, since everything else names them; equal ones of both sides get one index, by
  // their bytes and renumbered references.
  const std::vector<uint32_t> definitions =
      unite(a.definitions, b.definitions, [](Definition& d, const std::vector<uint32_t>& map) {
        for (uint32_t& r : d.refs) {
          if (r < map.size()) r = map[r];
        }
      });
  merge_groups(a, b, definitions);
  a.ranks.append_all(b.ranks);
  a.totals.insert(a.totals.end(), b.totals.begin(), b.totals.end());
  const std::vector<uint32_t> hosts = unite(a.hosts, b.hosts);
  a.host_of_rank.append_all(is_identity(hosts) ? b.host_of_rank : renumber(b.host_of_rank, hosts));
  const std::vector<uint32_t> places = unite(a.places, b.places);
  a.place_of_rank.append_all(is_identity(places) ? b.place_of_rank
                                                 : renumber(b.place_of_rank, places));
  a.own_work.insert(a.own_work.end(), std::make_move_iterator(b.own_work.begin()),
                    std::make_move_iterator(b.own_work.end()));
  a.posix.insert(a.posix.end(), std::make_move_iterator(b.posix.begin()),
                 std::make_move_iterator(b.posix.end()));
  merge_losses(a.losses, b.losses);
  a.text.merge(b.text);  // keeps a's value where both have the key
  a.programs.merge(std::move(b.programs));
  a.duration_ns = std::max(a.duration_ns, b.duration_ns);
  a.lacks_gaps = a.lacks_gaps || b.lacks_gaps;
  return a;
}

}  // namespace refrain::format
