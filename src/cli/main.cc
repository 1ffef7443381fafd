// refrain-verbs: dispatches to one verb, for `refrain` (refrain.cc). See verbs.h for how a verb is
// added.

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporaries.h"
#include "cli/launch/refuse.h"
#include "cli/launch/smpi_line.h"
#include "cli/live/join.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/output/start.h"
#include "cli/verbs.h"
#include "online/plugins/plugin_worker.h"

namespace {

constexpr const char* kAbout =
    "Records every MPI call of a parallel program in a small file, and analyses it.";

// `refrain help VERB` is `refrain VERB --help`, and `refrain help` is `refrain --help`.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);
  if (!words.empty() && (words[0] == "replay" || words[0] == "calibrate"))
    return refrain::cli::replay_words(words);
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  words.resize(std::min<size_t>(words.size(), 1));
  words.emplace_back("--help");
  return words;
}

// A launcher starts them on every rank of a job.
bool is_of_ranks(const std::string& verb) {
  return verb == "record" || verb == "replay" || verb == "calibrate";
}

int run(int argc, char** argv) {
  refrain::cli::Command app(kAbout, "refrain", "refrain " REFRAIN_VERSION);
  int exit_status = 0;
#define V(verb) refrain::cli::add_##verb(app, exit_status);
  REFRAIN_VERBS
#undef V
  // After the verbs, which would inherit it.
  app.footer("`refrain help VERB` explains a verb and its options.");
  const std::vector<std::string> words = words_of(argc, argv);
  const std::string verb = words.empty() ? "" : words[0];
  std::optional<refrain::cli::Activity> activity;  // `record` becomes the program
  if (verb != "record") activity.emplace(verb);
  const auto parsed = app.parse(words);
  activity.reset();
  if (!parsed.ok())
    return is_of_ranks(verb) ? refrain::cli::refuse(parsed.error())
                             : refrain::cli::refuse_words(parsed.error(), words);
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == refrain::online::kPluginWorkerWord)
    return refrain::online::run_plugin_worker(argv[2], std::strtoull(argv[3], nullptr, 10));
  refrain::cli::keep_standard_streams();
  refrain::cli::set_before_report([] { refrain::cli::Activity::wipe(false); });
  if (argc > 0) refrain::cli::set_called_as(argv[0]);
  refrain::base::remove_temporaries_on_signals();
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return refrain::cli::report(refrain::base::fail("not enough memory for this trace"));
  } catch (const std::exception& e) {  // the C++ library: the libraries themselves return
    return refrain::cli::report(refrain::base::fail(e.what()));
  }
}
