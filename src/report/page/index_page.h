// The page that compares several traces and leads to the page of each.
#pragma once

#include <string>
#include <vector>

#include "analysis/diff/diff.h"
#include "report/page/page.h"

namespace refrain::report {

// What the index says of one trace.
nlohmann::ordered_json index_entry(const PageData& data, const std::string& file);

// Of all traces, in the order in which they are added.
class IndexPage {
 public:
  // `file` is the trace's own page.
  void add(const PageData& data, const std::string& file);
  // How the trace that was added last differs from the first one: what of that is noise.
  void add_noise(const analysis::diff::Diff& from_first);
  PageData take();

 private:
  PageData data_;
  size_t count_ = 0;
};

// Names of the pages, one for each trace, all different: "run.html", "run-2.html".
std::vector<std::string> page_names(const std::vector<std::string>& traces);

}  // namespace refrain::report
