// Fortran entry points that an MPI library implements without calling the C function of their name
// (spec/mpi/fortran_direct): attributes, callbacks of Fortran programs, address arithmetic. Their
// trampolines jump here instead; the real entry point is called through refrain_fortran_site.real.
//
// Everything is passed by reference; a TYPE(MPI_Comm) of mpi_f08 holds one integer, so both
// bindings look alike. ierr is absent (null) in mpi_f08 programs that leave it out.
#include <mpi.h>

#include "mpi/call_ids.h"
#include "mpi/constant_ids.h"
#include "mpi_runtime/fortran_site.h"
#include "real_functions.h"
#include "tracer/filter/control.h"
#include "tracer/wrap/call_scope.h"
#include "tracer/wrap/world.h"

namespace refrain::tracer {

namespace {

using Fint = MPI_Fint;

uint64_t comm_key(Fint f) { return handle_key(MPI_Comm_f2c(f)); }
uint64_t type_key(Fint f) { return handle_key(MPI_Type_f2c(f)); }
uint64_t win_key(Fint f) { return handle_key(MPI_Win_f2c(f)); }
uint64_t errhandler_key(Fint f) { return handle_key(MPI_Errhandler_f2c(f)); }

using KeyOf = uint64_t (*)(Fint);

// Predefined attributes have a number of their own in MPICH's Fortran: the one behind that of C.
void encode_keyval(Encoder& e, Fint keyval) {
  const Captured known = e.lookup(Kind::kKeyval, handle_key(keyval));
  const Captured shifted = e.lookup(Kind::kKeyval, handle_key(keyval - 1));
  const bool use_shifted =
      known.what == Captured::What::kNone && shifted.what == Captured::What::kConst;
  e.captured(use_shifted ? shifted : known);
}

// The call on its way through: `pass_on` calls the real entry point with the error code's place,
// `encode` writes the parameters.
template <class PassOn, class Encode>
void call(mpi::CallId id, Fint* ierr, PassOn pass_on, Encode encode) {
  const FortranSite site = refrain_fortran_site;
  refrain_fortran_site.address = nullptr;  // answered
  Fint rc = MPI_SUCCESS;
  // Where the frame of a function without one of its own would be: below the return address.
  CallScope scope(id, site.address, static_cast<void**>(site.sp) - 1);
  if (scope.active() && leaves_out(id)) scope.leave_out(is_filtered_out(id));
  if (!scope.active()) {
    pass_on(site.real, &rc);
  } else {
    scope.begin();
    pass_on(site.real, &rc);
    scope.end();
    encode(scope.encoder(rc), rc == MPI_SUCCESS);
    scope.commit();
  }
  if (ierr != nullptr) *ierr = rc;
}

// ---- the program's world, in a job with an analyser: see world.h ----

#ifndef REFRAIN_SMPI

// The keyval of C for one of Fortran.
int c_keyval(Fint keyval) {
#ifdef MPICH_VERSION
  if (is_predefined_attribute(keyval - 1)) return keyval - 1;
#endif
  return keyval;
}

Fint attribute_holder(Kind kind, Fint object, Fint keyval) {
  return kind == Kind::kComm ? fortran_holder(object, c_keyval(keyval)) : object;
}
Fint attribute_place(Kind kind, Fint object) {
  return kind == Kind::kComm ? fortran_in_world(object) : object;
}
template <class Value>
void put_appnum(Kind kind, Fint keyval, Value* value) {
  if (kind == Kind::kComm && g_world.is_on && g_world.appnum >= 0 && c_keyval(keyval) == MPI_APPNUM)
    *value = g_world.appnum;
}

#else

Fint attribute_holder(Kind, Fint object, Fint) { return object; }
Fint attribute_place(Kind, Fint object) { return object; }
template <class Value>
void put_appnum(Kind, Fint, Value*) {}

#endif

template <class Value>
void get_attribute(mpi::CallId id, Kind kind, KeyOf key, Fint* object, Fint* keyval, Value* value,
                   Fint* flag, Fint* ierr) {
  call(
      id, ierr,
      [&](void* real, Fint* rc) {
        Fint holder = attribute_holder(kind, *object, *keyval);
        reinterpret_cast<void (*)(Fint*, Fint*, Value*, Fint*, Fint*)>(real)(&holder, keyval, value,
                                                                             flag, rc);
        if (*rc == MPI_SUCCESS && *flag != 0) put_appnum(kind, *keyval, value);
      },
      [&](Encoder& e, bool ok) {
        e.captured(e.lookup(kind, key(*object)));
        encode_keyval(e, *keyval);
        ok&&* flag != 0 ? e.integer(*value) : e.none();
        ok ? e.integer(*flag != 0 ? 1 : 0) : e.none();
      });
}

template <class Value>
void set_attribute(mpi::CallId id, Kind kind, KeyOf key, Fint* object, Fint* keyval, Value* value,
                   Fint* ierr) {
  call(
      id, ierr,
      [&](void* real, Fint* rc) {
        Fint place = attribute_place(kind, *object);
        reinterpret_cast<void (*)(Fint*, Fint*, Value*, Fint*)>(real)(&place, keyval, value, rc);
      },
      [&](Encoder& e, bool) {
        e.captured(e.lookup(kind, key(*object)));
        encode_keyval(e, *keyval);
        e.integer(*value);
      });
}

template <class Extra>
void create_keyval(mpi::CallId id, void* copy, void* remove, Fint* keyval, Extra* extra,
                   Fint* ierr) {
  call(
      id, ierr,
      [&](void* real, Fint* rc) {
        void *used_copy = copy, *used_remove = remove;
        void* used_extra = extra;
#ifndef REFRAIN_SMPI
        const FortranKeyval inside;
        if (g_world.is_on && (id == mpi::kMPI_Comm_create_keyval || id == mpi::kMPI_Keyval_create))
          used_extra = fortran_attribute_in_world(sizeof(Extra) == sizeof(MPI_Aint), &used_copy,
                                                  &used_remove, extra);
#endif
        reinterpret_cast<void (*)(void*, void*, Fint*, void*, Fint*)>(real)(used_copy, used_remove,
                                                                            keyval, used_extra, rc);
      },
      [&](Encoder& e, bool ok) {
        e.function(copy);
        e.function(remove);
        ok ? e.new_handle(Kind::kKeyval, *keyval) : e.none();
        e.integer(*extra);
      });
}

void create_errhandler(mpi::CallId id, void* function, Fint* errhandler, Fint* ierr) {
  call(
      id, ierr,
      [&](void* real, Fint* rc) {
        void* used = function;
#ifndef REFRAIN_SMPI
        if (g_world.is_on &&
            (id == mpi::kMPI_Comm_create_errhandler || id == mpi::kMPI_Errhandler_create))
          used = fortran_handler_in_world(function);
#endif
        reinterpret_cast<void (*)(void*, Fint*, Fint*)>(real)(used, errhandler, rc);
      },
      [&](Encoder& e, bool ok) {
        e.function(function);
        ok ? e.captured(e.learn(Kind::kErrhandler, errhandler_key(*errhandler))) : e.none();
      });
}

// MPI_Aint_add, MPI_Aint_diff: no error code, a value.
MPI_Aint address_arithmetic(mpi::CallId id, MPI_Aint* a, MPI_Aint* b) {
  MPI_Aint value = 0;
  call(
      id, nullptr,
      [&](void* real, Fint*) {
        value = reinterpret_cast<MPI_Aint (*)(MPI_Aint*, MPI_Aint*)>(real)(a, b);
      },
      [&](Encoder& e, bool) {
        e.integer(*a);
        e.integer(*b);
        e.result();
        e.integer(value);
      });
  return value;
}

}  // namespace

}  // namespace refrain::tracer

