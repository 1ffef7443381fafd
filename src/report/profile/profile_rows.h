// The rows of a profile's tables with their names resolved: what all output formats share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/call_name.h"
#include "report/profile/profile_report.h"

namespace refrain::report {

struct ProfileRow {
  std::string call;      // function; empty in the table by group
  std::string group;     // kind of function; only in the table by group
  std::string site;      // "heat.c:41", "module+0x1234" or "unknown"; only in the table by site
  std::string function;  // that holds the call site; may be empty
  std::string file;      // of the call site, as the compiler was given it; may be empty
  std::string module;
  int64_t offset = -1;
  bool module_changed = false;  // why it has no file
  analysis::CallTotals totals;
};

using mpi::call_name;
// Adds the totals of other calls.
void add_totals(analysis::CallTotals& into, const analysis::CallTotals& from);
// Fills in what is known of a call site: site, function, file, module, offset.
void name_site(const ProfileView& view, DefinitionId id, ProfileRow& row);

// By call path: the calls only, see profile_paths.h. None by rank: see Profile::ranks.
std::vector<ProfileRow> profile_rows(const ProfileView& view, ProfileBy by);

// "p2p", "rma", "collective", "io".
std::string transfer_kind_name(events::TransferKind kind);

}  // namespace refrain::report
