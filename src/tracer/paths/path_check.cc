#include "tracer/paths/path_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "options/environment.h"

namespace refrain::tracer {

namespace {

constexpr uint64_t kMaxLines = 5;
constexpr const char* kEvery = "every:";

// The frame pointer is what is stored, wherever: under Fortran's attribute functions libunwind 1.6
// names a copy of it that is further inside. `at` is a slot of the stack that both have walked.
uintptr_t word(uintptr_t at) { return at == 0 ? 0 : *reinterpret_cast<const uintptr_t*>(at); }

bool same(const WalkedFrame& a, const WalkedFrame& b) {
  return a.return_address == b.return_address && a.sp == b.sp && a.return_slot == b.return_slot &&
         (!a.reads_pointer || b.pointer_slot == 0 || word(a.pointer_slot) == word(b.pointer_slot));
}

}  // namespace

PathCheck* PathCheck::from_environment() {
  const char* const word = options::text_of(options::Variable::kCheckPaths);
  if (word[0] == '\0') return nullptr;
  const bool every = std::strncmp(word, kEvery, std::strlen(kEvery)) == 0;
  return new PathCheck(every ? word + std::strlen(kEvery) : word, every);
}

void PathCheck::compare(Process& process, ReturnAddresses& returns, const CallPlace& call,
                        const Walk* by_rules) {
  paths_.fetch_add(1);
  if (by_rules == nullptr) {
    by_libunwind_.fetch_add(1);
    return;
  }
  Walk reference;
  walk_by_libunwind(process, returns, call, reference);
  const size_t n = std::min(by_rules->count, reference.count);
  size_t i = 0;
  while (i < n && same(by_rules->frames[i], reference.frames[i])) ++i;
  const bool ends_alike =
      by_rules->is_whole ? by_rules->count == reference.count : by_rules->count <= reference.count;
  if (i == n && ends_alike) return;
  if (differ_.fetch_add(1) >= kMaxLines) return;
  char line[256];
  const auto frame = [i](const Walk& w) { return i < w.count ? w.frames[i] : WalkedFrame{}; };
  const WalkedFrame mine = frame(*by_rules), theirs = frame(reference);
  std::snprintf(line, sizeof line,
                "call to %" PRIxPTR ", frame %zu of %zu and %zu: %" PRIxPTR " %" PRIxPTR
                " %" PRIxPTR ", libunwind: %" PRIxPTR " %" PRIxPTR " %" PRIxPTR "\n",
                call.address, i, by_rules->count, reference.count, mine.return_address, mine.sp,
                mine.pointer_slot, theirs.return_address, theirs.sp, theirs.pointer_slot);
  write(line);
}

void PathCheck::found_wrong(uintptr_t address) {
  if (wrong_.fetch_add(1) >= kMaxLines) return;
  char line[64];
  std::snprintf(line, sizeof line, "taken for another path: call to %" PRIxPTR "\n", address);
  write(line);
}

void PathCheck::report() const {
  char line[160];
  std::snprintf(line, sizeof line,
                "paths %" PRIu64 " differ %" PRIu64 " wrong %" PRIu64 " by_libunwind %" PRIu64 "\n",
                paths_.load(), differ_.load(), wrong_.load(), by_libunwind_.load());
  write(line);
}

void PathCheck::write(const char* line) const {
  const int fd = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  (void)!::write(fd, line, std::strlen(line));
  close(fd);
}

}  // namespace refrain::tracer
