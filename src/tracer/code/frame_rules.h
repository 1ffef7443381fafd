// The unwinding rules of a loaded library or program: found by address, as libunwind finds them.
//
// Laws: reads only what the loader has mapped, and only while it cannot be unmapped. For any bytes,
// malformed ones included, the result is a rule or none. Takes the loader's lock. Budget: 2 us,
// once for each return address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/code/cfa_program.h"
#include "tracer/code/eh_bytes.h"

namespace refrain::tracer {

// A library in memory, as far as its .eh_frame is concerned.
struct LoadedImage {
  static constexpr size_t kMaxParts = 16;
  MappedArea parts[kMaxParts];  // readable ones
  size_t part_count = 0;
  MappedArea index;  // .eh_frame_hdr; empty: none

  // The bytes from `at` to the end of the part that holds it.
  EhBytes bytes(uintptr_t at) const;
};

// The rule for a frame that goes on at `return_address`. Unknown where libunwind is to be asked: no
// .eh_frame, the frame of a signal handler, something that is not understood, another processor
// than x86-64.
FrameRule find_frame_rule(uintptr_t return_address);
FrameRule find_frame_rule(const LoadedImage& image, uintptr_t return_address);

}  // namespace refrain::tracer
