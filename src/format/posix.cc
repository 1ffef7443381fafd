#include "format/posix.h"

#include <algorithm>
#include <map>

namespace refrain::format {

namespace {

// Whether every number of the list is in [0, most]; runs may be anything.
bool posix_within(const base::RunList& list, uint64_t most) {
  for (const base::RunList::Run& run : list.runs()) {
    int64_t last = 0;
    if (__builtin_mul_overflow(run.step, static_cast<int64_t>(run.count - 1), &last) ||
        __builtin_add_overflow(last, run.start, &last) || run.start < 0 || last < 0 ||
        static_cast<uint64_t>(std::max(run.start, last)) > most)
      return false;
  }
  return true;
}

bool is_column_sound(const PosixColumn& c, uint64_t world_size) {
  const uint64_t ranks = c.ranks.size();
  if (ranks == 0 || ranks > world_size || !posix_within(c.ranks, world_size - 1) ||
      c.times.size() != ranks)
    return false;
  for (const base::RunList* list : {&c.calls, &c.errors, &c.bytes})
    if (list->size() != ranks || !posix_within(*list, kMostOfPosix)) return false;
  for (uint64_t i = 0; i < ranks; ++i)
    if ((i > 0 && c.ranks.at(i - 1) >= c.ranks.at(i)) || !problem_of(use_at(c, i)).empty())
      return false;
  return true;
}

}  // namespace

std::vector<PosixUse> posix_uses(const PosixCounter* counters,
                                 const std::function<uint64_t(uint64_t ticks)>& to_ns) {
  std::vector<PosixUse> out;
  for (size_t f = 0; f < kPosixFunctions; ++f) {
    const PosixCounter& c = counters[f];
    if (c.calls == 0) continue;
    PosixUse use;
    use.function = static_cast<uint8_t>(f);
    use.calls = std::min(c.calls, kMostOfPosix);
    use.errors = std::min(c.errors, use.calls);
    use.bytes = std::min(c.bytes, kMostOfPosix);
    use.time_ns = std::min(to_ns(c.ticks), kMostOfPosix);
    use.greatest_ns = std::min(to_ns(c.greatest), use.time_ns);
    use.least_ns = std::min(c.least == 0 ? 0 : to_ns(c.least - 1), use.greatest_ns);
    out.push_back(use);
  }
  return out;
}

std::vector<PosixColumn> posix_columns(const std::vector<PosixOfRank>& ranks) {
  std::map<uint8_t, PosixColumn> by_function;
  for (const PosixOfRank& rank : ranks) {
    for (const PosixUse& use : rank.uses) {
      PosixColumn& column = by_function[use.function];
      column.function = use.function;
      column.ranks.append(static_cast<int64_t>(rank.rank));
      column.calls.append(static_cast<int64_t>(use.calls));
      column.errors.append(static_cast<int64_t>(use.errors));
      column.bytes.append(static_cast<int64_t>(use.bytes));
      column.times.push_back({use.time_ns, use.least_ns, use.greatest_ns});
    }
  }
  std::vector<PosixColumn> out;
  for (auto& [function, column] : by_function) out.push_back(std::move(column));
  return out;
}

PosixUse use_at(const PosixColumn& column, uint64_t position) {
  const PosixColumn::Times& times = column.times[position];
  return {column.function,
          static_cast<uint64_t>(column.calls.at(position)),
          static_cast<uint64_t>(column.errors.at(position)),
          static_cast<uint64_t>(column.bytes.at(position)),
          times.all_ns,
          times.least_ns,
          times.greatest_ns};
}

std::vector<PosixUse> posix_of_rank(const TraceData& trace, uint64_t rank) {
  std::vector<PosixUse> out;
  for (const PosixColumn& column : trace.posix)
    if (const int64_t position = column.ranks.find(static_cast<int64_t>(rank)); position >= 0)
      out.push_back(use_at(column, static_cast<uint64_t>(position)));
  return out;
}

void put(base::ByteWriter& out, const std::vector<PosixUse>& uses) {
  out.put_varint(uses.size());
  for (const PosixUse& use : uses) {
    out.put_u8(use.function);
    for (const uint64_t v :
         {use.calls, use.errors, use.bytes, use.time_ns, use.least_ns, use.greatest_ns})
      out.put_varint(v);
  }
}

std::vector<PosixUse> read_posix_uses(base::ByteReader& in) {
  std::vector<PosixUse> out;
  const uint64_t n = in.count(UINT8_MAX + 1);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    PosixUse use;
    use.function = in.u8();
    for (uint64_t* const v :
         {&use.calls, &use.errors, &use.bytes, &use.time_ns, &use.least_ns, &use.greatest_ns})
      *v = in.varint();
    if (!problem_of(use).empty() || (!out.empty() && out.back().function >= use.function))
      in.fail();
    out.push_back(use);
  }
  if (!in.ok()) out.clear();
  return out;
}

bool is_sound(const std::vector<PosixColumn>& columns, uint64_t world_size) {
  for (size_t i = 0; i < columns.size(); ++i)
    if ((i > 0 && columns[i - 1].function >= columns[i].function) ||
        !is_column_sound(columns[i], world_size))
      return false;
  return true;
}

std::string problem_of(const PosixUse& use) {
  if (use.calls == 0) return "no calls";
  if (use.errors > use.calls) return "more errors than calls";
  if (std::max({use.calls, use.bytes, use.time_ns}) > kMostOfPosix) return "numbers beyond 2^62";
  if (use.least_ns > use.greatest_ns || use.greatest_ns > use.time_ns)
    return "times that contradict each other";
  return {};
}

}  // namespace refrain::format
