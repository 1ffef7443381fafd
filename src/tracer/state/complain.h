// Messages of the recorder to the user.
#pragma once

namespace refrain::tracer {

class Process;

// One line on stderr: "refrain: " and what printf makes of the words. The program goes on where
// nobody reads it.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

// One line on stderr: "refrain: rank 3: ...; the program continues".
void complain(const Process& process, const char* what);

}  // namespace refrain::tracer
