// Plug-ins of `refrain live`, one for each KIND: a good one, and every way of going wrong. Not
// linked with anything: the program that loads them has the functions of blackboard.h.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "refrain/blackboard.h"

#define GOOD 1 /* counts looks, and says where the trace is */
#define THROWS 2
#define CRASHES 3
#define EXITS 4
#define LOOPS 5
#define EATS 6       /* takes memory until there is none */
#define OLD 7        /* of another version of the interface */
#define NOTHING 8    /* no plug-in */
#define STARTS_BAD 9 /* crashes when it is loaded */
#define REFUSES 10   /* does not want the job */
#define FLOODS 11    /* answers more than anybody keeps */

#if KIND == OLD
extern "C" const int refrain_plugin_version;
const int refrain_plugin_version = REFRAIN_BLACKBOARD_VERSION + 1;
#elif KIND != NOTHING
REFRAIN_PLUGIN_VERSION
#endif

namespace {

struct Job {
  std::string level;
  long looks = 0;
  std::string trace;
};

void answer(refrain_blackboard* board, const Job& job, const std::string& text) {
  refrain_blackboard_submit_copy(board, refrain_type_of(job.level.c_str(), "answer"), text.data(),
                                 text.size());
}

std::string text_of(refrain_entry* entry) {
  return {static_cast<const char*>(refrain_entry_data(entry)), refrain_entry_bytes(entry)};
}

[[maybe_unused]] void misbehave(refrain_blackboard* board, const Job& job) {
  static volatile int g_zero = 0;
  if (KIND == THROWS) throw std::runtime_error("this one throws");
  if (KIND == CRASHES) *reinterpret_cast<volatile int*>(static_cast<intptr_t>(g_zero)) = 1;
  if (KIND == EXITS) _exit(7);
  while (KIND == LOOPS && g_zero == 0) {
  }
  while (KIND == EATS) {
    char* const some = new char[16 << 20];
    std::memset(some, 1, 16 << 20);
  }
  if (KIND == FLOODS)
    for (int i = 0; i < 3; ++i) answer(board, job, std::string(1 << 20, 'x'));
}

void look(refrain_blackboard* board, refrain_entry* const* entries, int, void* context) {
  auto& job = *static_cast<Job*>(context);
  ++job.looks;
  misbehave(board, job);
  if (text_of(entries[0]).find("\"calls\":") == std::string::npos)
    throw std::runtime_error("a look without calls");
  if (KIND == GOOD) answer(board, job, "looks " + std::to_string(job.looks));
}

void ended(refrain_blackboard* board, refrain_entry* const* entries, int, void* context) {
  auto& job = *static_cast<Job*>(context);
  job.trace = text_of(entries[0]);
  const bool is_there = access(job.trace.c_str(), R_OK) == 0;
  answer(board, job,
         "looks " + std::to_string(job.looks) + (is_there ? ", ended " : ", lost ") + job.trace);
}

#if KIND == STARTS_BAD
[[gnu::constructor]] void start() { abort(); }
#endif

}  // namespace

#if KIND != NOTHING
extern "C" int refrain_plugin_add(refrain_blackboard* board, const char* level) {
  if (KIND == REFUSES) return -1;
  auto* const job = new Job{level, 0, {}};
  const refrain_type at_look = refrain_type_of(level, "look"),
                     at_end = refrain_type_of(level, "ended");
  const bool is_good = refrain_source_add(board, "looks", &at_look, 1, look, job) > 0 &&
                       refrain_source_add(board, "ends", &at_end, 1, ended, job) > 0;
  return is_good ? 0 : -1;
}
#endif
