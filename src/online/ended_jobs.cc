#include "online/ended_jobs.h"

#include <filesystem>

#include "analysis/matrix.h"
#include "analysis/profile.h"
#include "analysis/waits/wait_states.h"
#include "events/call_source.h"
#include "format/encode/encode.h"
#include "reader/symbols.h"
#include "refrain/trace.h"
#include "report/matrix_report.h"
#include "report/page/page.h"
#include "report/profile/profile_report.h"
#include "report/waits/waits_report.h"

namespace refrain::online {

namespace {

namespace fs = std::filesystem;

std::string title_of(const report::PageData& data) {
  const auto program = data.json["info"].value("program", std::string());
  return fs::path(program).filename().string() + " - refrain report";
}

base::Status write_answers(const Trace& trace, reader::Symbols& symbols, const std::string& stem) {
  const auto put = [&stem](const char* file, const std::string& json) {
    return format::write_file_atomically(stem + file, json, "an answer");
  };
  const analysis::Profile profile = analysis::profile(trace);
  base::Status done = put("/profile.json", report::profile_json({trace, profile, symbols}));
  if (!done.ok()) return done;
  const auto matrix = analysis::matrix(trace, analysis::MatrixKind::kP2p);
  done = put("/matrix.json", report::matrix_json(matrix, {}, &trace));
  if (!done.ok() || !trace.has_times()) return done;
  events::TraceCalls calls(trace);
  const auto waits = analysis::waits::wait_states(trace, calls, {});
  if (!waits.ok()) return done;
  return put("/waits.json", report::waits_json({trace, *waits, symbols, {}, -1, 20, {}}));
}

}  // namespace

base::Status EndedJobs::add(const std::string& name) {
  const std::string stem = output_ + "/" + name;
  const auto trace = Trace::open(stem + ".rfn");
  if (!trace.ok()) return trace.error();
  std::error_code error;
  fs::create_directory(stem, error);
  if (error) return base::fail("cannot make the folder (" + error.message() + ")", stem);
  reader::Symbols symbols;
  if (base::Status done = write_answers(*trace, symbols, stem); !done.ok()) return done;
  if (!report::why_no_pages().empty()) return base::Done{};
  const report::PageData data = report::page_data(*trace, symbols, {});
  if (base::Status done = format::write_file_atomically(
          stem + ".html", report::page_html(data, title_of(data)), "the page");
      !done.ok())
    return done;
  index_.add(data, name + ".html");
  report::IndexPage all = index_;
  return format::write_file_atomically(
      output_ + "/index.html", report::page_html(all.take(), "refrain reports"), "the index");
}

}  // namespace refrain::online
