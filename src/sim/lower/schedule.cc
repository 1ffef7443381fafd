#include "sim/lower/schedule.h"

#include <algorithm>
#include <utility>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::sim {

using events::argument;

namespace {

class Scheduler {
 public:
  Scheduler(const Trace& trace, const Signature& call, const Communicator& comm)
      : trace_(trace), call_(call), n_(static_cast<int64_t>(comm.size())), me_(comm.me) {
    root_ = argument(call, "root").integer_or(0);
    in_place_ = argument(call, "sendbuf").name() == "MPI_IN_PLACE";
  }

  // As the blocking function `plain` does it.
  std::vector<Phase> make(CallId plain) {
    const auto is = [&](auto... calls) { return ((plain == calls) || ...); };
    if (n_ < 2 || me_ < 0 || me_ >= n_ || root_ < 0 || root_ >= n_) return {};
    if (is(mpi::kMPI_Bcast))
      by(binomial, Collective::kBcast, bytes("count", "datatype"));
    else if (is(mpi::kMPI_Reduce))
      by(binomial, Collective::kReduce, bytes("count", "datatype"));
    else if (is(mpi::kMPI_Allreduce))
      by(binomial, Collective::kAllreduce, bytes("count", "datatype"));
    else if (is(mpi::kMPI_Allgather))
      by(bruck, Collective::kAllgather, bytes("recvcount", "recvtype"));
    else if (is(mpi::kMPI_Scan, mpi::kMPI_Exscan))
      by(chain, Collective::kScan, bytes("count", "datatype"));
    else if (is(mpi::kMPI_Gather, mpi::kMPI_Gatherv, mpi::kMPI_Scatter, mpi::kMPI_Scatterv))
      linear(is(mpi::kMPI_Gather, mpi::kMPI_Gatherv), is(mpi::kMPI_Gatherv, mpi::kMPI_Scatterv));
    else if (is(mpi::kMPI_Alltoall, mpi::kMPI_Alltoallv, mpi::kMPI_Alltoallw, mpi::kMPI_Allgatherv,
                mpi::kMPI_Reduce_scatter, mpi::kMPI_Reduce_scatter_block))
      pairwise(plain);
    else
      by(dissemination, Collective::kBarrier,
         0);  // barriers, and what makes communicators and windows
    return std::move(phases_);
  }

 private:
  uint64_t bytes(std::string_view count, std::string_view type) const {
    return events::multiply(events::sum_of_counts(argument(call_, count)),
                            size(argument(call_, type)));
  }
  uint64_t size(const Value& type) const { return events::element_bytes(trace_, type).value_or(0); }
  // Element i of an array of counts, times its type.
  uint64_t part(std::string_view counts, std::string_view types, int64_t i) const {
    const Value& type = argument(call_, types);
    const auto at = static_cast<uint64_t>(i);
    return events::multiply(events::sum_of_counts(argument(call_, counts).at(at)),
                            size(type.is_array() ? type.at(at) : type));
  }
  void phase(Phase parts) { phases_.push_back(std::move(parts)); }
  int64_t turned(int64_t by) const { return ((me_ + by) % n_ + n_) % n_; }

  // By the steps of an algorithm, whose messages consist of blocks of `size` bytes. The algorithm
  // is asked for blocks of one byte, so that it counts blocks, and products that a damaged trace
  // makes too large stay as multiply() cuts them. A receive has as many blocks as what is sent in
  // the same step: in Bruck's algorithm all ranks send the same number, and the others never send
  // and receive in one step. Sends come first, which is the order of lines in the files.
  void by(StepFunction algorithm, Collective what, uint64_t size) {
    CollectiveCall call;
    call.what = what, call.ranks = n_, call.me = me_, call.root = root_, call.bytes = 1;
    Step step;
    for (uint32_t i = 0; step.clear(), algorithm(call, i, step); ++i) {
      std::stable_partition(step.parts.begin(), step.parts.end(),
                            [](const Part& p) { return p.sends; });
      const uint64_t blocks = step.parts.front().sends ? step.parts.front().bytes : 1;
      for (Part& part : step.parts) part.bytes = events::multiply(size, blocks);
      phase(std::move(step.parts));
    }
  }
  void linear(bool to_root, bool is_vector) {
    if (me_ != root_) {
      phase({{to_root, root_,
              to_root ? bytes("sendcount", "sendtype") : bytes("recvcount", "recvtype")}});
      return;
    }
    Phase all;
    for (int64_t i = 0; i < n_; ++i) {
      if (i == me_) continue;
      const std::string_view type = to_root ? "recvtype" : "sendtype";
      const uint64_t size = is_vector ? part(to_root ? "recvcounts" : "sendcounts", type, i)
                                      : bytes(to_root ? "recvcount" : "sendcount", type);
      all.push_back({!to_root, i, size});
    }
    phase(std::move(all));
  }
  uint64_t sent_to(CallId plain, int64_t i) const {
    if (plain == mpi::kMPI_Reduce_scatter) return part("recvcounts", "datatype", i);
    if (plain == mpi::kMPI_Reduce_scatter_block) return bytes("recvcount", "datatype");
    if (plain == mpi::kMPI_Allgatherv) return part("recvcounts", "recvtype", me_);
    if (in_place_) return got_from(plain, i);
    if (plain == mpi::kMPI_Alltoall) return bytes("sendcount", "sendtype");
    return part("sendcounts", plain == mpi::kMPI_Alltoallw ? "sendtypes" : "sendtype", i);
  }
  uint64_t got_from(CallId plain, int64_t i) const {
    if (plain == mpi::kMPI_Reduce_scatter) return part("recvcounts", "datatype", me_);
    if (plain == mpi::kMPI_Reduce_scatter_block) return bytes("recvcount", "datatype");
    if (plain == mpi::kMPI_Alltoall) return bytes("recvcount", "recvtype");
    return part("recvcounts", plain == mpi::kMPI_Alltoallw ? "recvtypes" : "recvtype", i);
  }
  // With all others at once, the nearest first. Parts of no bytes are no messages.
  void pairwise(CallId plain) {
    Phase all;
    for (int64_t i = 1; i < n_; ++i) {
      if (const uint64_t size = sent_to(plain, turned(i)); size > 0)
        all.push_back({true, turned(i), size});
      if (const uint64_t size = got_from(plain, turned(-i)); size > 0)
        all.push_back({false, turned(-i), size});
    }
    if (!all.empty()) phase(std::move(all));
  }

  const Trace& trace_;
  const Signature& call_;
  const int64_t n_, me_;
  int64_t root_ = 0;
  bool in_place_ = false;
  std::vector<Phase> phases_;
};

}  // namespace

std::vector<Phase> schedule(const Trace& trace, const events::Op& op, const Signature& call) {
  if (op.comm.comm.is_inter) return {};
  return Scheduler(trace, call, op.comm.comm).make(mpi::plain_call(call.call));
}

}  // namespace refrain::sim
