#include "online/plugins/plugin_host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>

#include "online/plugins/plugin_frames.h"
#include "online/plugins/plugin_worker.h"
#include "refrain/blackboard.h"
#include "text/escape.h"

extern char** environ;

namespace refrain::online {

namespace {

using Clock = std::chrono::steady_clock;
// For a process that is about to end, on a machine that has much else to do.
constexpr int kGraceMs = 3000;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int both[2];
    if (pipe2(both, O_CLOEXEC) == 0) read = both[0], write = both[1];
  }
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

// 0: it could not be started.
pid_t start_process(const std::string& program, const std::vector<std::string>& words, int in,
                    int out) {
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(program.c_str()));
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : 0;
}

}  // namespace

struct PluginHost::Plugin {
  std::string path;
  PluginNow now;
  pid_t pid = 0;
  int to = -1, from = -1;
  bool is_ready = false;
  base::Status loaded = base::Done{};
  std::deque<std::string> unsent;  // frames; the first one perhaps in part
  std::string received;            // of a frame that is not whole yet
  uint64_t under_way = 0;          // frames that it has not answered with kDone
  Clock::time_point since;         // when it got the oldest of them
  std::map<uint64_t, std::string> answers;

  ~Plugin() { end(kGraceMs); }
  // The exit status as waitpid() gives it, of a process that has as long to end by itself; -1: it
  // was gone already.
  int end(int grace_ms) {
    for (int* fd : {&to, &from}) {
      if (*fd >= 0) close(*fd);
      *fd = -1;
    }
    if (pid == 0) return -1;
    int status = -1;
    for (int waited_ms = 0; waitpid(pid, &status, WNOHANG) == 0; waited_ms += 10) {
      if (waited_ms >= grace_ms) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        break;
      }
      ::poll(nullptr, 0, 10);
    }
    pid = 0;
    return status;
  }
};

PluginHost::PluginHost(PluginOptions options) : options_(std::move(options)) {}
PluginHost::~PluginHost() = default;

base::Result<std::unique_ptr<PluginHost>> PluginHost::start(const PluginOptions& options,
                                                            const std::string& program) {
  signal(SIGPIPE, SIG_IGN);
  auto host = std::unique_ptr<PluginHost>(new PluginHost(options));
  for (const std::string& path : options.paths) {
    auto plugin = std::make_unique<Plugin>();
    std::error_code error;
    // dlopen() would look for a name without a slash elsewhere.
    plugin->path = std::filesystem::absolute(path, error).string();
    plugin->now.name = std::filesystem::path(path).stem().string();
    if (const base::Status loaded = host->load(*plugin, program); !loaded.ok())
      return loaded.error();
    host->plugins_.push_back(std::move(plugin));
  }
  return host;
}

base::Status PluginHost::load(Plugin& plugin, const std::string& program) {
  if (access(plugin.path.c_str(), R_OK) != 0)
    return base::usage(std::string("cannot be read: ") + std::strerror(errno), plugin.path);
  Pipe in, out;
  if (in.write < 0 || out.write < 0) return base::fail("no pipe", plugin.path);
  plugin.pid =
      start_process(program, {kPluginWorkerWord, plugin.path, std::to_string(options_.most_bytes)},
                    in.read, out.write);
  if (plugin.pid == 0) return base::fail("its process cannot be started", plugin.path);
  plugin.to = std::exchange(in.write, -1);
  plugin.from = std::exchange(out.read, -1);
  close(std::exchange(out.write, -1));
  for (const int fd : {plugin.to, plugin.from}) fcntl(fd, F_SETFL, O_NONBLOCK);
  // Room for some answers: a plug-in must not wait for the next look, and count as slow.
  (void)fcntl(plugin.from, F_SETPIPE_SZ, 1 << 20);
  plugin.under_way = 1;
  plugin.since = Clock::now();
  while (!plugin.is_ready && !plugin.now.is_disabled && plugin.loaded.ok()) {
    pollfd fd{plugin.from, POLLIN, 0};
    ::poll(&fd, 1, 50);
    take(plugin);
    check_time(plugin);
  }
  return plugin.loaded;
}

void PluginHost::disable(Plugin& plugin, const std::string& why) {
  if (plugin.now.is_disabled) return;
  plugin.end(0);
  plugin.now.is_disabled = true;
  plugin.now.why = text::printable(why);
  plugin.unsent.clear();
  plugin.under_way = 0;
  errors_.push_back(base::fail("is disabled: " + plugin.now.why, "plug-in " + plugin.now.name));
}

uint64_t PluginHost::number_of(const std::string& job) {
  uint64_t& number = numbers_[job];
  if (number == 0) number = ++last_number_;
  return number;
}

void PluginHost::look(const std::string& job, const std::string& json) {
  for (const auto& plugin : plugins_) {
    if (plugin->now.is_disabled) continue;
    if (plugin->under_way > 0 || json.size() > kMostLookBytes) {
      ++plugin->now.missed;
      continue;
    }
    send(*plugin, number_of(job), false, json);
  }
}

void PluginHost::ended(const std::string& job, const std::string& trace) {
  for (const auto& plugin : plugins_)
    if (!plugin->now.is_disabled) send(*plugin, number_of(job), true, trace);
}

