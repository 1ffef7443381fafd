// A shared library for symbols_test: a function that says where it was called from.
#pragma once

namespace refrain::reader {

// The address that a call of the inner function returns to, and the line of that call.
struct CallPlace {
  const void* return_address;
  int line;
};
CallPlace call_in_library();

}  // namespace refrain::reader
