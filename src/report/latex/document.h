// The report as a LaTeX document: the content of the page in the same order, with figures that TikZ
// draws from numbers in the document.
//
//   std::string tex = report::latex_document({report::latex_part(trace, data)});
//
// It compiles with latexmk -pdf and no other file. Numbers are those of the page's data. Its size
// is bounded whatever the ranks and calls: figures have a largest number of cells, tables of rows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "refrain/trace.h"
#include "report/latex/detail.h"
#include "report/page/page.h"

namespace refrain::report {

// One run: its sections, and what a comparison with others needs.
struct LatexPart {
  std::string title;  // any bytes
  std::string body;
  nlohmann::ordered_json entry;  // of index_entry()
};

// `data`: of that trace. Reads every call once more for Verbosity::kFull.
LatexPart latex_part(const Trace& trace, const PageData& data,
                     Verbosity verbosity = Verbosity::kNormal);

// Several runs begin with a comparison. At least one part.
std::string latex_document(const std::vector<LatexPart>& parts);

}  // namespace refrain::report
