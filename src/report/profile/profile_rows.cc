#include "report/profile/profile_rows.h"

#include <algorithm>

#include "mpi/call_table.h"

namespace refrain::report {

void add_totals(analysis::CallTotals& into, const analysis::CallTotals& from) {
  if (from.calls > 0 || from.parts > 0) {
    into.min_ns =
        into.calls == 0 && into.parts == 0 ? from.min_ns : std::min(into.min_ns, from.min_ns);
    into.max_ns = std::max(into.max_ns, from.max_ns);
  }
  into.calls += from.calls;
  into.failed += from.failed;
  into.parts += from.parts;
  into.time_ns += from.time_ns;
  into.bytes += from.bytes;
  into.messages += from.messages;
  into.unsized += from.unsized;
}

void name_site(const ProfileView& view, DefinitionId id, ProfileRow& row) {
  const auto site = view.trace.site(id);
  if (site) {
    const reader::SourcePlace& place = view.symbols.find(*site);
    row.site = view.symbols.label(*site);
    row.function = place.function;
    row.file = place.file;
    row.module = site->module;
    row.offset = site->offset;
    row.module_changed = place.status == reader::SymbolStatus::kModuleChanged;
  }
  if (row.site.empty()) row.site = "unknown";
}

std::vector<ProfileRow> profile_rows(const ProfileView& view, ProfileBy by) {
  std::vector<ProfileRow> out;
  const auto append = [&out](const analysis::CallTotals& totals) -> ProfileRow& {
    out.emplace_back();
    out.back().totals = totals;
    return out.back();
  };
  switch (by) {
    case ProfileBy::kFunction:
      for (const auto& f : view.profile.functions) append(f.totals).call = call_name(f.call);
      break;
    case ProfileBy::kSite:
      for (const auto& s : view.profile.sites) {
        ProfileRow& row = append(s.totals);
        row.call = call_name(s.call);
        name_site(view, s.site, row);
      }
      break;
    case ProfileBy::kCallPath:
      for (const auto& p : view.profile.paths) append(p.totals).call = call_name(p.call);
      break;
    case ProfileBy::kGroup:
      for (const auto& g : view.profile.groups) append(g.totals).group = mpi::to_string(g.group);
      break;
    case ProfileBy::kRank: break;  // has columns of its own
  }
  return out;
}

std::string transfer_kind_name(events::TransferKind kind) {
  switch (kind) {
    case events::TransferKind::kP2p: return "p2p";
    case events::TransferKind::kRma: return "rma";
    case events::TransferKind::kCollective: return "collective";
    case events::TransferKind::kIo: return "io";
  }
  return "";
}

}  // namespace refrain::report
