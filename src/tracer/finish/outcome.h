// Gives the written trace its name, and prints the line for the user.
#pragma once

#include <string>

#include "format/trace_data.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

// Held while a name for the trace is chosen and taken. Nobody waits long for it: what it prevents
// is rare, and where there are no such locks it is not there.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  const int fd_;
};

// Where the trace goes: the name that was asked for, or one with a number in it when another job
// has written that since this one began.
std::string free_output(const Process& process);

// Behind the reason why there is no trace: where the record is, and how to get a trace of it. Empty
// without a spool.
std::string where_it_stays(const Process& process);

// One line on stderr, unless --quiet was asked for: what was written, and the command that comes
// next. `was_there`: it has replaced a file of an earlier run.
void say_written(const Process& process, const std::string& path, const format::TraceData& trace,
                 bool was_there);

}  // namespace refrain::tracer
