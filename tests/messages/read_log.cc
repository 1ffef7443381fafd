// Prints a message log, a line for each record: thread, number, kind, where, bytes, and the hash of
// what follows it (FNV-1a), or the values of its fields; of window memory the bytes themselves,
// too.
//
//   read_log FILE...
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "format/messages/decode/log_reader.h"

namespace {

using namespace refrain::format::messages;

const char* const kNames[] = {"",       "turn",  "contents", "inside",  "part",  "fetched",
                              "status", "wtime", "window",   "missing", "noted", "end"};

constexpr uint64_t kStart = 0xcbf29ce484222325u;
uint64_t with(uint64_t hash, const void* data, size_t bytes) {
  for (const auto* p = static_cast<const unsigned char*>(data); bytes > 0; --bytes)
    hash = (hash ^ *p++) * 0x100000001b3u;
  return hash;
}

std::string digits_of(std::span<const std::byte> bytes) {
  std::string out;
  char two[3];
  for (const std::byte byte : bytes) {
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(byte));
    out += two;
  }
  return out;
}

bool print(LogReader& log, const Record& r) {
  uint64_t hash = kStart;
  std::string digits;
  std::byte piece[65536];
  while (log.left() > 0) {
    const auto n = log.take(piece);
    if (!n.ok()) return false;
    if (log.is_cut()) return true;  // void: logging ended there
    hash = with(hash, piece, *n);
    if (r.kind == Kind::kWindow) digits += digits_of(std::span(piece).first(*n));
  }
  std::printf("%u %llu %s %llu %llu ", r.thread, static_cast<unsigned long long>(r.number),
              kNames[static_cast<int>(r.kind)],
              static_cast<unsigned long long>(r.kind == Kind::kWindow ? r.offset : r.where),
              static_cast<unsigned long long>(r.bytes));
  switch (r.kind) {
    case Kind::kWtime: hash = with(kStart, &r.wtime, sizeof r.wtime); break;
    case Kind::kStatus:
      std::printf("%llu %lld %d %d\n", static_cast<unsigned long long>(r.status.bytes),
                  static_cast<long long>(r.status.error), r.status.cancelled, r.status.has_count);
      return true;
    case Kind::kEnd:
      std::printf("%d %llu %llu %llu %llu %llu\n", static_cast<int>(r.end),
                  static_cast<unsigned long long>(r.sums.receives),
                  static_cast<unsigned long long>(r.sums.received_bytes),
                  static_cast<unsigned long long>(r.sums.crossing_bytes),
                  static_cast<unsigned long long>(r.sums.kept_bytes),
                  static_cast<unsigned long long>(r.sums.unlogged));
      return true;
    case Kind::kNoted:
      std::printf("%d %llu\n", static_cast<int>(r.noted), static_cast<unsigned long long>(r.count));
      return true;
    default: break;
  }
  std::printf("%016llx%s%s\n", static_cast<unsigned long long>(hash), digits.empty() ? "" : " ",
              digits.c_str());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    auto log = LogReader::open_file(argv[i]);
    if (!log.ok()) return std::fprintf(stderr, "%s\n", log.error().to_string().c_str()), 1;
    for (Record r;;) {
      const auto more = log->next(r);
      if (!more.ok()) return std::fprintf(stderr, "%s\n", more.error().to_string().c_str()), 1;
      if (!*more || !print(*log, r)) break;
    }
    if (!log->is_complete()) std::printf("cut\n"), status = 4;
  }
  return status;
}
