#include "cli/dispatch.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/temporaries.h"
#include "cli/launch/refuse.h"
#include "cli/launch/smpi_line.h"
#include "cli/options/display_options.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/output/start.h"
#include "text/display.h"

namespace refrain::cli {
namespace {

constexpr const char* kAbout =
    "Records every MPI call of a parallel program in a small file, and analyses it.";

// `refrain help VERB` is `refrain VERB --help`; `refrain help` and `refrain help help` are
// `refrain --help`.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);
  if (!words.empty() && (words[0] == "replay" || words[0] == "calibrate"))
    return replay_words(words);
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  if (!words.empty() && words[0] == "help") words.clear();
  words.resize(std::min<size_t>(words.size(), 1));
  words.emplace_back("--help");
  return words;
}

// As wide as the display at most: what an option is, beside its name, and sentences.
std::string fitted_help(const std::string& help) {
  constexpr size_t kExplanations = 30;  // where CLI11 puts them
  use_display({});
  std::string out;
  for (size_t at = 0; at < help.size();) {
    const size_t end = std::min(help.find('\n', at), help.size() - 1) + 1;
    const std::string line = help.substr(at, end - at);
    out += text::paragraph(line, line.starts_with("  ") ? kExplanations : 0);
    at = end;
  }
  return out;
}

// A launcher starts them on every rank of a job.
bool is_of_ranks(const std::string& verb) {
  return verb == "record" || verb == "replay" || verb == "calibrate";
}

int run(int argc, char** argv, const Verbs& verbs) {
  Command app(kAbout, "refrain", "refrain " REFRAIN_VERSION);
  int exit_status = 0;
  verbs.add(app, exit_status);
  // After the verbs, which would inherit it.
  app.footer("`refrain help VERB` explains a verb and its options." + verbs.note);
  const std::vector<std::string> words = words_of(argc, argv);
  const std::string verb = words.empty() ? "" : words[0];
  if (std::find(verbs.further.begin(), verbs.further.end(), verb) != verbs.further.end())
    return refuse(base::unsupported("'" + verb + "' is not built yet." + verbs.note));
  std::optional<Activity> activity;  // `record` becomes the program
  if (verb != "record") activity.emplace(verb);
  std::string asked;
  const auto parsed = app.parse(words, asked);
  activity.reset();
  if (!asked.empty()) return print(fitted_help(asked));
  if (!parsed.ok())
    return is_of_ranks(verb) ? refuse(parsed.error()) : verbs.refuse(parsed.error(), words);
  return exit_status;
}

}  // namespace

int dispatch(int argc, char** argv, const Verbs& verbs) {
  keep_standard_streams();
  set_before_report([] { Activity::wipe(false); });
  if (argc > 0) set_called_as(argv[0]);
  base::remove_temporaries_on_signals();
  try {
    return run(argc, argv, verbs);
  } catch (const std::bad_alloc&) {
    return report(base::fail("not enough memory for this trace"));
  } catch (const std::exception& e) {  // the C++ library: the libraries themselves return
    return report(base::fail(e.what()));
  }
}

}  // namespace refrain::cli
