// CallScope: one MPI call of the program on its way through a wrapper.
//
//   program -> MPI_Send (wrapper) -> CallScope -> real MPI_Send
//                                      |  end of call
//                                      v
//              Encoder: parameters -> signature -> terminal -> grammar of the location
//
// Laws: never fails, never changes an argument, costs a branch where the call is not the program's:
// calls that the MPI library makes inside a call are not recorded, calls that a callback of the
// program makes inside a call are (told apart by the caller's module).
#pragma once

#include <mpi.h>

#include <type_traits>

#include "mpi/call_table.h"
#include "tracer/encoder.h"
#include "tracer/location.h"
#include "tracer/process.h"

namespace refrain::tracer {

// A parameter as one of the words that CallScope::repeats() compares.
template <class T>
uint64_t word(T v) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<uint64_t>(v);
  else
    return handle_key(v);
}

class CallScope {
 public:
  CallScope(mpi::CallId call, void* return_address, void* frame);
  ~CallScope() {
    if (location_ == nullptr) return;
    --location_->depth;
    if (active_) location_->open_call = outer_call_;
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  bool active() const { return active_; }
  Location& location() { return *location_; }
  Process& process() { return *location_->process; }

  void begin() { begin_ticks_ = location_->process->clock.ticks(); }
  void end() { end_ticks_ = location_->process->clock.ticks(); }
  uint64_t begin_ticks() const { return begin_ticks_; }

  // What a handle stands for before a call that may free or change it.
  template <class H>
  Captured capture(format::DefinitionKind kind, H h) {
    return location_->encoder.lookup(kind, handle_key(h));
  }
  // After success: the handle is gone, its id is free again.
  void released(format::DefinitionKind kind, const Captured& c) {
    location_->encoder.release(kind, c);
  }

  // Starts the signature. From here to commit() MPI calls are the recorder's own.
  Encoder& encoder(int rc);
  // Ends it: looks up the terminal, counts the duration, extends the grammar. Returns the terminal.
  uint32_t commit();

  // The short way for a call that is what the grammar expects, from the same place, with the same
  // `words` as last time: its arguments and scalar results, which fix the signature as long as no
  // handle was made or freed since. True: recorded, nothing else to do. False: go the long way, and
  // memorise() the words after commit().
  bool repeats(const uint64_t* words, size_t count) { return repeats(words, count, nullptr, {}); }
  // The same for a call that made a request.
  bool repeats(const uint64_t* words, size_t count, MPI_Request* request,
               const RequestTraits& traits);
  void memorise(const uint64_t* words, size_t count);

 private:
  void activate();
  uint32_t site();
  uint32_t extend_grammar();
  void count_call(uint32_t terminal);
  void count_duration(uint32_t terminal, uint64_t ticks);

  Location* location_ = nullptr;
  uint64_t begin_ticks_ = 0, end_ticks_ = 0;
  uintptr_t address_ = 0;
  uint32_t terminal_ = 0;  // after commit()
  int rc_ = 0;
  mpi::CallId call_;
  mpi::CallId outer_call_ = 0;
  bool active_ = false;
};

}  // namespace refrain::tracer
