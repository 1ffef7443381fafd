#include "similarity/vectors/representatives.h"

#include <algorithm>
#include <cmath>

namespace refrain::similarity {

base::Result<std::vector<Representative>> representatives(VectorSource& source,
                                                          const Labels& labels) {
  const uint32_t n = source.vectors(), k = label_count(labels);
  std::vector<Representative> out(k);
  for (const uint32_t label : labels) ++out[label].members;
  std::vector<uint64_t> room(units_per_tile(source) * n);

  std::vector<double> to_mean(n), mean;
  auto status =
      for_each_tile(source, room, [&](uint64_t, uint64_t count, std::span<const uint64_t> tile) {
        mean.assign(k * count, 0);
        for (uint32_t v = 0; v < n; ++v)
          for (uint64_t i = 0; i < count; ++i)
            mean[labels[v] * count + i] += static_cast<double>(tile[v * count + i]);
        for (uint32_t v = 0; v < n; ++v)
          for (uint64_t i = 0; i < count; ++i)
            to_mean[v] += std::abs(static_cast<double>(tile[v * count + i]) -
                                   mean[labels[v] * count + i] / out[labels[v]].members);
      });
  if (!status.ok()) return status.error();
  std::vector<bool> is_chosen(k);
  for (uint32_t v = 0; v < n; ++v) {
    auto& chosen = out[labels[v]];
    if (!is_chosen[labels[v]] || to_mean[v] < to_mean[chosen.vector]) chosen.vector = v;
    is_chosen[labels[v]] = true;
  }

  std::vector<double> to_lead(n);
  status =
      for_each_tile(source, room, [&](uint64_t, uint64_t count, std::span<const uint64_t> tile) {
        for (uint32_t v = 0; v < n; ++v) {
          const uint64_t* lead = &tile[out[labels[v]].vector * count];
          for (uint64_t i = 0; i < count; ++i)
            to_lead[v] +=
                std::abs(static_cast<double>(tile[v * count + i]) - static_cast<double>(lead[i]));
        }
      });
  if (!status.ok()) return status.error();
  for (uint32_t v = 0; v < n; ++v) {
    auto& chosen = out[labels[v]];
    chosen.radius_ns = std::max(chosen.radius_ns, to_lead[v]);
    chosen.distance_ns += to_lead[v];
  }
  return out;
}

}  // namespace refrain::similarity
