// The grammars of a trace: rules, or the sequence itself where rules are no gain.
#include <zstd.h>

#include <algorithm>
#include <span>

#include "base/wide.h"
#include "format/encode/columns.h"
#include "format/encode/section_writers.h"
#include "format/signatures/file_forms.h"
#include "grammar/fold.h"
#include "grammar/skeleton.h"
#include "grammar/terminal_cursor.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// Below this a grammar is not worth a second look; above that, a sequence not worth expanding.
constexpr size_t kSmallGrammar = 64;
constexpr uint64_t kMaxSequence = uint64_t{1} << 26;

// Terminals byte by byte: first the low byte of each, then the next one. That is what an entropy
// coder wants of a sequence that has no order.
std::string sequence_of(const grammar::Grammar& g) {
  grammar::TerminalCursor cursor(g);
  std::vector<uint32_t> all;
  all.reserve(cursor.remaining());
  uint32_t highest = 0;
  while (!cursor.at_end()) {
    all.push_back(cursor.next());
    highest = std::max(highest, all.back());
  }
  ByteWriter out;
  uint8_t width = 1;
  while (width < 4 && highest >> (8 * width) != 0) ++width;
  out.put_u8(width);
  for (uint8_t byte = 0; byte < width; ++byte) {
    for (const uint32_t t : all) out.put_u8(static_cast<uint8_t>(t >> (8 * byte)));
  }
  return out.take();
}

size_t compressed_bytes(std::string_view raw) {
  constexpr int kQuick = 3;
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  const size_t n = ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), kQuick);
  return ZSTD_isError(n) != 0 ? raw.size() : std::min(n, raw.size());
}

void write_one(Encoding& in, const grammar::Grammar& g, ByteWriter& out) {
  ByteWriter rules, numbers;
  grammar::write(g, rules, &numbers);
  uint64_t length = 0;
  const size_t bytes = rules.size() + numbers.size();
  // A terminal takes most of a byte at best, so a grammar that is a few times shorter has won.
  const bool doubtful = bytes >= kSmallGrammar && grammar::checked_length(g, &length) &&
                        length <= kMaxSequence && length <= 4 * bytes;
  if (doubtful) {
    const std::string sequence = sequence_of(g);
    if (compressed_bytes(sequence) <
        compressed_bytes(rules.view()) + compressed_bytes(numbers.view())) {
      out.put_u8(static_cast<uint8_t>(GrammarForm::kSequence));
      base::put_wide(in.numbers, length);
      out.put_bytes(sequence.data(), sequence.size());
      return;
    }
  }
  out.put_u8(static_cast<uint8_t>(GrammarForm::kRules));
  out.put_bytes(rules.view().data(), rules.size());
  in.numbers.put_bytes(numbers.view().data(), numbers.size());
}

using Grammars = std::span<const grammar::Grammar>;

// Twice where the members differ: that a symbol is repeated is all that the rules say of it.
grammar::Grammar pattern_of(Grammars members) {
  grammar::Grammar pattern = members.front();
  for (size_t i = 0; i < pattern.symbols.size(); ++i) {
    uint64_t& count = pattern.symbols[i].count;
    const auto differs = [&](const grammar::Grammar& g) { return g.symbols[i].count != count; };
    if (std::any_of(members.begin(), members.end(), differs)) count = kCountThatDiffers;
  }
  return pattern;
}

void write_family(Encoding& in, Grammars members, ByteWriter& out) {
  ColumnWriter column(out, in.numbers);
  out.put_u8(static_cast<uint8_t>(GrammarForm::kFamily));
  column.scaled(members.size());
  const grammar::Grammar pattern = pattern_of(members);
  grammar::write(pattern, out, &in.numbers);
  std::vector<int64_t> counts(members.size());
  for (size_t i = 0; i < pattern.symbols.size(); ++i) {
    if (pattern.symbols[i].count == 1) continue;
    auto before = static_cast<int64_t>(pattern.symbols[i].count);
    for (size_t m = 0; m < members.size(); ++m)
      counts[m] = static_cast<int64_t>(members[m].symbols[i].count);
    column.number(counts, &before);
  }
}

}  // namespace

void write_grammars(Encoding& in, ByteWriter& out) {
  const Grammars all = in.trace.grammars;
  std::vector<Grammars> families;
  for (size_t i = 0; i < all.size();) {
    size_t end = i + 1;
    while (end < all.size() && grammar::have_same_skeleton(all[i], all[end])) ++end;
    const bool has_room = end == i + 1 || in.spend(end - i, grammar_cost(all[i].symbols.size()));
    for (; i < end; i = has_room ? end : i + 1)
      families.push_back(all.subspan(i, has_room ? end - i : 1));
  }
  out.put_varint(families.size());
  for (const Grammars& family : families) {
    if (family.size() == 1)
      write_one(in, family.front(), out);
    else
      write_family(in, family, out);
  }
}

}  // namespace refrain::format
