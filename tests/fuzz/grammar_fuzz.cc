// Any bytes as a grammar, and any bytes as a sequence: what is read is valid, and is written and
// read again as the same; a sequence comes back out of Builder as it went in, at every point.
#include <algorithm>
#include <vector>

#include "grammar/builder.h"
#include "grammar/concatenate.h"
#include "grammar/fold.h"
#include "grammar/rename.h"
#include "grammar/terminal_cursor.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

using grammar::Grammar;
using grammar::Terminal;

constexpr uint64_t kTerminals = 1000;
constexpr uint64_t kMaxExpanded = 4096;

void walk_some(const Grammar& g, uint64_t length) {
  grammar::TerminalCursor cursor(g);
  require(cursor.remaining() == length, "the cursor knows the length");
  for (const uint64_t from : {uint64_t{0}, length / 2, length - std::min<uint64_t>(length, 20)}) {
    cursor.seek(from);
    for (int i = 0; i < 20 && !cursor.at_end(); ++i)
      require(cursor.next() < kTerminals, "terminals are within the limit");
  }
}

Grammar read_back(const Grammar& g, bool with_numbers) {
  base::ByteWriter out, numbers;
  grammar::write(g, out, with_numbers ? &numbers : nullptr);
  base::ByteReader in(out.view()), numbers_in(numbers.view());
  const auto again =
      grammar::read(in, grammar::Limits{kTerminals}, with_numbers ? &numbers_in : nullptr);
  require(again.ok(), "what is written can be read");
  require(in.at_end() && numbers_in.at_end(), "nothing is left");
  return *again;
}

void try_grammar(std::string_view bytes) {
  base::ByteReader in(bytes);
  const auto g = grammar::read(in, grammar::Limits{kTerminals});
  if (!g.ok()) return;
  require(grammar::validate(*g, grammar::Limits{kTerminals}).ok(), "what is read is valid");
  uint64_t length = 0;
  require(grammar::checked_length(*g, &length), "and has a length");
  require(grammar::lengths(*g).total() == length, "which is one length");
  walk_some(*g, length);
  require(read_back(*g, false) == *g && read_back(*g, true) == *g, "there and back");
  for (const Terminal t : grammar::used_terminals(*g)) require(t < kTerminals, "terminals");
  if (length > UINT64_MAX / 2) return;
  grammar::Concatenation twice;
  twice.add(*g);
  twice.add(*g);
  const Grammar both = twice.finish();
  require(grammar::validate(both, grammar::Limits{kTerminals}).ok(), "two are a grammar");
  require(grammar::lengths(both).total() == 2 * length, "as long as both");
}

std::vector<Terminal> expand(const Grammar& g) {
  std::vector<Terminal> out;
  for (grammar::TerminalCursor cursor(g); !cursor.at_end();) out.push_back(cursor.next());
  return out;
}

// A byte is a terminal, or says how often the last ones come again.
std::vector<Terminal> sequence_of(std::string_view bytes) {
  std::vector<Terminal> out;
  Input in(bytes);
  while (!in.at_end() && out.size() < kMaxExpanded) {
    const uint8_t b = in.u8();
    if (b < 200 || out.empty()) {
      out.push_back(b % 64);
      continue;
    }
    const size_t n = std::min<size_t>(1 + in.below(12), out.size());
    for (int times = b - 199; times > 0 && out.size() < kMaxExpanded; --times)
      for (size_t i = 0; i < n; ++i) out.push_back(out[out.size() - n]);
  }
  return out;
}

void try_sequence(std::string_view bytes) {
  const std::vector<Terminal> sequence = sequence_of(bytes);
  grammar::Builder builder;
  for (size_t i = 0; i < sequence.size(); ++i) {
    require(builder.append(sequence[i]), "there is memory");
    if (i + 1 == sequence.size() / 2) {
      const Grammar half = builder.snapshot();
      require(expand(half) == std::vector<Terminal>(sequence.begin(),
                                                    sequence.begin() + static_cast<long>(i + 1)),
              "the first half comes out");
    }
  }
  const Grammar g = builder.finish();
  require(expand(g) == sequence, "what went in comes out");
  require(read_back(g, false) == g, "there and back");
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain::fuzz;
  const std::string_view bytes = view_of(data, size);
  if (bytes.empty()) return 0;
  bytes[0] % 2 == 0 ? try_grammar(bytes.substr(1)) : try_sequence(bytes.substr(1));
  return 0;
}
