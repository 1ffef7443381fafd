// The grammars of a trace: rules, or the sequence itself where rules are no gain.
#include <zstd.h>

#include <algorithm>

#include "base/wide.h"
#include "format/encode/sections.h"
#include "grammar/fold.h"
#include "grammar/walk.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// Below this a grammar is not worth a second look; above that, a sequence not worth expanding.
constexpr size_t kSmallGrammar = 64;
constexpr uint64_t kMaxSequence = uint64_t{1} << 26;

// Terminals byte by byte: first the low byte of each, then the next one. That is what an entropy
// coder wants of a sequence that has no order.
std::string sequence_of(const grammar::Grammar& g) {
  grammar::Cursor cursor(g);
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

}  // namespace

void write_grammars(Encoding& in, ByteWriter& out) {
  out.put_varint(in.trace.grammars.size());
  for (const grammar::Grammar& g : in.trace.grammars) {
    ByteWriter rules, numbers;
    grammar::write(g, rules, &numbers);
    const uint64_t length = grammar::lengths(g).total();
    const size_t bytes = rules.size() + numbers.size();
    // A terminal takes most of a byte at best, so a grammar that is a few times shorter has won.
    const bool doubtful = bytes >= kSmallGrammar && length <= kMaxSequence && length <= 4 * bytes;
    if (doubtful) {
      const std::string sequence = sequence_of(g);
      if (compressed_bytes(sequence) <
          compressed_bytes(rules.view()) + compressed_bytes(numbers.view())) {
        out.put_u8(static_cast<uint8_t>(GrammarForm::kSequence));
        base::put_wide(in.numbers, length);
        out.put_bytes(sequence.data(), sequence.size());
        continue;
      }
    }
    out.put_u8(static_cast<uint8_t>(GrammarForm::kRules));
    out.put_bytes(rules.view().data(), rules.size());
    in.numbers.put_bytes(numbers.view().data(), numbers.size());
  }
}

}  // namespace refrain::format
