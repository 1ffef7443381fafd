#include "report/waits/untimed_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/cores_text.h"
#include "report/profile/profile_rows.h"
#include "report/waits/waits_rows.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/path_names.h"
#include "text/table.h"

namespace refrain::report {
namespace {

using analysis::Profile;
using analysis::RankRow;
using Json = nlohmann::ordered_json;

constexpr double kUnequal = 0.05;  // more than the mean by this is worth a word

// The rank that computes most: who has least time for MPI is who others wait for there.
const RankRow* busiest(const Profile& profile) {
  const auto most = std::max_element(
      profile.ranks.begin(), profile.ranks.end(),
      [](const RankRow& a, const RankRow& b) { return a.outside_ns < b.outside_ns; });
  return most == profile.ranks.end() ? nullptr : &*most;
}

double balance(const Profile& profile) {
  return profile.outside_ns.max > 0 ? profile.outside_ns.mean / profile.outside_ns.max : 1;
}

std::string busiest_text(const Profile& profile) {
  const RankRow* most = busiest(profile);
  if (most == nullptr || profile.ranks.size() < 2) return "";
  if (profile.outside_ns.imbalance() < kUnequal)
    return "All ranks compute about as long, in sum: if they wait, it is for one another in "
           "turns.\n";
  return fmt::format(
      "Rank {} computes most, {}, which is {:.1f} times the mean, and is in MPI for {}: others "
      "probably wait "
      "for it.\n",
      most->rank, text::duration_text(most->outside_ns),
      static_cast<double>(most->outside_ns) / profile.outside_ns.mean,
      text::duration_text(most->in_mpi_ns));
}

}  // namespace

std::string untimed_text(const Trace& trace, const Profile& profile, reader::Symbols& symbols,
                         size_t top) {
  const std::string crowding = crowding_text(trace, analysis::core_use(trace));
  std::string out = crowding.empty() ? "" : text::paragraph(crowding) + "\n\n";
  out += text::paragraph(fmt::format(
      "{}: no times of single calls, so nothing says who waited for whom. Record with\n"
      "  refrain record --timing exact ...    (or --timing bins:0.02, which takes less)\n\n"
      "What the statistics say: {} of the time of all ranks is in MPI, load balance {:.2f}.\n",
      text::printable(trace.name()), text::percent_text(profile.all.time_ns, profile.whole_ns()),
      balance(profile)));
  out += text::paragraph(busiest_text(profile));
  text::PathNames names(trace, symbols);
  text::Table table({"<<call", "<called from", "time", "share", "calls"});
  const auto add = [&](const std::string& call, const std::string& from,
                       const analysis::CallTotals& totals) {
    table.add({call, from, text::duration_text(text::rounded(totals.time_ns)),
               text::percent_text(totals.time_ns, profile.whole_ns()),
               text::count_text(totals.calls)});
  };
  const size_t shown = top == 0 ? profile.paths.size() : std::min(top, profile.paths.size());
  analysis::CallTotals others;
  for (size_t i = 0; i < profile.paths.size(); ++i) {
    const analysis::SiteRow& row = profile.paths[i];
    if (i < shown)
      add(call_name(row.call), names.text(row.site), row.totals);
    else
      add_totals(others, row.totals);
  }
  const size_t more = profile.paths.size() - shown;
  if (more > 0) add(text::others_text(more), "", others);
  if (table.rows() > 0)
    out += "\n" + text::heading("Most time in MPI, waiting included") + "\n" + table.text();
  return out + text::more_text(more);
}

std::string untimed_json(const Trace& trace, const Profile& profile, reader::Symbols& symbols) {
  text::PathNames names(trace, symbols);
  const auto seconds = [](double ns) { return ns / 1e9; };
  Json out;
  out["trace"] = trace.name();
  out["times"] = false;
  out["record_with"] = "--timing exact";
  out["mpi_share"] = profile.share_of_run(profile.all.time_ns);
  out["load_balance"] = balance(profile);
  out["cores"] = cores_json(trace, analysis::core_use(trace));
  const RankRow* most = busiest(profile);
  out["busiest"] = most == nullptr ? Json() : Json(most->rank);
  out["ranks"] = Json::array();
  for (const RankRow& row : profile.ranks)
    out["ranks"].push_back({{"rank", row.rank},
                            {"mpi_seconds", seconds(static_cast<double>(row.in_mpi_ns))},
                            {"useful_seconds", seconds(static_cast<double>(row.outside_ns))}});
  out["call_paths"] = Json::array();
  for (const analysis::SiteRow& row : profile.paths)
    out["call_paths"].push_back({{"call", call_name(row.call)},
                                 {"path", names.text(row.site)},
                                 {"seconds", seconds(row.totals.time_ns)},
                                 {"count", row.totals.calls}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace refrain::report
