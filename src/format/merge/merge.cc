#include "format/merge/merge.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "format/checksum.h"
#include "format/merge/group.h"
#include "format/merge/hypotheses.h"
#include "format/merge/intern.h"
#include "grammar/skeleton.h"

namespace refrain::format {

namespace {

bool is_identity(const std::vector<uint32_t>& map) {
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] != i) return false;
  }
  return true;
}

base::NestedRuns renumber(const base::NestedRuns& list, const std::vector<uint32_t>& map) {
  base::NestedRuns out;
  list.for_each_run([&](int64_t start, int64_t step, uint64_t count) {
    const auto first = static_cast<uint64_t>(start);
    if (step == 0) return out.append_run(first < map.size() ? map[first] : -1, 0, count);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t v = first + static_cast<uint64_t>(step) * i;
      out.append(v < map.size() ? map[v] : -1);
    }
  });
  return out;
}

void renumber_definitions(PartialSignature& sig, const ShapeInfo& shape,
                          const std::vector<uint32_t>& map) {
  for (size_t i = 0; i < shape.slots.size(); ++i) {
    if (shape.slots[i] != SlotNature::kDefinition) continue;
    if (i < sig.values.size() && static_cast<uint64_t>(sig.values[i]) < map.size())
      sig.values[i] = map[static_cast<size_t>(sig.values[i])];
    if (i >= sig.slots.size()) continue;
    SlotState& s = sig.slots[i];
    if (s.alive == 0) {
      s.values = renumber(s.values, map);
    } else if (static_cast<uint64_t>(s.first) < map.size()) {
      s.first = map[static_cast<size_t>(s.first)];
    }
  }
}

// The definition of the call site, or -1.
uint32_t site_of(const PartialSignature& s, const ShapeInfo& shape) {
  if (shape.slots.empty() || shape.slots[0] != SlotNature::kDefinition) return UINT32_MAX;
  if (s.slots.empty()) return s.values.empty() ? UINT32_MAX : static_cast<uint32_t>(s.values[0]);
  return s.slots[0].alive != 0 ? static_cast<uint32_t>(s.slots[0].first) : UINT32_MAX;
}

// What two groups must have in common to become one: calls of equal form in equal order, from equal
// places. Ranks that do something else in another part of the program have nothing in common that
// expressions could say.
// `skeletons`: by grammar, equal where they differ in counts only.
std::vector<uint32_t> group_key(const PartialGroup& g, const std::vector<ShapeInfo>& shapes,
                                const std::vector<uint32_t>& skeletons) {
  std::vector<uint32_t> key;
  key.reserve(2 * (g.locations.size() + g.signatures.size()) + 1);
  key.push_back(static_cast<uint32_t>(g.locations.size()));
  for (const PartialLocation& l : g.locations) {
    key.push_back(l.thread);
    key.push_back(skeletons[static_cast<size_t>(l.grammars.first())]);
  }
  for (size_t t = 0; t < g.signatures.size(); ++t) {
    const PartialSignature s = g.signatures[t];
    key.push_back(s.shape);
    key.push_back(site_of(s, shapes[s.shape]));
  }
  return key;
}

std::vector<uint32_t> skeletons_of(const std::vector<grammar::Grammar>& grammars) {
  Interner known;
  std::vector<uint32_t> out;
  out.reserve(grammars.size());
  for (const grammar::Grammar& g : grammars) out.push_back(known.add(skeleton_key(g)).first);
  return out;
}

struct KeyHash {
  size_t operator()(const std::vector<uint32_t>& key) const {
    return hash64(key.data(), key.size() * sizeof(uint32_t));
  }
};

