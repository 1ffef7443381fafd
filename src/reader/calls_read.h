// How many calls this process has read from traces so far, for whoever shows that it is at work.
#pragma once

#include <cstdint>

namespace refrain::reader {

// In steps of blocks; calls that are read again count again.
uint64_t calls_read();
void add_calls_read(uint64_t calls);

}  // namespace refrain::reader
