// Communicators: members, symbolic ids that all members agree on, sizes and neighbourhoods.
#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/constant_ids.h"
#include "real_functions.h"
#include "tracer/location.h"
#include "tracer/objects.h"
#include "tracer/peers.h"

namespace refrain::tracer {

CommIds& comm_ids() { return of_this_process<CommIds>(); }

namespace {

base::RunList world_ranks(const Process& p, MPI_Group group) {
  base::RunList list;
  int n = 0;
  if (REFRAIN_REAL(PMPI_Group_size)(group, &n) != MPI_SUCCESS) return list;
  std::vector<int> mine(n), world(n, MPI_UNDEFINED);
  for (int i = 0; i < n; ++i) mine[i] = i;
  if (p.world_group != MPI_GROUP_NULL && n > 0)
    REFRAIN_REAL(PMPI_Group_translate_ranks)(group, n, mine.data(), p.world_group, world.data());
  for (int i = 0; i < n; ++i) list.append(world[i] == MPI_UNDEFINED ? -1 : world[i]);
  return list;
}

void query(const Process& p, MPI_Comm comm, CommInfo& info) {
  int inter = 0;
  REFRAIN_REAL(PMPI_Comm_test_inter)(comm, &inter);
  info.inter = inter != 0;
  REFRAIN_REAL(PMPI_Comm_rank)(comm, &info.rank);
  REFRAIN_REAL(PMPI_Comm_size)(comm, &info.size);
  MPI_Group group = MPI_GROUP_NULL;
  REFRAIN_REAL(PMPI_Comm_group)(comm, &group);
  info.local = world_ranks(p, group);
  REFRAIN_REAL(PMPI_Group_free)(&group);
  if (!info.inter) return;
  REFRAIN_REAL(PMPI_Comm_remote_size)(comm, &info.remote_size);
  REFRAIN_REAL(PMPI_Comm_remote_group)(comm, &group);
  info.remote = world_ranks(p, group);
  REFRAIN_REAL(PMPI_Group_free)(&group);
}

bool has_strangers(const base::RunList& list) { return list.find(-1) >= 0; }

// The members of a communicator that are recorded and of this world, on both of its sides.
std::vector<int> own_members(const CommInfo& info) {
  std::vector<int> own;
  for (const base::RunList* list : {&info.local, &info.remote})
    for (uint64_t i = 0; i < list->size(); ++i)
      if (const auto rank = static_cast<int>(list->at(i)); rank >= 0 && peers().has(rank))
        own.push_back(rank);
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  return own;
}

// A reduction over the members of a new communicator that are sure to be recorded. On an
// inter-communicator, whose reductions deliver the other side's values, a second one brings our own
// side's back.
class Agreement {
 public:
  Agreement(const Process& p, const CommInfo& info, MPI_Comm comm)
      : comm_(comm),
        inter_(info.inter),
        alone_(!info.inter && info.size == 1),
        leads_(info.rank == 0) {
    // Processes of another world may not be recorded: agree among our own.
    if (peers().is_partial() || has_strangers(info.local) || has_strangers(info.remote))
      meet(p, own_members(info));
  }
  ~Agreement() {
    if (is_mine_) REFRAIN_REAL(PMPI_Comm_free)(&comm_);
  }
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Whose words break a tie: one process on each side.
  bool leads() const { return leads_; }

  void reduce(uint64_t* values, int n, MPI_Op op) const {
    if (alone_) return;
    const auto allreduce = REFRAIN_REAL(PMPI_Allreduce);
    uint64_t out[kMax];
    allreduce(values, out, n, MPI_UINT64_T, op, comm_);
    if (inter_) {
      allreduce(out, values, n, MPI_UINT64_T, op, comm_);
      uint64_t both[kMax];
      for (int i = 0; i < n; ++i) both[i] = combine(op, values[i], out[i]);
      for (int i = 0; i < n; ++i) values[i] = both[i];
    } else {
      for (int i = 0; i < n; ++i) values[i] = out[i];
    }
  }

 private:
  static constexpr int kMax = CommIds::kMaskWords + 1;
  static uint64_t combine(MPI_Op op, uint64_t a, uint64_t b) {
    if (op == MPI_BOR) return a | b;
    if (op == MPI_BAND) return a & b;
    return a > b ? a : b;
  }

  void meet(const Process& p, const std::vector<int>& own) {
    inter_ = false;
    alone_ = true;
    leads_ = own.empty() || own.front() == p.rank;
    if (own.size() < 2 || p.comm == MPI_COMM_NULL) return;
    constexpr int kTag = 1;
    MPI_Group group = MPI_GROUP_NULL;
    REFRAIN_REAL(PMPI_Group_incl)(p.world_group, static_cast<int>(own.size()), own.data(), &group);
    is_mine_ = REFRAIN_REAL(PMPI_Comm_create_group)(p.comm, group, kTag, &comm_) == MPI_SUCCESS;
    REFRAIN_REAL(PMPI_Group_free)(&group);
    alone_ = !is_mine_;
  }

