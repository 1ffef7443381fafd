#include "tracer/calls/posix_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "format/posix.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

const PosixTable* g_posix = nullptr;  // null: nothing is counted
Process* g_rank = nullptr;
constinit std::atomic<bool> g_is_paused{false}, g_mpi_is_up{false};
uintptr_t g_program_begin = 0, g_program_end = 0;  // the executable

// Of libraries that work for the MPI library, beside those that call MPI.
bool is_helper_of_mpi(const char* path) { return std::strstr(path, "/libevent") != nullptr; }

bool works_for_mpi(const char* path) { return is_mpi_library(path) || is_helper_of_mpi(path); }

#ifdef DLFO_STRUCT_HAS_EH_DBASE
using FindObject = int (*)(void*, dl_find_object*);
FindObject g_find_object = nullptr;  // of C libraries that have it

// Open MPI loads its parts for files when the first file is opened, which nobody tells us of where
// a filter leaves these calls out. Takes no lock: signal handlers may ask.
bool is_of_late_mpi(const void* caller) {
  dl_find_object found;
  if (g_find_object == nullptr || g_find_object(const_cast<void*>(caller), &found) != 0)
    return false;
  return found.dlfo_link_map != nullptr && works_for_mpi(found.dlfo_link_map->l_name);
}

void find_find_object() {
  g_find_object = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}
#else
bool is_of_late_mpi(const void* /*caller*/) { return false; }
void find_find_object() {}
#endif

// Neither the recorder's nor the MPI library's: of which the one is known by the place, the other
// by an MPI call that is under way, or, of its own threads and of calls that a filter leaves out,
// by the place. What the executable itself calls is its own also inside of an MPI call: in a
// callback, or in a signal handler.
bool is_of_program(const void* caller) {
  if (g_is_paused.load(std::memory_order_relaxed)) return false;
  const auto address = reinterpret_cast<uintptr_t>(caller);
  // First: its signal handlers interrupt the recorder, too.
  if (address >= g_program_begin && address < g_program_end) return true;
  const Location* const l = known_location();
  if (l != nullptr && (l->in_recorder || l->depth > 0)) return false;
  AddressMap::Hint hint;
  const Segment* const segment = g_rank->code.known_segment(address, hint);
  if (segment == nullptr)
    return g_mpi_is_up.load(std::memory_order_relaxed) && !is_of_late_mpi(caller);
  return !(segment->module->is_mpi || is_helper_of_mpi(segment->module->path.c_str()));
}

uint64_t ticks() { return g_rank->clock.ticks(); }

constinit const PosixLink kLink = {is_of_program, ticks};

}  // namespace

void begin_posix(Process& p) {
  const auto* table = static_cast<const PosixTable*>(dlsym(RTLD_DEFAULT, PosixTable::kSymbol));
  if (table == nullptr) return;
  if (table->version != PosixTable::kVersion)
    return p.lose("posix_unknown", "librefrain-posix.so is of another version");
  g_rank = &p;
  find_find_object();
  if (const Module* const program = p.code.module_at(getauxval(AT_ENTRY)); program != nullptr) {
    g_program_begin = UINTPTR_MAX;
    for (const Segment& segment : program->segments) {
      g_program_begin = std::min(g_program_begin, segment.begin);
      g_program_end = std::max(g_program_end, segment.end);
    }
  }
  g_posix = table;
  table->begin(&kLink);
}

bool counts_posix() { return g_posix != nullptr; }

void know_posix_callers() {
  if (g_posix == nullptr) return;
  g_rank->code.refresh();
  g_mpi_is_up.store(true, std::memory_order_relaxed);
}

void pause_posix(bool is_paused) { g_is_paused.store(is_paused, std::memory_order_relaxed); }

void keep_posix_in(format::PosixCounter* area) {
  if (g_posix != nullptr) g_posix->use(area);
}

void end_posix() {
  if (g_posix != nullptr) g_posix->stop();
}

std::vector<format::PosixUse> posix_uses(const Process& p) {
  std::vector<format::PosixUse> out;
  if (g_posix == nullptr) return out;
  const auto to_ns = [&p](uint64_t ticks) { return p.clock.to_ns(ticks); };
  return format::posix_uses(g_posix->area(), to_ns);
}

}  // namespace refrain::tracer
