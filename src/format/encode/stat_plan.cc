#include "format/encode/stat_plan.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "format/codes/quantise.h"

namespace refrain::format {

namespace {

// What a place's time may be off by: as much as a time code.
constexpr double kMostError = 1.0 / 2048;

constexpr size_t kVeryMany = 4096;  // at one place

double ns_of(uint16_t code) { return static_cast<double>(time_of(code)); }

// Calls of one function from one place.
struct Place {
  std::vector<uint32_t> entries;
  uint16_t min = UINT16_MAX, max = 0;
  double time_ns = 0;
};

class Planner {
 public:
  Planner(const StatEntries& entries, unsigned mantissa_bits)
      : entries_(entries), ranges_(mantissa_bits), numbers_(entries.size()) {}

  std::vector<StatNumbers> run() {
    for (Place& place : places()) plan(place);
    return std::move(numbers_);
  }

 private:
  std::vector<Place> places() const {
    std::vector<Place> all;
    std::unordered_map<uint64_t, size_t> known;
    uint64_t last_key = UINT64_MAX;
    size_t last = 0;
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      const StatEntry& e = entries_[i];
      if (e.item.calls == 0) continue;
      // Where the place differs from rank to rank, a signature is a place of its own.
      const bool has_table = (e.item.site & 1) != 0;
      const uint64_t key =
          has_table ? UINT64_MAX - i : uint64_t{e.item.site} << 32 | e.item.call_id;
      if (key != last_key || all.empty()) {
        const auto [it, is_new] = known.try_emplace(key, all.size());
        if (is_new) all.emplace_back();
        last = it->second;
        last_key = key;
      }
      Place& place = all[last];
      place.entries.push_back(i);
      place.min = std::min(place.min, e.min);
      place.max = std::max(place.max, e.max);
      place.time_ns += time_of_entry(e);
    }
    return all;
  }

  static double time_of_entry(const StatEntry& e) {
    return ns_of(e.mean) * static_cast<double>(e.item.calls);
  }

  // With as many fine entries, those with the most time, as the bound asks for: mostly one.
  void plan(Place& place) {
    const size_t all = place.entries.size();
    const double most_ns = kMostError * place.time_ns;
    // Of very many it is next to always enough that the one with the most time comes last.
    if (all >= kVeryMany) {
      std::iter_swap(
          place.entries.begin(),
          std::max_element(place.entries.begin(), place.entries.end(), [&](uint32_t a, uint32_t b) {
            return time_of_entry(entries_[a]) < time_of_entry(entries_[b]);
          }));
      if (std::abs(try_plan(place, 1)) <= most_ns) return;
    }
    std::stable_sort(place.entries.begin(), place.entries.end(), [&](uint32_t a, uint32_t b) {
      return time_of_entry(entries_[a]) > time_of_entry(entries_[b]);
    });
    for (size_t fine = 1; std::abs(try_plan(place, fine)) > most_ns && fine < all;)
      fine = std::min(2 * fine + 1, all);
  }

  // What the place's time is then off by. From the least to the greatest: each makes up for the
  // error of those before it, and the greatest for all that is left.
  double try_plan(const Place& place, size_t fine) {
    double off_ns = 0;
    for (size_t k = place.entries.size(); k-- > 0;) {
      const uint32_t i = place.entries[k];
      const StatEntry& e = entries_[i];
      const auto calls = static_cast<double>(e.item.calls);
      StatNumbers& n = numbers_[i];
      n = {};
      n.min = e.min, n.mean = e.mean, n.max = e.max;
      if (k >= fine) {
        make_coarse(e, place, off_ns, n);
      } else if (k == 0 && e.item.calls > 2 && off_ns != 0) {
        const double wanted = ns_of(e.mean) - off_ns / calls;
        n.mean = std::clamp(time_code(whole_of(std::round(wanted))), e.min, e.max);
      }
      off_ns += (ns_of(n.mean) - ns_of(e.mean)) * calls;
    }
    return off_ns;
  }

  void make_coarse(const StatEntry& e, const Place& place, double off_ns, StatNumbers& n) const {
    if (e.item.calls == 1) {
      n.mean = nearest(e, e.mean, place.min, place.max, off_ns);
      n.fine_mean = n.mean == e.mean && !is_middle(n.mean);
      n.min = n.max = n.mean;
      n.fine_min = n.fine_mean;
      return;
    }
    n.min = middle_of(e.min);
    n.fine_min = n.min < place.min || e.min == place.min;
    if (n.fine_min) n.min = e.min;
    n.max = middle_of(e.max);
    n.fine_max = n.max > place.max || e.max == place.max;
    if (n.fine_max) n.max = e.max;
    if (n.min > n.max) n.min = e.min, n.fine_min = true;
    if (n.min > n.max) n.max = e.max, n.fine_max = true;
    if (e.item.calls == 2) {
      const uint64_t least = time_of(n.min);
      n.mean = time_code(least + (time_of(n.max) - least) / 2);
      return;
    }
    n.mean = nearest(e, e.mean, n.min, n.max, off_ns);
    n.fine_mean = n.mean == e.mean && !is_middle(n.mean);
  }

  uint16_t middle_of(uint16_t code) const {
    return time_code(ranges_.middle(ranges_.range_of(time_of(code))));
  }
  bool is_middle(uint16_t code) const { return middle_of(code) == code; }

  // The middle of the range of a code, or of the next range on its other side, whichever makes up
  // for what is off; the code itself where no middle is between the two ends.
  uint16_t nearest(const StatEntry& e, uint16_t code, uint16_t least, uint16_t greatest,
                   double off_ns) const {
    const uint32_t own = ranges_.range_of(time_of(code));
    // The next one would be further off than such a number may be.
    if (ranges_.fine_bits(own) == 0) return code;
    const uint16_t middle = time_code(ranges_.middle(own));
    const uint32_t other =
        code >= middle ? std::min(own + 1, ranges_.last()) : own - (own > 0 ? 1 : 0);
    uint16_t best = code;
    double least_off = -1;
    for (const uint32_t range : {own, other}) {
      const uint16_t m = time_code(ranges_.middle(range));
      if (m < least || m > greatest || m > kMaxTimeCode) continue;
      const double off =
          std::abs(off_ns + (ns_of(m) - ns_of(code)) * static_cast<double>(e.item.calls));
      if (least_off < 0 || off < least_off) best = m, least_off = off;
    }
    return best;
  }

  const StatEntries& entries_;
  const CodeRanges ranges_;
  std::vector<StatNumbers> numbers_;
};

}  // namespace

std::vector<StatNumbers> plan_statistics(const StatEntries& entries, StatPrecision precision) {
  if (precision.mantissa_bits == kMostMantissaBits) return {};
  return Planner(entries, precision.mantissa_bits).run();
}

uint64_t bits_saved(const StatEntries& entries, unsigned mantissa_bits) {
  const CodeRanges ranges(mantissa_bits);
  const auto of = [&](uint16_t code) {
    return uint64_t{ranges.fine_bits(ranges.range_of(time_of(code)))};
  };
  uint64_t bits = 0;
  for (const StatEntry& e : entries) {
    if (e.item.calls > 0) bits += of(e.min);
    if (e.item.calls > 1) bits += of(e.max);
    if (e.item.calls > 2) bits += of(e.mean);
  }
  return bits;
}

}  // namespace refrain::format
