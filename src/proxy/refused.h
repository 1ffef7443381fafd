// Functions whose calls a proxy cannot make again.
#pragma once

#include <string>

#include "refrain/ids.h"

namespace refrain::proxy {

// Why, as the end of a sentence; empty: it can.
std::string refused(CallId call);
// Why a call is left out, and nothing is missing then: no other call needs what it did, and no
// other rank or file learns of it. Empty: it is made, or refused.
std::string asks_only(CallId call);
// Marks of the program and functions entered and left: no calls of MPI.
bool is_mark(CallId call);

}  // namespace refrain::proxy
