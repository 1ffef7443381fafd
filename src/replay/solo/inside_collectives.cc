// Collectives within a group of ranks that runs together: made again on the shadow of their
// communicator. They are begun as nonblocking ones, whatever the program's are.
//
// Left to the log are reductions by the program's own operators, which would be given handles that
// are not theirs, neighbourhood and persistent collectives, and MPI_Alltoallw.

#include <cstring>
#include <vector>

#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/solo/files.h"
#include "replay/solo/inside.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::ParamKind;

// The arguments of a collective as the real MPI takes them.
class Collective {
 public:
  Collective(const mpi::CallInfo& info, const Given& given, Objects& objects, const Shadow& shadow,
             RealRequest& request)
      : info_(info), given_(given), objects_(objects), shadow_(shadow), request_(request) {}
  ~Collective() {
    for (MPI_Datatype& type : made_) REFRAIN_BEHIND(Type_free)(&type);
  }
  Collective(const Collective&) = delete;

  MPI_Comm comm() const { return shadow_.comm; }
  MPI_Request* request() { return &request_.request; }
  int root() const { return number("root"); }
  bool is_root() const { return root() == shadow_.original.me; }
  int number(std::string_view name) const {
    const int i = place(name);
    return i < 0 ? 0 : static_cast<int>(given_.number(static_cast<size_t>(i)));
  }
  void* buffer(std::string_view name) const {
    const int i = place(name);
    return i < 0 ? nullptr : given_.address(static_cast<size_t>(i));
  }
  MPI_Op op() const { return mpi_runtime::handle_of<MPI_Op>(key("op")); }
  bool has_own_op() const {
    if (place("op") < 0) return false;
    const Object* const known = objects_.find(ParamKind::kOp, key("op"));
    return known != nullptr && !known->is_predefined;
  }
  // What the stand-in made is made again, for this call.
  MPI_Datatype type(std::string_view name) {
    const uint64_t k = key(name);
    const Object* const known = objects_.find(ParamKind::kDatatype, k);
    if (known == nullptr || known->is_predefined || !known->has_type)
      return mpi_runtime::handle_of<MPI_Datatype>(k);
    return make(known->type);
  }
  // An array of the call, which stays until the request is complete; not read where it means
  // nothing.
  const int* numbers(std::string_view name, bool means_something) {
    auto& out = request_.arrays.emplace_back();
    const int i = place(name);
    if (i < 0 || !means_something || given_.word(static_cast<size_t>(i)) == 0) return nullptr;
    for (size_t k = 0; k < shadow_.members.size(); ++k)
      out.push_back(static_cast<int>(given_.number(static_cast<size_t>(i), k)));
    return out.data();
  }

 private:
  int place(std::string_view name) const {
    for (size_t i = 0; i < info_.params.size(); ++i)
      if (info_.params[i].name == name) return static_cast<int>(i);
    return -1;
  }
  uint64_t key(std::string_view name) const {
    const int i = place(name);
    return i < 0 ? 0 : given_.key(static_cast<size_t>(i));
  }
  MPI_Datatype make(const mpi::TypeMap& map) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    map.for_each_piece(1, [&](const mpi::TypeMap::Piece& piece) {
      lengths.push_back(static_cast<int>(piece.bytes));
      places.push_back(static_cast<MPI_Aint>(piece.offset));
      return true;
    });
    MPI_Datatype pieces = MPI_DATATYPE_NULL, out = MPI_DATATYPE_NULL;
    REFRAIN_BEHIND(Type_create_hindexed)
    (static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_BYTE, &pieces);
    REFRAIN_BEHIND(Type_create_resized)(pieces, map.lower_bound(), map.extent(), &out);
    REFRAIN_BEHIND(Type_commit)(&out);
    REFRAIN_BEHIND(Type_free)(&pieces);
    made_.push_back(out);
    return out;
  }

  const mpi::CallInfo& info_;
  const Given& given_;
  Objects& objects_;
  const Shadow& shadow_;
  RealRequest& request_;
  std::vector<MPI_Datatype> made_;
};

