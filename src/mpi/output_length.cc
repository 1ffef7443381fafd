#include "mpi/output_length.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace refrain::mpi {
namespace {

struct OutputRow {
  CallId id;
  uint8_t param;
  int8_t length_param;
};

#include "mpi/output_lengths.inc"

}  // namespace

int output_length(CallId id, size_t param) {
  // Rows stand in the order of the functions' ids.
  const OutputRow* const begin = std::begin(kOutputs);
  const OutputRow* row =
      std::lower_bound(begin, std::end(kOutputs), id,
                       [](const OutputRow& one, CallId wanted) { return one.id < wanted; });
  for (; row != std::end(kOutputs) && row->id == id; ++row)
    if (row->param == param) return row->length_param;
  return -1;
}

}  // namespace refrain::mpi
