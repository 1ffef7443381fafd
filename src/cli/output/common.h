// What every verb does the same way: errors in one line, opening a trace, writing to stdout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "refrain/trace.h"

namespace refrain::cli {

// How the user called this program: "refrain", "./refrain".
void set_called_as(std::string word);
const std::string& called_as();

// What report() does before it prints: wipes a line that is being drawn on the same terminal.
void set_before_report(void (*action)());

// Prints "refrain: where: what" on stderr; returns the exit status that belongs to the error.
int report(const base::Error& error);

// The exit status of a verb that did its work on `trace`: 0, or 4 (with a line on stderr) when the
// trace is incomplete.
int status_of(const Trace& trace);

// Writes all of `text` to stdout. A reader that went away (`| head`) is no error: 0. Anything else
// that goes wrong (a full disk) is reported: 1.
int print(const std::string& text);

// Whether a verb may write `path`, before it does its work: a usage error where something is there
// and `force` was not said, and always where it is one of the files `read`, which would be lost, or
// `-`, which no verb takes for stdout. An empty path: nothing is written.
base::Status may_write(const std::string& path, bool force,
                       const std::vector<std::string>& read = {});

// The same of several files that one command writes: no two of them have one name.
base::Status may_write_all(const std::vector<std::string>& paths, bool force,
                           const std::vector<std::string>& read);

// Whether what is at `path`, file or folder, may go for an output: a usage error where that is one
// of the files `read`, or a folder that has one of them.
base::Status may_replace(const std::string& path, const std::vector<std::string>& read);

// A rank of the trace that was asked for by number; a usage error with the range when there is
// none.
base::Status check_rank(const Trace& trace, int64_t rank);

}  // namespace refrain::cli
