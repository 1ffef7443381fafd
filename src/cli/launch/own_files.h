// Finds the files of this installation from where the executable is: recorders, and
// `refrain-verbs`.
#pragma once

#include <string>
#include <vector>

namespace refrain::cli {

// Folders that may have them, the likeliest first: REFRAIN_LIBRARY_PATH, beside the executable,
// where it is installed, and in the tree where it was built.
std::vector<std::string> own_folders();

// Path of the executable that runs; empty where the system does not tell.
std::string self_path();

std::string directory_of(const std::string& path);

}  // namespace refrain::cli
