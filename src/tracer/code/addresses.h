// Classifies an address: module and offset (call sites, callbacks), or a buffer on the stack, in
// data or on the heap.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace refrain::tracer {

struct Module;

// By its file name, whether a library calls MPI on its own behalf. A call that comes from one of
// them while another MPI call is under way is not a call of the program (ROMIO, in MPICH, calls MPI
// by its public names).
bool is_mpi_library(const char* path);

struct Segment {
  uintptr_t begin = 0, end = 0;
  const Module* module = nullptr;
  int32_t data_id = -1;  // number of this writable segment in load order, -1 when read-only
  bool operator==(const Segment&) const = default;
};

struct Module {
  std::string path;
  std::string build_id;    // hex; empty when the file has none
  uintptr_t bias = 0;      // address minus the file's own virtual address
  bool is_system = false;  // the C library or the dynamic linker
  bool is_own = false;     // the recorder
  bool is_mpi = false;     // the MPI library, something it loads, or the recorder: not the program
  std::vector<Segment> segments;
};

// Snapshot of what the dynamic linker has loaded. Modules stay where they are for the whole run,
// also when they or others are unloaded.
//
// Laws: find() needs no lock, whoever else is in here; the owner locks for refresh().
class AddressMap {
 public:
  // The segment that holds `address`, or nullptr (heap, stack, mapped files).
  const Segment* find(uintptr_t address) const;
  // The same for who asks about neighbours most of the time; one for each thread. What lies between
  // two segments, as the heap does, is remembered as well.
  struct Hint {
    const void* version = nullptr;
    const Segment* segment = nullptr;
    uintptr_t begin = 0, end = 0;
  };
  const Segment* find(uintptr_t address, Hint& last) const {
    const void* const version = segments_.load(std::memory_order_acquire);
    if (last.version != version || address < last.begin || address >= last.end) [[unlikely]]
      look_up(address, last);
    return last.segment;
  }
  // Whether, by the names of files, a Python interpreter or a module for one was ever loaded.
  bool has_python() const { return has_python_; }
  // What is loaded now; something else may be where a known module was.
  void refresh();

 private:
  friend struct AddressScan;
  void look_up(uintptr_t address, Hint& last) const;
  using Segments = std::vector<Segment>;  // by begin
  std::deque<Module> modules_;
  std::vector<std::unique_ptr<const Segments>> versions_;  // readers may have any of them
  std::atomic<const Segments*> segments_{nullptr};
  int32_t next_data_id_ = 0;
  bool has_python_ = false;
};

struct StackBounds {
  uintptr_t begin = 0, end = 0;
  static StackBounds of_this_thread();  // current.cc
  bool holds(uintptr_t a) const { return a >= begin && a < end; }
};

}  // namespace refrain::tracer