// Merges the slot values of `b` into `a`; the ranks of both are still apart.
void combine(PartialGroup& a, PartialGroup& b, const std::vector<ShapeInfo>& shapes,
             Places& places) {
  GroupView view_a(a, shapes, places), view_b(b, shapes, places);
  const std::vector<Place> first_a = view_a.first_places(), first_b = view_b.first_places();
  SignatureList both;
  for (uint32_t t = 0; t < a.signatures.size(); ++t) {
    PartialSignature sa = a.signatures[t], sb = b.signatures[t];
    promote(sa, shapes[sa.shape], first_a[t]);
    promote(sb, shapes[sb.shape], first_b[t]);
    add_durations(sa.duration, sb.duration);
    for (size_t i = 0; i < sa.slots.size(); ++i) {
      SlotState& x = sa.slots[i];
      const SlotState& y = sb.slots[i];
      if (x.alive != 0 && y.alive != 0) {
        SlotState common = x;
        intersect(common, first_a[t], y, first_b[t]);
        if (common.alive != 0) {
          x = std::move(common);
          continue;
        }
      }
      // Nothing explains both: from here on the values themselves. A definition slot that gets a
      // table may be the communicator that later places depend on; its first values stay a's.
      if (x.alive != 0) {
        x.values = materialise(x, first_a[t], view_a, t, a.ranks.size());
        x.alive = 0;
      }
      x.values.append_all(y.alive != 0 ? materialise(y, first_b[t], view_b, t, b.ranks.size())
                                       : y.values);
    }
    both.push_back(sa);
  }
  a.signatures = std::move(both);
  for (size_t l = 0; l < a.locations.size(); ++l)
    a.locations[l].grammars.append_all(b.locations[l].grammars);
  a.ranks.append_all(b.ranks);
}

void merge_groups(PartialTrace& a, PartialTrace& b, const std::vector<uint32_t>& definitions) {
  const std::vector<uint32_t> shape_map = unite(a.shapes, b.shapes);
  const std::vector<uint32_t> grammar_map = unite(a.grammars, b.grammars);
  const std::vector<ShapeInfo> shapes = inspect_all(a.shapes);
  const std::vector<uint32_t> skeletons = skeletons_of(a.grammars);
  const bool same_definitions = is_identity(definitions), same_shapes = is_identity(shape_map),
             same_grammars = is_identity(grammar_map);
  for (PartialGroup& g : b.groups) {
    for (PartialLocation& l : g.locations)
      if (!same_grammars) l.grammars = renumber(l.grammars, grammar_map);
    if (same_definitions && same_shapes) continue;
    SignatureList renumbered;
    for (size_t t = 0; t < g.signatures.size(); ++t) {
      PartialSignature s = g.signatures[t];
      s.shape = shape_map[s.shape];
      if (!same_definitions) renumber_definitions(s, shapes[s.shape], definitions);
      renumbered.push_back(s);
    }
    g.signatures = std::move(renumbered);
  }
  Places places(a.definitions, a.world_size);
  std::unordered_map<std::vector<uint32_t>, size_t, KeyHash> known;
  for (size_t i = 0; i < a.groups.size(); ++i)
    known.emplace(group_key(a.groups[i], shapes, skeletons), i);
  const size_t own = a.groups.size();
  for (PartialGroup& g : b.groups) {
    const auto it = known.find(group_key(g, shapes, skeletons));
    if (it != known.end() && it->second < own) {
      combine(a.groups[it->second], g, shapes, places);
    } else {
      a.groups.push_back(std::move(g));
    }
  }
}

// Losses with the same reason and detail are one; unknown amounts stay apart from known ones.
void merge_losses(std::vector<Loss>& to, std::vector<Loss>& from) {
  for (Loss& f : from) {
    const auto same = std::find_if(to.begin(), to.end(), [&](const Loss& t) {
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
  if (a.ranks.last() >= b.ranks.first())
    return base::fail("cannot merge records: ranks out of order");

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
  merge_losses(a.losses, b.losses);
  a.text.merge(b.text);  // keeps a's value where both have the key
  a.duration_ns = std::max(a.duration_ns, b.duration_ns);
  return a;
}

}  // namespace refrain::format
