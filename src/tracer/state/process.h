// Process: the recorder's data of one MPI process (rank), shared by its threads, in three parts:
// Identity, Tables of calls and objects, and Services. Code that needs only one of the three takes
// that one.
//
// Laws: nothing here runs before the first MPI call of the process, nothing throws, nothing aborts
// the program. What is locked, and when: tables.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracer/state/identity.h"
#include "tracer/state/services.h"
#include "tracer/state/tables.h"

namespace refrain::tracer {

class CallScope;

class Process : public Identity, public Tables, public Services {
 public:
  // Call site or callback address -> definition (kSite), or UINT32_MAX when it lies in no module.
  uint32_t define_site(uintptr_t address);
  // A call site in a source file that no module is made of: of Python.
  uint32_t define_source_site(std::string_view file, std::string_view function, int line);
  // One of a program that a replay stands for.
  uint32_t define_told_site(std::string_view module, std::string_view build_id, int64_t offset);
  // A call path (kPath): sites, innermost first.
  uint32_t define_path(const uint32_t* sites, size_t n);

  void lose(const char* reason, const char* detail = "");

  bool ends_in_finalize = false;  // a callback of our own will run inside of it
  // MPI_Finalize under way, and what records it.
  CallScope* finalize = nullptr;
  void (*end_finalize)(Process& process) = nullptr;
};

// The calling process; made on first use. See current.h.
Process& process();

}  // namespace refrain::tracer
