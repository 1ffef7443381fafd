// The order of definitions and signatures in the file.
#pragma once

#include "format/trace_data.h"

namespace refrain::format {

// Brings the members of families together (file_forms.h) and renumbers all that refers to them.
void order_families(TraceData& trace);

}  // namespace refrain::format
