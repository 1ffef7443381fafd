// TraceFileWriter: a trace file with times, written piece by piece, in bounded memory: the times of
// a rank need not be in memory when those of the next arrive.
//
//   auto writer = TraceFileWriter::create(path, trace, index);   // all but the times
//   for each rank: writer->append(chunk, bytes);                 // as they arrive, in any order
//   auto done = writer->finish();                                // the index, the table, the name
//
// The file appears under its name, whole, when finish() succeeds; without it (or after a failure)
// the temporary is removed and an older file stays, as with write_file_atomically().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/encode/sync.h"
#include "format/time/data.h"
#include "format/trace_data.h"

namespace refrain::format {

class TraceFileWriter {
 public:
  // `spec` and `clocks` as in TimeIndex. `trace.times` is not looked at. Fails as encode() and
  // write_file_atomically() do.
  static base::Result<TraceFileWriter> create(const std::string& path, const TraceData& trace,
                                              TimeSpec spec,
                                              std::vector<std::vector<ClockPoint>> clocks);
  TraceFileWriter(TraceFileWriter&&) noexcept;
  TraceFileWriter& operator=(TraceFileWriter&&) noexcept;
  ~TraceFileWriter();

  // The chunk's blocks, whose bytes are `bytes`. Chunks of one location in order. Fails (and then
  // always) when the disk does, or when the section would pass kMaxTimeBytes: then what was
  // appended before is good, and finish() may still be called.
  base::Status append(TimeChunk chunk, std::string_view bytes);
  // TimeMode::kSegments: what stands for the segments of all chunks. Once, behind the last of them;
  // `info` has the length and checksum of the bytes. Fails as append() does.
  base::Status append_representatives(SegmentInfo info, std::string_view bytes);
  // Writes the index and the table, renames, and syncs as `when` says. Without any chunk the file
  // has no times.
  base::Status finish(Sync when = Sync::kNow);

 private:
  struct Impl;
  explicit TraceFileWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace refrain::format
