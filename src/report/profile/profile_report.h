// analysis::Profile as text, JSON or CSV.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/profile/profile.h"
#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::report {

enum class ProfileBy : uint8_t { kFunction, kSite, kCallPath, kGroup, kRank };

struct ProfileView {
  const Trace& trace;
  const analysis::Profile& profile;
  reader::Symbols& symbols;  // names the call sites
};

// Everything at a glance: time per rank, the first `top` functions and call sites, message sizes.
// `top` 0: all rows.
std::string profile_text(const ProfileView& view, size_t top);
// One of the tables; by call path a tree.
std::string profile_table_text(const ProfileView& view, ProfileBy by, size_t top);
// One object with lists `functions`, `sites`, `call_paths`, `groups`, `ranks`, `sizes`; times in
// nanoseconds.
std::string profile_json(const ProfileView& view);
// One of the tables, with a header line; times in nanoseconds.
std::string profile_csv(const ProfileView& view, ProfileBy by);

}  // namespace refrain::report
