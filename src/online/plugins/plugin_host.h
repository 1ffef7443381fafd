// PluginHost: knowledge sources from shared objects (include/refrain/blackboard.h), each in a
// process of its own, so that whatever one of them does touches nothing else. One that throws,
// crashes, exits, takes too long for a look or needs too much memory is named and disabled for
// good; it gets nothing any more, and the others go on.
//
// A plug-in that is busy misses looks, which are counted; ends of jobs wait for it. Nothing here
// waits for a plug-in but start(). Ownership: the processes end with this object. Not thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace refrain::online {

struct PluginOptions {
  std::vector<std::string> paths;
  uint64_t most_ns = 5'000'000'000;         // for a look, or for being loaded
  uint64_t most_bytes = uint64_t{1} << 30;  // of address space
};

// How a plug-in is.
struct PluginNow {
  std::string name;  // of its file, without ".so"
  bool is_disabled = false;
  std::string why;                 // it is disabled
  uint64_t looks = 0, missed = 0;  // that it has worked on, and that came while it was busy
};

class PluginHost {
 public:
  ~PluginHost();
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;

  // Fails where a file is no plug-in (ErrorCode::kUsage), or one of another version
  // (ErrorCode::kUnsupported). `program`: what is executed with kPluginWorkerWord.
  static base::Result<std::unique_ptr<PluginHost>> start(const PluginOptions& options,
                                                         const std::string& program);

  // Gives each plug-in a job at a look, and the path of its trace when it has ended.
  void look(const std::string& job, const std::string& json);
  void ended(const std::string& job, const std::string& trace);
  // Takes what there is. What became disabled since the last time: a line each.
  std::vector<base::Error> poll();
  // Until all have worked on what they were given, at most options.most_ns; for tests and for the
  // end of a run. As poll().
  std::vector<base::Error> finish();

  std::vector<PluginNow> now() const;
  // The newest answer of each plug-in for a job, by plug-in: any bytes.
  std::vector<std::pair<std::string, std::string>> answers(const std::string& job) const;
  void forget(const std::string& job);

 private:
  struct Plugin;
  explicit PluginHost(PluginOptions options);
  base::Status load(Plugin& plugin, const std::string& program);
  void send(Plugin& plugin, uint64_t job, bool is_end, const std::string& bytes);
  void flush(Plugin& plugin);
  void take(Plugin& plugin);
  void take_frame(Plugin& plugin, uint32_t kind, uint64_t job, std::string bytes);
  void check_time(Plugin& plugin);
  void disable(Plugin& plugin, const std::string& why);
  uint64_t number_of(const std::string& job);

  const PluginOptions options_;
  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::map<std::string, uint64_t> numbers_;  // of jobs
  uint64_t last_number_ = 0;
  std::vector<base::Error> errors_;
};

}  // namespace refrain::online
