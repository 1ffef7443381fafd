// Where the formats write to: files and folders that get their names when they are whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/temporaries.h"
#include "format/encode/atomic_file.h"

namespace refrain::convert {

// An AtomicFile with a buffer in front. `what`, here and below: how messages call the output.
class BufferedFile {
 public:
  static base::Result<BufferedFile> create(const std::string& path, const char* what);

  // Append to this, then call flush_if_full() now and then.
  std::string& buffer() { return buffer_; }
  base::Status flush_if_full() {
    return buffer_.size() >= kFlushBytes ? flush() : base::Status(base::Done{});
  }
  base::Status flush();
  base::Status overwrite(uint64_t offset, std::string_view bytes);
  // Bytes so far, those in the buffer included.
  uint64_t size() const { return file_.size() + buffer_.size(); }
  base::Status commit();
  // Of a file in an OutputFolder, which syncs what it holds itself.
  base::Status commit_inside();

 private:
  static constexpr size_t kFlushBytes = 256 * 1024;
  explicit BufferedFile(format::AtomicFile file) : file_(std::move(file)) {}
  format::AtomicFile file_;
  std::string buffer_;
};

// A new folder, ".NAME.PID.tmp" beside its place until it is whole: libraries write into it.
class OutputFolder {
 public:
  static base::Result<OutputFolder> create(const std::string& path, const char* what);
  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;
  ~OutputFolder();  // removes it unless it got its name

  const std::string& path() const { return temporary_; }  // to write into
  // Gives the folder its name; one of that name is replaced.
  base::Status commit();
  // Gives the one file `name` of it the folder's name instead; the folder goes.
  base::Status commit_file(const std::string& name);
  // Bytes of all files in it.
  uint64_t bytes() const;

 private:
  OutputFolder(std::string path, std::string temporary, const char* what);
  std::string path_, temporary_;
  const char* what_;
  std::unique_ptr<base::Temporary> guard_;
};

// Whether `path` may be written: it is not there, or `force` is given and what is there is a file,
// or a folder that holds `anchor`, which only a conversion puts there.
base::Status check_output(const std::string& path, bool force, std::string_view anchor);

}  // namespace refrain::convert
