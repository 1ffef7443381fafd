// The programs of the ranks, and the jobs that they started: two texts of the trace, made from the
// text of each rank.
//
// Both are lines of fields with tabs between them; in a field \t, \n and \\ stand for a tab, an end
// of line and a backslash (docs/format.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/runs.h"

namespace refrain::format {

inline constexpr const char* kProgramsText = "programs";
inline constexpr const char* kSpawnedText = "spawned";
// A rank's own texts of the jobs that it has started begin with this; a number follows.
inline constexpr std::string_view kSpawnedPrefix = "spawned.";

struct RankProgram {
  std::string program, command;
  base::RunList ranks;  // ascending
};

struct SpawnedJob {
  std::string trace;  // where its own trace goes; empty: it has none, or one that is not known
  uint64_t processes = 0;
  std::string command;
  int64_t rank = 0;  // that started it
};

// What ranks say of themselves, in their order.
class Programs {
 public:
  // Takes what is said in a rank's texts; those of spawned jobs go.
  void take(uint64_t rank, std::map<std::string, std::string>& text);
  // Every rank of `later` is above every rank here.
  void merge(Programs later);
  // Adds the texts of the trace; `programs` only where there is more than one. How many jobs there
  // was no room for.
  uint64_t put(std::map<std::string, std::string>& text) const;

  void write(base::ByteWriter& out) const;
  // False: damaged.
  bool read(base::ByteReader& in, uint64_t world_size);

 private:
  std::vector<RankProgram> programs_;
  std::vector<SpawnedJob> spawned_;
  uint64_t more_ = 0;  // spawned jobs beyond the limit
};

// A job as a rank's text says it, and back; of what is damaged, empty fields.
std::string spawned_text(const SpawnedJob& job);
// The trace's texts, read back. Lines that are damaged are left out.
std::vector<RankProgram> parse_programs(std::string_view text);
std::vector<SpawnedJob> parse_spawned(std::string_view text);

}  // namespace refrain::format
