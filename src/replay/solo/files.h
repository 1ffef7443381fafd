// Files that the program opens for writing go to a scratch folder: see files.cc.
#pragma once

#include <cstdint>
#include <string>

namespace refrain::replay::solo {

// While one lives, files that this thread opens are those that it names: the library's own.
class OwnFiles {
 public:
  OwnFiles();
  ~OwnFiles();
  OwnFiles(const OwnFiles&) = delete;
  OwnFiles& operator=(const OwnFiles&) = delete;
};

// How many files were redirected, and where they are; empty: none was.
uint64_t files_written();
std::string files_folder();

}  // namespace refrain::replay::solo
