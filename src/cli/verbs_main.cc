// refrain-verbs: all verbs, for `refrain` (refrain.cc). See verbs.h for how a verb is added.

#include <cstdlib>
#include <string_view>

#include "cli/dispatch.h"
#include "cli/live/join.h"
#include "cli/verbs.h"
#include "online/plugins/plugin_worker.h"

namespace {

void add_verbs(refrain::cli::Command& app, int& exit_status) {
#define V(verb) refrain::cli::add_##verb(app, exit_status);
  REFRAIN_VERBS
#undef V
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == refrain::online::kPluginWorkerWord)
    return refrain::online::run_plugin_worker(argv[2], std::strtoull(argv[3], nullptr, 10));
  return refrain::cli::dispatch(argc, argv, {&add_verbs, &refrain::cli::refuse_words, {}, {}});
}