// False: it is none that is made again.
bool make_reduction(Collective& c, CallId plain) {
  void *const out = c.buffer("sendbuf"), *const in = c.buffer("recvbuf");
  const auto type = [&] { return c.type("datatype"); };
  switch (plain) {
    case mpi::kMPI_Reduce:
      REFRAIN_BEHIND(Ireduce)
      (out, in, c.number("count"), type(), c.op(), c.root(), c.comm(), c.request());
      return true;
    case mpi::kMPI_Allreduce:
      REFRAIN_BEHIND(Iallreduce)(out, in, c.number("count"), type(), c.op(), c.comm(), c.request());
      return true;
    case mpi::kMPI_Scan:
      REFRAIN_BEHIND(Iscan)(out, in, c.number("count"), type(), c.op(), c.comm(), c.request());
      return true;
    case mpi::kMPI_Exscan:
      REFRAIN_BEHIND(Iexscan)(out, in, c.number("count"), type(), c.op(), c.comm(), c.request());
      return true;
    case mpi::kMPI_Reduce_scatter:
      REFRAIN_BEHIND(Ireduce_scatter)
      (out, in, c.numbers("recvcounts", true), type(), c.op(), c.comm(), c.request());
      return true;
    case mpi::kMPI_Reduce_scatter_block:
      REFRAIN_BEHIND(Ireduce_scatter_block)
      (out, in, c.number("recvcount"), type(), c.op(), c.comm(), c.request());
      return true;
    default: return false;
  }
}

bool make_with_lists(Collective& c, CallId plain) {
  void *const out = c.buffer("sendbuf"), *const in = c.buffer("recvbuf");
  const bool sends = out != MPI_IN_PLACE;
  switch (plain) {
    case mpi::kMPI_Gatherv:
      REFRAIN_BEHIND(Igatherv)
      (out, c.number("sendcount"), c.type("sendtype"), in, c.numbers("recvcounts", c.is_root()),
       c.numbers("displs", c.is_root()), c.type("recvtype"), c.root(), c.comm(), c.request());
      return true;
    case mpi::kMPI_Scatterv:
      REFRAIN_BEHIND(Iscatterv)
      (out, c.numbers("sendcounts", c.is_root()), c.numbers("displs", c.is_root()),
       c.type("sendtype"), in, c.number("recvcount"), c.type("recvtype"), c.root(), c.comm(),
       c.request());
      return true;
    case mpi::kMPI_Allgatherv:
      REFRAIN_BEHIND(Iallgatherv)
      (out, c.number("sendcount"), c.type("sendtype"), in, c.numbers("recvcounts", true),
       c.numbers("displs", true), c.type("recvtype"), c.comm(), c.request());
      return true;
    case mpi::kMPI_Alltoallv:
      REFRAIN_BEHIND(Ialltoallv)
      (out, c.numbers("sendcounts", sends), c.numbers("sdispls", sends), c.type("sendtype"), in,
       c.numbers("recvcounts", true), c.numbers("rdispls", true), c.type("recvtype"), c.comm(),
       c.request());
      return true;
    default: return false;
  }
}

bool make(Collective& c, CallId plain) {
  void *const out = c.buffer("sendbuf"), *const in = c.buffer("recvbuf");
  const auto sent = [&] { return c.number("sendcount"); };
  const auto received = [&] { return c.number("recvcount"); };
  switch (plain) {
    case mpi::kMPI_Barrier: REFRAIN_BEHIND(Ibarrier)(c.comm(), c.request()); return true;
    case mpi::kMPI_Bcast:
      REFRAIN_BEHIND(Ibcast)
      (c.buffer("buffer"), c.number("count"), c.type("datatype"), c.root(), c.comm(), c.request());
      return true;
    case mpi::kMPI_Gather:
      REFRAIN_BEHIND(Igather)
      (out, sent(), c.type("sendtype"), in, received(), c.type("recvtype"), c.root(), c.comm(),
       c.request());
      return true;
    case mpi::kMPI_Scatter:
      REFRAIN_BEHIND(Iscatter)
      (out, sent(), c.type("sendtype"), in, received(), c.type("recvtype"), c.root(), c.comm(),
       c.request());
      return true;
    case mpi::kMPI_Allgather:
      REFRAIN_BEHIND(Iallgather)
      (out, sent(), c.type("sendtype"), in, received(), c.type("recvtype"), c.comm(), c.request());
      return true;
    case mpi::kMPI_Alltoall:
      REFRAIN_BEHIND(Ialltoall)
      (out, sent(), c.type("sendtype"), in, received(), c.type("recvtype"), c.comm(), c.request());
      return true;
    default: return make_with_lists(c, plain) || make_reduction(c, plain);
  }
}

}  // namespace

void Player::collective_inside(Frame& frame, const Shadow& shadow) {
  if (frame.info.persistent) return;
  const OwnFiles own;
  auto real = std::make_shared<RealRequest>();
  Collective collective(frame.info, frame.given, objects_, shadow, *real);
  if (collective.has_own_op() || !make(collective, frame.meaning.plain)) return;
  frame.is_inside = true;
  Object* const request = frame.plan->makes_request
                              ? request_at(frame, static_cast<size_t>(frame.plan->request_param), 0)
                              : nullptr;
  if (request != nullptr)
    request->inside = real;
  else
    REFRAIN_BEHIND(Wait)(&real->request, MPI_STATUS_IGNORE);
}

}  // namespace refrain::replay::solo
