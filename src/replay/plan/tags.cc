#include "replay/plan/tags.h"

#include <algorithm>
#include <set>

#include "mpi/call_table.h"
#include "refrain/calls.h"

namespace refrain::replay::plan {

TagMap::TagMap(const Trace& trace, int64_t most) : most_(most) {
  std::set<int64_t> used, longer;
  const auto add = [&](const Value& tag) {
    if (tag.is_integer() && tag.number >= 0) (tag.number > most ? longer : used).insert(tag.number);
  };
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    std::vector<Trace::Occurrence> with_tags;
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      const mpi::CallInfo* const info = mpi::find_call(trace.call_of(seen.signature));
      if (info != nullptr &&
          std::any_of(info->params.begin(), info->params.end(), [](const mpi::ParamInfo& param) {
            return param.kind == mpi::ParamKind::kTag;
          }))
        with_tags.push_back(seen);
    }
    if (with_tags.empty()) continue;
    for (uint64_t i = 0; i < trace.group_size(group); ++i) {
      RankReader reader(trace, trace.group_rank(group, i));
      for (const Trace::Occurrence& seen : with_tags) {
        const Signature& call = reader.signature(seen.signature);
        const mpi::CallInfo* const info = mpi::find_call(call.call);
        for (size_t p = 0; p < info->params.size() && p < call.args.size(); ++p)
          if (info->params[p].kind == mpi::ParamKind::kTag) add(call.args[p].value.at_entry());
      }
    }
  }
  int64_t next = most - 1;
  for (const int64_t tag : longer) {
    while (next >= 0 && used.count(next) > 0) --next;
    if (next < 0) return;
    others_[tag] = next--;
  }
}

}  // namespace refrain::replay::plan
