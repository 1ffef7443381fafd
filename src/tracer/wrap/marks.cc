// The recorder's side of include/refrain/mark.h, and of functions that a compiler tells us about:
// marks are calls in the trace, of no duration.
#include "refrain/mark.h"

#include "mpi/call_ids.h"
#include "options/environment.h"
#include "tracer/filter/control.h"
#include "tracer/wrap/call_scope.h"

namespace refrain::tracer {

namespace {

// Known before there is a Process: functions are entered long before the first MPI call.
bool g_keeps_functions = false;

__attribute__((constructor)) void ask_for_functions() {
  g_keeps_functions = options::is_word(options::RecordOption::kFunctions, "on");
}

template <class Encode>
void mark(mpi::CallId id, void* return_address, void* frame, Encode encode) {
  if (leaves_out(id)) return;
  CallScope scope(id, return_address, frame);
  if (!scope.active()) return;
  scope.begin();
  scope.end();
  encode(scope.encoder(MPI_SUCCESS));
  scope.commit();
}

void region_begin(const char* name) {
  mark(mpi::krefrain_region_begin, __builtin_return_address(0), __builtin_frame_address(0),
       [=](Encoder& e) { e.string(name); });
}

void region_end(const char* name) {
  mark(mpi::krefrain_region_end, __builtin_return_address(0), __builtin_frame_address(0),
       [=](Encoder& e) { e.string(name); });
}

void instance(const char* name, long long number) {
  mark(mpi::krefrain_instance, __builtin_return_address(0), __builtin_frame_address(0),
       [=](Encoder& e) { e.string(name), e.integer(number); });
}

// In a loop the place and the function are what they were.
void function(mpi::CallId id, void* address, void* return_address, void* frame) {
  if (leaves_out(id)) return;
  CallScope scope(id, return_address, frame);
  if (!scope.active()) return;
  scope.begin();
  scope.end();
  const auto word = reinterpret_cast<uint64_t>(address);
  if (scope.is_plain() && scope.was_made(word)) return;
  scope.encoder(MPI_SUCCESS).function(address);
  scope.commit();
  scope.memorise(word);
}

}  // namespace
}  // namespace refrain::tracer

// What gcc and clang call with -finstrument-functions; the C library has some that do nothing. The
// caller of the function is in the call path anyway.
extern "C" __attribute__((visibility("default"))) void __cyg_profile_func_enter(void* f, void*) {
  if (refrain::tracer::g_keeps_functions) [[unlikely]]
    refrain::tracer::function(refrain::mpi::krefrain_function_enter, f, __builtin_return_address(0),
                              __builtin_frame_address(0));
}
extern "C" __attribute__((visibility("default"))) void __cyg_profile_func_exit(void* f, void*) {
  if (refrain::tracer::g_keeps_functions) [[unlikely]]
    refrain::tracer::function(refrain::mpi::krefrain_function_leave, f, __builtin_return_address(0),
                              __builtin_frame_address(0));
}

// Found by name; the type of the same name is the header's.
extern "C" __attribute__((visibility("default")))
const struct refrain_mark_table refrain_mark_table = {REFRAIN_MARK_VERSION,
                                                      refrain::tracer::pause_recording,
                                                      refrain::tracer::resume_recording,
                                                      refrain::tracer::region_begin,
                                                      refrain::tracer::region_end,
                                                      refrain::tracer::instance};
