// A section of the page: an object that computes results from a trace, and writes them into the
// data of the page. CONTRIBUTING.md, "Add a panel", has the steps.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "events/comms.h"
#include "reader/source_paths.h"
#include "reader/symbols.h"
#include "refrain/trace.h"
#include "report/page/answers.h"
#include "report/page/page.h"

namespace refrain::report {

struct PageQuestion {
  const Trace& trace;
  const PageOptions& options;
  events::CommTable& comms;  // one for all, so that keys are the same
  const reader::SourcePaths& paths;
  PageAnswers& answers;
  // What is done now, for whoever waits.
  void say(std::string_view step) const {
    if (options.progress) options.progress(step);
  }
};

struct PageView {
  const Trace& trace;
  const PageAnswers& answers;
  reader::Symbols& symbols;
  const PageOptions& options;
};

class PageSection {
 public:
  virtual ~PageSection() = default;
  // All sections ask before the first one writes, in the order of page_sections(): answers of those
  // in front are there.
  virtual void ask(const PageQuestion&) {}
  virtual void write(const PageView& view, PageData& out) const = 0;
};

// All of them, in the order in which they stand in the JSON.
std::vector<std::unique_ptr<PageSection>> page_sections();

// One a file.
std::unique_ptr<PageSection> summary_section();     // sections.cc: the run, and its profile
std::unique_ptr<PageSection> verdict_section();     // verdict.cc
std::unique_ptr<PageSection> timeline_section();    // timeline_data.cc
std::unique_ptr<PageSection> messages_section();    // messages_page.cc
std::unique_ptr<PageSection> matrix_section();      // matrix_page.cc
std::unique_ptr<PageSection> density_section();     // matrix_page.cc
std::unique_ptr<PageSection> waits_section();       // waits_page.cc
std::unique_ptr<PageSection> iterations_section();  // iterations_page.cc
std::unique_ptr<PageSection> clusters_section();    // clusters_page.cc
std::unique_ptr<PageSection> posix_section();       // posix_page.cc

}  // namespace refrain::report
