// OriginalPlaces: tells a recorder of the replay where in the recorded program the calls stood.
//
// Does nothing where nobody records. One for each thread; paths are defined once.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "mpi_runtime/told_paths.h"
#include "refrain/trace.h"

namespace refrain::replay {

class OriginalPlaces {
 public:
  explicit OriginalPlaces(const Trace& trace);

  // The thread is one of the record from now on.
  void begin_thread() {
    if (define_ != nullptr) define_(nullptr, 0);
  }
  // The next call of MPI by this thread stands there.
  void tell(DefinitionId place) {
    if (tell_ != nullptr) tell_(path_of(place));
  }

 private:
  int64_t path_of(DefinitionId place);

  const Trace& trace_;
  mpi_runtime::DefineToldPath define_ = nullptr;
  mpi_runtime::TellPath tell_ = nullptr;
  std::unordered_map<DefinitionId, int64_t> known_;
};

}  // namespace refrain::replay
