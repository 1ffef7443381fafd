// Call paths, and other handles of requests, that a replay tells (mpi_runtime/told_paths.h).
#include "mpi_runtime/told_paths.h"

#include "mpi_runtime/fortran_site.h"
#include "tracer/requests/request_lanes.h"
#include "tracer/state/process.h"
#include "tracer/wrap/recorded_thread.h"

namespace refrain::tracer {
namespace {

int64_t define(Process& process, const mpi_runtime::ToldSite* sites, size_t count) {
  if (count == 0 || count > SeenPath::kMaxDepth) return -1;
  uint32_t definitions[SeenPath::kMaxDepth];
  for (size_t i = 0; i < count; ++i) {
    definitions[i] = process.define_told_site(sites[i].module, sites[i].build_id, sites[i].offset);
    if (definitions[i] == UINT32_MAX) return -1;
  }
  return count == 1 ? definitions[0] : process.define_path(definitions, count);
}

}  // namespace
}  // namespace refrain::tracer

extern "C" __attribute__((visibility("default"))) int64_t refrain_define_told_path(
    const refrain::mpi_runtime::ToldSite* sites, size_t count) {
  refrain::tracer::Location* const location = refrain::tracer::current_location();
  return location == nullptr ? -1 : refrain::tracer::define(*location->process, sites, count);
}

extern "C" __attribute__((visibility("default"))) void refrain_tell_path(int64_t path) {
  refrain_fortran_site.address = path < 0 ? nullptr : &refrain_fortran_site;
  refrain_fortran_site.sp = reinterpret_cast<void*>(path + 1);
  refrain_fortran_site.call = refrain::mpi_runtime::kToldCall;
}

extern "C" __attribute__((visibility("default"))) void refrain_tell_handle(uint64_t before,
                                                                           uint64_t now) {
  using namespace refrain::tracer;
  Location* const location = current_location();
  if (location == nullptr) return;
  AllLanes all(*location->requests);
  if (RequestEntry* const entry = all.find(before, nullptr); entry != nullptr)
    all.table_of(*entry).rename(*entry, now);
}
