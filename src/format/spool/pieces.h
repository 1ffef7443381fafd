// Finds the valid chunks of a spool file: the writer may have died while it wrote one.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/spool/layout.h"

namespace refrain::format::spool {

// A chunk whose header is sound.
struct Piece {
  Chunk chunk;
  std::string_view data;  // behind the header
};

template <class T>
T load(std::string_view bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Those of a file.
inline std::vector<Piece> pieces(std::string_view file, std::vector<std::string>& damage) {
  std::vector<Piece> found;
  bool lost = false;
  for (uint64_t at = kPageBytes; at + kPageBytes <= file.size();) {
    const auto c = load<Chunk>(file, at);
    const bool sound = c.magic == kChunkMagic && c.check == check_of(c) && c.offset == at &&
                       c.bytes >= kPageBytes && c.bytes % kPageBytes == 0 &&
                       c.bytes <= file.size() - at;
    if (!sound) {
      // Room that was set apart and not yet used is all zero.
      lost = lost || c.magic != 0;
      at += kPageBytes;
      continue;
    }
    found.push_back({c, file.substr(at + sizeof(Chunk), c.bytes - sizeof(Chunk))});
    at += c.bytes;
  }
  if (lost) damage.emplace_back("a part of the file is overwritten");
  return found;
}

// A call of a log; in ticks.
struct LoggedCall {
  uint32_t index = 0;  // of its signature, from the first terminal of the log on
  uint64_t ticks = 0;
  uint64_t gap = 0;  // before it; 0 where those are not kept
};

class LogWords {
 public:
  explicit LogWords(std::string_view words) : words_(words) {}

  // False: there are no more.
  bool next(LoggedCall& call) {
    uint64_t high = 0, gap_high = 0;
    call.gap = 0;
    for (; at_ + sizeof(uint64_t) <= words_.size(); at_ += sizeof(uint64_t)) {
      const auto word = load<uint64_t>(words_, at_);
      const auto low = static_cast<uint32_t>(word);
      const uint64_t upper = word >> 32 << 32;
      switch (low) {
        case 0: return false;
        case kLongCall: high = upper; continue;
        case kLongGap: gap_high = upper; continue;
        case kGap: call.gap = gap_high | word >> 32; continue;
        default: break;
      }
      call.index = low - 1;
      call.ticks = high | word >> 32;
      at_ += sizeof(uint64_t);
      end_ = at_;
      return true;
    }
    return false;
  }
  // Bytes before the end of the last call.
  uint64_t position() const { return end_; }

 private:
  std::string_view words_;
  uint64_t at_ = 0, end_ = 0;
};

// What a base or stats chunk holds; empty when it is not valid.
inline std::string_view sealed(const Piece& p) {
  if (p.chunk.generation == 0 || p.chunk.used > p.data.size()) return {};
  const std::string_view bytes = p.data.substr(0, p.chunk.used);
  return checksum32(bytes) == p.chunk.checksum ? bytes : std::string_view();
}

// What statistics say of all calls of a thread until their end.
struct Covered {
  uint64_t calls = 0, in_mpi_ns = 0, outside_ns = 0, last_end_ticks = 0;
};

// What of a stats chunk comes before the durations.
struct Stats {
  const Piece* piece = nullptr;
  uint64_t begin = 0;  // calls of the thread before those that it counts
  Covered covered;
};

inline bool read_head(base::ByteReader& in, Stats& s) {
  s.covered.calls = in.varint();
  s.begin = in.varint();
  s.covered.in_mpi_ns = in.varint();
  s.covered.outside_ns = in.varint();
  s.covered.last_end_ticks = in.varint();
  return in.ok();
}

}  // namespace refrain::format::spool
