#include "replay/solo/say.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace refrain::replay::solo {
namespace {

// Above the descriptors that programs count on.
constexpr int kFirstDescriptor = 200;

int g_stderr = -1;
struct stat g_file {};

// Programs close all descriptors, or use the number for a file of their own.
bool is_kept() {
  struct stat now {};
  return g_stderr >= 0 && fstat(g_stderr, &now) == 0 && now.st_dev == g_file.st_dev &&
         now.st_ino == g_file.st_ino;
}

}  // namespace

void keep_stderr() {
  g_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (g_stderr >= 0 && fstat(g_stderr, &g_file) != 0) g_stderr = -1;
}

void say(const std::string& line) {
  std::fflush(stderr);
  dprintf(is_kept() ? g_stderr : STDERR_FILENO, "refrain: %s\n", line.c_str());
}

}  // namespace refrain::replay::solo
