// Communicators: members, symbolic ids that all members agree on, sizes and neighbourhoods.
#include <vector>

#include "mpi/constant_ids.h"
#include "real_functions.h"
#include "tracer/location.h"
#include "tracer/objects.h"

namespace refrain::tracer {

int CommIds::take_member(int family) { return static_cast<int>(members_[family].take()); }

void CommIds::start_family(int family) {
  if (static_cast<size_t>(family) >= members_.size()) members_.resize(family + 1);
  members_[family] = IdPool();
  members_[family].take();
}

void CommIds::give_back(int family, int member) {
  members_[family].give_back(static_cast<uint32_t>(member));
}

void CommIds::used_families(uint64_t (&mask)[kMaxFamilies / 64]) const {
  for (uint64_t& m : mask) m = 0;
  for (size_t f = 0; f < members_.size() && f < kMaxFamilies; ++f)
    if (members_[f].any()) mask[f / 64] |= uint64_t{1} << (f % 64);
}

int CommIds::lowest_free(const uint64_t (&mask)[kMaxFamilies / 64]) {
  constexpr int kFirst = 2;
  for (int f = kFirst; f < kMaxFamilies; ++f)
    if ((mask[f / 64] >> (f % 64) & 1) == 0) return f;
  return kMaxFamilies;  // more than 500 groups alive at once: they share a number
}

CommIds& comm_ids() {
  static CommIds* ids = new CommIds;
  return *ids;
}

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
  info.known = true;
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

// The lowest family number that no member uses. One reduction; on an inter-communicator, whose
// reductions deliver the other side's values, a second one brings our own side's back.
int agree_on_family(Process& p, const CommInfo& info, MPI_Comm parent, MPI_Comm comm) {
  constexpr int kWords = CommIds::kMaxFamilies / 64;
  uint64_t mine[kWords], all[kWords];
  {
    Process::Guard guard(p);
    comm_ids().used_families(mine);
  }
  for (int i = 0; i < kWords; ++i) all[i] = mine[i];
  const auto allreduce = REFRAIN_REAL(PMPI_Allreduce);
  const bool strangers = has_strangers(info.local) || has_strangers(info.remote);
  if (strangers) {
    // Processes of another world may not be recorded: agree among our own, where we know how to.
    if (parent != MPI_COMM_NULL) allreduce(mine, all, kWords, MPI_UINT64_T, MPI_BOR, parent);
  } else if (info.inter) {
    uint64_t theirs[kWords];
    allreduce(mine, theirs, kWords, MPI_UINT64_T, MPI_BOR, comm);
    allreduce(theirs, all, kWords, MPI_UINT64_T, MPI_BOR, comm);
    for (int i = 0; i < kWords; ++i) all[i] |= theirs[i];
  } else if (info.size > 1) {
    allreduce(mine, all, kWords, MPI_UINT64_T, MPI_BOR, comm);
  }
  return CommIds::lowest_free(all);
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
  p.remember(Kind::kComm, key, def);
  if (def >= p.comms.size()) p.comms.resize(def + 1);
  p.comms[def] = std::move(info);
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
  const Captured known = lookup(Kind::kComm, key);
  if (known.what != Captured::What::kNone) return captured(known);
  Process& p = *location_.process;
  const uint32_t parent_def = parent == MPI_COMM_NULL ? HandleMap::kMissing : known_comm(parent);
  const CommInfo* from = parent_def == HandleMap::kMissing ? nullptr : &p.comms[parent_def];
  CommInfo info;
  if (same_group_known && from != nullptr) {
    info = *from;
    info.in_degree = info.out_degree = -1;
  } else {
    query(p, comm, info);
  }
  const bool same_group = from != nullptr && from->inter == info.inter &&
                          from->local == info.local && from->remote == info.remote;
  const int family = same_group ? from->family : agree_on_family(p, info, parent, comm);
  Process::Guard guard(p);
  info.family = family;
  info.member = 0;
  if (same_group)
    info.member = comm_ids().take_member(family);
  else
    comm_ids().start_family(family);
  captured({Captured::What::kDefinition, store(p, key, std::move(info), 0), key});
}

void release_comm(Process& p, uint32_t def) {
  if (def >= p.comms.size() || !p.comms[def].known) return;
  comm_ids().give_back(p.comms[def].family, p.comms[def].member);
}

uint32_t Encoder::known_comm(MPI_Comm comm) {
  Process& p = *location_.process;
  Process::Guard guard(p);
  const uint32_t def = p.handles.find(Kind::kComm, handle_key(comm));
  return def < p.comms.size() && p.comms[def].known ? def : HandleMap::kMissing;
}

int64_t Encoder::comm_size(MPI_Comm comm) {
  const uint32_t def = known_comm(comm);
  if (def == HandleMap::kMissing) return 0;
  const CommInfo& info = location_.process->comms[def];
  return info.inter ? info.remote_size : info.size;
}

bool Encoder::is_root(MPI_Comm comm, int root) {
  const uint32_t def = known_comm(comm);
  if (def == HandleMap::kMissing) return false;
  const CommInfo& info = location_.process->comms[def];
  return info.inter ? root == MPI_ROOT : root == info.rank;
}

void Encoder::degrees(uint32_t def, MPI_Comm comm) {
  Process& p = *location_.process;
  int in = 0, out = 0, topology = MPI_UNDEFINED;
  REFRAIN_REAL(PMPI_Topo_test)(comm, &topology);
  if (topology == MPI_CART) {
    int dimensions = 0;
    REFRAIN_REAL(PMPI_Cartdim_get)(comm, &dimensions);
    in = out = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    REFRAIN_REAL(PMPI_Graph_neighbors_count)(comm, p.comms[def].rank, &in);
    out = in;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    REFRAIN_REAL(PMPI_Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
  }
  p.comms[def].in_degree = in;
  p.comms[def].out_degree = out;
}

int64_t Encoder::indegree(MPI_Comm comm) {
  const uint32_t def = known_comm(comm);
  if (def == HandleMap::kMissing) return 0;
  if (location_.process->comms[def].in_degree < 0) degrees(def, comm);
  return location_.process->comms[def].in_degree;
}

int64_t Encoder::outdegree(MPI_Comm comm) {
  const uint32_t def = known_comm(comm);
  if (def == HandleMap::kMissing) return 0;
  if (location_.process->comms[def].out_degree < 0) degrees(def, comm);
  return location_.process->comms[def].out_degree;
}

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
