// Writers of the sections that have no file of their own, in the layouts of docs/format.md.

#include "format/encode/section_writers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/nested_runs.h"
#include "base/wide.h"
#include "format/codes/quantise.h"
#include "format/codes/run_codec.h"
#include "format/encode/columns.h"
#include "format/signatures/file_forms.h"
#include "format/signatures/walk.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// Position of a well-known key in kTextKeys plus 1; 0 for any other.
uint64_t key_number(const std::string& key) {
  const auto it = std::find(kTextKeys.begin(), kTextKeys.end(), key);
  return it == kTextKeys.end() ? 0 : static_cast<uint64_t>(it - kTextKeys.begin()) + 1;
}

// Every second and later name of a series is left out.
void write_hosts(const std::vector<std::string>& hosts, ByteWriter& out, ByteWriter& numbers) {
  ByteWriter series;
  uint64_t count = 0;
  for (size_t i = 0; i < hosts.size(); ++count) {
    uint64_t more = 0;
    // A name without a number has no next, which is no name.
    while (i + more + 1 < hosts.size() && !hosts[i + more + 1].empty() &&
           hosts[i + more + 1] == next_name(hosts[i + more]))
      ++more;
    series.put_string(hosts[i]);
    base::put_wide(numbers, more);
    i += more + 1;
  }
  out.put_varint(count);
  out.put_bytes(series.view().data(), series.size());
}

}  // namespace

void write_meta(Encoding& in, ByteWriter& out) {
  const Meta& m = in.trace.meta;
  base::put_wide(in.numbers, m.ranks);
  in.numbers.put_u64(m.duration_ns);
  out.put_varint(m.text.size());
  for (const auto& [key, value] : m.text) {
    const uint64_t number = key_number(key);
    out.put_varint(number);
    if (number == 0) out.put_string(key);
    out.put_string(value);
  }
  write_hosts(m.hosts, out, in.numbers);
  const auto& runs = m.host_of_rank.runs();
  const uint64_t each = runs.empty() || runs[0].step != 0 ? 1 : runs[0].count;
  const bool is_blocks = m.host_of_rank == host_blocks(m.ranks, each);
  out.put_u8(static_cast<uint8_t>(is_blocks ? HostForm::kBlocks : HostForm::kList));
  if (is_blocks) {
    base::put_wide(in.numbers, each);
  } else {
    write_runs(m.host_of_rank, out, in.numbers);
  }
}

void write_tables(Encoding& in, ByteWriter& out) {
  out.put_varint(in.trace.tables.size());
  for (const base::RunList& t : in.trace.tables) write_runs(t, out, in.numbers);
}

namespace {

// Mostly what the group before has for the same terminal (0), or the next number (1); the same code
// again and again is written once. Where a long loop goes through several families, a list.
void write_group_signatures(const std::vector<uint32_t>& all, const std::vector<uint32_t>* before,
                            ColumnWriter& column, ByteWriter& out, ByteWriter& numbers) {
  std::vector<std::pair<uint64_t, uint64_t>> codes;  // code, how often
  base::NestedRuns list;
  int64_t next = 0;
  for (size_t t = 0; t < all.size(); ++t) {
    const int64_t s = all[t];
    const bool same = before != nullptr && t < before->size() && (*before)[t] == all[t];
    const uint64_t code = same ? 0 : 1 + base::zigzag(s - next);
    if (codes.empty() || codes.back().first != code) codes.emplace_back(code, 0);
    ++codes.back().second;
    list.append(s);
    next = s + 1;
  }
  constexpr size_t kItemBytes = 10, kCodeBytes = 2;
  const bool is_list = kItemBytes * list.item_count() < kCodeBytes * codes.size();
  out.put_u8(static_cast<uint8_t>(is_list ? SignaturesForm::kList : SignaturesForm::kCodes));
  if (is_list) return write_runs(list.runs(), out, numbers);
  for (const auto& [code, times] : codes) {
    column.scaled(code, kScaledSignatureFrom);
    column.scaled(times);
  }
}

using Groups = std::span<const Group>;

// What differs in loop counts only is one group in the file.
std::vector<Groups> families_of(Groups all) {
  std::vector<Groups> out;
  for (size_t i = 0; i < all.size();) {
    size_t end = i + 1;
    while (end < all.size() && all[end].is_like_before) ++end;
    out.push_back(all.subspan(i, end - i));
    i = end;
  }
  return out;
}

// In order of their ranks: each rank, and whose it is.
std::vector<std::pair<int64_t, uint32_t>> members_of(Groups family) {
  std::vector<std::pair<int64_t, uint32_t>> members;
  for (uint32_t g = 0; g < family.size(); ++g) {
    for (uint64_t i = 0; i < family[g].ranks.size(); ++i)
      members.emplace_back(family[g].ranks.at(i), g);
  }
  std::sort(members.begin(), members.end());
  return members;
}

void write_ranks_of(Groups family, ByteWriter& out, ByteWriter& numbers) {
  if (family.size() == 1) return write_runs(family.front().ranks, out, numbers);
  base::RunList ranks;
  for (const auto& [rank, group] : members_of(family)) ranks.append(rank);
  write_runs(ranks, out, numbers);
}

void write_locations(Groups family, ByteWriter& out, ByteWriter& numbers) {
  out.put_varint(family.front().locations.size());
  for (size_t l = 0; l < family.front().locations.size(); ++l) {
    const ThreadGrammar& first = family.front().locations[l];
    out.put_varint(first.thread);
    const bool is_same = std::all_of(family.begin(), family.end(), [&](const Group& g) {
      return g.locations[l].grammar == first.grammar;
    });
    out.put_varint(is_same ? first.grammar + 1 : 0);
    if (is_same) continue;
    base::RunList grammars;
    for (const auto& [rank, group] : members_of(family))
      grammars.append(family[group].locations[l].grammar);
    write_runs(grammars, out, numbers);
  }
}

}  // namespace

void write_groups(Encoding& in, ByteWriter& out) {
  const std::vector<Groups> all = families_of(in.trace.groups);
  ColumnWriter column(out, in.numbers);
  out.put_varint(all.size());
  for (const Groups& g : all) write_ranks_of(g, out, in.numbers);
  for (const Groups& g : all) write_locations(g, out, in.numbers);
  for (const Groups& g : all) column.scaled(g.front().signatures.size());
  const std::vector<uint32_t>* before = nullptr;
  for (const Groups& g : all) {
    write_group_signatures(g.front().signatures, before, column, out, in.numbers);
    before = &g.front().signatures;
  }
}

void write_losses(Encoding& in, ByteWriter& out) {
  out.put_varint(in.trace.losses.size());
  for (const LossRecord& l : in.trace.losses) {
    out.put_string(l.reason);
    out.put_varint(l.calls);
    out.put_zigzag(l.rank);
    out.put_string(l.detail);
  }
}

void write_numbers(Encoding& in, ByteWriter& out) {
  const std::string_view bytes = in.numbers.view();
  out.put_bytes(bytes.data(), bytes.size());
}

}  // namespace refrain::format
