// TypeMaps: the layouts of the program's datatypes by their handles, asked of MPI at first use.
//
// Laws: MPI calls made here are the recorder's own (Location::in_recorder). Threads take turns.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "mpi/typemap.h"

namespace refrain::tracer {

class TypeMaps {
 public:
  // `key`: of the handle. Nothing where MPI does not say how it is made.
  std::optional<mpi::TypeMap> find(uint64_t key);
  // MPI_Type_free: the handle may be given to another type.
  void forget(uint64_t key);

 private:
  std::optional<mpi::TypeMap> find_locked(uint64_t key);
  std::optional<mpi::TypeMap> make(uint64_t key);

  std::mutex mutex_;
  std::unordered_map<uint64_t, mpi::TypeMap> known_;
};

}  // namespace refrain::tracer
