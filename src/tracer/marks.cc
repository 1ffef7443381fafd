// The recorder's side of include/refrain/mark.h: marks are calls in the trace, of no duration.
#include "refrain/mark.h"

#include "mpi/call_ids.h"
#include "tracer/call_scope.h"
#include "tracer/control.h"

namespace refrain::tracer {

namespace {

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

}  // namespace
}  // namespace refrain::tracer

// Found by name; the type of the same name is the header's.
extern "C" __attribute__((visibility("default")))
const struct refrain_mark_table refrain_mark_table = {REFRAIN_MARK_VERSION,
                                                      refrain::tracer::pause_recording,
                                                      refrain::tracer::resume_recording,
                                                      refrain::tracer::region_begin,
                                                      refrain::tracer::region_end,
                                                      refrain::tracer::instance};
