#include "sim/predict/plan.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text_file.h"

namespace refrain::sim {
namespace {

using Json = nlohmann::json;

const Json* find(const Json& of, const char* key) {
  const auto found = of.find(key);
  return found == of.end() ? nullptr : &*found;
}

bool is_rank(const Json* value, Rank ranks) {
  return value != nullptr && value->is_number_unsigned() &&
         value->get<uint64_t>() < static_cast<uint64_t>(ranks);
}

}  // namespace

Plan plan_of_all(Rank ranks) {
  Plan out;
  for (Rank rank = 0; rank < ranks; ++rank) out.representative.push_back(rank);
  out.radius_ns.assign(static_cast<size_t>(ranks), 0);
  return out;
}

base::Result<Plan> parse_plan(std::string_view text, const std::string& name, Rank ranks) {
  const auto bad = [&](const std::string& what) { return base::usage(what, name); };
  const Json json = Json::parse(text, nullptr, false);
  const Json* const groups = json.is_object() ? find(json, "groups") : nullptr;
  if (groups == nullptr || !groups->is_array() || json.value("plan", Json()) != 1)
    return bad("no plan of refrain similarity");
  if (json.value("ranks", Json()) != ranks)
    return bad("the plan is of another number of ranks than the run, which has " +
               std::to_string(ranks));
  Plan out;
  out.representative.assign(static_cast<size_t>(ranks), -1);
  out.radius_ns.assign(static_cast<size_t>(ranks), 0);
  for (const Json& group : *groups) {
    const Json* const lead = group.is_object() ? find(group, "representative") : nullptr;
    const Json* const members = group.is_object() ? find(group, "ranks") : nullptr;
    const Json* const radius = group.is_object() ? find(group, "radius_ns") : nullptr;
    if (!is_rank(lead, ranks) || members == nullptr || !members->is_array())
      return bad("a group of the plan lacks its representative or its ranks");
    const double distance = radius != nullptr && radius->is_number() ? radius->get<double>() : 0;
    if (!std::isfinite(distance) || distance < 0) return bad("a radius of the plan is below 0");
    for (const Json& member : *members) {
      if (!is_rank(&member, ranks)) return bad("a rank of the plan is none of the run");
      const auto rank = static_cast<size_t>(member.get<uint64_t>());
      if (out.representative[rank] >= 0)
        return bad("rank " + std::to_string(rank) + " is in two groups of the plan");
      out.representative[rank] = static_cast<Rank>(lead->get<uint64_t>());
      out.radius_ns[rank] = distance;
    }
  }
  for (size_t rank = 0; rank < out.representative.size(); ++rank)
    if (out.representative[rank] < 0)
      return bad("rank " + std::to_string(rank) + " is in no group of the plan");
  return out;
}

base::Result<Plan> read_plan(const std::string& path, Rank ranks) {
  constexpr size_t kMostBytes = size_t{256} << 20;
  const auto text = base::read_text_file(path, "plan", kMostBytes);
  if (!text.ok()) return text.error();
  return parse_plan(*text, path, ranks);
}

}  // namespace refrain::sim
