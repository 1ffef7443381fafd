// The profile for programs: JSON and CSV.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/nullable.h"
#include "report/profile/profile_paths.h"
#include "report/profile/programs_text.h"
#include "report/stood_for.h"
#include "report/window_text.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

using Json = nlohmann::ordered_json;

void put_totals(Json& out, const analysis::CallTotals& t, const analysis::Profile& p) {
  out["count"] = t.calls;
  if (p.window) out["parts"] = t.parts;
  out["time_ns"] = text::rounded(t.time_ns);
  out["min_ns"] = t.min_ns;
  out["mean_ns"] = text::rounded(t.mean_ns());
  out["max_ns"] = t.max_ns;
  out["bytes"] = t.bytes;
  out["messages"] = t.messages;
  out["failed"] = t.failed;
  out["unsized"] = t.unsized;
  out["mpi_share"] = p.all.time_ns > 0 ? t.time_ns / p.all.time_ns : 0;
  out["run_share"] = p.share_of_run(t.time_ns);
}

Json rows_json(const ProfileView& view, ProfileBy by) {
  Json out = Json::array();
  for (const ProfileRow& row : profile_rows(view, by)) {
    Json item;
    if (by == ProfileBy::kGroup) item["group"] = row.group;
    if (by == ProfileBy::kSite) {
      item["site"] = row.site == "unknown" ? Json() : Json(row.site);
      item["in_function"] = nullable(row.function);
      item["file"] = nullable(row.file);
      item["module"] = nullable(row.module);
      item["offset"] = row.offset < 0 ? Json() : Json(row.offset);
      item["module_changed"] = row.module_changed;
    }
    if (by != ProfileBy::kGroup) item["call"] = row.call;
    put_totals(item, row.totals, view.profile);
    out.push_back(std::move(item));
  }
  return out;
}

Json paths_json(const ProfileView& view) {
  Json out = Json::array();
  for (const auto& p : view.profile.paths) {
    Json item, sites = Json::array();
    for (const ProfileRow& site : path_sites(view, p.site))
      sites.push_back({{"site", site.site == "unknown" ? Json() : Json(site.site)},
                       {"in_function", nullable(site.function)},
                       {"file", nullable(site.file)},
                       {"module", nullable(site.module)},
                       {"offset", site.offset < 0 ? Json() : Json(site.offset)}});
    item["path"] = std::move(sites);
    item["call"] = call_name(p.call);
    put_totals(item, p.totals, view.profile);
    out.push_back(std::move(item));
  }
  return out;
}

std::string path_text(const ProfileView& view, DefinitionId path) {
  std::string out;
  for (const ProfileRow& site : path_sites(view, path))
    out += (out.empty() ? "" : " > ") + path_label(site);
  return out;
}

Json spread_json(const analysis::Spread& s) {
  return {{"min", s.min}, {"mean", s.mean}, {"max", s.max}, {"imbalance", s.imbalance()}};
}

Json sizes_json(const analysis::Profile& p) {
  Json out = Json::array();
  for (int kind = 0; kind < events::kTransferKinds; ++kind) {
    const analysis::SizeHistogram& sizes = p.sizes[static_cast<size_t>(kind)];
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].transfers == 0) continue;
      out.push_back({{"kind", transfer_kind_name(static_cast<events::TransferKind>(kind))},
                     {"from_bytes", i == 0 ? 0 : uint64_t{1} << (i - 1)},
                     {"transfers", sizes[i].transfers},
                     {"bytes", sizes[i].bytes}});
    }
  }
  return out;
}

// Null where the rank does not know what recording cost it.
Json known(const analysis::RankRow& r, uint64_t value) {
  return r.recorder_memory_bytes == 0 ? Json() : Json(value);
}

std::string ranks_csv(const analysis::Profile& p) {
  std::string out = "rank,calls,in_mpi_ns,outside_ns,bytes,recorder_ns,recorder_memory_bytes\n";
  for (const analysis::RankRow& r : p.ranks) {
    out += fmt::format("{},{},{},{},{}", r.rank, r.calls, r.in_mpi_ns, r.outside_ns, r.bytes);
    out += r.recorder_memory_bytes == 0
               ? std::string(",,\n")
               : fmt::format(",{},{}\n", r.recorder_ns, r.recorder_memory_bytes);
  }
  return out;
}

}  // namespace

std::string profile_json(const ProfileView& view) {
  const analysis::Profile& p = view.profile;
  Json out;
  out["trace"] = view.trace.name();
  out["complete"] = view.trace.info().complete;
  out["rank_count"] = view.trace.rank_count();
  add_programs(out, view.trace);
  out["duration_ns"] = view.trace.info().duration_ns;
  if (p.window) {
    out["window"] = window_json(*p.window);
    out["untimed"] = p.untimed;
  }
  add_stood_for(out, view.trace, p.window ? MadeOf::kTimes : MadeOf::kSums);
  out["run_ns"] = text::rounded(p.run_ns);
  Json all;
  put_totals(all, p.all, p);
  out["all"] = std::move(all);
  out["functions"] = rows_json(view, ProfileBy::kFunction);
  out["sites"] = rows_json(view, ProfileBy::kSite);
  out["call_paths"] = paths_json(view);
  out["groups"] = rows_json(view, ProfileBy::kGroup);
  out["spread"] = {{"calls", spread_json(p.calls)},
                   {"in_mpi_ns", spread_json(p.in_mpi_ns)},
                   {"outside_ns", spread_json(p.outside_ns)}};
  out["ranks"] = Json::array();
  for (const analysis::RankRow& r : p.ranks)
    out["ranks"].push_back({{"rank", r.rank},
                            {"calls", r.calls},
                            {"in_mpi_ns", r.in_mpi_ns},
                            {"outside_ns", r.outside_ns},
                            {"bytes", r.bytes},
                            {"recorder_in_run_ns", r.recorder_in_run_ns},
                            {"involuntary_switches", known(r, r.involuntary_switches)},
                            {"recorder_ns", known(r, r.recorder_ns)},
                            {"recorder_memory_bytes", known(r, r.recorder_memory_bytes)}});
  out["sizes"] = sizes_json(p);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string profile_csv(const ProfileView& view, ProfileBy by) {
  if (by == ProfileBy::kRank) return ranks_csv(view.profile);
  std::string out;
  if (by == ProfileBy::kSite) out = "site,in_function,";
  if (by == ProfileBy::kCallPath) out = "call_path,";
  out += by == ProfileBy::kGroup ? "group" : "call";
  out += ",count,time_ns,min_ns,mean_ns,max_ns,bytes,messages,failed,unsized\n";
  const std::vector<ProfileRow> rows = profile_rows(view, by);
  for (size_t i = 0; i < rows.size(); ++i) {
    const ProfileRow& row = rows[i];
    if (by == ProfileBy::kCallPath)
      out += text::csv_field(path_text(view, view.profile.paths[i].site)) + ",";
    if (by == ProfileBy::kSite)
      out += text::csv_field(row.site) + "," + text::csv_field(row.function) + ",";
    const analysis::CallTotals& t = row.totals;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n",
                       by == ProfileBy::kGroup ? row.group : row.call, t.calls,
                       text::rounded(t.time_ns), t.min_ns, text::rounded(t.mean_ns()), t.max_ns,
                       t.bytes, t.messages, t.failed, t.unsized);
  }
  return out;
}

}  // namespace refrain::report
