// refrain proxy: a program made from a trace.

#include "proxy/proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "mpi/call_name.h"
#include "mpi/call_table.h"
#include "replay/plan/look.h"
#include "replay/plan/message_counts.h"
#include "replay/plan/needs.h"
#include "replay/plan/unbuffered.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::cli {
namespace {

struct ProxyArguments {
  std::string trace, format = "text";
  std::vector<std::string> skip;
  bool no_resolve = false;
  proxy::Options how;
};

// "MPI_Comm_f2c 1 200, MPI_T_pvar_read 300 and 4 more", the most frequent first.
std::string left_out_text(const std::vector<proxy::LeftOutCalls>& all) {
  constexpr size_t kMostNames = 4;
  std::vector<std::pair<std::string, uint64_t>> sums;
  for (const proxy::LeftOutCalls& one : all) {  // a function may be there with several reasons
    const auto known = std::find_if(sums.begin(), sums.end(),
                                    [&](const auto& sum) { return sum.first == one.function; });
    if (known == sums.end())
      sums.emplace_back(one.function, one.calls);
    else
      known->second += one.calls;
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  const size_t shown = sums.size() > kMostNames + 1 ? kMostNames : sums.size();
  for (size_t i = 0; i < shown; ++i)
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", text::printable(sums[i].first),
                       text::count_text(sums[i].second));
  return shown < sums.size() ? out + fmt::format(" and {} more", sums.size() - shown) : out;
}

std::string text_of(const proxy::Outcome& outcome) {
  std::string out = text::printable(outcome.output) + "\n";
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("  {:<12} {}\n", name, text);
  };
  line("lines", fmt::format("{} in {}", text::count_text(outcome.lines),
                            text::counted_text(outcome.functions, "function")));
  line("made from", fmt::format("{}, {}, {}", text::counted_text(outcome.calls, "call"),
                                text::counted_text(outcome.signatures, "signature"),
                                text::counted_text(outcome.rules, "rule")));
  line("ranks", fmt::format("{}, {} of different structure",
                            text::counted_text(outcome.kinds, "kind"), outcome.families));
  if (outcome.skipped > 0)
    line("skipped", fmt::format("{}, and {} at the other end of their messages",
                                text::counted_text(outcome.skipped, "call"),
                                text::count_text(outcome.other_ends)));
  line("tables", text::count_text(outcome.tables));
  line("work", outcome.compute == "nothing"
                   ? std::string("none: the trace does not say how long ranks computed")
                   : "from " + outcome.compute);
  for (const auto& [what, count] : outcome.not_held)
    line("not held", fmt::format("{} {}", text::count_text(count), what));
  if (!outcome.left_out.empty()) line("left out", left_out_text(outcome.left_out));
  if (outcome.needs.empty()) {
    line("runs on", "any number of ranks");
  } else {
    for (const std::string& why : outcome.needs)
      line(&why == &outcome.needs.front() ? "fixed by" : "", text::printable(why));
  }
  return out;
}

std::string json_of(const proxy::Outcome& outcome) {
  nlohmann::ordered_json out;
  out["output"] = text::printable(outcome.output);
  out["lines"] = outcome.lines;
  out["functions"] = outcome.functions;
  out["rules"] = outcome.rules;
  out["signatures"] = outcome.signatures;
  out["tables"] = outcome.tables;
  out["kinds"] = outcome.kinds;
  out["structures"] = outcome.families;
  out["calls"] = outcome.calls;
  out["skipped"] = outcome.skipped;
  out["other_ends"] = outcome.other_ends;
  out["work_from"] = outcome.compute;
  out["any_ranks"] = outcome.needs.empty();
  out["fixed_by"] = nlohmann::json::array();
  for (const std::string& why : outcome.needs) out["fixed_by"].push_back(text::printable(why));
  out["not_held"] = nlohmann::json::array();
  for (const auto& [what, count] : outcome.not_held)
    out["not_held"].push_back({{"what", what}, {"count", count}});
  out["left_out"] = nlohmann::json::array();
  for (const proxy::LeftOutCalls& one : outcome.left_out)
    out["left_out"].push_back({{"function", one.function}, {"calls", one.calls}, {"why", one.why}});
  out["refused"] = nlohmann::json::array();
  return out.dump(2) + "\n";
}

