// refrain-first: the verbs that need no simulation, no other formats and no live view, so that
// `./dev demo` has less to compile. `refrain` takes refrain-verbs where that is built.

#include "cli/dispatch.h"
#include "cli/output/common.h"
#include "cli/verbs.h"

namespace {

void add_verbs(refrain::cli::Command& app, int& exit_status) {
#define V(verb) refrain::cli::add_##verb(app, exit_status);
  REFRAIN_FIRST_VERBS
#undef V
}

}  // namespace

int main(int argc, char** argv) {
#define V(verb) #verb,
  return refrain::cli::dispatch(
      argc, argv,
      {&add_verbs,
       [](const auto& error, const auto&) { return refrain::cli::report(error); },
       {REFRAIN_FURTHER_VERBS},
       " `./dev build` builds the verbs that are not listed here."});
#undef V
}
