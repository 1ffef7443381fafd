// Functions whose calls a proxy cannot make again.
#pragma once

#include <string>

#include "refrain/ids.h"

namespace refrain::proxy {

// Why, as the end of a sentence; empty: it can.
std::string refused(CallId call);
// Marks of the program and functions entered and left: no calls of MPI.
bool is_mark(CallId call);

}  // namespace refrain::proxy
