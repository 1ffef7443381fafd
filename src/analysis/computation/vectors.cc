#include "analysis/computation/vectors.h"

#include <algorithm>
#include <numeric>

#include "analysis/waits/store/spill_log.h"
#include "reader/call_gaps.h"
#include "refrain/calls.h"

namespace refrain::analysis::computation {
namespace {

constexpr uint64_t kMemoryUnits = (uint64_t{128} << 20) / sizeof(uint64_t);
constexpr uint64_t kChunkUnits = 4096;
constexpr uint64_t kLongest = (uint64_t{1} << 53) - 1;  // a hundred days

}  // namespace

// Chunks of a vector stand one after another; those of a file are read one at a time.
struct Vectors::Store {
  uint32_t vectors = 0;
  uint64_t units = 0;
  std::vector<uint64_t> memory;  // empty: in the file
  waits::ChunkFile file;
  std::vector<uint64_t> sums;

  uint64_t chunks() const { return (units + kChunkUnits - 1) / kChunkUnits; }
  bool is_in_memory() const { return units <= kMemoryUnits / std::max<uint64_t>(vectors, 1); }

  // `values`: those of one chunk.
  bool put(uint32_t vector, uint64_t chunk, std::span<const uint64_t> values) {
    if (is_in_memory()) {
      std::copy(values.begin(), values.end(),
                memory.begin() + static_cast<ptrdiff_t>(vector * units + chunk * kChunkUnits));
      return true;
    }
    std::vector<uint64_t> whole(values.begin(), values.end());
    whole.resize(kChunkUnits);
    return file.write(vector * chunks() + chunk, whole.data(), kChunkUnits * sizeof(uint64_t));
  }
  bool get(uint32_t vector, uint64_t first, std::span<uint64_t> out) {
    if (is_in_memory()) {
      std::copy_n(memory.begin() + static_cast<ptrdiff_t>(vector * units + first), out.size(),
                  out.begin());
      return true;
    }
    std::vector<uint64_t> whole(kChunkUnits);
    for (uint64_t done = 0; done < out.size();) {
      const uint64_t chunk = (first + done) / kChunkUnits, at = (first + done) % kChunkUnits;
      if (!file.read(vector * chunks() + chunk, whole.data(), kChunkUnits * sizeof(uint64_t)))
        return false;
      const uint64_t n = std::min(kChunkUnits - at, out.size() - done);
      std::copy_n(whole.begin() + static_cast<ptrdiff_t>(at), n,
                  out.begin() + static_cast<ptrdiff_t>(done));
      done += n;
    }
    return true;
  }
};

namespace {

base::Error no_room() {
  return base::fail("times between calls do not fit into $TMPDIR: point it to a larger folder");
}

// The units of one rank, in chunks.
class OneRank {
 public:
  using Put = std::function<bool(uint64_t chunk, std::span<const uint64_t>)>;
  explicit OneRank(Put put) : put_(std::move(put)) {}

  base::Status read(const Trace& trace, Rank rank, const std::function<void(uint64_t)>& progress) {
    RankReader reader(trace, rank, Times::kRead);
    auto cursor = reader.cursor(0);
    if (!cursor.ok()) return cursor.error();
    reader::CallGaps gaps(trace, rank, 0);
    while (const Call* call = cursor->next()) {
      if (!call->has_time) return without_time(*cursor, rank, call->seq);
      if (const auto gap = gaps.before(*call); gap && !add(*gap)) return no_room();
      if (progress && (call->seq & 0xffff) == 0xffff) progress(0x10000);
    }
    if (!chunk_.empty() && !put_(number_, chunk_)) return no_room();
    return base::Done{};
  }
  uint64_t sum() const { return sum_; }

 private:
  bool add(uint64_t ns) {
    ns = std::min(ns, kLongest);
    sum_ += ns;
    chunk_.push_back(ns);
    if (chunk_.size() < kChunkUnits) return true;
    const bool is_put = put_(number_++, chunk_);
    chunk_.clear();
    return is_put;
  }
  static base::Error without_time(const Cursor& cursor, Rank rank, uint64_t seq) {
    if (!cursor.time_status().ok()) return cursor.time_status().error();
    return base::fail("rank " + std::to_string(rank) + ", call " + std::to_string(seq) +
                      " has no time; record with --timing exact");
  }

