// Spool files of a job in its folders: which runs left files there, and whether their processes
// still live. For `recover`, after a job died, and for the live view, while it runs.
//
// Reads files that anybody may have put there: links, devices and files whose size is a lie are
// refused. Throws nothing; thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/spool/layout.h"

namespace refrain::format::spool {

struct JobFile {
  std::string path;
  Header header;
};

// What the files of the folders are.
struct JobFiles {
  struct Unreadable {
    std::string path;
    base::Error error;
  };
  std::map<uint64_t, std::vector<JobFile>> runs;  // by run
  std::vector<Unreadable> unreadable;             // named like a rank's, and nothing else is known
  std::vector<std::string> marks;                 // of lines that one rank has said for all
};

// An error says which folder cannot be read.
base::Result<JobFiles> look_for_files(const std::vector<std::string>& folders);

// The files of the run that began last; ascending by rank, one for each.
std::vector<JobFile> newest_run(const JobFiles& found);

// The rank in the name that the recorder gave the file: RUN-RANK-HOST-PID.rank. -1: none.
int64_t rank_in_name(const std::string& path);

// Whether the process that writes the file runs on this host. A process that has ended and was not
// yet asked for its exit status does not.
bool is_alive(const Header& header);

// Whether the file was made on this host, so that is_alive() can know.
bool is_of_this_host(const Header& header);

// The first `limit` bytes of a plain file.
base::Result<std::string> read_file(const std::string& path, uint64_t limit);

}  // namespace refrain::format::spool
