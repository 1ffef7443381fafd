// PlainLog: writes the calls of a location as a conventional trace, for `record --no-compress`.
//
//   call that ends --put--> buffer --full--> write() --> OUTPUT.plain/RANK-HOST-PID.THREAD
//
// A record is a head with begin, end, terminal and function, and the complete signature: every
// parameter and the call path, even if they were written before. In MPI_Finalize the file is read
// back, its times are coded, and it is removed. After Mohror's thesis, chapters 3 and 6, whose
// traces have buffers of 1.5 MB (TAU) and 8 MB (MPE).
//
// Laws: of a location, no lock; one write() a full buffer, which is counted and timed; a disk that
// is full, or a limit on file sizes, ends the log and not the program. No file stays open.
// Budget: 60 instructions a call, and a copy of its signature.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "format/spool/layout.h"

namespace refrain::tracer {

class Process;

// What `record` was told.
struct PlainSpec {
  bool on = false;
  bool write = true;  // else buffers that are full are thrown away
  uint64_t buffer_bytes = 0;
  std::string folder;  // of the files, of all ranks

  static PlainSpec from_environment(const std::string& output);
  std::string to_string() const;  // "on" and "write" of it, for comparison with other ranks
};

struct PlainCounts {
  uint64_t bytes = 0;     // of all records
  uint64_t flushes = 0;   // buffers that were full, and the rest at the end
  uint64_t write_ns = 0;  // what these took, on the wall
};

class PlainLog {
 public:
  using Call = format::spool::TimeRowCall;

  PlainLog(const Process& process, uint32_t thread);

  // False: the log has ended; nothing of this call is in it.
  bool put(const Call& call, std::string_view signature);
  // Writes what there is. False: it could not.
  bool flush();
  // The calls that were written, in order, until `visit` gives false. False: not all.
  using Visit = std::function<bool(const Call&, std::string_view)>;
  bool each(const Visit& visit);
  void remove();

  const PlainCounts& counts() const { return counts_; }
  bool has_ended() const { return has_ended_; }

 private:
  struct Head {
    Call call;
    uint32_t bytes = 0;  // of the signature, behind this
    uint32_t reserved = 0;
  };

  bool flush_timed(const void* bytes, uint64_t count);
  bool write_out(const char* bytes, uint64_t count);
  bool create();
  void append(const void* bytes, uint64_t count);

  const Process& process_;
  const PlainSpec& spec_;
  const uint32_t thread_;
  std::unique_ptr<char[]> buffer_;
  uint64_t used_ = 0, calls_ = 0;  // in the buffer
  uint64_t written_ = 0;           // calls in the file
  std::string path_;               // empty: no file yet
  bool has_ended_ = false;
  PlainCounts counts_;
};

// What the ranks have written, as a text for the trace ("buffer=1572864 write=1 bytes=...
// ranks=B:F:T
// ..."). Collective over Process::comm; rank 0 gets it.
std::string plain_text(Process& process);

}  // namespace refrain::tracer
