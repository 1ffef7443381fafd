#include "sim/testing/programs.h"

#include "format/testing/patterns.h"
#include "format/testing/synthetic.h"
#include "mpi/call_ids.h"
#include "refrain/ids.h"

namespace refrain::sim::testing {
namespace {

using format::BufferClass;
using format::testing::Sig;
using format::testing::SyntheticRank;

class Maker {
 public:
  Maker(uint64_t rank, const Dims& dims)
      : r_(rank, format::testing::rank_count(dims)), dims_(dims), me_(static_cast<int64_t>(rank)) {
    int64_t rest = me_;
    coords_.resize(dims.size());
    for (size_t d = dims.size(); d-- > 0;) coords_[d] = rest % dims[d], rest /= dims[d];
    type_ = r_.datatype("MPI_DOUBLE", 8);
    r_.call(Sig(mpi::kMPI_Init, site()).integer(0).none());
  }
  // -1 beyond a border.
  int64_t neighbour(size_t dimension, int64_t way, bool around) const {
    Dims at = coords_;
    at[dimension] += way;
    if (around) at[dimension] = (at[dimension] + dims_[dimension]) % dims_[dimension];
    if (at[dimension] < 0 || at[dimension] >= dims_[dimension]) return -1;
    int64_t rank = 0;
    for (size_t d = 0; d < dims_.size(); ++d) rank = rank * dims_[d] + at[d];
    return rank;
  }
  uint32_t site() { return r_.site(where_ += 0x2b); }
  Sig message(refrain::CallId call, uint32_t site, int64_t count, int64_t peer, int64_t tag) {
    return Sig(call, site)
        .buffer(BufferClass::kHeap, 3, 0)
        .integer(count)
        .object(type_)
        .peer(peer)
        .integer(tag)
        .object(r_.world());
  }
  void send(uint32_t site, int64_t count, int64_t dest, int64_t tag) {
    r_.call(message(mpi::kMPI_Send, site, count, dest, tag));
  }
  void receive(uint32_t site, int64_t count, int64_t source, int64_t tag) {
    r_.call(message(mpi::kMPI_Recv, site, count, source, tag).constant("MPI_STATUS_IGNORE"));
  }
  uint32_t post(refrain::CallId call, uint32_t site, int64_t count, int64_t peer, int64_t tag) {
    return r_.call(message(call, site, count, peer, tag).new_request(0));
  }
  void wait_all(uint32_t site, const std::vector<uint32_t>& requests) {
    Sig all(mpi::kMPI_Waitall, site);
    all.integer(static_cast<int64_t>(requests.size())).array(requests.size());
    for (const uint32_t one : requests) all.times(1).request(one);
    r_.call(all.constant("MPI_STATUSES_IGNORE"));
  }
  void allreduce(uint32_t site, int64_t count) {
    r_.call(Sig(mpi::kMPI_Allreduce, site)
                .buffer(BufferClass::kStack, 3, 0)
                .buffer(BufferClass::kStack, 4, 0)
                .integer(count)
                .object(type_)
                .constant("MPI_SUM")
                .object(r_.world()));
  }
  format::RankRecord end() {
    r_.call(Sig(mpi::kMPI_Finalize, site()));
    return r_.finish();
  }
  int64_t me() const { return me_; }

 private:
  SyntheticRank r_;
  Dims dims_, coords_;
  int64_t me_, where_ = 0x1200;
  uint32_t type_ = 0;
};

}  // namespace

format::RankRecord lu(uint64_t rank, const Dims& dims, uint64_t steps, uint64_t planes) {
  Maker m(rank, dims);
  std::vector<uint32_t> sites;
  for (size_t i = 0; i < 8; ++i) sites.push_back(m.site());
  const uint32_t reduce = m.site();
  for (uint64_t step = 0; step < steps; ++step) {
    for (const int64_t way : {1, -1}) {
      const size_t first = way > 0 ? 0 : 4;
      for (uint64_t plane = 0; plane < planes; ++plane) {
        for (size_t d = 0; d < 2; ++d)
          if (const int64_t from = m.neighbour(d, -way, false); from >= 0)
            m.receive(sites[first + d], 50, from, static_cast<int64_t>(d));
        for (size_t d = 0; d < 2; ++d)
          if (const int64_t to = m.neighbour(d, way, false); to >= 0)
            m.send(sites[first + 2 + d], 50, to, static_cast<int64_t>(d));
      }
    }
    m.allreduce(reduce, 5);
  }
  return m.end();
}

format::RankRecord halo(uint64_t rank, const Dims& dims, uint64_t steps, bool around,
                        int64_t count) {
  Maker m(rank, dims);
  const size_t sides = 2 * dims.size();
  std::vector<uint32_t> sites;
  for (size_t i = 0; i < 2 * sides; ++i) sites.push_back(m.site());
  const uint32_t wait = m.site(), reduce = m.site();
  for (uint64_t step = 0; step < steps; ++step) {
    std::vector<uint32_t> requests;
    for (size_t i = 0; i < 2 * sides; ++i) {
      const size_t side = i % sides;
      const int64_t peer = m.neighbour(side / 2, side % 2 == 0 ? -1 : 1, around);
      if (peer < 0) continue;
      // A message to the left is one from the right for whom it reaches.
      const auto tag = static_cast<int64_t>(i < sides ? side : side ^ 1);
      requests.push_back(
          m.post(i < sides ? mpi::kMPI_Irecv : mpi::kMPI_Isend, sites[i], count, peer, tag));
    }
    m.wait_all(wait, requests);
    if (step % 10 == 9) m.allreduce(reduce, 1);
  }
  return m.end();
}

format::RankRecord ring(uint64_t rank, const Dims& dims, uint64_t steps, int64_t count) {
  Maker m(rank, dims);
  const auto ranks = static_cast<int64_t>(format::testing::rank_count(dims));
  const uint32_t to = m.site(), from = m.site();
  for (uint64_t step = 0; step < steps; ++step) {
    m.send(to, count, (m.me() + 1) % ranks, 5);
    m.receive(from, count, (m.me() + ranks - 1) % ranks, 5);
  }
  return m.end();
}

base::Result<format::TraceData> merged(uint64_t ranks,
                                       const std::function<format::RankRecord(uint64_t)>& program) {
  return format::finish(format::testing::merge_tree(0, ranks, ranks, program));
}

}  // namespace refrain::sim::testing
