// The sections of the document, one a file. Each appends to `out`.
#pragma once

#include <string>
#include <vector>

#include "analysis/temporal.h"
#include "analysis/topology.h"
#include "report/latex/detail.h"
#include "report/page/page.h"

namespace refrain::report::latex {

// What is missing in a trace, as a yellow box; nothing for a whole one.
void put_warning(const nlohmann::ordered_json& info, std::string& out);

void put_verdict(const PageData& data, std::string& out);
void put_timeline(const PageData& data, std::string& out);
void put_matrix(const PageData& data, std::string& out, const Detail& detail = {});
void put_graph(const PageData& data, std::string& out);
void put_density(const PageData& data, std::string& out, const Detail& detail = {});
void put_profile(const PageData& data, std::string& out, const Detail& detail = {});
void put_sizes(const PageData& data, std::string& out);
// Nothing for a trace without them.
void put_posix(const PageData& data, std::string& out);
// Nothing for a trace in which every rank stands for itself.
void put_clusters(const PageData& data, std::string& out);
void put_waits(const PageData& data, std::string& out, const Detail& detail = {});
void put_environment(const PageData& data, std::string& out);

// Of Verbosity::kFull alone.
// When each rank was in which function; a sentence where the trace has no times.
void put_temporal(const analysis::TemporalMaps& maps, std::string& out);
// Matrices for each kind of point-to-point call.
void put_kinds(const std::vector<analysis::TopologyOfCall>& kinds, Rank ranks, std::string& out);
void put_iterations(const PageData& data, std::string& out);
// Each rank by itself.
void put_ranks(const PageData& data, std::string& out);

// Several runs side by side, from index_entry() of each.
void put_comparison(const std::vector<nlohmann::ordered_json>& entries, std::string& out);

// A section's title, and what to look for in it. Both are LaTeX.
std::string section(const std::string& title, const std::string& look_for);
// A figure of `width_mm` or less, where it stands, with its caption.
std::string figure(const std::string& picture, const std::string& caption);

}  // namespace refrain::report::latex
