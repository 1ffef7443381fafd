// ti: SimGrid's time-independent trace, for `smpirun -replay OUT/trace.txt`.
//
// A file for each rank and a list of them. Collectives on all ranks are SimGrid's own; on some of
// them, or of a kind that its replay lacks, they are messages (schedule.h).

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <unordered_map>

#include "convert/job.h"
#include "convert/output_files.h"
#include "convert/simulator_walk.h"
#include "events/by_rank/skeleton.h"
#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::convert {

using events::argument;

namespace {

constexpr const char* kWhat = "the SimGrid trace";

// What all ranks share: looked up once, not once for each of them.
struct TiShared {
  explicit TiShared(Job& job) : walk(job) {}
  SimulatorWalk walk;
  // Whether the members are all ranks of the replay, in its order.
  std::unordered_map<events::CommKey, bool> worlds;
};

class TiRank : public events::SkeletonSink {
 public:
  TiRank(Job& job, TiShared& shared, int64_t me, std::string& out)
      : job_(job), shared_(shared), me_(me), out_(out) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), "{} ", me_);
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void compute(uint64_t ns) override {
    const double seconds = static_cast<double>(ns) * 1e-9;
    if (job_.options.flops > 0)
      line("compute {:.0f}", seconds * job_.options.flops);
    else
      line("sleep {:.9f}", seconds);
  }

  void exchange(const std::vector<events::SkeletonEnd>& all) override {
    if (all.size() == 1) return move(all[0], "");
    // Receives first, as MPI_Sendrecv does it.
    for (const bool sends : {false, true})
      for (const events::SkeletonEnd& t : all)
        if (t.sends == sends) move(t, "i");
    for (const events::SkeletonEnd& t : all) wait_for(t);
  }

  void post(const events::SkeletonEnd& transfer, uint64_t request) override {
    move(transfer, "i");
    requests_[request] = transfer;
  }

  void wait(uint64_t request) override {
    const auto known = requests_.find(request);
    if (known == requests_.end()) return;  // a collective, which is done already
    wait_for(known->second);
    requests_.erase(known);
  }

  void collective(const events::Op& op, const Signature& call, uint64_t number,
                  std::optional<uint64_t> request) override {
    if (request) job_.not_held("nonblocking collective calls: they block where they begin");
    if (op.comm.comm.is_inter) return job_.not_held("collective calls on inter-communicators");
    if (is_world(op.comm) && native(call)) return;
    for (const auto& phase : shared_.walk.messages(op, call, number)) exchange(phase);
  }

 private:
  void move(const events::SkeletonEnd& t, std::string_view prefix) {
    line("{}{} {} {} {}", prefix, t.sends ? "send" : "recv", t.peer, t.tag, t.bytes);
  }
  void wait_for(const events::SkeletonEnd& t) {
    line("wait {} {} {}", t.sends ? me_ : t.peer, t.sends ? t.peer : me_, t.tag);
  }

  bool is_world(const events::CommView& view) {
    const auto [known, is_new] = shared_.worlds.try_emplace(view.key, true);
    if (!is_new) return known->second;
    known->second = view.comm.size() == job_.ranks.size();
    for (uint64_t i = 0; known->second && i < view.comm.size(); ++i)
      known->second = view.comm.member(static_cast<int64_t>(i)) == job_.ranks[i];
    return known->second;
  }

  uint64_t bytes(const Signature& call, std::string_view count, std::string_view type) const {
    return events::multiply(events::sum_of_counts(argument(call, count)),
                            events::element_bytes(job_.trace, argument(call, type)).value_or(0));
  }

  // Sizes of all parts, in bytes, with their sum in front.
  void alltoallv(const Signature& call, bool in_place) {
    const uint64_t ranks = job_.ranks.size();
    std::string text;
    for (const bool sends : {true, false}) {
      const bool sent = sends && !in_place;
      const Value& counts = argument(call, sent ? "sendcounts" : "recvcounts");
      const Value* types = call.find(sent ? "sendtypes" : "recvtypes");
      const Value& type =
          types != nullptr ? types->at_entry() : argument(call, sent ? "sendtype" : "recvtype");
      std::string parts;
      uint64_t sum = 0;
      for (uint64_t i = 0; i < ranks; ++i) {
        const uint64_t part = events::multiply(
            events::sum_of_counts(counts.at(i)),
            events::element_bytes(job_.trace, type.is_array() ? type.at(i) : type).value_or(0));
        sum = events::add(sum, part);
        fmt::format_to(std::back_inserter(parts), " {}", part);
      }
      fmt::format_to(std::back_inserter(text), " {}{}", sum, parts);
    }
    line("alltoallv{}", text);
  }

  // False: SimGrid's replay has no such action.
  bool native(const Signature& call) {
    const CallId plain = mpi::plain_call(call.call);
    const bool in_place = argument(call, "sendbuf").name() == "MPI_IN_PLACE";
    const int64_t root = argument(call, "root").integer_or(0);
    const auto sent = [&] {
      return in_place ? bytes(call, "recvcount", "recvtype") : bytes(call, "sendcount", "sendtype");
    };
    if (plain == mpi::kMPI_Barrier) {
      line("barrier");
    } else if (plain == mpi::kMPI_Bcast) {
      line("bcast {} {}", bytes(call, "count", "datatype"), root);
    } else if (plain == mpi::kMPI_Reduce) {
      line("reduce {} 0 {}", bytes(call, "count", "datatype"), root);
    } else if (plain == mpi::kMPI_Allreduce) {
      line("allreduce {} 0", bytes(call, "count", "datatype"));
    } else if (plain == mpi::kMPI_Alltoall || plain == mpi::kMPI_Allgather) {
      line("{} {} {}", plain == mpi::kMPI_Alltoall ? "alltoall" : "allgather", sent(),
           bytes(call, "recvcount", "recvtype"));
    } else if (plain == mpi::kMPI_Gather) {
      const uint64_t all = root == me_ ? bytes(call, "recvcount", "recvtype") : 0;
      line("gather {} {} {}", root == me_ && in_place ? all : sent(), all, root);
    } else if (plain == mpi::kMPI_Alltoallv || plain == mpi::kMPI_Alltoallw) {
      alltoallv(call, in_place);
    } else {
      return false;
    }
    return true;
  }

  Job& job_;
  TiShared& shared_;
  const int64_t me_;
  std::string& out_;
  std::unordered_map<uint64_t, events::SkeletonEnd> requests_;
};

