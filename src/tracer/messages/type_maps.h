// TypeMaps: the layouts of the program's datatypes by their handles, asked of MPI at first use.
//
// Laws: MPI calls made here are the recorder's own (Location::in_recorder). Threads take turns: a
// caller says whether calls of several may overlap.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "mpi/typemap.h"

namespace refrain::tracer {

// Locks where calls of several threads may overlap; elsewhere there is nobody else.
class SharedLock {
 public:
  SharedLock(std::mutex& mutex, bool is_shared) : mutex_(is_shared ? &mutex : nullptr) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~SharedLock() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  std::mutex* mutex_;
};

class TypeMaps {
 public:
  static constexpr int64_t kNotFlat = -1;

  // `key`: of the handle. Nothing where MPI does not say how it is made.
  std::optional<mpi::TypeMap> find(uint64_t key, bool is_shared);
  // The bytes of an element of a type without gaps (TypeMap::is_flat()); kNotFlat of another one,
  // or of one that is not known.
  int64_t flat_bytes(uint64_t key, bool is_shared) {
    const SharedLock lock(mutex_, is_shared);
    const Flat& known = flat_[place(key)];
    return known.key == key && known.is_known ? known.bytes : find_flat(key);
  }
  // The same of a type that was asked for lately, where no other thread asks; else kNotFlat.
  int64_t lately_flat_bytes(uint64_t key) const {
    const Flat& known = flat_[place(key)];
    return known.key == key && known.is_known ? known.bytes : kNotFlat;
  }
  // MPI_Type_free: the handle may be given to another type.
  void forget(uint64_t key, bool is_shared);

 private:
  // The types that were asked for last.
  struct Flat {
    uint64_t key = 0;
    int64_t bytes = kNotFlat;
    bool is_known = false;
  };
  static constexpr size_t kFlats = 16;
  static size_t place(uint64_t key) { return (key ^ (key >> 8)) % kFlats; }
  int64_t find_flat(uint64_t key);
  std::optional<mpi::TypeMap> find_locked(uint64_t key);
  std::optional<mpi::TypeMap> make(uint64_t key);

  std::mutex mutex_;
  std::unordered_map<uint64_t, mpi::TypeMap> known_;
  std::array<Flat, kFlats> flat_;
};

}  // namespace refrain::tracer
