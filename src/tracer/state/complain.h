// Messages of the recorder to the user.
#pragma once

namespace refrain::tracer {

class Process;

// One line on stderr: "refrain: rank 3: ...; the program continues".
void complain(const Process& process, const char* what);

}  // namespace refrain::tracer
