#include "online/remote/broker_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "online/own_files.h"

namespace refrain::online {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = 65536;
constexpr int kMostTries = 200;  // each of 50 ms

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Whether the port can be had, or (`is_there`) somebody listens on it.
bool try_port(uint16_t port, bool is_there) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const auto* const a = reinterpret_cast<const sockaddr*>(&address);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool good = (is_there ? connect(fd, a, sizeof address) : bind(fd, a, sizeof address)) == 0;
  close(fd);
  return good;
}

// Debian has it where only root looks.
std::string find_server() {
  const char* const path = getenv("PATH");
  std::string all = std::string(path == nullptr ? "" : path) + ":/usr/sbin:/usr/local/sbin";
  for (size_t at = 0; at <= all.size();) {
    const size_t end = std::min(all.find(':', at), all.size());
    const std::string file = all.substr(at, end - at) + "/nats-server";
    if (end > at && access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return {};
}

base::Status prepare(const std::string& folder, const std::string& token_file,
                     const std::string& config_file) {
  auto token = read_own_file(token_file, kMostBytes);
  const bool has_token = token.ok() && token->size() >= 16;
  if (!has_token) {
    token = random_word();
    if (const base::Status good = write_own_file(token_file, *token); !good.ok()) return good;
  }
  // One without its token would let nobody in.
  if (has_token && read_own_file(config_file, kMostBytes).ok()) return base::Done{};
  return write_own_file(
      config_file,
      "# Of `refrain live serve --listen`: the port and 127.0.0.1 come from there.\n"
      "authorization { token: \"" +
          *token +
          "\" }\n"
          "jetstream { store_dir: \"" +
          folder + "/nats\" }\n");
}

[[noreturn]] void run_server(const std::string& server, const std::string& config,
                             const std::string& log, uint16_t port) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  signal(SIGINT, SIG_IGN);  // a terminal's is for us, who tell it then
  const int nothing = open("/dev/null", O_RDWR);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(nothing, STDIN_FILENO);
  dup2(file >= 0 ? file : nothing, STDOUT_FILENO);
  dup2(file >= 0 ? file : nothing, STDERR_FILENO);
#ifdef SYS_close_range
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);  // of a page that is served
#endif
  const std::string number = std::to_string(port);
  execl(server.c_str(), "nats-server", "-c", config.c_str(), "-a", "127.0.0.1", "-p",
        number.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

base::Result<std::unique_ptr<BrokerProcess>> BrokerProcess::start(const std::string& output,
                                                                  uint16_t port) {
  const std::string server = find_server();
  if (server.empty())
    return base::unsupported("--listen needs nats-server (Debian: nats-server), which is not here");
  std::error_code error;
  fs::create_directories(output, error);
  const std::string folder = fs::absolute(output, error).lexically_normal().string();
  if (error || folder.find_first_of("\"\\\n") != std::string::npos)
    return base::usage("no folder for what a broker stores", output);
  if (!try_port(port, false))
    return base::usage("port " + std::to_string(port) + " is taken: name another one", "--listen");
  auto broker = std::unique_ptr<BrokerProcess>(new BrokerProcess());
  broker->server_ = server;
  broker->config_ = folder + "/nats.conf";
  broker->log_ = folder + "/nats.log";
  broker->url_ = "nats://127.0.0.1:" + std::to_string(port);
  broker->token_file_ = folder + "/nats.token";
  broker->port_ = port;
  if (const base::Status good = prepare(folder, broker->token_file_, broker->config_); !good.ok())
    return good.error();
  if (const base::Status good = broker->launch(); !good.ok()) return good.error();
  for (int i = 0; i < kMostTries; ++i) {
    if (try_port(port, true)) return broker;
    if (waitpid(broker->process_, nullptr, WNOHANG) == broker->process_) {
      broker->process_ = -1;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return base::fail("nats-server did not start: it says why", broker->log_);
}

base::Status BrokerProcess::launch() {
  launched_ = std::chrono::steady_clock::now();
  process_ = fork();
  if (process_ < 0)
    return base::fail(std::string("cannot start a broker: ") + std::strerror(errno));
  if (process_ == 0) run_server(server_, config_, log_, port_);
  return base::Done{};
}

std::string BrokerProcess::revive() {
  if (process_ > 0 && waitpid(process_, nullptr, WNOHANG) == process_) process_ = -1;
  constexpr std::chrono::seconds kPause{5};
  if (process_ > 0 || std::chrono::steady_clock::now() - launched_ < kPause) return {};
  if (const base::Status good = launch(); !good.ok()) return good.error().to_string();
  return "the broker has ended by itself, and is started again (" + log_ + " may say why)";
}

BrokerProcess::~BrokerProcess() {
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace refrain::online
