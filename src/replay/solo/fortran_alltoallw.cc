// MPI_Alltoallw of Fortran programs with Open MPI, whose Fortran layer takes the number of
// datatypes out of its communicator instead of asking for it: ours has nothing there. So these
// entry points of the layer are answered here, as far as it would have led to the function of C.
//
// Both the layer of mpi_f08 and the trampolines (refrain_fortran_instead_of) lead here.
#include <mpi.h>

#if defined(OPEN_MPI)

#include <dlfcn.h>

#include <utility>
#include <vector>

#include "mpi/call_ids.h"
#include "mpi_runtime/fortran_names.h"
#include "mpi_runtime/fortran_site.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using Fint = MPI_Fint;
using mpi::ParamKind;

// What a Fortran program passes in the place of a buffer; Open MPI has it under this name.
bool is_named(const void* buffer, const char* name) { return buffer == dlsym(RTLD_DEFAULT, name); }

uint64_t buffer_of(void* buffer) {
  if (is_named(buffer, "mpi_fortran_in_place_")) return key_of(MPI_IN_PLACE);
  return key_of(is_named(buffer, "mpi_fortran_bottom_") ? MPI_BOTTOM : buffer);
}

uint64_t handle(ParamKind kind, const Fint* number) {
  return Player::get().objects().from_fortran(kind, *number);
}

struct Side {  // that sends, or that receives
  void* buffer;
  Fint *counts, *displacements, *types;
};

// `info`, `request`: null where the function has none.
void answer_alltoallw(mpi::CallId id, const Side& send, const Side& receive, const Fint* comm,
                      const Fint* info, Fint* request, Fint* ierr) {
  const uint64_t key = handle(ParamKind::kComm, comm);
  const uint64_t partners = Player::get().partners_of(key);
  const auto types_of = [&](const Fint* numbers) {
    std::vector<uint64_t> types(partners);
    for (uint64_t i = 0; i < partners; ++i) types[i] = handle(ParamKind::kDatatype, &numbers[i]);
    return types;
  };
  const bool in_place = buffer_of(send.buffer) == key_of(MPI_IN_PLACE);
  const std::vector<uint64_t> given = types_of(in_place ? receive.types : send.types),
                              taken = types_of(receive.types);
  std::vector<uint64_t> words = {buffer_of(send.buffer),
                                 key_of(send.counts),
                                 key_of(send.displacements),
                                 in_place ? 0 : key_of(given.data()),
                                 buffer_of(receive.buffer),
                                 key_of(receive.counts),
                                 key_of(receive.displacements),
                                 key_of(taken.data()),
                                 key};
  std::vector<uint8_t> widths = {0, sizeof(Fint), sizeof(Fint), sizeof(MPI_Datatype),
                                 0, sizeof(Fint), sizeof(Fint), sizeof(MPI_Datatype),
                                 0};
  uint64_t made = 0;
  if (info != nullptr) words.push_back(handle(ParamKind::kInfo, info)), widths.push_back(0);
  if (request != nullptr) words.push_back(key_of(&made)), widths.push_back(sizeof(MPI_Request));
  Entry entry{id, static_cast<uint8_t>(words.size()), widths.data(), nullptr};
  const auto site = reinterpret_cast<uintptr_t>(refrain_fortran_site.address);
  refrain_fortran_site.address = nullptr;
  const uint64_t result = Player::get().answer_fortran(entry, words.data(), site, 0);
  if (request != nullptr && result == MPI_SUCCESS)
    *request = static_cast<Fint>(Player::get().objects().to_fortran(ParamKind::kRequest, made));
  if (ierr != nullptr) *ierr = static_cast<Fint>(result);
}

}  // namespace
}  // namespace refrain::replay::solo

using refrain::replay::solo::answer_alltoallw;
using Fint = MPI_Fint;

#define REFRAIN_SHOWN extern "C" __attribute__((visibility("default"), used))
#define REFRAIN_SIDES                                                             \
  void *sendbuf, Fint *sendcounts, Fint *sdispls, Fint *sendtypes, void *recvbuf, \
      Fint *recvcounts, Fint *rdispls, Fint *recvtypes, Fint *comm
#define REFRAIN_BOTH \
  {sendbuf, sendcounts, sdispls, sendtypes}, {recvbuf, recvcounts, rdispls, recvtypes}, comm

// Named as in Open MPI's library for mpif.h, which that for mpi_f08 calls.
REFRAIN_SHOWN void ompi_alltoallw_f(REFRAIN_SIDES, Fint* ierr) {
  answer_alltoallw(refrain::mpi::kMPI_Alltoallw, REFRAIN_BOTH, nullptr, nullptr, ierr);
}
REFRAIN_SHOWN void ompi_ialltoallw_f(REFRAIN_SIDES, Fint* request, Fint* ierr) {
  answer_alltoallw(refrain::mpi::kMPI_Ialltoallw, REFRAIN_BOTH, nullptr, request, ierr);
}
REFRAIN_SHOWN void ompix_alltoallw_init_f(REFRAIN_SIDES, Fint* info, Fint* request, Fint* ierr) {
  answer_alltoallw(refrain::mpi::kMPIX_Alltoallw_init, REFRAIN_BOTH, info, request, ierr);
}
REFRAIN_SHOWN void ompi_alltoallw_init_f(REFRAIN_SIDES, Fint* info, Fint* request, Fint* ierr) {
  answer_alltoallw(refrain::mpi::kMPI_Alltoallw_init, REFRAIN_BOTH, info, request, ierr);
}

extern "C" __attribute__((visibility("hidden"), used)) void* refrain_fortran_instead_of(
    void* found) {
  const std::pair<const char*, void*> all[] = {
      {"ompi_alltoallw_f", reinterpret_cast<void*>(&ompi_alltoallw_f)},
      {"ompi_ialltoallw_f", reinterpret_cast<void*>(&ompi_ialltoallw_f)},
      {"ompix_alltoallw_init_f", reinterpret_cast<void*>(&ompix_alltoallw_init_f)},
      {"ompi_alltoallw_init_f", reinterpret_cast<void*>(&ompi_alltoallw_init_f)}};
  for (const auto& [name, ours] : all)
    if (refrain::mpi_runtime::find_behind_recorder(name) == found) return ours;
  return found;
}

#endif
