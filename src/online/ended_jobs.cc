#include "online/ended_jobs.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "analysis/matrix.h"
#include "analysis/profile/profile.h"
#include "analysis/topology.h"
#include "analysis/waits/wait_states.h"
#include "events/call_source.h"
#include "format/encode/encode.h"
#include "format/spool/job_files.h"
#include "online/show/maps_json.h"
#include "reader/symbols.h"
#include "report/latex/document.h"
#include "report/matrix_report.h"
#include "report/page/index_page.h"
#include "report/page/page.h"
#include "report/profile/profile_report.h"
#include "report/waits/waits_report.h"

namespace refrain::online {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kChapter = "/chapter.cbor";
constexpr const char* kTexChapter = "/chapter.tex";
constexpr uint64_t kMostChapterBytes = uint64_t{16} << 20;
constexpr size_t kMostTexChapters = 50;

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
  if (!done.ok()) return done;
  done = put("/topology.json", topology_json(analysis::topology(trace), trace.rank_count()));
  if (!done.ok() || !trace.has_times()) return done;
  const reader::SourcePaths paths(trace, symbols);
  analysis::waits::Options how;
  how.paths = &paths;
  events::TraceCalls calls(trace);
  const auto waits = analysis::waits::wait_states(trace, calls, how);
  if (!waits.ok()) return done;
  return put("/waits.json", report::waits_json({trace, *waits, symbols, {}, -1, 20, {}}));
}

Json chapter_in(const std::string& folder) {
  const auto bytes = format::spool::read_file(folder + kChapter, kMostChapterBytes);
  return bytes.ok() ? report::chapter_of_bytes(*bytes) : Json();
}

// The chapters of a document, each with what its job's folder has.
std::string document_of(const std::string& output, const std::vector<std::string>& names) {
  std::vector<report::LatexPart> parts;
  const size_t first = names.size() > kMostTexChapters ? names.size() - kMostTexChapters : 0;
  for (size_t i = first; i < names.size(); ++i) {
    Json chapter = chapter_in(output + "/" + names[i]);
    auto body = format::spool::read_file(output + "/" + names[i] + kTexChapter, kMostChapterBytes);
    if (!body.ok() || !chapter.is_object() || !chapter.contains("entry")) continue;
    Json& entry = chapter["entry"];
    if (!entry.is_object()) continue;
    entry["file"] = names[i] + ".rfn";
    parts.push_back({names[i], std::move(*body), std::move(entry)});
  }
  return parts.empty() ? std::string() : report::latex_document(parts);
}

}  // namespace

bool EndedJobs::is_current(const std::string& name) const {
  std::error_code error;
  const std::string stem = output_ + "/" + name;
  const auto written = fs::last_write_time(stem + kChapter, error);
  if (error || written < fs::last_write_time(trace_of(name), error) || error) return false;
  const Json chapter = chapter_in(stem);
  return chapter.is_object() && chapter.value("keep", Json()) == Json(keep_.to_string()) &&
         chapter.value("verbosity", Json()) == Json(report::word_of(verbosity_)) &&
         ((chapter.contains("entry") && fs::exists(stem + kTexChapter, error)) ||
          !report::why_no_pages().empty());
}

base::Status EndedJobs::add(const std::string& name, const Trace& trace) {
  const std::string stem = output_ + "/" + name;
  std::error_code error;
  fs::create_directory(stem, error);
  if (error) return base::fail("cannot make the folder (" + error.message() + ")", stem);
  fs::remove(stem + kChapter, error);
  reader::Symbols symbols;
  if (base::Status done = write_answers(trace, symbols, stem); !done.ok()) return done;
  Json chapter = Json::object();
  if (report::why_no_pages().empty()) {
    const report::PageData data = report::page_data(trace, symbols, {});
    if (base::Status done = format::write_file_atomically(
            stem + ".html", report::page_html(data, title_of(data)), "the page");
        !done.ok())
      return done;
    if (base::Status done = format::write_file_atomically(
            stem + kTexChapter, report::latex_part(trace, data, verbosity_).body, "the chapter");
        !done.ok())
      return done;
    chapter = report::index_chapter(data, name + ".html");
  }
  chapter["keep"] = keep_.to_string();
  chapter["verbosity"] = report::word_of(verbosity_);
  return format::write_file_atomically(stem + kChapter, report::chapter_bytes(chapter),
                                       "the chapter");
}

base::Status EndedJobs::keep(const std::string& name, const Trace& trace) const {
  if (!keep_.is_on()) return base::Done{};
  return write_kept(keep_, trace, output_ + "/" + name + "." + keep_.target);
}

base::Status EndedJobs::write_index() const {
  if (!report::why_no_pages().empty()) return base::Done{};
  std::vector<std::pair<fs::file_time_type, std::string>> jobs;
  std::error_code error;
  for (fs::directory_iterator it(output_, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".rfn") continue;
    std::error_code none;
    jobs.emplace_back(fs::last_write_time(it->path(), none), it->path().stem().string());
  }
  std::sort(jobs.begin(), jobs.end());
  report::IndexPage index;
  std::vector<std::string> names;  // of those that have a chapter
  for (const auto& [time, name] : jobs)
    if (index.add_chapter(chapter_in(output_ + "/" + name))) names.push_back(name);
  if (names.empty()) return base::Done{};
  const std::string document = document_of(output_, names);
  if (!document.empty())
    if (base::Status done =
            format::write_file_atomically(output_ + "/report.tex", document, "the document");
        !done.ok())
      return done;
  return format::write_file_atomically(
      output_ + "/index.html", report::page_html(index.take(), "refrain reports"), "the index");
}

}  // namespace refrain::online