void PluginHost::send(Plugin& plugin, uint64_t job, bool is_end, const std::string& bytes) {
  const FrameHead head{is_end ? FrameKind::kEnded : FrameKind::kLook,
                       static_cast<uint32_t>(bytes.size()), job};
  if (plugin.under_way++ == 0) plugin.since = Clock::now();
  plugin.unsent.push_back(std::string(reinterpret_cast<const char*>(&head), sizeof head) + bytes);
  flush(plugin);
}

// As much as the pipe takes.
void PluginHost::flush(Plugin& plugin) {
  while (!plugin.unsent.empty()) {
    std::string& frame = plugin.unsent.front();
    const ssize_t n = write(plugin.to, frame.data(), frame.size());
    if (n <= 0) return;  // full; one that has ended is noticed by its end of file
    frame.erase(0, static_cast<size_t>(n));
    if (frame.empty()) plugin.unsent.pop_front();
  }
}

void PluginHost::take_frame(Plugin& plugin, uint32_t kind, uint64_t job, std::string bytes) {
  switch (static_cast<FrameKind>(kind)) {
    case FrameKind::kReady:
      plugin.is_ready = true;
      plugin.under_way = 0;
      return;
    case FrameKind::kNoPlugin:
      plugin.loaded = base::usage(text::printable(bytes), plugin.path);
      return;
    case FrameKind::kVersion:
      plugin.loaded = base::unsupported(
          fmt::format("is a plug-in of version {} of blackboard.h; this program has {}: compile it "
                      "anew",
                      static_cast<int64_t>(static_cast<int32_t>(job)), REFRAIN_BLACKBOARD_VERSION),
          plugin.path);
      return;
    case FrameKind::kDone:
      if (plugin.under_way > 0) --plugin.under_way;
      plugin.since = Clock::now();
      ++plugin.now.looks;
      return;
    case FrameKind::kAnswer:
      for (const auto& [name, number] : numbers_)
        if (number == job) plugin.answers[job] = std::move(bytes);
      return;
    case FrameKind::kFailed: return disable(plugin, bytes);
    default: return disable(plugin, "it sent what is no frame");
  }
}

void PluginHost::take(Plugin& plugin) {
  char bytes[65536];
  while (!plugin.now.is_disabled) {
    const ssize_t n = read(plugin.from, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // nothing now
    if (n == 0) {
      if (!plugin.loaded.ok()) return;
      const int status = plugin.end(kGraceMs);
      if (status >= 0 && WIFSIGNALED(status))
        return disable(plugin, fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                                           strsignal(WTERMSIG(status))));
      return disable(plugin, fmt::format("it ended its process with status {}",
                                         status >= 0 ? WEXITSTATUS(status) : 0));
    }
    plugin.received.append(bytes, static_cast<size_t>(n));
    FrameHead head;
    size_t at = 0;
    while (plugin.received.size() - at >= sizeof head && !plugin.now.is_disabled) {
      std::memcpy(&head, plugin.received.data() + at, sizeof head);
      if (head.bytes > kMostAnswerBytes) return disable(plugin, "it sent what is no frame");
      if (plugin.received.size() - at < sizeof head + head.bytes) break;
      take_frame(plugin, static_cast<uint32_t>(head.kind), head.job,
                 plugin.received.substr(at + sizeof head, head.bytes));
      at += sizeof head + head.bytes;
    }
    plugin.received.erase(0, at);
  }
}

void PluginHost::check_time(Plugin& plugin) {
  if (plugin.now.is_disabled || plugin.under_way == 0 || !plugin.loaded.ok()) return;
  const auto took =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - plugin.since);
  if (static_cast<uint64_t>(took.count()) <= options_.most_ns) return;
  disable(plugin,
          fmt::format("it took longer than {:.1f} s", static_cast<double>(options_.most_ns) / 1e9));
}

std::vector<base::Error> PluginHost::poll() {
  for (const auto& plugin : plugins_) {
    if (plugin->now.is_disabled) continue;
    take(*plugin);
    flush(*plugin);
    check_time(*plugin);
  }
  return std::exchange(errors_, {});
}

std::vector<base::Error> PluginHost::finish() {
  std::vector<base::Error> all;
  const auto is_busy = [](const auto& p) { return !p->now.is_disabled && p->under_way > 0; };
  do {
    for (base::Error& error : poll()) all.push_back(std::move(error));
    if (std::any_of(plugins_.begin(), plugins_.end(), is_busy)) ::poll(nullptr, 0, 10);
  } while (std::any_of(plugins_.begin(), plugins_.end(), is_busy));
  return all;
}

std::vector<PluginNow> PluginHost::now() const {
  std::vector<PluginNow> all;
  for (const auto& plugin : plugins_) all.push_back(plugin->now);
  return all;
}

std::vector<std::pair<std::string, std::string>> PluginHost::answers(const std::string& job) const {
  std::vector<std::pair<std::string, std::string>> all;
  const auto number = numbers_.find(job);
  if (number == numbers_.end()) return all;
  for (const auto& plugin : plugins_) {
    const auto answer = plugin->answers.find(number->second);
    if (answer != plugin->answers.end()) all.emplace_back(plugin->now.name, answer->second);
  }
  return all;
}

void PluginHost::forget(const std::string& job) {
  const auto number = numbers_.find(job);
  if (number == numbers_.end()) return;
  for (const auto& plugin : plugins_) plugin->answers.erase(number->second);
  numbers_.erase(number);
}

}  // namespace refrain::online
