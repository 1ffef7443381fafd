#include "cli/options/diff_options.h"

#include <filesystem>

#include "analysis/diff/repeats.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "format/encode/atomic_file.h"
#include "format/encode/encode.h"
#include "text/numbers.h"

namespace refrain::cli {
namespace {

using analysis::diff::Threshold;
using analysis::diff::Verdict;

std::string text_of(const report::DiffView& view, const DiffOptions& options,
                    const std::vector<report::JunitCase>& more) {
  const std::string& format = options.format;
  if (format == "json") return report::diff_json(view);
  if (format == "junit") return report::diff_junit(view, more);
  if (format == "html") {
    use_markup(options.display);
    return report::diff_html(view);
  }
  use_display(options.display, !options.output.empty());
  return report::diff_text(view);
}

int write(const std::string& text, const DiffOptions& options) {
  if (options.output.empty()) return print(text);
  const Status written = format::write_file_atomically(options.output, text, "the comparison");
  return written.ok() ? 0 : report(written.error());
}

Status add_repeats(const Trace& before, const Trace& after, reader::Symbols& symbols,
                   const DiffOptions& options, analysis::diff::Diff& diff) {
  std::vector<analysis::diff::Diff> others;
  for (const std::string& name : options.repeats) {
    const Result<Trace> trace = Trace::open_with_times(name);
    if (!trace.ok()) return trace.error();
    if (trace->rank_count() != before.rank_count())
      return base::usage("is of " + text::counted_text(trace->info().rank_count, "rank") +
                             "; baselines must be runs on as many ranks",
                         name);
    others.push_back(analysis::diff::diff(*trace, after, symbols, {.waits = options.waits}));
  }
  analysis::diff::use_repeats(diff, others);
  return base::Done{};
}

// One line that names the thresholds that were crossed; 0 when there are none.
int say_crossed(const std::vector<Verdict>& verdicts, const Trace& after) {
  std::string crossed;
  size_t count = 0;
  for (const Verdict& v : verdicts) {
    if (!v.is_crossed) continue;
    crossed += (count > 0 ? "; " : "") + report::verdict_text(v);
    ++count;
  }
  if (count == 0) return 0;
  return report({base::ErrorCode::kThreshold,
                 text::counted_text(count, "threshold") + " crossed: " + crossed, after.name()});
}

}  // namespace

void define_diff_options(Command& verb, DiffOptions& options) {
  verb.add_option(
          "--fail-if", options.fail_if,
          "METRIC[@WHERE]>NUMBER, with > < or <>: exit status 3 when the change is past it: "
          "'bytes>+5%', 'calls@MPI_Alltoall<>0', 'time@solve>10%'; may be given several "
          "times")
      ->check({[](std::string& text) {
                 // Others are parsed when there are traces to look for their places in.
                 const auto empty = analysis::diff::parse_threshold("");
                 return text.empty() && !empty.ok() ? empty.error().message : std::string();
               },
               ""})
      ->allow_extra_args(false);
  verb.add_option("-o,--output", options.output, "Write the result to this file instead of stdout");
  verb.add_flag("--force", options.force, "Overwrite the output");
  verb.add_option("--top", options.top, "Rows of each table of text and html; 0: all")
      ->check(whole_number())
      ->type_name("COUNT")
      ->capture_default_str();
  verb.add_flag_callback(
      "--no-waits", [&options] { options.waits = false; },
      "Do not compare waits, which takes as long as `refrain waits` on both traces");
  add_display(verb, options.display);
}

Result<std::vector<Threshold>> thresholds_of(const DiffOptions& options,
                                             std::vector<Threshold> otherwise) {
  if (options.fail_if.empty()) return otherwise;
  std::vector<Threshold> out;
  for (const std::string& text : options.fail_if) {
    auto threshold = analysis::diff::parse_threshold(text);
    if (!threshold.ok()) return threshold.error();
    out.push_back(std::move(*threshold));
  }
  return out;
}

Status check_output(const DiffOptions& options, std::vector<std::string> read) {
  read.insert(read.end(), options.repeats.begin(), options.repeats.end());
  return may_write(options.output, options.force, read);
}

int compare(const Trace& before, const Trace& after, const DiffOptions& options,
            const std::vector<Threshold>& thresholds, const std::vector<report::JunitCase>& more) {
  reader::Symbols symbols;
  analysis::diff::Diff diff =
      analysis::diff::diff(before, after, symbols, {.waits = options.waits});
  if (const Status good = add_repeats(before, after, symbols, options, diff); !good.ok())
    return report(good.error());
  report::DiffView view{before, after, diff, symbols, {}, options.top};
  for (const Threshold& threshold : thresholds) {
    const auto verdict =
        analysis::diff::judge(diff, threshold, [&view](const auto& call, const std::string& where) {
          return report::is_at(view, call, where);
        });
    if (!verdict.ok()) return report(verdict.error());
    view.verdicts.push_back(*verdict);
  }
  if (const int status = write(options.before + text_of(view, options, more), options); status != 0)
    return status;
  const int incomplete = std::max(status_of(before), status_of(after));
  const int crossed = say_crossed(view.verdicts, after);
  return crossed != 0 ? crossed : incomplete;
}

}  // namespace refrain::cli
