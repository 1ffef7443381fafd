#include "tracer/code/late_events.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

namespace refrain::tracer {

namespace {

// Libraries have one to three.
constexpr size_t kMostThreads = 8;

std::vector<int> g_before;
int g_threads[kMostThreads];
size_t g_count = 0;
bool g_ends = false;

std::vector<int> all_threads() {
  std::vector<int> all;
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) return all;
  while (const dirent* const entry = readdir(folder)) {
    int thread = 0;
    const char* const name = entry->d_name;
    if (std::from_chars(name, name + std::strlen(name), thread).ec == std::errc())
      all.push_back(thread);
  }
  closedir(folder);
  return all;
}

// Whether it has a core or waits for one. What it waits for otherwise is somebody else's to give.
bool is_running(int thread) {
  char text[512];
  std::snprintf(text, sizeof text, "/proc/self/task/%d/stat", thread);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  text[std::max<ssize_t>(length, 0)] = '\0';
  const char* const name_end = std::strrchr(text, ')');  // the name may be anything
  return name_end != nullptr && std::strncmp(name_end, ") R", 3) == 0;
}

}  // namespace

void note_threads_before_mpi() {
  const int before = errno;
  g_before = all_threads();
  errno = before;
}

void note_threads_of_mpi() {
  const int before = errno;
  for (const int thread : all_threads())
    if (g_count < kMostThreads &&
        std::find(g_before.begin(), g_before.end(), thread) == g_before.end())
      g_threads[g_count++] = thread;
  std::vector<int>().swap(g_before);
  errno = before;
}

void expect_unloads() { g_ends = g_count > 0; }

bool has_late_events(void* library) {
  link_map* map = nullptr;
  return g_ends && library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 &&
         std::strstr(map->l_name, "/mca_errmgr_") != nullptr;
}

void wait_for_late_events() {
  constexpr int kMostPauses = 20'000;
  const int before = errno;
  timespec pause{};
  pause.tv_nsec = 100'000;
  for (int i = 0; i < kMostPauses; ++i) {
    if (std::none_of(g_threads, g_threads + g_count, is_running)) break;
    nanosleep(&pause, nullptr);
  }
  errno = before;
}

}  // namespace refrain::tracer
