#include "cli/live/useless.h"

#include <string>

namespace refrain::cli {
namespace {

constexpr uint32_t bit(LiveForm form) { return 1U << static_cast<uint32_t>(form); }

constexpr uint32_t kWatch = bit(LiveForm::kWatch), kFeed = bit(LiveForm::kFeed),
                   kServeFolder = bit(LiveForm::kServeFolder),
                   kServeBroker = bit(LiveForm::kServeBroker),
                   kServeOwn = bit(LiveForm::kServeOwnBroker),
                   kServe = kServeFolder | kServeBroker | kServeOwn,
                   kRecorded = bit(LiveForm::kRecorded), kInJob = bit(LiveForm::kInJob),
                   kAnalyze = kRecorded | kInJob;

struct Row {
  const char* option;
  uint32_t forms;  // that use it
  const char* whose;
};

// --interval is of all of them.
constexpr Row kRows[] = {
    {"spool", kWatch, "watch"},
    {"--format", kWatch, "watch"},
    {"--once", kWatch, "watch"},
    {"--serve", kWatch, "watch; the others have --port"},
    {"--names", kWatch, "watch"},
    {"--color", kWatch, "watch"},
    {"--stuck-after", kWatch | kServe | kInJob, "watch, serve, and analyze in a job"},
    {"--top", kWatch | kServe | kAnalyze, "watch, serve and analyze"},
    {"--viewers", kWatch | kServe | kAnalyze, "watch, serve and analyze"},
    {"--dir", kServeFolder | kFeed, "serve and feed"},
    {"--output", kServe | kAnalyze, "serve and analyze"},
    {"--port", kServe | kAnalyze, "serve and analyze; watch has --serve"},
    {"--from", kServeBroker | kRecorded, "serve and analyze"},
    {"--speed", kRecorded, "analyze --from"},
    {"--token", kServeBroker | kFeed, "feed and serve --from"},
    {"--creds", kServeBroker | kFeed, "feed and serve --from"},
    {"--ca", kServeBroker | kServeOwn | kFeed, "feed and serve with a broker"},
    {"--listen", kServeOwn, "serve"},
    {"--job-bytes", kServeBroker | kServeOwn, "serve --from and --listen"},
    {"--keep", kServe | kAnalyze, "serve and analyze"},
    {"--to", kServe | kAnalyze | kFeed, "serve, analyze and feed"},
    {"--verbosity", kServe | kAnalyze, "serve and analyze"},
    {"--plugin", kServe | kAnalyze, "serve and analyze"},
    {"--plugin-time", kServe | kAnalyze, "serve and analyze"},
    {"--plugin-memory", kServe | kAnalyze, "serve and analyze"},
    {"--mpi", kInJob, "analyze in a job"},
};

const char* name_of(LiveForm form) {
  switch (form) {
    case LiveForm::kWatch: return "`live watch`";
    case LiveForm::kServeFolder: return "`live serve --dir`";
    case LiveForm::kServeBroker: return "`live serve --from`";
    case LiveForm::kServeOwnBroker: return "`live serve --listen`";
    case LiveForm::kFeed: return "`live feed`";
    case LiveForm::kRecorded: return "`live analyze --from`";
    case LiveForm::kInJob: return "`live analyze` in a job";
  }
  return "";
}

// Without the option that it is of, which says nothing.
base::Status check_pages(const Command& verb, LiveForm form) {
  const char* const page = form == LiveForm::kWatch ? "--serve" : "--port";
  const bool is_optional = (bit(form) & (kWatch | kAnalyze)) != 0;
  if (is_optional && verb.count("--viewers") > 0 && verb.count(page) == 0)
    return base::usage("--viewers are those of a page: " + std::string(page) + " PORT makes one");
  for (const char* option : {"--plugin-time", "--plugin-memory"})
    if (verb.count(option) > 0 && verb.count("--plugin") == 0)
      return base::usage(std::string(option) + " is of plug-ins, and there is none: --plugin FILE");
  return base::Done{};
}

}  // namespace

base::Status check_useless(const Command& verb, LiveForm form) {
  for (const Row& row : kRows)
    if ((row.forms & bit(form)) == 0 && verb.count(row.option) > 0)
      return base::usage("is of " + std::string(row.whose) + ", and of no use to " + name_of(form),
                         row.option);
  return check_pages(verb, form);
}

}  // namespace refrain::cli
