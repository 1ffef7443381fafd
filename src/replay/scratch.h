// The folder in which files of a replay are: what stands for the recorded paths, and its end.
//
// Paths in a trace are not trusted. A file is named by a hash of the recorded path alone, so none
// leads out of the folder, and nothing that was there before is opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "refrain/trace.h"

namespace refrain::replay {

// Hexadecimal digits that follow from the text; nothing of it is in them.
std::string hash_name(const std::string& text);

// "FOLDER/refrain-replay-HASH"; equal recorded paths are one file.
std::string scratch_path(const std::string& folder, const std::string& recorded);
// Where ranks find the port that stands for a recorded one.
std::string port_path(const std::string& folder, const std::string& recorded);

// Makes a file where there is none, and makes it `bytes` long where it is shorter: a hole, which
// takes no room. Follows no link. Fails with the reason of the system.
base::Status extend_file(const std::string& path, uint64_t bytes);

// Removes what a replay of the trace has made in the folder. Any rank may; files that are open stay
// usable.
void remove_scratch(const Trace& trace, const std::string& folder);

// Whether a replay of the trace can begin as asked: with times between calls, or none; with a
// folder for files, or a trace without any. Cheap, so that each rank can find out by itself and end
// with the others. `skipped`: functions that are left out.
base::Status check_words(const Trace& trace, bool has_compute, const std::string& folder,
                         const std::vector<CallId>& skipped);

// The first rank of a job that fails says why, the others would say the same. Removed by its end.
class FailureMark {
 public:
  explicit FailureMark(const std::string& folder);
  FailureMark(const FailureMark&) = delete;
  ~FailureMark();
  bool is_first() const { return is_first_; }

 private:
  std::string path_;
  bool is_first_ = true, is_made_ = false;
};

}  // namespace refrain::replay
