// Calls of POSIX and stdio functions: the section `posix`.
#include <algorithm>

#include "format/codes/run_codec.h"
#include "format/encode/section_writers.h"
#include "format/posix.h"

namespace refrain::format {

namespace {

using base::ByteWriter;
using Times = PosixColumn::Times;

// Where ranks are alike these are runs.
void write_posix_list(const base::RunList& list, ByteWriter& out) {
  ByteWriter structure, numbers;
  write_runs(list, structure, numbers);
  out.put_string(structure.view());
  out.put_string(numbers.view());
}

// Where they are alike these differ by less than 128 codes, a byte each.
void write_posix_times(const std::vector<Times>& times, uint64_t Times::*of, ByteWriter& out) {
  uint16_t least = UINT16_MAX;
  for (const Times& t : times) least = std::min(least, posix_time_code(t.*of));
  out.put_varint(least);
  for (const Times& t : times) out.put_varint(uint64_t{posix_time_code(t.*of)} - least);
}

}  // namespace

void write_posix(Encoding& in, ByteWriter& out) {
  if (in.trace.posix.empty()) return;
  out.put_varint(in.trace.posix.size());
  for (const PosixColumn& column : in.trace.posix) {
    out.put_u8(column.function);
    for (const base::RunList* list : {&column.ranks, &column.calls, &column.errors, &column.bytes})
      write_posix_list(*list, out);
    for (uint64_t Times::*of : {&Times::all_ns, &Times::least_ns, &Times::greatest_ns})
      write_posix_times(column.times, of, out);
  }
}

}  // namespace refrain::format
