// Facts about an executable or shared object that `record` needs before it runs: the libraries that
// it needs, the folders in which it looks for them, and a few names that it imports or defines.
// Reads the ELF file itself (System V gABI, chapters 4 and 5): no part of the program is executed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace refrain::cli {

struct ElfFile {
  bool is_native = false;   // of this machine's word size, byte order and processor
  bool is_dynamic = false;  // has a dynamic section: a loader will look for libraries
  std::string interpreter;  // the loader; empty for a static program and for most libraries
  std::string soname;
  std::vector<std::string> needed;           // DT_NEEDED, in order
  std::vector<std::string> run_path, rpath;  // directories, $ORIGIN not yet replaced
  // What follows is known with Symbols::kRead only.
  bool has_symbol_table = false;  // not stripped
  bool defines_mpi = false;       // contains MPI_Init itself: MPI is linked in
  bool may_load_more = false;     // imports dlopen, exec*, posix_spawn, ...
};

// Fails when the file cannot be read (kFailed), is no ELF file or one that makes no sense (kUsage).
// Never reads past the file's end. Symbols take by far the longest: there may be a hundred
// thousand.
enum class Symbols : uint8_t { kSkipped, kRead };
base::Result<ElfFile> read_elf(const std::string& path, Symbols symbols = Symbols::kRead);

// "a:b::c" as {"a", "b", "c"}; an empty entry is dropped.
std::vector<std::string> split_path(const std::string& list);

}  // namespace refrain::cli
