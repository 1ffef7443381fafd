#include "format/encode/trace_file_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/encode/atomic_file.h"
#include "format/encode/encode.h"
#include "format/encode/time_entry.h"
#include "format/encode/time_index.h"
#include "format/layout.h"
#include "format/limits.h"

namespace refrain::format {

struct TraceFileWriter::Impl {
  explicit Impl(AtomicFile f) : file(std::move(f)) {}

  base::Status begin_times();

  AtomicFile file;
  std::string path;
  std::string structure;  // the file without times, until the first of them is written
  std::string head;       // its header and table
  TimeIndex index;
  XXH3_state_t sum;  // of the section so far
  uint64_t block_bytes = 0;
  std::optional<base::Error> failed;
};

// Leaves room for the table's new entry.
base::Status TraceFileWriter::Impl::begin_times() {
  base::ByteReader length(std::string_view(structure).substr(kFileLengthOffset + 8));
  const size_t head_bytes = kHeaderBytes + length.u32();
  head = structure.substr(0, head_bytes);
  std::string padded = head;
  padded.append(kTimeEntryBytes, '\0');
  base::Status written = file.append(padded);
  if (written.ok()) written = file.append(std::string_view(structure).substr(head_bytes));
  structure = {};
  return written;
}

base::Result<TraceFileWriter> TraceFileWriter::create(const std::string& path,
                                                      const TraceData& trace, TimeSpec spec,
                                                      std::vector<std::vector<ClockPoint>> clocks) {
  base::Result<std::string> structure = trace.times.empty() ? encode(trace) : [&] {
    TraceData without = trace;
    without.times = {};
    return encode(without);
  }();
  if (!structure.ok()) return structure.error();
  base::Result<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok()) return file.error();
  auto impl = std::make_unique<Impl>(std::move(*file));
  impl->path = path;
  impl->structure = std::move(*structure);
  impl->index.spec = std::move(spec);
  impl->index.clocks = std::move(clocks);
  XXH3_64bits_reset(&impl->sum);
  return TraceFileWriter(std::move(impl));
}

TraceFileWriter::TraceFileWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceFileWriter::TraceFileWriter(TraceFileWriter&&) noexcept = default;
TraceFileWriter& TraceFileWriter::operator=(TraceFileWriter&&) noexcept = default;
TraceFileWriter::~TraceFileWriter() = default;

base::Status TraceFileWriter::append(TimeChunk chunk, std::string_view bytes) {
  Impl& impl = *impl_;
  if (impl.failed) return *impl.failed;
  if (chunk.blocks.empty()) return base::Done{};
  if (impl.block_bytes + bytes.size() > kMaxTimeBytes - kMaxTimeIndexBytes)
    return base::fail("the trace is too large: section time", impl.path);
  if (!impl.structure.empty())
    if (const base::Status begun = impl.begin_times(); !begun.ok()) impl.failed = begun.error();
  if (!impl.failed)
    if (const base::Status written = impl.file.append(bytes); !written.ok())
      impl.failed = written.error();
  if (impl.failed) return *impl.failed;
  XXH3_64bits_update(&impl.sum, bytes.data(), bytes.size());
  impl.block_bytes += bytes.size();
  impl.index.chunks.push_back(std::move(chunk));
  return base::Done{};
}

base::Status TraceFileWriter::append_representatives(SegmentInfo info, std::string_view bytes) {
  Impl& impl = *impl_;
  if (impl.failed) return *impl.failed;
  if (impl.structure.empty()) {
    if (impl.block_bytes + bytes.size() > kMaxTimeBytes - kMaxTimeIndexBytes)
      return base::fail("the trace is too large: section time", impl.path);
    if (const base::Status written = impl.file.append(bytes); !written.ok()) {
      impl.failed = written.error();
      return *impl.failed;
    }
    XXH3_64bits_update(&impl.sum, bytes.data(), bytes.size());
    impl.block_bytes += bytes.size();
  }
  impl.index.segments = std::move(info);
  return base::Done{};
}

base::Status TraceFileWriter::finish(Sync when) {
  Impl& impl = *impl_;
  if (impl.failed) return *impl.failed;
  if (!impl.structure.empty()) {
    const base::Status written = impl.file.append(impl.structure);
    return written.ok() ? impl.file.commit(when) : written;
  }
  const std::string index = write_time_index(impl.index);
  if (const base::Status written = impl.file.append(index); !written.ok()) return written;
  XXH3_64bits_update(&impl.sum, index.data(), index.size());

  base::ByteWriter out;
  out.put_bytes(impl.head.data(), kFileLengthOffset);
  out.put_u64(impl.file.size());
  out.put_u32(static_cast<uint32_t>(impl.head.size() - kHeaderBytes + kTimeEntryBytes));
  base::ByteWriter entry;
  put_time_entry(entry, impl.block_bytes + index.size(),
                 static_cast<uint32_t>(XXH3_64bits_digest(&impl.sum)));
  const std::string table = impl.head.substr(kHeaderBytes) + entry.take();
  std::string covered = out.take() + table;
  base::ByteWriter sum;
  sum.put_u32(checksum32(covered));
  covered.insert(kChecksumOffset, sum.view());
  const base::Status written = impl.file.overwrite(0, covered);
  return written.ok() ? impl.file.commit(when) : written;
}

}  // namespace refrain::format
