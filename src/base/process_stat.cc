#include "base/process_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace refrain::base {
namespace {

unsigned long number_at(const char* at) {
  unsigned long number = 0;
  for (; *at >= '0' && *at <= '9'; ++at)
    number = 10 * number + static_cast<unsigned long>(*at - '0');
  return number;
}

}  // namespace

// "PID (NAME) STATE PARENT ..."; the name may hold any letter.
bool read_process_stat(int pid, ProcessStat* stat) {
  char text[2048];
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = '\0';
  const char *begin = std::strchr(text, '('), *end = std::strrchr(text, ')');
  if (begin == nullptr || end == nullptr || end < begin || end[1] != ' ') return false;
  stat->name.assign(begin + 1, end);
  stat->state = end[2];
  constexpr int kState = 3, kParent = 4, kBorn = 22;
  const char* at = end + 2;
  for (int field = kState + 1; field <= kBorn; ++field) {
    at = std::strchr(at, ' ');
    if (at == nullptr) return false;
    ++at;
    if (field == kParent) stat->parent = static_cast<int>(number_at(at));
    if (field == kBorn) stat->born = number_at(at);
  }
  return true;
}

}  // namespace refrain::base
