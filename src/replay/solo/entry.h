// The door of the library that stands in for an MPI: every function of the MPI comes here.
//
// The generated entry points (tools/gen/gen_solo.py) hand over their arguments as words: numbers
// with their sign, handles as keys, and everything that is passed by pointer as its address, with
// the width of what it points to. So one function answers all of them.
//
// Threads: any. Failures end the process: see player.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "mpi/call_meaning.h"
#include "mpi/call_table.h"

namespace refrain::replay::solo {

struct Entry {
  mpi::CallId call;
  uint8_t params;
  const uint8_t* widths;      // bytes of an element behind a pointer; 0: the word is the value, or
                              // an address whose contents the call table does not describe
  const mpi::CallInfo* info;  // filled when it is first needed, as is what follows
  const mpi::CallMeaning* meaning = nullptr;
  uint64_t handle_places = 0;  // bits of the parameters that are places for single handles
};

// What the function returns: an error code, or a value as word_of() and key_of() make them.
// `return_address`: in the caller.
uint64_t answer(Entry& entry, uint64_t* words, void* return_address);

// A function that nothing is known of: ends the process with a message and exit status 5.
[[noreturn]] void refuse_call(const char* name);

template <class T>
uint64_t word_of(T value) {
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

// Handles are ints in one MPI and pointers in another; both fit, and an int gets no sign.
template <class T>
uint64_t key_of(T value) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t key = 0;
  std::memcpy(&key, &value, sizeof(T));
  return key;
}

template <class T>
T result_as(uint64_t word) {
  if constexpr (std::is_void_v<T>) {
    (void)word;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(word);
  } else {
    T value;
    std::memcpy(&value, &word, sizeof(T));
    return value;
  }
}

}  // namespace refrain::replay::solo
