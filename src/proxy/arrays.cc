// Arrays of numbers as parameters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/runs.h"
#include "mpi/call_ids.h"
#include "proxy/arguments.h"

namespace refrain::proxy {
namespace {

using format::Field;
using format::FieldTag;
using mpi::ParamKind;

// Arrays of more numbers are written as runs.
constexpr uint64_t kMostElements = 24;

const Field& entry_of(const Field& field) {
  return field.tag == FieldTag::kChanged && field.children.size() == 2 ? field.children[1] : field;
}
Field in_slot(int64_t slot) {
  Field f;
  f.tag = FieldTag::kInt;
  f.value = slot;
  return f;
}
// One number for each axis, however many ranks there are.
bool is_of_axes(std::string_view name) { return name == "periods" || name == "remain_dims"; }

bool is_of_many(mpi::CallGroup group) {
  return group == mpi::CallGroup::kColl || group == mpi::CallGroup::kTopo ||
         group == mpi::CallGroup::kGroup || group == mpi::CallGroup::kComm;
}

}  // namespace

// Loops of runs: as the ranks have them, each different list once.
Argument Arguments::list_by_rank(const Site& site, size_t parameter) {
  Argument out;
  out.is_simple = false;
  std::vector<std::vector<int64_t>> different;
  std::vector<int64_t> which(static_cast<size_t>(symbolic_.trace().rank_count())), begins,
      sizes(which.size());
  std::vector<int64_t> all;
  uint64_t most = 0;
  site.kind->for_each_rank([&](Rank rank) {
    const Field own = symbolic_.field_of(site.signature, parameter, site.kind->position(rank));
    std::vector<int64_t> values;
    for (const format::IntRun& run : entry_of(own).runs)
      for (uint64_t i = 0; i < run.count; ++i)
        values.push_back(run.start + static_cast<int64_t>(i) * run.step);
    most = std::max<uint64_t>(most, values.size());
    auto known = std::find(different.begin(), different.end(), values);
    if (known == different.end()) {
      begins.push_back(static_cast<int64_t>(all.size()));
      all.insert(all.end(), values.begin(), values.end());
      different.push_back(values);
      known = different.end() - 1;
    }
    const auto at = static_cast<size_t>(rank);
    which[at] = begins[static_cast<size_t>(known - different.begin())];
    sizes[at] = static_cast<int64_t>(values.size());
  });
  if (different.size() == 1) {
    base::RunList list;
    for (const int64_t v : all) list.append(v);
    std::string runs;
    for (const base::RunList::Run& run : list.runs())
      runs +=
          fmt::format("{}{{{}, {}, {}}}", runs.empty() ? "" : ", ", run.start, run.step, run.count);
    out.text = "runs({" + runs + "})";
    return out;
  }
  out.text = fmt::format("part({}, {}[rank], {}[rank])", tables_.add(all, ""),
                         tables_.add(which, "a list by rank"), tables_.add(sizes, ""));
  return out;
}

// The numbers of a list that are the same on all ranks; empty where they are not.
std::vector<int64_t> Arguments::constants(const Site& site, const Field& field) {
  std::vector<int64_t> out;
  const auto add = [&](int64_t slot, uint64_t times) {
    const format::RankExpr e = symbolic_.expression(site.signature, static_cast<uint32_t>(slot));
    if (e.kind == format::RankExpr::Kind::kConst)
      out.insert(out.end(), static_cast<size_t>(std::min(times, kMostElements)), e.a);
  };
  for (const Field& child : field.children)
    if (entry_of(child).tag == FieldTag::kInt) add(entry_of(child).value, child.repeat);
  for (const format::IntRun& run : field.runs) {
    const format::RankExpr step =
        symbolic_.expression(site.signature, static_cast<uint32_t>(run.step));
    if (run.count > 1 && (step.kind != format::RankExpr::Kind::kConst)) continue;
    const size_t before = out.size();
    add(run.start, run.count);
    for (size_t i = before; i < out.size(); ++i)
      out[i] += static_cast<int64_t>(i - before) * (run.count > 1 ? step.a : 0);
  }
  if (out.size() != field.number) out.clear();
  return out;
}

// MPI_Dims_create is to find all of them.
bool Arguments::leaves_sides_open(const Site& site, const Field& field) {
  if (site.call->info->id != mpi::kMPI_Dims_create) return false;
  const std::vector<int64_t> sides = constants(site, field);
  return !sides.empty() && std::count(sides.begin(), sides.end(), 0) == std::ssize(sides);
}

// The sides of the grid that the program has.
bool Arguments::is_sides_of_grid(const Site& site, size_t parameter, const Field& field) {
  return grid_ != nullptr && site.call->info->id == mpi::kMPI_Cart_create &&
         site.call->info->params[parameter].name == "dims" && !site.call->has_list[parameter] &&
         constants(site, field) == grid_->sides();
}

Argument Arguments::integers(const Site& site, size_t parameter, const Field& field) {
  if (field.tag == FieldTag::kNone) return Argument("nullptr");
  if (field.tag == FieldTag::kConst)
    return Argument(std::string(mpi::constant_name(static_cast<uint32_t>(field.number))));
  const auto& info = *site.call->info;
  const ParamKind kind = info.params[parameter].kind;
  Argument out;
  if (is_sides_of_grid(site, parameter, field)) {
    out.text = "grid.sides()";
    return out;
  }
  if (field.number > 0 && is_of_many(info.group) && kind != ParamKind::kIndex &&
      !is_of_axes(info.params[parameter].name) && !leaves_sides_open(site, field))
    tables_.need("an array of numbers");
  out.is_simple = false;
  if (field.tag == FieldTag::kPairArray) {
    std::string all;
    for (const auto& range : field.ranges)
      for (const int64_t slot : range)
        all +=
            fmt::format("{}{}", all.empty() ? "" : ", ", text(site, number(site, in_slot(slot))));
    out.text = "Ranges({" + all + "})";
    return out;
  }
  if (site.call->has_list[parameter]) return list_by_rank(site, parameter);
  std::vector<std::string> runs, values;
  uint64_t count = 0;
  const auto slot_text = [&](int64_t slot) { return text(site, number(site, in_slot(slot))); };
  for (const format::IntRun& run : field.runs) {
    const std::string start = slot_text(run.start), step = slot_text(run.step);
    runs.push_back(fmt::format("{{{}, {}, {}}}", start, run.count > 1 ? step : "0", run.count));
    count += run.count;
    for (uint64_t i = 0; i < run.count && i < kMostElements; ++i)
      values.push_back(i == 0 || step == "0" ? start
                       : step == "1"         ? fmt::format("{} + {}", start, i)
                                             : fmt::format("{} + {} * ({})", start, i, step));
  }
  for (const Field& child : field.children) {
    const std::string one = text(site, number(site, entry_of(child)));
    runs.push_back(fmt::format("{{{}, 0, {}}}", one, child.repeat));
    count += child.repeat;
    for (uint64_t i = 0; i < child.repeat && i < kMostElements; ++i) values.push_back(one);
  }
  out.text = count <= kMostElements && values.size() == count
                 ? fmt::format("list({{{}}})", fmt::join(values, ", "))
                 : fmt::format("runs({{{}}})", fmt::join(runs, ", "));
  return out;
}

// MPI may read the arrays of a call that makes a request until that is complete.
Argument Arguments::kept(const Site& site, size_t parameter, Argument array) {
  const int request = new_request(site);
  if (request < 0 || array.is_simple) return array;
  array.text = fmt::format("kept({}, {}, {})", request, parameter, array.text);
  return array;
}

}  // namespace refrain::proxy
