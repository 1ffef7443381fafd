// Counts the calls that this process has read from traces so far, for a verb that shows how far it
// is.
#pragma once

#include <cstdint>

namespace refrain::reader {

// In steps of blocks; calls that are read again count again.
uint64_t calls_read();
void add_calls_read(uint64_t calls);

}  // namespace refrain::reader
