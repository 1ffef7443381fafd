// Messages by which streams of ranks travel to another host; normative in docs/live_format.md.
//
// Each message has a subject: a run and who of it speaks. A sender that is started again speaks as
// another, later incarnation, from its number 0 on. Any bytes give a message or an error. Thread
// safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace refrain::online {

inline constexpr uint64_t kNoClockError = UINT64_MAX;  // nobody has compared the clocks
inline constexpr size_t kMessageHeadBytes = 60;
// Brokers take messages of 1 MiB unless they are told otherwise.
inline constexpr size_t kMaxMessageContent = size_t{1} << 19;

enum class MessageKind : uint8_t {
  kJob = 0,        // the text of live_job.h
  kStream = 1,     // the next bytes of the stream of a rank
  kTrace = 2,      // the next bytes of the trace that the job wrote
  kTraceLast = 3,  // the last ones
  // The last bytes of the stream of a rank, which has written its trace, or has died.
  kStreamDone = 4,
  kStreamDied = 5,
};

struct Message {
  MessageKind kind = MessageKind::kStream;
  uint64_t incarnation = 0, number = 0;
  uint64_t sent_ns = 0;  // time of day of the sender
  // The receiver's clock minus the sender's, and how much it may be wrong.
  int64_t clock_offset_ns = 0;
  uint64_t clock_error_ns = kNoClockError;
  std::string_view content;
};

std::string write_message(const Message& message);
// The content is in `bytes`.
base::Result<Message> read_message(std::string_view bytes);

struct Subject {
  uint64_t run = 0;
  enum class Of : uint8_t { kJob, kTrace, kRank } of = Of::kJob;
  uint64_t rank = 0;
};
// "refrain.0123456789abcdef.job", ".trace" or ".17"
std::string subject_text(const Subject& subject);
std::optional<Subject> read_subject(std::string_view text);

}  // namespace refrain::online
