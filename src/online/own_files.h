// Small files that only this user writes and reads: names of jobs, the token, the address.
//
// A file is written under a temporary name and renamed, so nobody sees half of one. What is read
// must be a plain file of this user (for root: of anybody), no link and no device: folders of jobs
// may be open to others. Thread safe.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "base/result.h"

namespace refrain::online {

// At most `most_bytes` of the file. `changed`, unless null: when it was written last, seconds since
// 1970.
base::Result<std::string> read_own_file(const std::string& path, uint64_t most_bytes,
                                        time_t* changed = nullptr);
// With mode 0600.
base::Status write_own_file(const std::string& path, const std::string& text);

// 32 hexadecimal digits that nobody can guess.
std::string random_word();

}  // namespace refrain::online
