// What an address is: a module and offset (call sites, callbacks), or a stack, data or heap buffer.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace refrain::tracer {

struct Module {
  std::string path;
  std::string build_id;    // hex; empty when the file has none
  uintptr_t bias = 0;      // address minus the file's own virtual address
  bool is_system = false;  // the C library or the dynamic linker
  bool is_own = false;     // the recorder
  bool is_mpi = false;     // the MPI library, something it loads, or the recorder: not the program
};

struct Segment {
  uintptr_t begin = 0, end = 0;
  uint32_t module = 0;
  int32_t data_id = -1;  // number of this writable segment in load order, -1 when read-only
};

// Snapshot of what the dynamic linker has loaded. Modules keep their index for the whole run, also
// when others are loaded or unloaded later.
class AddressMap {
 public:
  // The segment that holds `address`, or nullptr (heap, stack, mapped files).
  const Segment* find(uintptr_t address) const;
  void refresh();
  const Module& module(uint32_t index) const { return modules_[index]; }

 private:
  friend struct AddressScan;
  std::deque<Module> modules_;     // they stay where they are
  std::vector<Segment> segments_;  // by begin
  int32_t next_data_id_ = 0;
};

struct StackBounds {
  uintptr_t begin = 0, end = 0;
  static StackBounds of_this_thread();  // current.cc
  bool holds(uintptr_t a) const { return a >= begin && a < end; }
};

}  // namespace refrain::tracer
