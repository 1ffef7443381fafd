#include "format/clusters/cluster_request.h"

#include <array>
#include <charconv>
#include <string_view>

#include "base/bytes.h"
#include "format/codes/checksum.h"

namespace refrain::format {

namespace {

// The whole word is a number.
template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

base::Status take_k(const std::string& word, const char* option, ClusterRequest& request) {
  const auto bad = [&] {
    return base::usage(std::string(option) + ": '" + word +
                       "' is neither a number of clusters from 1 up, nor kinds, auto or auto:ERR "
                       "with a relative error between 0 and 1");
  };
  if (word.empty()) return base::Done{};
  if (word == "kinds") {
    request.choice = ClusterChoice::kKinds;
  } else if (word == "auto" || word.rfind("auto:", 0) == 0) {
    request.choice = ClusterChoice::kAuto;
    if (word != "auto" && (!parse_number(std::string_view(word).substr(5), request.error) ||
                           !(request.error > 0 && request.error < 1)))
      return bad();
  } else if (!parse_number(std::string_view(word), request.k) || request.k == 0) {
    return bad();
  }
  return base::Done{};
}

// One of two words.
base::Status take_word(const char* option, const std::string& word, const char* first,
                       const char* second, bool* is_second) {
  *is_second = word == second;
  if (*is_second || word == first) return base::Done{};
  return base::usage(std::string(option) + ": '" + word + "' is neither " + first + " nor " +
                     second);
}

// One of those that an enum's to_string() gives.
template <class Enum>
base::Status take_name(const char* option, const std::string& word, uint8_t count, Enum* to) {
  std::string known;
  for (uint8_t i = 0; i < count; ++i) {
    const std::string_view name = to_string(static_cast<Enum>(i));
    if (name == word) return *to = static_cast<Enum>(i), base::Done{};
    known += (i == 0 ? "" : ", ") + std::string(name);
  }
  return base::usage(std::string(option) + ": '" + word + "' is none of " + known);
}

}  // namespace

std::string_view to_string(ClusterMethod method) {
  constexpr std::array<std::string_view, kClusterMethods> kNames = {
      "signatures", "reference", "two-signature", "hierarchical", "none"};
  const auto i = static_cast<size_t>(method);
  return i < kNames.size() ? kNames[i] : "unknown";
}

std::string_view to_string(ClusterMetric metric) {
  constexpr std::array<std::string_view, kClusterMetrics> kNames = {"replay", "profile", "waits"};
  const auto i = static_cast<size_t>(metric);
  return i < kNames.size() ? kNames[i] : "unknown";
}

base::Result<ClusterRequest> cluster_request(const ClusterWords& words, const char* option_of_k) {
  ClusterRequest out;
  out.mixes_structures = words.mixes;
  for (const base::Status& taken :
       {take_k(words.k, option_of_k, out),
        take_name("--method", words.method, kClusterMethods, &out.method),
        take_name("--metric", words.metric, kClusterMetrics, &out.metric),
        take_word("--steps", words.steps, "1", "2", &out.has_two_steps),
        take_word("--distance", words.distance, "manhattan", "euclidean", &out.is_euclidean),
        take_word("--assign", words.assign, "nearest", "tree", &out.is_by_tree),
        take_word("--endpoints", words.endpoints, "exact", "lead", &out.has_lead_endpoints)})
    if (!taken.ok()) return taken.error();
  if (!parse_number(std::string_view(words.seed), out.seed))
    return base::usage("--seed: '" + words.seed + "' is not a number from 0 up");
  return out;
}

uint64_t hash_of(const ClusterRequest& r) {
  base::ByteWriter all;
  all.put_u8(static_cast<uint8_t>(r.method));
  all.put_u8(static_cast<uint8_t>(r.choice));
  all.put_u64(r.choice == ClusterChoice::kNumber ? r.k : 0);
  uint64_t error = 0;
  static_assert(sizeof error == sizeof r.error);
  __builtin_memcpy(&error, &r.error, sizeof error);
  all.put_u64(r.choice == ClusterChoice::kAuto ? error : 0);
  all.put_u8(static_cast<uint8_t>(r.metric));
  for (const bool flag :
       {r.has_two_steps, r.is_euclidean, r.is_by_tree, r.has_lead_endpoints, r.mixes_structures})
    all.put_u8(flag ? 1 : 0);
  all.put_u64(r.seed);
  const uint64_t hash = hash64(all.view().data(), all.size());
  return hash == 0 ? 1 : hash;
}

}  // namespace refrain::format
