// Feeder: the spool file of a rank that still runs -> its stream (docs/live_format.md). The program
// knows nothing of it: what it records anyway is read (spool/cursor.h) and coded here.
//
//   auto feeder = Feeder::open(path, "run.rfn");
//   while (...) send(feeder->look());        // each second, say
//   send(feeder->finish(EndReason::kDied));
//
// Not thread safe; ranks have feeders of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "format/live/encode/stream_writer.h"
#include "format/spool/cursor.h"

namespace refrain::format::live {

class Feeder {
 public:
  // `job`: name of the trace that the job will write.
  static base::Result<Feeder> open(const std::string& path, const std::string& job);
  Feeder(Feeder&&) noexcept;
  Feeder& operator=(Feeder&&) noexcept;
  ~Feeder();

  // Blocks of what is new; empty when checkpoints came in between. Fails where the file is not
  // a rank's any more.
  base::Result<std::string> look();
  // The same of a process that has ended or will not be looked at again, and the end of the stream.
  base::Result<std::string> finish(EndReason reason);

  // The analyser of the job has what looks gave so far.
  void tell_taken();

  const spool::Cursor& cursor() const;
  uint64_t bytes() const;  // of the stream so far

  // A grammar that takes more memory than this becomes a part, and another one begins.
  static constexpr uint64_t kMaxGrammarBytes = uint64_t{1} << 26;

 private:
  struct Impl;
  explicit Feeder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace refrain::format::live
