// The page that compares several traces and leads to the page of each.
#pragma once

#include <string>
#include <vector>

#include "analysis/diff/diff.h"
#include "report/page/page.h"

namespace refrain::report {

// What the index says of one trace.
nlohmann::ordered_json index_entry(const PageData& data, const std::string& file);

// All that the index shows of one trace, to be kept until the index is made: an object for
// add_chapter(). `file` is the trace's own page.
nlohmann::ordered_json index_chapter(const PageData& data, const std::string& file);
// As bytes (CBOR), and back; null for bytes that are none. Any bytes may be read.
std::string chapter_bytes(const nlohmann::ordered_json& chapter);
nlohmann::ordered_json chapter_of_bytes(const std::string& bytes);

// Of all traces, in the order in which they are added.
class IndexPage {
 public:
  void add(const PageData& data, const std::string& file);
  // False: it is no chapter, and was not added.
  bool add_chapter(const nlohmann::ordered_json& chapter);
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
