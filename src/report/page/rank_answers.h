// Data of each rank and its signatures for the page, computed in one pass over all ranks.
#pragma once

#include "report/page/section.h"

namespace refrain::report {

// Loads, open ends, details of calls, and which grammars are small enough.
void ask_ranks(const PageQuestion& page);

}  // namespace refrain::report
