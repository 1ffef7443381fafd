// The page that compares several traces and leads to the page of each.
#pragma once

#include <string>
#include <vector>

#include "report/page/page.h"

namespace refrain::report {

// What the index says of one trace.
nlohmann::ordered_json index_entry(const PageData& data, const std::string& file);
PageData index_data(const std::vector<nlohmann::ordered_json>& entries);

// Names of the pages, one for each trace, all different: "run.html", "run-2.html".
std::vector<std::string> page_names(const std::vector<std::string>& traces);

}  // namespace refrain::report
