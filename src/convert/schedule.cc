#include "convert/schedule.h"

#include <string>

#include "analysis/payload.h"
#include "convert/collective_bytes.h"

namespace refrain::convert {

using analysis::argument;

namespace {

class Scheduler {
 public:
  Scheduler(const Trace& trace, const Signature& call, const Communicator& comm)
      : trace_(trace), call_(call), n_(static_cast<int64_t>(comm.size())), me_(comm.me) {
    root_ = argument(call, "root").integer_or(0);
    in_place_ = argument(call, "sendbuf").name() == "MPI_IN_PLACE";
  }

  std::vector<Phase> make(const std::string& name) {
    const auto is = [&](auto... names) { return ((name == names) || ...); };
    if (n_ < 2 || me_ < 0 || me_ >= n_ || root_ < 0 || root_ >= n_) return {};
    if (is("bcast"))
      from_root(bytes("count", "datatype"));
    else if (is("reduce"))
      to_root(bytes("count", "datatype"));
    else if (is("allreduce"))
      root_ = 0, to_root(bytes("count", "datatype")), from_root(bytes("count", "datatype"));
    else if (is("allgather"))
      bruck(bytes("recvcount", "recvtype"));
    else if (is("scan", "exscan"))
      chain(bytes("count", "datatype"));
    else if (is("gather", "gatherv", "scatter", "scatterv"))
      linear(name.starts_with("gather"), name.ends_with("v"));
    else if (is("alltoall", "alltoallv", "alltoallw", "allgatherv", "reduce_scatter",
                "reduce_scatter_block"))
      pairwise(name);
    else
      disseminate();  // barriers, and what makes communicators and windows
    return std::move(phases_);
  }

 private:
  uint64_t bytes(std::string_view count, std::string_view type) const {
    return analysis::multiply(analysis::sum_of_counts(argument(call_, count)),
                              size(argument(call_, type)));
  }
  uint64_t size(const Value& type) const {
    return analysis::element_bytes(trace_, type).value_or(0);
  }
  // Element i of an array of counts, times its type.
  uint64_t part(std::string_view counts, std::string_view types, int64_t i) const {
    const Value& type = argument(call_, types);
    const auto at = static_cast<uint64_t>(i);
    return analysis::multiply(analysis::sum_of_counts(argument(call_, counts).at(at)),
                              size(type.is_array() ? type.at(at) : type));
  }
  void phase(Phase parts) { phases_.push_back(std::move(parts)); }
  int64_t turned(int64_t by) const { return ((me_ + by) % n_ + n_) % n_; }

  void disseminate() {
    for (int64_t step = 1; step < n_; step *= 2)
      phase({{true, turned(step), 0}, {false, turned(-step), 0}});
  }
  // Binomial tree over ranks relative to the root.
  void from_root(uint64_t size) {
    const int64_t mine = ((me_ - root_) % n_ + n_) % n_;
    int64_t step = 1;
    while (step < n_ && (mine & step) == 0) step *= 2;
    if (mine != 0) phase({{false, (mine - step + root_) % n_, size}});
    for (step /= 2; step > 0; step /= 2)
      if (mine + step < n_) phase({{true, (mine + step + root_) % n_, size}});
  }
  void to_root(uint64_t size) {
    const int64_t mine = ((me_ - root_) % n_ + n_) % n_;
    for (int64_t step = 1; step < n_; step *= 2) {
      if ((mine & step) != 0) return phase({{true, (mine - step + root_) % n_, size}});
      if (mine + step < n_) phase({{false, (mine + step + root_) % n_, size}});
    }
  }
  void bruck(uint64_t block) {
    for (int64_t step = 1; step < n_; step *= 2) {
      const auto blocks = static_cast<uint64_t>(std::min(step, n_ - step));
      const uint64_t size = analysis::multiply(block, blocks);
      phase({{true, turned(-step), size}, {false, turned(step), size}});
    }
  }
  void chain(uint64_t size) {
    if (me_ > 0) phase({{false, me_ - 1, size}});
    if (me_ + 1 < n_) phase({{true, me_ + 1, size}});
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
  uint64_t sent_to(const std::string& name, int64_t i) const {
    if (name == "reduce_scatter") return part("recvcounts", "datatype", i);
    if (name == "reduce_scatter_block") return bytes("recvcount", "datatype");
    if (name == "allgatherv") return part("recvcounts", "recvtype", me_);
    if (in_place_) return got_from(name, i);
    if (name == "alltoall") return bytes("sendcount", "sendtype");
    return part("sendcounts", name == "alltoallw" ? "sendtypes" : "sendtype", i);
  }
  uint64_t got_from(const std::string& name, int64_t i) const {
    if (name == "reduce_scatter") return part("recvcounts", "datatype", me_);
    if (name == "reduce_scatter_block") return bytes("recvcount", "datatype");
    if (name == "alltoall") return bytes("recvcount", "recvtype");
    return part("recvcounts", name == "alltoallw" ? "recvtypes" : "recvtype", i);
  }
  // With all others at once, the nearest first. Parts of no bytes are no messages.
  void pairwise(const std::string& name) {
    Phase all;
    for (int64_t i = 1; i < n_; ++i) {
      if (const uint64_t size = sent_to(name, turned(i)); size > 0)
        all.push_back({true, turned(i), size});
      if (const uint64_t size = got_from(name, turned(-i)); size > 0)
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

std::vector<Phase> schedule(const Trace& trace, const analysis::waits::Op& op,
                            const Signature& call) {
  if (op.comm.comm.is_inter) return {};
  return Scheduler(trace, call, op.comm.comm).make(plain_collective(call.name));
}

}  // namespace refrain::convert
