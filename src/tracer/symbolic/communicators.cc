// Communicators: members, symbolic ids that all members agree on, sizes and neighbourhoods.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/constant_ids.h"
#include "mpi_runtime/agreement.h"
#include "mpi_runtime/constants_table.h"
#include "tracer/state/location.h"
#include "tracer/state/peers.h"
#include "tracer/symbolic/objects.h"

namespace refrain::tracer {

CommIds& comm_ids() { return of_this_process<CommIds>(); }

namespace {

// What MPI says of it.
void ask_of(uint64_t comm, CommInfo& info) {
  static_cast<CommFacts&>(info) = facts_of(comm, world_group());
}

// Ranks of another world, by -1 in their list.
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

// Processes of another world may not be recorded: then we agree among our own.
class MembersAgreement {
 public:
  MembersAgreement(const Process& p, const CommInfo& info, uint64_t comm) {
    const bool all =
        !peers().is_partial() && !has_strangers(info.local) && !has_strangers(info.remote);
    if (all)
      agreement_.emplace(comm, info);
    else
      agreement_.emplace(comm, info,
                         Insiders{recorders(), world_group(), p.rank, own_members(info)});
  }
  const Agreement* operator->() const { return &*agreement_; }

 private:
  std::optional<Agreement> agreement_;
};

// A family number that no member uses; the family has begun when this returns. One reduction where
// ranks have one thread that makes communicators. Where others may be at it at the same time, each
// member tries to reserve the number and a second reduction says whether all could; after a failure
// the search begins elsewhere, so that two communicators do not chase each other.
int agree_on_family(Process& p, const MembersAgreement& agreement) {
  for (int attempt = 0;; ++attempt) {
    uint64_t mask[CommIds::kMaskWords + 1];  // and in the last word:
    uint64_t& salt = mask[CommIds::kMaskWords];
    {
      Process::Guard guard(p);
      comm_ids().used_families(mask);
    }
    const int spread = attempt < 8 ? attempt : 8;
    // One member chooses for all, by its clock: any number does that the competitor is unlikely to
    // have.
    salt = agreement->leads() ? (p.clock.ticks() >> 4) % (uint64_t{1} << spread) : 0;
    agreement->reduce(mask, CommIds::kMaskWords + 1, Agreement::By::kOr);
    // The lowest, since small numbers are one byte in each signature, and equal programs get equal
    // numbers in each run.
    int family = CommIds::lowest_free(mask, CommIds::kFirst + static_cast<int>(salt));
    // More communicators than the mask has bits: then above all that anybody uses, which takes a
    // second reduction.
    if (family == CommIds::kMaskFamilies) {
      uint64_t above = 0;
      {
        Process::Guard guard(p);
        above = static_cast<uint64_t>(comm_ids().above_all());
      }
      agreement->reduce(&above, 1, Agreement::By::kMax);
      family = static_cast<int>(above + salt);
    }
    uint64_t reserved = 0;
    {
      Process::Guard guard(p);
      reserved = comm_ids().start_family(family) ? 1 : 0;
    }
    // No other thread could have taken it in between.
    if (!p.threads_anywhere) return family;
    uint64_t by_all = reserved;
    agreement->reduce(&by_all, 1, Agreement::By::kAnd);
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
  // Other threads read the table without a lock: entries are filled before they are shown
  // (release), and are not moved.
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
    const uint64_t comm = family == 0 ? comm_world_key() : comm_self_key();
    CommInfo info;
    ask_of(comm, info);
    info.family = family;
    // The same numbers on every rank without any agreement.
    comm_ids().start_family(family);
    store(p, comm, std::move(info),
          family == 0 ? mpi::kConst_MPI_COMM_WORLD : mpi::kConst_MPI_COMM_SELF);
  }
}

void Encoder::define_comm(uint64_t parent, uint64_t key, bool same_group_known) {
  const Captured known = lookup_new(Kind::kComm, key);
  // MPI may return a handle that is known, as MPI_Comm_get_parent does.
  if (known.what != Captured::What::kNone) return captured(known);
  Process& p = *location_.process;
  const CommInfo* from = is_null_comm(parent) ? nullptr : known_comm(parent);
  // Every thread of a process comes here at once, and only one of them could reserve a number.
  if (from != nullptr && from->of_threads) return none();
  CommInfo info;
  if (same_group_known && from != nullptr) {
    info = *from;
    info.in_degree = info.out_degree = -1;
  } else {
    ask_of(key, info);
  }
  // Copies are counted within the family of their original. All members make them in the same
  // order, as MPI requires of collective calls, so counting needs no message.
  const bool same_group = from != nullptr && from->inter == info.inter &&
                          from->local == info.local && from->remote == info.remote;
  // Threads that duplicate communicators of their own do so in another order on every rank, so
  // counting does not do then. The handle of a pending MPI_Comm_idup cannot carry a reduction.
  const bool counts = same_group && (!p.threads_anywhere || same_group_known);
  info.member = 0;
  info.family = counts ? from->family : agree_on_family(p, MembersAgreement(p, info, key));
  Process::Guard guard(p);
  if (counts) info.member = comm_ids().take_member(info.family);
  captured({Captured::What::kDefinition, store(p, key, std::move(info), 0), key});
}

// Each process stands in it once for each of its threads. It answers no question before they have
// started, so all that is known of it comes from `parent`.
void Encoder::define_threadcomm(uint64_t parent, int threads, uint64_t key) {
  const CommInfo* from = known_comm(parent);
  if (from == nullptr || from->inter || from->of_threads) return none();
  if (peers().is_partial()) return none();  // who is not recorded says nothing
  // How many threads each process will start is its own affair.
  const std::vector<int> of_each = gather_from_all(parent, threads, from->size);
  CommInfo info;
  info.of_threads = true;
  for (int i = 0; i < from->size; ++i) {
    if (i == from->rank) info.rank = info.size;
    for (int t = 0; t < of_each[static_cast<size_t>(i)]; ++t)
      info.local.append(from->local.at(static_cast<uint64_t>(i)));
    info.size += of_each[static_cast<size_t>(i)];
  }
  Process& p = *location_.process;
  info.family = agree_on_family(p, MembersAgreement(p, *from, parent));
  Process::Guard guard(p);
  captured({Captured::What::kDefinition, store(p, key, std::move(info), 0), key});
}

void release_comm(Process& p, uint32_t def) {
  if (def >= p.comms.size() || p.comms[def] == nullptr) return;
  const CommInfo& info = *p.comms[def];
  // With threads the ranks may free them in another order: numbers that are counted stay taken.
  if (p.threads_anywhere && info.member > 0) return;
  // Ids are used again, so that a loop which makes and frees a communicator has the same signatures
  // each time round.
  comm_ids().give_back(info.family, info.member);
}

CommInfo* Encoder::known_comm(uint64_t comm) {
  // The array may be longer than what is filled: an id that was defined while this thread looks has
  // no entry yet.
  const Captured known = lookup(Kind::kComm, comm);
  if (known.what != Captured::What::kDefinition) return nullptr;
  StableArray<CommInfo*>& comms = location_.process->comms;
  return known.index < comms.size() ? __atomic_load_n(&comms[known.index], __ATOMIC_ACQUIRE)
                                    : nullptr;
}

int64_t Encoder::size_of_comm(uint64_t comm) {
  const CommInfo* info = known_comm(comm);
  if (info == nullptr) return 0;
  return info->inter ? info->remote_size : info->size;
}

bool Encoder::is_root_of(uint64_t comm, int root) {
  const CommInfo* info = known_comm(comm);
  if (info == nullptr) return false;
  if (info->of_threads) return root == rank_now(comm, info->rank);
  return info->inter ? is_root_constant(root) : root == info->rank;
}

CommDegrees Encoder::degrees(uint64_t comm) {
  CommInfo* info = known_comm(comm);
  if (info == nullptr) return {};
  // Whoever asks first writes it down, and who asks at the same time writes the same.
  const int known = __atomic_load_n(&info->in_degree, __ATOMIC_ACQUIRE);
  if (known >= 0) return {known, __atomic_load_n(&info->out_degree, __ATOMIC_RELAXED)};
  const CommDegrees d = degrees_of(comm, info->rank);
  __atomic_store_n(&info->out_degree, d.out, __ATOMIC_RELAXED);
  __atomic_store_n(&info->in_degree, d.in, __ATOMIC_RELEASE);
  return d;
}

int64_t Encoder::dimensions(uint64_t comm) { return dimensions_of(comm); }

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