// What cannot be made again: a list, and the exit status of a refusal.
int refuse(const std::vector<proxy::Refusal>& all, const ProxyArguments& options) {
  std::string out;
  if (options.format == "json") {
    nlohmann::ordered_json json;
    json["refused"] = nlohmann::json::array();
    for (const proxy::Refusal& one : all)
      json["refused"].push_back(
          {{"function", one.function}, {"calls", one.calls}, {"why", one.why}});
    out = json.dump(2) + "\n";
  } else {
    for (const proxy::Refusal& one : all)
      out += fmt::format("{}, {} calls: {}\n", one.function, text::count_text(one.calls), one.why);
  }
  if (const int status = print(out); status != 0) return status;
  std::string names;
  for (const proxy::Refusal& one : all) names += (names.empty() ? "" : ", ") + one.function;
  return report(base::unsupported(names + " cannot be called again; --skip FUNCTION leaves one out",
                                  options.trace));
}

// A rank that would wait for ever: the other end of what it waits for is not in the trace. Where
// the order of calls is not known (threads), or too long to look at, the ends of messages are
// counted.
Status check_ends(const Trace& trace, const ProxyArguments& options) {
  constexpr uint64_t kMostCalls = 2'000'000;  // that are walked; loops are not expanded
  if (!trace.info().complete) return base::Done{};
  if (const Status alike = replay::plan::check_ends(trace); !alike.ok()) return alike;
  replay::plan::UnbufferedOptions limits;
  limits.most_calls = kMostCalls;
  if (!options.how.skip.empty()) {
    auto gone = proxy::left_out(trace, options.how);
    if (!gone.ok()) return gone.error();
    limits.leaves_out = [gone = std::move(*gone)](GroupId group, SignatureId signature) {
      return gone.contains({group, signature});
    };
  }
  const replay::plan::Unbuffered order = replay::plan::run_unbuffered(trace, limits);
  if (!order.why_not.empty())
    for (const std::string& uneven : replay::plan::uneven_texts(
             trace, replay::plan::count_messages(trace, {}, limits.leaves_out)))
      std::fprintf(stderr, "refrain: %s: warning: ranks may wait for ever: %s\n",
                   text::printable(options.trace).c_str(), uneven.c_str());
  if (order.waiting_ranks == 0 || order.is_guess) return base::Done{};
  const replay::plan::CallPlace& first = order.waiting.front();
  return base::unsupported(
      fmt::format(
          "{} of rank {}, call {}{}, waits for ever for calls that are not in the trace; {}",
          mpi::call_name(first.call), first.rank, first.seq,
          replay::plan::place_of(trace, first.site),
          text::counted_text(order.waiting_ranks, "rank") +
              (order.waiting_ranks == 1 ? " waits so" : " wait so")),
      options.trace);
}

int run(ProxyArguments& options) {
  for (const std::string& name : options.skip) {
    if (mpi::find_call(name) == nullptr)
      return report(base::usage("--skip " + text::printable(name) + " is no function of MPI"));
    options.how.skip.insert(name);
  }
  options.how.resolve = !options.no_resolve;
  const auto trace = Trace::open_with_times(options.trace);
  if (!trace.ok()) return report(trace.error());
  if (const Status good = may_replace(options.how.output, {options.trace}); !good.ok())
    return report(good.error());
  for (const replay::plan::FileNeed& file : replay::plan::file_needs(*trace))
    options.how.file_bytes[file.path] = file.bytes;
  const auto refused = proxy::refusals(*trace, options.how);
  if (!refused.ok()) return report(refused.error());
  if (!refused->empty()) return refuse(*refused, options);
  if (const Status ends = check_ends(*trace, options); !ends.ok()) return report(ends.error());
  const auto outcome = proxy::generate(*trace, options.how);
  if (!outcome.ok()) return report(outcome.error());
  const int status = print(options.format == "json" ? json_of(*outcome) : text_of(*outcome));
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_proxy(Command& app, int& exit_status) {
  auto options = std::make_shared<ProxyArguments>();
  Command* verb = app.add_subcommand("proxy", "A program that makes the recorded calls again");
  verb->add_trace(options->trace);
  verb->add_option("-o,--output", options->how.output, "Folder to write")->required();
  verb->add_option("--skip", options->skip,
                   "Leave out the calls of this function; may be given several times")
      ->type_name("FUNCTION")
      ->allow_extra_args(false);
  verb->add_flag("--no-resolve", options->no_resolve,
                 "Without names of the program's functions and lines");
  verb->add_format(options->format, {"text", "json"}, "What was written, as text or json");
  verb->add_flag("--force", options->how.force, "Replace the output");
  verb->footer(
      "The folder has main.cc, refrain_proxy.h and a CMakeLists.txt. The program takes "
      "--compute sleep|spin|none, --scale F, --iterations N and --scratch FOLDER. docs/proxy.md "
      "says what becomes of what.");
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
