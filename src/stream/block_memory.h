// Memory for the blocks of streams. What a stream gives back waits for the next one with blocks of
// that size, up to kMostKeptBytes of all: the first touch of new memory costs more than the copy of
// a block, and a program that opens a stream for each of its steps would pay for it each time.
// Threads: any.
#pragma once

#include <cstddef>

namespace refrain::stream {

constexpr size_t kMostKeptBytes = size_t{32} << 20;

// Null when there is none. To be given back by free_block() with the same size. A page begins where
// the block does, because one process copies out of the other's pages.
char* new_block(size_t bytes);
void free_block(char* memory, size_t bytes) noexcept;

// How much of what was given back waits, in bytes.
size_t kept_bytes();

}  // namespace refrain::stream
