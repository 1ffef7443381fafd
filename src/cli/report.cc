// refrain report: one page that shows a run; for several traces a folder with an index. Or the same
// as a LaTeX document.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/temporaries.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/encode/encode.h"
#include "report/latex/document.h"
#include "report/page/index_page.h"
#include "report/page/page.h"
#include "text/display.h"

namespace refrain::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> traces;
  std::string output;
  std::string format = "html";
  std::string verbosity = "normal";
  bool has_verbosity = false;
  bool force = false;
  DisplayOptions display;
};

report::PageData data_of(const Trace& trace, const DisplayOptions& display) {
  const std::string name = fs::path(trace.name()).filename().string();
  report::PageOptions options;
  options.fold_names = display.names == "folded";
  options.progress = [&](std::string_view step) {
    Activity::step(name + ": " + std::string(step));
  };
  options.timeline_progress = Activity::share;
  reader::Symbols symbols;
  return report::page_data(trace, symbols, options);
}

std::string title_of(const report::PageData& data) {
  const auto program = data.json["info"].value("program", std::string());
  return fs::path(program).filename().string() + " - refrain report";
}

int report_one(const ReportOptions& options) {
  const bool is_json = options.format == "json";
  std::string output = options.output;
  if (output.empty() && !is_json) output = "report.html";
  if (!output.empty())
    if (const Status free = may_write(output, options.force, options.traces); !free.ok())
      return report(free.error());
  const auto trace = Trace::open_with_times(options.traces[0]);
  if (!trace.ok()) return report(trace.error());
  const report::PageData data = data_of(*trace, options.display);
  const std::string text =
      is_json ? report::page_json(data) : report::page_html(data, title_of(data));
  if (output.empty()) {
    const int status = print(text);
    return status != 0 ? status : status_of(*trace);
  }
  const Status written =
      format::write_file_atomically(output, text, is_json ? "the data of the page" : "the page");
  if (!written.ok()) return report(written.error());
  return status_of(*trace);
}

// What goes again unless all of it is there in the end, whatever ends the process.
class Unfinished {
 public:
  Unfinished() = default;
  ~Unfinished() {
    std::error_code ignored;
    for (const std::string& path : paths_) fs::remove_all(path, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  // Before it is made; what is there already stays.
  void add(const std::string& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return;
    guards_.push_back(std::make_unique<base::Temporary>(path));
    paths_.push_back(path);
  }
  void keep() {
    const base::HoldSignals hold;
    paths_.clear();
    guards_.clear();
  }

 private:
  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<base::Temporary>> guards_;
};

// Every page is whole or not there; the index comes last, when all that it names are.
int report_many(const ReportOptions& options) {
  const fs::path folder = options.output.empty() ? "report" : options.output;
  const std::vector<std::string> names = report::page_names(options.traces);
  std::error_code failed;
  if (fs::exists(folder, failed) && !fs::is_directory(folder, failed))
    return report(
        base::usage("is a file; several traces need a folder, name one with -o", folder.string()));
  for (const std::string& name : names)
    if (const Status free = may_write((folder / name).string(), options.force, options.traces);
        !free.ok())
      return report(free.error());
  const std::string index = (folder / "index.html").string();
  if (const Status free = may_write(index, options.force, options.traces); !free.ok())
    return report(free.error());
  Unfinished pages;
  pages.add(folder.string());
  fs::create_directories(folder, failed);
  if (failed)
    return report(base::fail("cannot make the folder (" + failed.message() + ")", folder.string()));
  report::IndexPage entries;
  int status = 0;
  const auto first = Trace::open(options.traces[0]);
  if (!first.ok()) return report(first.error());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto trace = Trace::open_with_times(options.traces[i]);
    if (!trace.ok()) return report(trace.error());
    const report::PageData data = data_of(*trace, options.display);
    const std::string page = (folder / names[i]).string();
    pages.add(page);
    const Status written =
        format::write_file_atomically(page, report::page_html(data, title_of(data)), "the page");
    if (!written.ok()) return report(written.error());
    entries.add(data, names[i]);
    reader::Symbols symbols;
    if (i > 0) entries.add_noise(analysis::diff::diff(*first, *trace, symbols, {.waits = false}));
    if (const int one = status_of(*trace); one != 0) status = one;
  }
  const Status written = format::write_file_atomically(
      index, report::page_html(entries.take(), "refrain reports"), "the index");
  if (!written.ok()) return report(written.error());
  pages.keep();
  return status;
}

// One document, of one trace or several.
int report_latex(const ReportOptions& options) {
  text::set_display({.fold_names = options.display.names == "folded"});
  const std::string output = options.output.empty() ? "report.tex" : options.output;
  if (const Status free = may_write(output, options.force, options.traces); !free.ok())
    return report(free.error());
  std::vector<report::LatexPart> parts;
  int status = 0;
  for (const std::string& path : options.traces) {
    const auto trace = Trace::open_with_times(path);
    if (!trace.ok()) return report(trace.error());
    parts.push_back(report::latex_part(*trace, data_of(*trace, options.display),
                                       *report::verbosity_of(options.verbosity)));
    if (const int one = status_of(*trace); one != 0) status = one;
  }
  const Status written =
      format::write_file_atomically(output, report::latex_document(parts), "the document");
  return written.ok() ? status : report(written.error());
}

int run(const ReportOptions& options) {
  if (options.has_verbosity && options.format != "latex")
    return report(base::usage("--verbosity is of documents: say --format latex as well"));
  if (options.format == "latex") return report_latex(options);
  if (options.format == "html" && !report::why_no_pages().empty())
    return report(base::unsupported(
        std::string(report::why_no_pages()) +
        ", which the page needs; install npm and build again, or use --format json"));
  if (options.traces.size() == 1) return report_one(options);
  if (options.format != "html")
    return report(base::usage("--format " + options.format + " takes one trace"));
  return report_many(options);
}

}  // namespace

void add_report(Command& app, int& exit_status) {
  auto options = std::make_shared<ReportOptions>();
  Command* verb = app.add_subcommand("report", "Write a page for the browser that shows a run");
  verb->add_option("trace", options->traces, "Trace file (.rfn); several make a folder")
      ->required();
  verb->add_option("-o,--output", options->output,
                   "Page to write [report.html], or document [report.tex]; of pages of several "
                   "traces the folder [report]");
  verb->add_format(options->format, {"html", "latex", "json"},
                   "html; latex: a document for latexmk, of all traces; or json: the data of the "
                   "page, to stdout without -o");
  const Option* const verbosity = add_verbosity(*verb, options->verbosity);
  verb->add_option(
          "--names", options->display.names,
          "Names of functions: C++ template arguments folded to <...>, and in the page the "
          "full name as a tooltip, or as they are (full); JSON has them in full")
      ->check(one_of({"folded", "full"}))
      ->capture_default_str();
  verb->add_flag("--force", options->force, "Overwrite the output");
  verb->footer(
      "The page is one file without anything outside of it: no network, no server. It shows most "
      "for a trace that was recorded with --timing exact or bins:0.02.");
  verb->callback([options, verbosity, &exit_status] {
    options->has_verbosity = verbosity->count() > 0;
    exit_status = run(*options);
  });
}

}  // namespace refrain::cli
