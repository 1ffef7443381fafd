// The message logs beside a trace: what each logged rank received, and how much of it is kept.
//
// Bytes. Reads every log once, in bounded memory; the logs of several ranks one after the other.
// After "PHANTOM" (2010), section 4.1 and Table 4.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/messages/layout.h"
#include "refrain/trace.h"

namespace refrain::analysis {

struct RankMessages {
  uint64_t rank = 0;
  format::messages::Sums sums;
  uint64_t file_bytes = 0;    // of its log
  uint64_t inside_ranks = 0;  // of its group; 0: no groups
  uint64_t missing = 0;       // receives that are not kept, though they should be
  uint64_t noted[6] = {};     // by format::messages::Noted
  bool is_complete = false;
  format::messages::EndReason end{};  // where complete
  int64_t error_number = 0;
  std::string damage;  // what is wrong with it, and where; empty: nothing
};

struct MessageLogs {
  std::string folder;
  std::vector<RankMessages> ranks;  // ascending
  RankMessages all;                 // sums over them
};

// The folder of the logs of a trace.
std::string message_folder(const std::string& trace_path);
// Fails when the run was not logged, when a log is of another run, and when files cannot be read.
// A damaged or unfinished log is in the result.
base::Result<MessageLogs> read_message_logs(
    const Trace& trace, const std::string& trace_path,
    const std::function<void(uint64_t done, uint64_t all)>& progress = {});

}  // namespace refrain::analysis
