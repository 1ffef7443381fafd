// The process of a plug-in (plugin_host.h): loads the shared object, gives it a board, and submits
// what the host sends, until the host is gone.
#pragma once

#include <cstdint>
#include <string>

namespace refrain::online {

// The first word of the command line of such a process; the plug-in, and the most memory in bytes
// follow.
inline constexpr const char* kPluginWorkerWord = "--plugin-worker";

// Reads frames from standard input and writes them to standard output. Returns an exit status.
int run_plugin_worker(const std::string& path, uint64_t most_bytes);

}  // namespace refrain::online
