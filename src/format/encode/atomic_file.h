// AtomicFile: a file that is written piece by piece; under its name it is either complete or
// absent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/temporaries.h"
#include "format/encode/sync.h"

namespace refrain::format {

class AtomicFile {
 public:
  // Begins the temporary ".NAME.PID.tmp" beside `path`, which may be a regular file only. `what`:
  // how messages call it; stays.
  static base::Result<AtomicFile> create(const std::string& path, const char* what = "the trace");
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();  // removes the temporary unless it got its name

  base::Status append(std::string_view bytes);
  base::Status overwrite(uint64_t offset, std::string_view bytes);  // what was appended
  // Renames, and syncs as `when` says. Nothing may follow.
  base::Status commit(Sync when = Sync::kNow);
  uint64_t size() const { return size_; }

 private:
  AtomicFile(std::string path, std::string folder, std::string temporary, const char* what);
  base::Error failed(int error) const;
  void discard();
  base::Status write_at(uint64_t offset, std::string_view bytes);

  std::string path_, folder_, temporary_;
  const char* what_;
  std::unique_ptr<base::Temporary> guard_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace refrain::format
