#include "reader/symbols_test_library.h"

namespace refrain::reader {
namespace {

__attribute__((noinline)) const void* here() { return __builtin_return_address(0); }

}  // namespace

CallPlace call_in_library() {
  CallPlace place{};
  place.line = __LINE__ + 1;
  place.return_address = here();
  return place;
}

}  // namespace refrain::reader
