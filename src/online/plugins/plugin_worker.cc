#include "online/plugins/plugin_worker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "online/plugins/plugin_frames.h"
#include "refrain/blackboard.h"

namespace refrain::online {

namespace {

using Add = int (*)(refrain_blackboard*, const char*);

bool read_all(int fd, void* to, size_t bytes) {
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

class Worker {
 public:
  Worker(int in, int out) : in_(in), out_(out), board_(refrain_blackboard_new(0, 0)) {}
  ~Worker() {
    if (board_ != nullptr) refrain_blackboard_free(board_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int run(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const why = dlerror();
      return give_up(FrameKind::kNoPlugin, 0, why == nullptr ? "cannot be loaded" : why);
    }
    const auto* const version = static_cast<const int*>(dlsym(library, "refrain_plugin_version"));
    add_ = reinterpret_cast<Add>(dlsym(library, "refrain_plugin_add"));
    if (version == nullptr || add_ == nullptr || board_ == nullptr)
      return give_up(FrameKind::kNoPlugin, 0,
                     "it is no plug-in: it lacks refrain_plugin_version or refrain_plugin_add");
    if (*version != REFRAIN_BLACKBOARD_VERSION)
      return give_up(FrameKind::kVersion, static_cast<uint64_t>(*version), {});
    say(FrameKind::kReady, REFRAIN_BLACKBOARD_VERSION, {});
    FrameHead head;
    while (read_all(in_, &head, sizeof head)) {
      if (head.bytes > kMostLookBytes) return 1;
      std::string bytes(head.bytes, '\0');
      if (!read_all(in_, bytes.data(), bytes.size()) || !work(head, bytes)) return 1;
    }
    return 0;
  }

 private:
  struct Level {
    Worker* worker;
    uint64_t job;
    std::string name;
    bool is_begun = false;
  };

  bool say(FrameKind kind, uint64_t job, std::string text) const {
    if (text.size() > kMostAnswerBytes) text.resize(kMostAnswerBytes);
    const FrameHead head{kind, static_cast<uint32_t>(text.size()), job};
    text.insert(0, reinterpret_cast<const char*>(&head), sizeof head);
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = write(out_, text.data() + at, text.size() - at);
      if (n < 0 && errno != EINTR) return false;
      if (n > 0) at += static_cast<size_t>(n);
    }
    return true;
  }

  int give_up(FrameKind kind, uint64_t job, const std::string& why) const {
    say(kind, job, why);
    return 1;
  }

  static void answer(refrain_blackboard*, refrain_entry* const* entries, int, void* context) {
    const auto& level = *static_cast<const Level*>(context);
    const auto* const text = static_cast<const char*>(refrain_entry_data(entries[0]));
    level.worker->say(FrameKind::kAnswer, level.job,
                      std::string(text, refrain_entry_bytes(entries[0])));
  }

  // In an operation: the board notes it where the plug-in throws.
  static void begin(refrain_blackboard* board, refrain_entry* const*, int, void* context) {
    auto& level = *static_cast<Level*>(context);
    level.is_begun = level.worker->add_(board, level.name.c_str()) == 0;
  }

  // A level for each job; null where the plug-in does not want it.
  Level* level_of(uint64_t job) {
    auto& level = levels_[job];
    if (level != nullptr) return level.get();
    level = std::make_unique<Level>(Level{this, job, "job " + std::to_string(job), false});
    const refrain_type type = refrain_type_of(level->name.c_str(), "answer");
    const refrain_type first = refrain_type_of(level->name.c_str(), "begin");
    if (refrain_source_add(board_, "answers", &type, 1, answer, level.get()) <= 0) return nullptr;
    const refrain_source source =
        refrain_source_add(board_, "refrain_plugin_add", &first, 1, begin, level.get());
    if (source <= 0 || refrain_blackboard_submit_copy(board_, first, nullptr, 0) != 0)
      return nullptr;
    refrain_blackboard_wait(board_);
    refrain_source_remove(board_, source);
    return level->is_begun ? level.get() : nullptr;
  }

  // Says what an operation threw; false: none did.
  bool say_failure(uint64_t job) const {
    char text[512];
    if (refrain_blackboard_failures(board_, text, sizeof text) == 0) return false;
    const std::string all(text);
    say(FrameKind::kFailed, job, all.substr(0, all.find('\n')));
    return true;
  }

  // False: it is over.
  bool work(const FrameHead& head, const std::string& bytes) {
    const Level* const level = level_of(head.job);
    if (say_failure(head.job)) return false;
    if (level == nullptr) {
      say(FrameKind::kFailed, head.job, "refrain_plugin_add gave a failure");
      return false;
    }
    const char* const name = head.kind == FrameKind::kEnded ? "ended" : "look";
    const refrain_type type = refrain_type_of(level->name.c_str(), name);
    if (refrain_blackboard_submit_copy(board_, type, bytes.data(), bytes.size()) ==
        REFRAIN_BOARD_ENOMEM) {
      say(FrameKind::kFailed, head.job, "it has no memory left");
      return false;
    }
    refrain_blackboard_wait(board_);
    return !say_failure(head.job) && say(FrameKind::kDone, head.job, {});
  }

  const int in_, out_;
  refrain_blackboard* const board_;
  Add add_ = nullptr;
  std::map<uint64_t, std::unique_ptr<Level>> levels_;
};

}  // namespace

int run_plugin_worker(const std::string& path, uint64_t most_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // also where it never reads again
  // What a plug-in prints goes to the log, not between our frames.
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3),
            out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in < 0 || out < 0 || nothing < 0) return 1;
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  signal(SIGPIPE, SIG_IGN);
  rlimit limit{most_bytes, most_bytes};
  setrlimit(RLIMIT_AS, &limit);
  limit = {0, 0};
  setrlimit(RLIMIT_CORE, &limit);
  return Worker(in, out).run(path);
}

}  // namespace refrain::online
