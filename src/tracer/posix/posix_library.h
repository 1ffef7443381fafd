// Shared by the parts of librefrain-posix.so: how a function is forwarded and counted.
//
// Laws: results, errno and arguments are the program's. Nothing here allocates, takes a lock, or
// needs a constructor: these functions are called before any has run, and in signal handlers. A
// function that is a cancellation point stays one: nothing has to be undone when the thread ends
// inside of it, and the call is not counted then. Budget: 10 instructions and the recorder's test
// of the caller; two readings of the clock and at most five atomic additions for a counted call.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "tracer/posix/posix_table.h"

#define REFRAIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace refrain::tracer {

using format::PosixFunction;

// What stands behind this library under a name. All of them are found by the constructor, which
// walks through the section; one that is called before it is found then.
struct NextFunction {
  std::atomic<void*> address;
  const char* name;
};
// Null: there is none.
void* find_next(NextFunction& next);

template <class F>
F* next_of(NextFunction& next) {
  void* address = next.address.load(std::memory_order_relaxed);
  if (address == nullptr) [[unlikely]]
    address = find_next(next);
  return reinterpret_cast<F*>(address);
}

// Of a function that this C library does not have.
void say_not_there();  // in errno
template <class T>
T not_there() {
  say_not_there();
  if constexpr (std::is_pointer_v<T> || std::is_unsigned_v<T>)
    return T{};
  else
    return static_cast<T>(-1);
}

extern std::atomic<const PosixLink*> g_posix_link;  // null: nothing is counted

// A call that is under way.
class PosixCall {
 public:
  explicit PosixCall(const void* caller) {
    const PosixLink* const link = g_posix_link.load(std::memory_order_acquire);
    if (link == nullptr || !link->counts(caller)) return;
    link_ = link;
    begin_ = link->ticks();
  }
  // Whether it is counted; it ends.
  bool ends() {
    if (link_ == nullptr) return false;
    ticks_ = link_->ticks() - begin_;
    return true;
  }
  void count(PosixFunction function, uint64_t bytes, bool is_error) const;

 private:
  const PosixLink* link_ = nullptr;
  uint64_t begin_ = 0, ticks_ = 0;
};

inline uint64_t bytes_of(int64_t result) { return result > 0 ? static_cast<uint64_t>(result) : 0; }

}  // namespace refrain::tracer

// The function of that symbol for which REFRAIN_COUNTED is too simple, and what is behind it.
#define REFRAIN_NEXT(symbol, next_name)                                                          \
  __attribute__((section("refrain_next"), used)) static constinit NextFunction next_##symbol = { \
      {nullptr}, next_name}
#define REFRAIN_SYMBOL(Type, symbol, parameters) \
  REFRAIN_EXPORT Type counted_##symbol parameters __asm__(#symbol)

// A function that is forwarded as it is. `bytes` and `is_error` may use its parameters and
// `result`.
#define REFRAIN_COUNTED(Type, symbol, function, parameters, arguments, bytes, is_error) \
  REFRAIN_NEXT(symbol, #symbol);                                                        \
  REFRAIN_SYMBOL(Type, symbol, parameters);                                             \
  Type counted_##symbol parameters {                                                    \
    auto* const next = next_of<Type parameters>(next_##symbol);                         \
    if (next == nullptr) return not_there<Type>();                                      \
    PosixCall call(__builtin_return_address(0));                                        \
    Type const result = next arguments;                                                 \
    if (call.ends()) call.count(PosixFunction::function, bytes, is_error);              \
    return result;                                                                      \
  }                                                                                     \
  static_assert(true)