  MPI_Comm comm_;
  bool inter_, alone_, leads_;
  bool is_mine_ = false;
};

// A family number that no member uses; the family has begun when this returns. One reduction where
// ranks have one thread that makes communicators. Where others may be at it at the same time, each
// member tries to reserve the number and a second reduction says whether all could; after a failure
// the search begins elsewhere, so that two communicators do not chase each other.
int agree_on_family(Process& p, const Agreement& agreement) {
  for (int attempt = 0;; ++attempt) {
    uint64_t mask[CommIds::kMaskWords + 1];  // and in the last word:
    uint64_t& salt = mask[CommIds::kMaskWords];
    {
      Process::Guard guard(p);
      comm_ids().used_families(mask);
    }
    const int spread = attempt < 8 ? attempt : 8;
    salt = agreement.leads() ? (p.clock.ticks() >> 4) % (uint64_t{1} << spread) : 0;
    agreement.reduce(mask, CommIds::kMaskWords + 1, MPI_BOR);
    int family = CommIds::lowest_free(mask, CommIds::kFirst + static_cast<int>(salt));
    if (family == CommIds::kMaskFamilies) {
      uint64_t above = 0;
      {
        Process::Guard guard(p);
        above = static_cast<uint64_t>(comm_ids().above_all());
      }
      agreement.reduce(&above, 1, MPI_MAX);
      family = static_cast<int>(above + salt);
    }
    uint64_t reserved = 0;
    {
      Process::Guard guard(p);
      reserved = comm_ids().start_family(family) ? 1 : 0;
    }
    if (!p.threads_anywhere) return family;
    uint64_t by_all = reserved;
    agreement.reduce(&by_all, 1, MPI_BAND);
    if (by_all != 0) return family;
    Process::Guard guard(p);
    if (reserved != 0) comm_ids().give_back(family, 0);
  }
}

uint32_t store(Process& p, uint64_t key, CommInfo info, uint32_t constant) {
  base::ByteWriter payload;
  payload.put_zigzag(CommIds::id_of(info.family, info.member));
  payload.put_varint(constant);
  payload.put_u8(info.inter ? 1 : 0);
  if (constant == 0) {
    info.local.write(payload);
    if (info.inter) info.remote.write(payload);
  }
  const uint32_t def = p.define(Kind::kComm, payload.view());
  while (def >= p.comms.size()) p.comms.push_back(nullptr);
  CommInfo* const known = p.comms[def];
  CommInfo* const place = known != nullptr ? known : new CommInfo;
  *place = std::move(info);
  __atomic_store_n(&p.comms[def], place, __ATOMIC_RELEASE);
  p.remember(Kind::kComm, key, def);  // now others may come across it
  return def;
}

}  // namespace

void define_world(Process& p) {
  Process::Guard guard(p);
  for (int family = 0; family < 2; ++family) {
    const MPI_Comm comm = family == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF;
    CommInfo info;
    query(p, comm, info);
    info.family = family;
    comm_ids().start_family(family);
    store(p, handle_key(comm), std::move(info),
          family == 0 ? mpi::kConst_MPI_COMM_WORLD : mpi::kConst_MPI_COMM_SELF);
  }
}

void Encoder::new_comm(MPI_Comm parent, MPI_Comm comm) { define_comm(parent, comm, false); }

void Encoder::new_comm_pending(MPI_Comm parent, MPI_Comm* comm, MPI_Request*) {
  define_comm(parent, *comm, true);
}

void Encoder::define_comm(MPI_Comm parent, MPI_Comm comm, bool same_group_known) {
  const uint64_t key = handle_key(comm);
  const Captured known = lookup_new(Kind::kComm, key);
  if (known.what != Captured::What::kNone) return captured(known);
  Process& p = *location_.process;
  const CommInfo* from = parent == MPI_COMM_NULL ? nullptr : known_comm(parent);
  // Every thread of a process comes here at once, and only one of them could reserve a number.
  if (from != nullptr && from->of_threads) return none();
  CommInfo info;
  if (same_group_known && from != nullptr) {
    info = *from;
    info.in_degree = info.out_degree = -1;
  } else {
    query(p, comm, info);
  }
  const bool same_group = from != nullptr && from->inter == info.inter &&
                          from->local == info.local && from->remote == info.remote;
  // Threads that duplicate communicators of their own do so in another order on every rank, so
  // counting does not do then. The handle of a pending MPI_Comm_idup cannot carry a reduction.
  const bool counts = same_group && (!p.threads_anywhere || same_group_known);
  info.member = 0;
  info.family = counts ? from->family : agree_on_family(p, Agreement(p, info, comm));
  Process::Guard guard(p);
  if (counts) info.member = comm_ids().take_member(info.family);
  captured({Captured::What::kDefinition, store(p, key, std::move(info), 0), key});
}

// Each process stands in it once for each of its threads. It answers no question before they have
// started, so all that is known of it comes from `parent`.
void Encoder::new_threadcomm(MPI_Comm parent, int threads, MPI_Comm comm) {
  const CommInfo* from = known_comm(parent);
  if (from == nullptr || from->inter || from->of_threads) return none();
  if (peers().is_partial()) return none();  // who is not recorded says nothing
  std::vector<int> of_each(static_cast<size_t>(from->size));
  REFRAIN_REAL(PMPI_Allgather)(&threads, 1, MPI_INT, of_each.data(), 1, MPI_INT, parent);
  CommInfo info;
  info.of_threads = true;
  for (int i = 0; i < from->size; ++i) {
    if (i == from->rank) info.rank = info.size;
    for (int t = 0; t < of_each[static_cast<size_t>(i)]; ++t)
      info.local.append(from->local.at(static_cast<uint64_t>(i)));
    info.size += of_each[static_cast<size_t>(i)];
  }
  Process& p = *location_.process;
  info.family = agree_on_family(p, Agreement(p, *from, parent));
  const uint64_t key = handle_key(comm);
  Process::Guard guard(p);
  captured({Captured::What::kDefinition, store(p, key, std::move(info), 0), key});
}

void release_comm(Process& p, uint32_t def) {
  if (def >= p.comms.size() || p.comms[def] == nullptr) return;
  const CommInfo& info = *p.comms[def];
  // With threads the ranks may free them in another order: numbers that are counted stay taken.
  if (p.threads_anywhere && info.member > 0) return;
  comm_ids().give_back(info.family, info.member);
}

CommInfo* Encoder::known_comm(MPI_Comm comm) {
  const Captured known = lookup(Kind::kComm, handle_key(comm));
  if (known.what != Captured::What::kDefinition) return nullptr;
  StableArray<CommInfo*>& comms = location_.process->comms;
  return known.index < comms.size() ? __atomic_load_n(&comms[known.index], __ATOMIC_ACQUIRE)
                                    : nullptr;
}

int64_t Encoder::comm_size(MPI_Comm comm) {
  const CommInfo* info = known_comm(comm);
  if (info == nullptr) return 0;
  return info->inter ? info->remote_size : info->size;
}

bool Encoder::is_root(MPI_Comm comm, int root) {
  const CommInfo* info = known_comm(comm);
  if (info == nullptr) return false;
  if (info->of_threads) {
    int rank = info->rank;
    REFRAIN_REAL(PMPI_Comm_rank)(comm, &rank);
    return root == rank;
  }
  return info->inter ? root == MPI_ROOT : root == info->rank;
}

Encoder::Degrees Encoder::degrees(MPI_Comm comm) {
  CommInfo* info = known_comm(comm);
  if (info == nullptr) return {};
  // Whoever asks first writes it down, and who asks at the same time writes the same.
  const int known = __atomic_load_n(&info->in_degree, __ATOMIC_ACQUIRE);
  if (known >= 0) return {known, __atomic_load_n(&info->out_degree, __ATOMIC_RELAXED)};
  Degrees d;
  int topology = MPI_UNDEFINED;
  REFRAIN_REAL(PMPI_Topo_test)(comm, &topology);
  if (topology == MPI_CART) {
    int dimensions = 0;
    REFRAIN_REAL(PMPI_Cartdim_get)(comm, &dimensions);
    d.in = d.out = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    REFRAIN_REAL(PMPI_Graph_neighbors_count)(comm, info->rank, &d.in);
    d.out = d.in;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    REFRAIN_REAL(PMPI_Dist_graph_neighbors_count)(comm, &d.in, &d.out, &weighted);
  }
  __atomic_store_n(&info->out_degree, d.out, __ATOMIC_RELAXED);
  __atomic_store_n(&info->in_degree, d.in, __ATOMIC_RELEASE);
  return d;
}

int64_t Encoder::indegree(MPI_Comm comm) { return degrees(comm).in; }

int64_t Encoder::outdegree(MPI_Comm comm) { return degrees(comm).out; }

int64_t Encoder::ndims(MPI_Comm comm) {
  int dimensions = 0;
  REFRAIN_REAL(PMPI_Cartdim_get)(comm, &dimensions);
  return dimensions;
}

Captured define_with_comm(Process& p, Kind kind, uint64_t key, uint64_t comm_key) {
  Process::Guard guard(p);
  const uint32_t comm = p.handles.find(Kind::kComm, comm_key);
  base::ByteWriter payload;
  payload.put_zigzag(p.ids[static_cast<int>(kind)].take());
  const uint32_t def = p.define(kind, payload.view(), &comm, comm == HandleMap::kMissing ? 0 : 1);
  p.remember(kind, key, def);
  return {Captured::What::kDefinition, def, key};
}

}  // namespace refrain::tracer
