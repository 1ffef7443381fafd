// Values of parameters as text: JSON for programs, and a shorter form for people.
//
//   kind       JSON                              text
//   integer    10                                10
//   constant   "MPI_ANY_TAG"                     MPI_ANY_TAG
//   object     "comm#3", "MPI_COMM_WORLD"        comm#3
//   request    "request#7"                       request#7
//   buffer     "heap#4+128", "stack#1", "heap"   heap#4+128
//   string     "text"; {"hex":"ff"} if no UTF-8  "text"
//   bytes      {"hex":"00ff"}                    0x00ff
//   status     {"source":1,"tag":7}              {source=1, tag=7}
//   array      [1,2]                             [1, 2]
//   bits       "MPI_MODE_CREATE|MPI_MODE_RDWR"   MPI_MODE_CREATE|MPI_MODE_RDWR
//   function   "libuser.so+0x1234"               libuser.so+0x1234
//   null       null                              -
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "refrain/trace.h"
#include "refrain/value.h"

namespace refrain::text {

enum class Style : uint8_t { kJson, kText };

// "solver+0x1234", the last part of the module's path and the offset in it; empty when not known.
std::string module_and_offset(const Site& site);

// Appends one value. kChanged shows its value at exit. Gives up, and returns false, once `out` is
// longer than max_bytes: a small file may stand for very long arrays.
inline constexpr size_t kMaxTextBytes = size_t{1} << 28;
bool append_value(std::string& out, const Value& value, const Trace& trace, Style style,
                  size_t max_bytes = kMaxTextBytes);

}  // namespace refrain::text
