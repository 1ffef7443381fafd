// The main cause of all waiting, in a sentence.
#pragma once

#include <string>

#include "report/waits/waits_rows.h"
#include "text/path_names.h"

namespace refrain::report {

// Where ranks shared cores, that first. Then one sentence or two, without an end of line: who,
// between which two lines, how much longer than the others, which share of all waiting that
// explains, how often, and what to look at. Where nothing explains a tenth of the waiting, that is
// what it says. Calls tell_apart().
std::string verdict_text(const WaitsView& view, text::PathNames& names);

// Lets `names` tell the call paths of causes and of the critical path apart.
void tell_apart(const WaitsView& view, text::PathNames& names);

// "MPI_Recv main heat.c:41 -> MPI_Send main heat.c:60", "in MPI_Recv main heat.c:41".
std::string stretch_text(text::PathNames& names, const analysis::waits::Delay& delay);

}  // namespace refrain::report
