// refrain messages: what the message logs beside a trace hold.

#include <memory>
#include <string>

#include "analysis/message_logs.h"
#include "cli/options/values.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/trace/messages_text.h"

namespace refrain::cli {
namespace {

struct MessagesOptions {
  std::string trace, format = "text";
};

int run(const MessagesOptions& options) {
  const Result<Trace> trace = Trace::open(options.trace);
  if (!trace.ok()) return report(trace.error());
  const auto logs = analysis::read_message_logs(
      *trace, options.trace, [](uint64_t done, uint64_t all) { Activity::share(done, all); });
  if (!logs.ok()) return report(logs.error());
  const int status =
      print(options.format == "json" ? report::messages_json(*logs) : report::messages_text(*logs));
  if (status != 0) return status;
  for (const analysis::RankMessages& rank : logs->ranks)
    if (!rank.damage.empty())
      return report(base::Error{base::ErrorCode::kIncomplete, "the log is damaged", rank.damage});
  const bool whole = logs->all.is_complete && logs->all.sums.unlogged == 0;
  return whole ? status_of(*trace) : static_cast<int>(base::ErrorCode::kIncomplete);
}

}  // namespace

void add_messages(Command& app, int& exit_status) {
  auto options = std::make_shared<MessagesOptions>();
  Command* verb = app.add_subcommand(
      "messages", "What `record --messages` has kept: bytes received, crossing groups, stored");
  verb->add_option("trace", options->trace, "Trace file (.rfn), with its folder .rfn.messages")
      ->required();
  verb->add_format(options->format, {"text", "json"});
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
