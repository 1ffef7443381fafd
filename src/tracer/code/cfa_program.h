// Evaluates the call frame instructions of .eh_frame for one address: a row of the table that DWARF
// 5, section 6.4, describes. Supports only instructions that x86-64 compilers use for functions.
#pragma once

#include <cstdint>

#include "tracer/code/eh_bytes.h"

namespace refrain::tracer {

// How the frame of a function is left, seen from a place inside of it.
//
//   higher addresses
//     ...            <- end of the frame: the stack pointer after the return (DWARF: CFA)
//     return address
//     frame pointer of the caller, perhaps
//     ...            <- stack pointer at that place
struct FrameRule {
  enum class End : uint8_t {
    kUnknown,         // libunwind may know
    kByStackPointer,  // the end is stack pointer + end
    kByFramePointer,  // frame pointer + end
    kStored,          // what stands in memory at frame pointer + end
    kOutermost,       // nobody called it
  };
  // Where the caller's frame pointer is.
  enum class Pointer : uint8_t {
    kKept,            // still in its register
    kByEnd,           // in memory at the end + pointer
    kByFramePointer,  // in memory at this function's frame pointer + pointer
  };

  End how_end = End::kUnknown;
  Pointer how_pointer = Pointer::kKept;
  int32_t end = 0;
  int32_t pointer = 0;
};

// What several functions have in common.
struct CommonInfo {
  uint64_t code_unit = 0;
  int64_t data_unit = 0;
  uint8_t pointer_encoding = 0;
  bool has_augmentation = false;  // of its functions, with a length
  EhBytes program;
  bool is_good = false;  // and of a kind that is understood here
};
CommonInfo read_common_info(EhBytes entry);

// The row for `place` of a function that begins at `begin`.
FrameRule run_cfa_program(const CommonInfo& common, EhBytes program, uintptr_t begin,
                          uintptr_t place);

}  // namespace refrain::tracer