using namespace refrain::tracer;  // NOLINT: the rest are C entry points
using refrain::mpi::CallId;
namespace ids = refrain::mpi;

// Reached from assembly only: hidden, and named after the C function.
#define REFRAIN_BODY extern "C" __attribute__((visibility("hidden"), used))

REFRAIN_BODY void refrain_fortran_MPI_Comm_get_attr(Fint* o, Fint* k, MPI_Aint* v, Fint* f,
                                                    Fint* e) {
  get_attribute(ids::kMPI_Comm_get_attr, Kind::kComm, comm_key, o, k, v, f, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Type_get_attr(Fint* o, Fint* k, MPI_Aint* v, Fint* f,
                                                    Fint* e) {
  get_attribute(ids::kMPI_Type_get_attr, Kind::kDatatype, type_key, o, k, v, f, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Win_get_attr(Fint* o, Fint* k, MPI_Aint* v, Fint* f,
                                                   Fint* e) {
  get_attribute(ids::kMPI_Win_get_attr, Kind::kWin, win_key, o, k, v, f, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Attr_get(Fint* o, Fint* k, Fint* v, Fint* f, Fint* e) {
  get_attribute(ids::kMPI_Attr_get, Kind::kComm, comm_key, o, k, v, f, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Comm_set_attr(Fint* o, Fint* k, MPI_Aint* v, Fint* e) {
  set_attribute(ids::kMPI_Comm_set_attr, Kind::kComm, comm_key, o, k, v, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Type_set_attr(Fint* o, Fint* k, MPI_Aint* v, Fint* e) {
  set_attribute(ids::kMPI_Type_set_attr, Kind::kDatatype, type_key, o, k, v, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Win_set_attr(Fint* o, Fint* k, MPI_Aint* v, Fint* e) {
  set_attribute(ids::kMPI_Win_set_attr, Kind::kWin, win_key, o, k, v, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Attr_put(Fint* o, Fint* k, Fint* v, Fint* e) {
  set_attribute(ids::kMPI_Attr_put, Kind::kComm, comm_key, o, k, v, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Keyval_create(void* c, void* d, Fint* k, Fint* x, Fint* e) {
  create_keyval(ids::kMPI_Keyval_create, c, d, k, x, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Comm_create_keyval(void* c, void* d, Fint* k, MPI_Aint* x,
                                                         Fint* e) {
  create_keyval(ids::kMPI_Comm_create_keyval, c, d, k, x, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Type_create_keyval(void* c, void* d, Fint* k, MPI_Aint* x,
                                                         Fint* e) {
  create_keyval(ids::kMPI_Type_create_keyval, c, d, k, x, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Win_create_keyval(void* c, void* d, Fint* k, MPI_Aint* x,
                                                        Fint* e) {
  create_keyval(ids::kMPI_Win_create_keyval, c, d, k, x, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Errhandler_create(void* fn, Fint* h, Fint* e) {
  create_errhandler(ids::kMPI_Errhandler_create, fn, h, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Comm_create_errhandler(void* fn, Fint* h, Fint* e) {
  create_errhandler(ids::kMPI_Comm_create_errhandler, fn, h, e);
}
REFRAIN_BODY void refrain_fortran_MPI_File_create_errhandler(void* fn, Fint* h, Fint* e) {
  create_errhandler(ids::kMPI_File_create_errhandler, fn, h, e);
}
REFRAIN_BODY void refrain_fortran_MPI_Win_create_errhandler(void* fn, Fint* h, Fint* e) {
  create_errhandler(ids::kMPI_Win_create_errhandler, fn, h, e);
}
REFRAIN_BODY MPI_Aint refrain_fortran_MPI_Aint_add(MPI_Aint* base, MPI_Aint* disp) {
  return address_arithmetic(ids::kMPI_Aint_add, base, disp);
}
REFRAIN_BODY MPI_Aint refrain_fortran_MPI_Aint_diff(MPI_Aint* a, MPI_Aint* b) {
  return address_arithmetic(ids::kMPI_Aint_diff, a, b);
}
REFRAIN_BODY void refrain_fortran_MPI_Type_match_size(Fint* type_class, Fint* size, Fint* type,
                                                      Fint* ierr) {
  call(
      ids::kMPI_Type_match_size, ierr,
      [&](void* real, Fint* rc) {
        reinterpret_cast<void (*)(Fint*, Fint*, Fint*, Fint*)>(real)(type_class, size, type, rc);
      },
      [&](Encoder& e, bool ok) {
        e.named(ids::domain::kTypeClass, *type_class);
        e.integer(*size);
        ok ? e.new_datatype(MPI_Type_f2c(*type)) : e.none();
      });
}