// Without a file: everything but the writing.
Status write_rank(Job& job, TiShared& shared, BufferedFile* file, Rank rank) {
  TiRank lines(job, shared, job.position(rank), shared.walk.text(file));
  lines.line("init");
  const Status done = shared.walk.rank(rank, lines, events::Threads::kAsOne, file);
  if (!done.ok()) return done;
  lines.line("finalize");
  if (job.trace.locations(rank).size() > 1)
    job.not_held("threads beside the first: they take turns with it",
                 job.trace.locations(rank).size() - 1);
  return file != nullptr ? file->commit_inside() : Status(base::Done{});
}

Status write_ranks(Job& job, TiShared& shared, const std::string& folder, BufferedFile& list) {
  std::error_code error;
  // The list names files by where they will be, as the simulator may be started anywhere.
  const std::filesystem::path place = std::filesystem::absolute(job.options.output, error);
  for (const Rank rank : job.ranks) {
    const std::string name = fmt::format("rank-{}.txt", rank);
    auto file = BufferedFile::create(folder + "/" + name, kWhat);
    if (!file.ok()) return file.error();
    const Status done = write_rank(job, shared, &*file, rank);
    if (!done.ok()) return done;
    list.buffer() += (place / name).lexically_normal().string() + "\n";
  }
  return base::Done{};
}

}  // namespace

Status write_ti(Job& job) {
  auto folder = OutputFolder::create(job.options.output, kWhat);
  if (!folder.ok()) return folder.error();
  TiShared shared(job);
  auto list = BufferedFile::create(folder->path() + "/trace.txt", kWhat);
  if (!list.ok()) return list.error();
  Status done = shared.walk.run([&](bool writes) -> Status {
    if (writes) return write_ranks(job, shared, folder->path(), *list);
    for (const Rank rank : job.ranks)
      if (Status noted = write_rank(job, shared, nullptr, rank); !noted.ok()) return noted;
    return base::Done{};
  });
  if (done.ok()) done = list->commit_inside();
  if (!done.ok()) return done;
  job.out.bytes = folder->bytes();
  job.out.files = {job.options.output};
  return folder->commit();
}

}  // namespace refrain::convert
