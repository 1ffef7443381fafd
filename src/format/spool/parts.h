// What the reader of a whole spool file (read.h) and the cursor in one that grows (cursor.h) have
// in common: the grammars of calls, and statistics, out of the chunks that hold them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/duration_stats.h"
#include "format/spool/pieces.h"
#include "format/trace_data.h"
#include "grammar/concatenate.h"
#include "grammar/grammar.h"

namespace refrain::format::spool {

// Calls of a thread: weeks of nothing else, and the sum over kMaxLocations threads fits.
inline constexpr uint64_t kMaxCalls = uint64_t{1} << 47;

// 0 beyond what a clock can show.
inline uint64_t to_ns(const Header& header, uint64_t ticks) {
  const double ns = static_cast<double>(ticks) * header.ns_per_tick;
  return ns >= 0 && ns < 0x1p62 ? static_cast<uint64_t>(ns) : 0;
}

void add_duration(DurationStats& d, uint64_t ns);

// A base whose head is sound: the calls [first, end) of the thread.
struct Base {
  const Piece* piece = nullptr;
  uint64_t first = 0, end = 0;
};
// Those of a thread, by their first call, longer ones first. `seen`: there was any, sound or not.
std::vector<Base> bases_of(const std::vector<Piece>& pieces, uint32_t owner, bool* seen);

// Its grammar over the record's signatures; nothing: it is damaged. `number_of`: by terminal.
std::optional<grammar::Grammar> grammar_of(const Base& base,
                                           const std::vector<uint32_t>& number_of);

// Finished parts one behind the other, and the newest of the two that began behind them; how many
// calls these are.
uint64_t add_bases(const std::vector<Base>& bases, const std::vector<uint32_t>& number_of,
                   grammar::Concatenation& all);

// What a chunk of POSIX functions has, from behind its header on; a process may still count there.
std::vector<PosixUse> posix_uses(std::string_view data, const Header& header);

// A list of a stats chunk: statistics from a terminal on.
struct StatList {
  uint64_t first = 0;
  std::vector<DurationStats> all;
};
// False: it is none.
bool read_list(base::ByteReader& in, StatList& list);

}  // namespace refrain::format::spool
