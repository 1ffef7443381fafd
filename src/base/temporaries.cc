#include "base/temporaries.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

namespace refrain::base {
namespace {

// Those that end a process and that somebody may send to it, or that a limit does.
constexpr int kSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,
                            SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
// Deepest folder in a folder.
constexpr int kDepth = 8;

std::atomic<bool> is_on{false};
std::mutex changes;
// A handler walks the list in the middle of any change: each change is one store.
std::atomic<Temporary*> first{nullptr};

// What the kernel gives out; readdir() is not for handlers.
struct Entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// Only what a signal handler may call. False: it is still there.
bool remove_tree(int folder, const char* name, int depth) {
  if (unlinkat(folder, name, 0) == 0) return true;
  if (depth == 0) return false;
  const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  alignas(Entry) char buffer[4096];
  bool removed = true;
  while (removed) {  // a folder that changes may leave out entries: until a round finds none
    removed = false;
    lseek(fd, 0, SEEK_SET);
    long bytes = 0;
    while ((bytes = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
      for (long at = 0; at < bytes;) {
        const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
        at += entry->length;
        if (std::strcmp(entry->name, ".") != 0 && std::strcmp(entry->name, "..") != 0)
          removed = remove_tree(fd, entry->name, depth - 1) || removed;
      }
  }
  close(fd);
  return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

}  // namespace

void Temporary::remove_all() {
  for (const Temporary* one = first.load(); one != nullptr; one = one->next_)
    remove_tree(AT_FDCWD, one->path_.c_str(), kDepth);
}

namespace {

std::atomic<const char*> said{nullptr};

// The action is the default one again when this runs, and what is raised comes when it returns.
void on_signal(int number) {
  if (const char* const text = said.load(); text != nullptr)
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) said = nullptr;
  Temporary::remove_all();
  raise(number);
}

}  // namespace

void say_on_signals(const char* text) { said = text; }

void remove_temporaries_on_signals() {
  for (const int number : kSignals) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigfillset(&action.sa_mask);  // somebody impatient does not interrupt it
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
  is_on = true;
}

Temporary::Temporary(std::string path) : path_(std::move(path)) {
  if (!is_on) return;
  const std::lock_guard<std::mutex> lock(changes);
  is_guarded_ = true;
  next_ = first.load();
  first = this;
}

Temporary::~Temporary() {
  if (!is_guarded_) return;
  const HoldSignals hold;  // no handler of this thread reads what goes now
  const std::lock_guard<std::mutex> lock(changes);
  Temporary* before = nullptr;
  for (Temporary* one = first.load(); one != this; one = one->next_) before = one;
  if (before == nullptr)
    first = next_;
  else
    before->next_ = next_;
}

HoldSignals::HoldSignals() {
  sigset_t all;
  sigemptyset(&all);
  for (const int number : kSignals) sigaddset(&all, number);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

HoldSignals::~HoldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace refrain::base
