// Groups of many ranks with long computation vectors: processor time and memory of the part of
// `refrain similarity` that compares vectors (src/similarity/vectors).
//
//   ninja groups_scale && bench/groups_scale [--ranks N] [--units N] [--out FILE]
//
// Without --ranks: 1024 and then 4096 ranks, of 100 000 units each. The vectors are made up, a tile
// at a time, as a rank's kind and noise of 1 % have it: nine kinds, as a sweep on a grid has them,
// each longer by 40 % of the first one. Distances, linkage, the cut at 10 % and the
// representatives; the groups that come out must be the kinds.
//
// Exit status 1 where they are others; 3 where it took more than 10 s of processor time for 1024
// ranks, 120 s for 4096, or more than 256 MiB.

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "similarity/vectors/distance_matrix.h"
#include "similarity/vectors/linkage.h"
#include "similarity/vectors/representatives.h"

namespace {

using namespace refrain::similarity;  // NOLINT(google-build-using-namespace)

constexpr uint32_t kKinds = 9;
constexpr double kMostMiB = 256;

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 29);
}

class MadeUp : public VectorSource {
 public:
  MadeUp(uint32_t ranks, uint64_t units) : ranks_(ranks), units_(units) {}
  uint32_t vectors() const override { return ranks_; }
  uint64_t units() const override { return units_; }
  refrain::base::Status read(uint64_t first, uint64_t count, std::span<uint64_t> out) override {
    for (uint32_t v = 0; v < ranks_; ++v)
      for (uint64_t i = 0; i < count; ++i) out[v * count + i] = unit(v, first + i);
    return refrain::base::Done{};
  }
  static uint32_t kind(uint32_t rank) { return static_cast<uint32_t>(mixed(rank + 1) % kKinds); }

 private:
  // 10 to 50 us of work, 40 % of it more for each kind, and 1 % of noise.
  static uint64_t unit(uint32_t rank, uint64_t i) {
    const uint64_t work = (10000 + mixed(i) % 40000) * (100 + 40 * kind(rank)) / 100;
    return work + mixed(i * 65536 + rank) % (work / 50 + 1);
  }

  uint32_t ranks_;
  uint64_t units_;
};

struct Cost {
  double cpu_s = 0, peak_mib = 0;
};

// Of this process until now.
Cost cost() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {seconds(used.ru_utime) + seconds(used.ru_stime),
          static_cast<double>(used.ru_maxrss) / 1024};
}

// Formula 6 of PHANTOM: 10 % of the mean time that a rank computes.
double cut_height(MadeUp& source) {
  double sum = 0;
  std::vector<uint64_t> room(units_per_tile(source) * source.vectors());
  const auto read =
      for_each_tile(source, room, [&](uint64_t, uint64_t, std::span<const uint64_t> tile) {
        for (const uint64_t unit : tile) sum += static_cast<double>(unit);
      });
  return read.ok() ? 0.1 * sum / source.vectors() : 0;
}

// Whether ranks are in one group exactly where they are of one kind.
bool are_the_kinds(const Labels& labels) {
  std::vector<int64_t> label_of(kKinds, -1);
  for (uint32_t rank = 0; rank < labels.size(); ++rank) {
    int64_t& label = label_of[MadeUp::kind(rank)];
    if (label < 0) label = labels[rank];
    if (label != labels[rank]) return false;
  }
  return label_count(labels) == kKinds;
}

int run(uint32_t ranks, uint64_t units, std::ofstream& csv) {
  const double before = cost().cpu_s;
  MadeUp source(ranks, units);
  const double height = cut_height(source);
  auto distances = distance_matrix(source, VectorDistance::kManhattan);
  if (!distances.ok()) return std::fprintf(stderr, "no distances\n"), 1;
  const Labels labels = cut_at(complete_linkage(std::move(*distances)), height);
  const auto chosen = representatives(source, labels);
  const Cost used = cost();
  const double cpu_s = used.cpu_s - before, most_s = ranks <= 1024 ? 10 : 120;
  const bool is_right = chosen.ok() && are_the_kinds(labels);
  std::printf("%u ranks, %llu units: %.1f s (%.0f), %.0f MiB (%.0f), %u groups (%u)\n", ranks,
              static_cast<unsigned long long>(units), cpu_s, most_s, used.peak_mib, kMostMiB,
              label_count(labels), kKinds);
  if (csv.is_open())
    csv << ranks << ',' << units << ',' << cpu_s << ',' << used.peak_mib << ','
        << label_count(labels) << '\n';
  if (!is_right) return 1;
  return cpu_s > most_s || used.peak_mib > kMostMiB ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t ranks = 0;
  uint64_t units = 100000;
  std::ofstream csv;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--ranks") == 0)
      ranks = static_cast<uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
    if (std::strcmp(argv[i], "--units") == 0) units = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--out") == 0) csv.open(argv[i + 1]);
  }
  if (csv.is_open()) csv << "ranks,units,cpu_s,peak_mib,groups\n";
  int status = 0;
  for (const uint32_t n : ranks > 0 ? std::vector<uint32_t>{ranks} : std::vector{1024u, 4096u})
    if (const int one = run(n, units, csv); status == 0 || one == 1) status = one;
  return status;
}
