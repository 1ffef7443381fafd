// refrain-verbs: dispatches to one verb, for `refrain` (refrain.cc). See verbs.h for how a verb is
// added.

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/temporaries.h"
#include "cli/launch/smpi_line.h"
#include "cli/options/usage_error.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/output/start.h"
#include "cli/verbs.h"

namespace {

constexpr const char* kAbout =
    "Records every MPI call of a parallel program in a small file, and analyses it.";

// CLI11 2.5 and newer fill paragraphs, which would run the lines of examples together, and move
// long names far to the right.
template <class Formatter>
void keep_lines(Formatter& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) {
    formatter.enable_footer_formatting(false);
    formatter.long_option_alignment_ratio(0.2F);
  }
}

// `app` without verbs yet; they inherit from it.
void set_up(CLI::App& app) {
  app.set_version_flag("--version", "refrain " REFRAIN_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  keep_lines(*app.get_formatter());
}

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

int run(int argc, char** argv) {
  CLI::App app(kAbout, "refrain");
  set_up(app);
  int exit_status = 0;
#define V(verb) refrain::cli::add_##verb(app, exit_status);
  REFRAIN_VERBS
#undef V
  // After the verbs, which would inherit it.
  app.footer("`refrain help VERB` explains a verb and its options.");
  // "The following arguments were not expected: frobnicate" is no help for a misspelt verb.
  const std::vector<std::string> words = words_of(argc, argv);
  const std::string verb = words.empty() ? "" : words[0];
  const auto is_it = [&](const CLI::App* known) { return known->check_name(verb); };
  if (!words.empty() && (verb.empty() || verb[0] != '-') && app.get_subcommands(is_it).empty())
    return refrain::cli::report(refrain::cli::unknown_verb(app, verb));
  if (const auto wrong = refrain::cli::wrong_variable(app, words))
    return refrain::cli::report(*wrong);
  try {
    std::optional<refrain::cli::Activity> activity;  // `record` becomes the program
    if (verb != "record") activity.emplace(verb);
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return refrain::cli::report(refrain::cli::usage_error(app, error, words));
  }
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
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