  Put put_;
  std::vector<uint64_t> chunk_;
  uint64_t number_ = 0;
  uint64_t sum_ = 0;
};

}  // namespace

Vectors::Vectors(std::unique_ptr<Store> store) : store_(std::move(store)) {}
Vectors::Vectors(Vectors&&) noexcept = default;
Vectors& Vectors::operator=(Vectors&&) noexcept = default;
Vectors::~Vectors() = default;

base::Result<Vectors> Vectors::take_from(const format::vectors::VectorFile& file,
                                         const Sequence& sequence, const std::string& name) {
  auto store = std::make_unique<Store>();
  store->vectors = static_cast<uint32_t>(sequence.ranks.size());
  store->units = sequence.key.calls == 0 ? 0 : sequence.key.calls - 1;
  if (store->is_in_memory()) store->memory.resize(store->vectors * store->units);
  for (uint32_t v = 0; v < store->vectors; ++v) {
    const int64_t rank = sequence.ranks.at(v);
    const auto one = std::find_if(file.vectors.begin(), file.vectors.end(),
                                  [&](const auto& x) { return x.rank == rank && x.thread == 0; });
    if (one == file.vectors.end())
      return base::fail("has no times of rank " + std::to_string(rank) +
                            ": run it with refrain solo --rank " + std::to_string(rank) +
                            " --times",
                        name);
    if (one->least_ns.size() != store->units)
      return base::fail("rank " + std::to_string(rank) + " has " +
                            std::to_string(one->least_ns.size()) + " times, and " +
                            std::to_string(store->units + 1) + " calls in the trace",
                        name);
    const std::span<const uint64_t> all(one->least_ns);
    for (uint64_t first = 0; first < all.size(); first += kChunkUnits)
      if (!store->put(v, first / kChunkUnits,
                      all.subspan(first, std::min<uint64_t>(kChunkUnits, all.size() - first))))
        return no_room();
    store->sums.push_back(std::accumulate(all.begin(), all.end(), uint64_t{0}));
  }
  return Vectors(std::move(store));
}

base::Result<Vectors> Vectors::read_from(const Trace& trace, const Sequence& sequence,
                                         const std::function<void(uint64_t)>& progress) {
  auto store = std::make_unique<Store>();
  store->vectors = static_cast<uint32_t>(sequence.ranks.size());
  store->units = sequence.key.calls == 0 ? 0 : sequence.key.calls - 1;
  if (store->is_in_memory()) store->memory.resize(store->vectors * store->units);
  uint64_t read = 0;
  for (uint32_t v = 0; v < store->vectors; ++v) {
    OneRank one([&](uint64_t chunk, std::span<const uint64_t> values) {
      return store->put(v, chunk, values);
    });
    const auto status =
        one.read(trace, static_cast<Rank>(sequence.ranks.at(v)), [&](uint64_t more) {
          read += more;
          if (progress) progress(read);
        });
    if (!status.ok()) return status.error();
    store->sums.push_back(one.sum());
  }
  return Vectors(std::move(store));
}

uint32_t Vectors::vectors() const { return store_->vectors; }
uint64_t Vectors::units() const { return store_->units; }
uint64_t Vectors::sum_ns(uint32_t vector) const { return store_->sums[vector]; }

base::Status Vectors::read(uint64_t first, uint64_t count, std::span<uint64_t> out) {
  for (uint32_t v = 0; v < store_->vectors; ++v)
    if (!store_->get(v, first, out.subspan(v * count, count)))
      return base::fail("times between calls could not be read back from $TMPDIR");
  return base::Done{};
}

base::Status Vectors::take_least_of(Vectors& other) {
  std::vector<uint64_t> mine(kChunkUnits), theirs(kChunkUnits);
  for (uint32_t v = 0; v < store_->vectors; ++v) {
    store_->sums[v] = 0;
    for (uint64_t chunk = 0; chunk < store_->chunks(); ++chunk) {
      const uint64_t first = chunk * kChunkUnits, n = std::min(kChunkUnits, units() - first);
      if (!store_->get(v, first, std::span(mine).first(n)) ||
          !other.store_->get(v, first, std::span(theirs).first(n)))
        return base::fail("times between calls could not be read back from $TMPDIR");
      for (uint64_t i = 0; i < n; ++i) {
        mine[i] = std::min(mine[i], theirs[i]);
        store_->sums[v] += mine[i];
      }
      if (!store_->put(v, chunk, std::span(mine).first(n))) return no_room();
    }
  }
  return base::Done{};
}

}  // namespace refrain::analysis::computation
