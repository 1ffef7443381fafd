#include "online/remote/message.h"

#include <charconv>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/spool/live_job.h"

namespace refrain::online {

namespace {

constexpr uint32_t kMagic = 0x4d4c4652;  // "RFLM"
constexpr uint8_t kVersion = 1;
constexpr std::string_view kPrefix = "refrain.";
constexpr size_t kRunDigits = 16;
constexpr uint64_t kMostRanks = uint64_t{1} << 31;

}  // namespace

std::string write_message(const Message& message) {
  base::ByteWriter out;
  out.put_u32(kMagic);
  out.put_u8(kVersion);
  out.put_u8(static_cast<uint8_t>(message.kind));
  out.put_u16(0);
  out.put_u64(message.incarnation);
  out.put_u64(message.number);
  out.put_u64(message.sent_ns);
  out.put_u64(static_cast<uint64_t>(message.clock_offset_ns));
  out.put_u64(message.clock_error_ns);
  out.put_u32(static_cast<uint32_t>(message.content.size()));
  out.put_u32(format::checksum32(message.content));
  out.put_u32(format::checksum32(out.view()));
  out.put_bytes(message.content.data(), message.content.size());
  return out.take();
}

base::Result<Message> read_message(std::string_view bytes) {
  base::ByteReader in(bytes);
  Message m;
  const uint32_t magic = in.u32();
  const uint8_t version = in.u8(), kind = in.u8();
  const uint8_t reserved[] = {in.u8(), in.u8()};
  m.kind = static_cast<MessageKind>(kind);
  m.incarnation = in.u64();
  m.number = in.u64();
  m.sent_ns = in.u64();
  m.clock_offset_ns = static_cast<int64_t>(in.u64());
  m.clock_error_ns = in.u64();
  const uint32_t size = in.u32(), content = in.u32(), head = in.u32();
  if (!in.ok() || magic != kMagic) return base::fail("not a message of refrain");
  if (version != kVersion)
    return base::unsupported("the message is of another version of refrain: use the same one");
  if (head != format::checksum32(bytes.substr(0, kMessageHeadBytes - 4)) || reserved[0] != 0 ||
      reserved[1] != 0 || kind > static_cast<uint8_t>(MessageKind::kStreamDied))
    return base::fail("the head of a message is damaged");
  m.content = bytes.substr(kMessageHeadBytes);
  if (m.content.size() != size || format::checksum32(m.content) != content)
    return base::fail("the content of a message is damaged");
  return m;
}

std::string subject_text(const Subject& subject) {
  const std::string begin = std::string(kPrefix) + format::spool::run_text(subject.run) + ".";
  if (subject.of == Subject::Of::kJob) return begin + "job";
  if (subject.of == Subject::Of::kTrace) return begin + "trace";
  return begin + std::to_string(subject.rank);
}

std::optional<Subject> read_subject(std::string_view text) {
  constexpr size_t kRunEnd = kPrefix.size() + kRunDigits;
  if (text.size() < kRunEnd + 2 || text[kRunEnd] != '.') return std::nullopt;
  const std::string_view who = text.substr(kRunEnd + 1);
  Subject s;
  const char* const run = text.data() + kPrefix.size();
  if (std::from_chars(run, run + kRunDigits, s.run, 16).ptr != run + kRunDigits)
    return std::nullopt;
  if (who == "trace")
    s.of = Subject::Of::kTrace;
  else if (who != "job")
    s.of = Subject::Of::kRank;
  if (s.of == Subject::Of::kRank) {
    const auto [end, error] = std::from_chars(who.data(), who.data() + who.size(), s.rank);
    if (error != std::errc() || end != who.data() + who.size() || s.rank >= kMostRanks)
      return std::nullopt;
  }
  // One text for each subject: no capital digits, no zeros in front.
  return subject_text(s) == text ? std::optional(s) : std::nullopt;
}

}  // namespace refrain::online
