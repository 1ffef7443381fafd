// analysis::computation::RankGroups as text, JSON, a plan for `record --messages`, and a picture.
#pragma once

#include <string>

#include "analysis/computation/groups.h"

namespace refrain::report {

std::string similarity_text(const analysis::computation::RankGroups& groups,
                            const analysis::computation::HowToGroup& how);
// {"traces", "ranks", "by", ..., "sequences": [...], "groups": [...]}; times in ns.
std::string similarity_json(const analysis::computation::RankGroups& groups,
                            const analysis::computation::HowToGroup& how);
// Representatives and whom they stand for; docs/similarity.md says what is in it.
std::string similarity_plan(const analysis::computation::RankGroups& groups);
// Dendrograms with the heights where they were cut, and what each representative computes in the
// course of its calls (PHANTOM, figures 8 and 7).
std::string similarity_svg(const analysis::computation::RankGroups& groups);

}  // namespace refrain::report
