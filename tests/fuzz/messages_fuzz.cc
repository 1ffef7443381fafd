// Any bytes as a message log: its records and then its end, or an error; what was read can be
// written again, and is read the same.
//
// The input is a log, of which the checksums are made right, or the raw bytes of its blocks: each a
// length (u16) and bytes, fresh where the length is even.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/messages/decode/log_reader.h"
#include "format/messages/encode/log_writer.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

namespace messages = format::messages;
using messages::Kind;

class Sink : public messages::LogSink {
 public:
  int write(std::span<const std::byte> more, size_t) override {
    bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
    return 0;
  }
  std::string bytes;
};

uint32_t u32_at(const std::string& s, size_t at) {
  return base::ByteReader(std::string_view(s).substr(at, 4)).u32();
}

void put_u32(std::string& s, size_t at, uint32_t v) {
  for (size_t i = 0; i < 4; ++i) s[at + i] = static_cast<char>(v >> (8 * i));
}

uint32_t block_checksum(uint32_t first, std::string_view stored) {
  const uint64_t both[2] = {format::hash64(stored.data(), stored.size()),
                            first | uint64_t{stored.size()} << 32};
  return static_cast<uint32_t>(format::hash64(both, sizeof both));
}

void reseal(std::string& file) {
  if (file.size() < messages::kFixedHeaderBytes) return;
  std::memcpy(file.data(), messages::kMagic, sizeof messages::kMagic);
  size_t at = u32_at(file, 12);
  if (at < 4 || at > file.size()) return;
  put_u32(file, at - 4, format::checksum32(std::string_view(file).substr(0, at - 4)));
  const bool plain_blocks = (file[10] & messages::kPlainBlocks) != 0;
  while (file.size() - at >= messages::kBlockHeadBytes) {
    const uint32_t first = u32_at(file, at);
    const bool is_plain = plain_blocks && (first & messages::kPlainBlock) != 0;
    const size_t head = is_plain ? messages::kPlainHeadBytes : messages::kBlockHeadBytes;
    const size_t stored = is_plain ? first & (messages::kPlainBlock - 1) : u32_at(file, at + 4);
    if (stored > file.size() - at - head) return;
    put_u32(file, at + head - 4,
            block_checksum(first, std::string_view(file).substr(at + head, stored)));
    at += head + stored;
  }
}

std::string from_blocks(std::string_view input) {
  Sink sink;
  messages::LogWriter log(sink);
  messages::Header header;
  header.ranks = 1;
  require(log.start(header), "a header is written");
  Input in(input);
  while (!in.at_end()) {
    const uint16_t length = in.u16();
    const std::string_view raw = in.bytes(length);
    base::ByteWriter head;
    const uint32_t first = static_cast<uint32_t>(raw.size()) | messages::kPlainBlock |
                           (length % 2 == 0 ? messages::kFreshBlock : 0);
    head.put_u32(first);
    head.put_u32(block_checksum(first, raw));
    sink.bytes.append(head.view()).append(raw);
  }
  return sink.bytes;
}

// A record with the hash of its bytes, as text to compare.
std::string in_words(const messages::Record& r, uint64_t hash) {
  base::ByteWriter out;
  const auto& s = r.status;
  for (const uint64_t v : {static_cast<uint64_t>(r.kind),
                           uint64_t{r.thread},
                           r.number,
                           r.where,
                           r.bytes,
                           uint64_t{r.left_thread},
                           r.partition,
                           r.partitions,
                           uint64_t{r.post_thread},
                           r.post_number,
                           s.bytes,
                           static_cast<uint64_t>(s.error),
                           uint64_t{s.cancelled},
                           uint64_t{s.has_count},
                           r.window,
                           r.region,
                           r.offset,
                           static_cast<uint64_t>(r.missing),
                           static_cast<uint64_t>(r.noted),
                           r.count,
                           hash})
    out.put_varint(v);
  out.put_bytes(&r.wtime, sizeof r.wtime);
  return out.take();
}

// The record again, without its bytes.
void write(messages::LogWriter& log, const messages::Record& r) {
  switch (r.kind) {
    case Kind::kTurn: return log.turn(r.number, r.thread);
    case Kind::kContents: return log.contents(r.thread, r.number, r.where, r.bytes);
    case Kind::kInside: return log.inside(r.thread, r.number, r.where, r.bytes);
    case Kind::kPart:
      return log.part(r.thread, r.number, r.where, r.partition, r.partitions, r.bytes);
    case Kind::kFetched:
      return log.fetched(r.thread, r.number, r.post_thread, r.post_number, r.bytes);
    case Kind::kStatus: return log.status(r.thread, r.number, r.where, r.status);
    case Kind::kWtime: return log.wtime(r.thread, r.number, r.wtime);
    case Kind::kWindow:
      return log.window(r.thread, r.number, r.window, r.region, r.offset, r.bytes);
    case Kind::kMissing: return log.missing(r.thread, r.number, r.where, r.missing, r.bytes);
    case Kind::kNoted: return log.noted(r.thread, r.number, r.noted, r.count);
    case Kind::kEnd: return log.end(r.end, r.sums);
  }
}

// The records of a log whose bytes are all there. `copy`: they are written to it too.
std::vector<std::string> records(const std::string& file, messages::LogWriter* copy) {
  std::vector<std::string> out;
  auto log = messages::LogReader::open(messages::memory_source(file), "log");
  if (!log.ok()) return out;
  messages::Record r;
  std::string bytes;
  for (;;) {
    const auto more = log->next(r);
    if (!more.ok() || !*more) return out;
    require(r.kind != Kind::kEnd || log->left() == 0, "an end has no bytes");
    bytes.clear();
    std::byte piece[1000];
    while (log->left() > 0) {
      const auto n = log->take(piece);
      if (!n.ok()) return out;
      const size_t most = (file.size() / messages::kPlainHeadBytes + 1) * messages::kBlockBytes;
      require(bytes.size() <= most, "a block has no more than its limit");
      bytes.append(reinterpret_cast<const char*>(piece), *n);
    }
    if (log->is_cut()) continue;
    out.push_back(in_words(r, format::hash64(bytes.data(), bytes.size())));
    if (copy == nullptr) continue;
    write(*copy, r);
    copy->put(std::as_bytes(std::span(bytes)));
  }
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain::fuzz;
  std::string file(view_of(data, size));
  if (file.compare(0, 4, std::string(messages::kMagic, 4)) == 0)
    reseal(file);
  else
    file = from_blocks(file);
  Sink sink;
  messages::LogWriter copy(sink);
  messages::Header header;
  header.ranks = 1;
  require(copy.start(header), "a header is written");
  const auto first = records(file, &copy);
  copy.flush();
  const auto second = records(sink.bytes, nullptr);
  require(first == second, "what was read is written the same");
  return 0;
}
