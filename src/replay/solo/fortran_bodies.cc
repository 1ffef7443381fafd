// Fortran entry points that reach no C function (spec/mpi/fortran_direct): the trampolines jump
// here, and the call is answered like one of C. Attributes are passed by value.
#include <mpi.h>

#include "mpi/call_ids.h"
#include "mpi_runtime/fortran_site.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using Fint = MPI_Fint;
using mpi::ParamKind;
namespace ids = refrain::mpi;

template <size_t N>
uint64_t answer_entry(ids::CallId id, uint64_t (&words)[N], const uint8_t (&widths)[N], Fint* ierr,
                      size_t value_bytes) {
  Entry entry{id, N, widths, nullptr};
  const auto site = reinterpret_cast<uintptr_t>(refrain_fortran_site.address);
  refrain_fortran_site.address = nullptr;
  const uint64_t result = Player::get().answer_fortran(entry, words, site, value_bytes);
  if (ierr != nullptr) *ierr = static_cast<Fint>(result);
  return result;
}

uint64_t handle(ParamKind kind, const Fint* number) {
  return Player::get().objects().from_fortran(kind, *number);
}

template <class Value>
void get_attribute(ids::CallId id, ParamKind kind, Fint* object, Fint* keyval, Value* value,
                   Fint* flag, Fint* ierr) {
  uint64_t words[] = {handle(kind, object), static_cast<uint32_t>(*keyval), key_of(value),
                      key_of(flag)};
  answer_entry(id, words, {0, 0, 0, sizeof(Fint)}, ierr, sizeof(Value));
}

template <class Value>
void set_attribute(ids::CallId id, ParamKind kind, Fint* object, Fint* keyval, Value* value,
                   Fint* ierr) {
  uint64_t words[] = {handle(kind, object), static_cast<uint32_t>(*keyval), key_of(value)};
  answer_entry(id, words, {0, 0, 0}, ierr, sizeof(Value));
}

template <class Extra>
void create_keyval(ids::CallId id, void* copy, void* remove, Fint* keyval, Extra* extra,
                   Fint* ierr) {
  uint64_t words[] = {key_of(copy), key_of(remove), key_of(keyval), key_of(extra)};
  answer_entry(id, words, {0, 0, sizeof(Fint), 0}, ierr, sizeof(Extra));
}

// The handle that C gets becomes the number that Fortran has.
void create_errhandler(ids::CallId id, void* function, Fint* errhandler, Fint* ierr) {
  uint64_t key = 0;
  uint64_t words[] = {key_of(function), key_of(&key)};
  if (answer_entry(id, words, {0, sizeof(MPI_Errhandler)}, ierr, sizeof(Fint)) == MPI_SUCCESS)
    *errhandler =
        static_cast<Fint>(Player::get().objects().to_fortran(ParamKind::kErrhandler, key));
}

MPI_Aint address_arithmetic(ids::CallId id, const MPI_Aint* a, const MPI_Aint* b) {
  uint64_t words[] = {word_of(*a), word_of(*b)};
  return static_cast<MPI_Aint>(answer_entry(id, words, {0, 0}, nullptr, 0));
}

void match_size(const Fint* type_class, const Fint* size, Fint* type, Fint* ierr) {
  uint64_t key = 0;
  uint64_t words[] = {word_of(*type_class), word_of(*size), key_of(&key)};
  if (answer_entry(ids::kMPI_Type_match_size, words, {0, 0, sizeof(MPI_Datatype)}, ierr, 0) ==
      MPI_SUCCESS)
    *type = static_cast<Fint>(Player::get().objects().to_fortran(ParamKind::kDatatype, key));
}

}  // namespace
}  // namespace refrain::replay::solo

using namespace refrain::replay::solo;  // NOLINT: the rest are C entry points
using Kind = refrain::mpi::ParamKind;

// Reached from assembly only: hidden, and named after the C function.
#define REFRAIN_BODY extern "C" __attribute__((visibility("hidden"), used))
#define REFRAIN_ATTRIBUTES(get, set, kind, Value)                                         \
  REFRAIN_BODY void refrain_fortran_##get(Fint* o, Fint* k, Value* v, Fint* f, Fint* e) { \
    get_attribute(ids::k##get, kind, o, k, v, f, e);                                      \
  }                                                                                       \
  REFRAIN_BODY void refrain_fortran_##set(Fint* o, Fint* k, Value* v, Fint* e) {          \
    set_attribute(ids::k##set, kind, o, k, v, e);                                         \
  }
#define REFRAIN_KEYVAL(create, Extra)                                                        \
  REFRAIN_BODY void refrain_fortran_##create(void* c, void* d, Fint* k, Extra* x, Fint* e) { \
    create_keyval(ids::k##create, c, d, k, x, e);                                            \
  }
#define REFRAIN_ERRHANDLER(create)                                         \
  REFRAIN_BODY void refrain_fortran_##create(void* fn, Fint* h, Fint* e) { \
    create_errhandler(ids::k##create, fn, h, e);                           \
  }

REFRAIN_ATTRIBUTES(MPI_Comm_get_attr, MPI_Comm_set_attr, Kind::kComm, MPI_Aint)
REFRAIN_ATTRIBUTES(MPI_Type_get_attr, MPI_Type_set_attr, Kind::kDatatype, MPI_Aint)
REFRAIN_ATTRIBUTES(MPI_Win_get_attr, MPI_Win_set_attr, Kind::kWin, MPI_Aint)
REFRAIN_ATTRIBUTES(MPI_Attr_get, MPI_Attr_put, Kind::kComm, Fint)
REFRAIN_KEYVAL(MPI_Keyval_create, Fint)
REFRAIN_KEYVAL(MPI_Comm_create_keyval, MPI_Aint)
REFRAIN_KEYVAL(MPI_Type_create_keyval, MPI_Aint)
REFRAIN_KEYVAL(MPI_Win_create_keyval, MPI_Aint)
REFRAIN_ERRHANDLER(MPI_Errhandler_create)
REFRAIN_ERRHANDLER(MPI_Comm_create_errhandler)
REFRAIN_ERRHANDLER(MPI_File_create_errhandler)
REFRAIN_ERRHANDLER(MPI_Win_create_errhandler)
REFRAIN_BODY MPI_Aint refrain_fortran_MPI_Aint_add(MPI_Aint* base, MPI_Aint* disp) {
  return address_arithmetic(ids::kMPI_Aint_add, base, disp);
}
REFRAIN_BODY MPI_Aint refrain_fortran_MPI_Aint_diff(MPI_Aint* a, MPI_Aint* b) {
  return address_arithmetic(ids::kMPI_Aint_diff, a, b);
}
REFRAIN_BODY void refrain_fortran_MPI_Type_match_size(Fint* type_class, Fint* size, Fint* type,
                                                      Fint* ierr) {
  match_size(type_class, size, type, ierr);
}
