// Attributes of the program's world: those that MPI has set come from the real one, and callbacks
// of the program's own get MPI_COMM_WORLD.
#include <atomic>

#include "mpi_runtime/handle_map.h"
#include "tracer/wrap/world.h"
#include "world_hand.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // what old programs call is called

namespace refrain::tracer {

bool is_predefined_attribute(int keyval) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_HOST:
    case MPI_IO:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_UNIVERSE_SIZE:
    case MPI_LASTUSEDCODE:
    case MPI_APPNUM: return true;
    default: return false;
  }
}

namespace {

bool is_copy_of_world(MPI_Comm comm) {
  void* value = nullptr;
  int flag = 0;
  return g_world.has_copy_key &&
         g_whole.PMPI_Comm_get_attr(comm, g_world.copy_key, &value, &flag) == MPI_SUCCESS &&
         flag != 0;
}

MPI_Comm holder(MPI_Comm comm, int keyval) {
  if (!g_world.is_on) return comm;
  if (!is_predefined_attribute(keyval)) return in_world(comm);
  return is_copy_of_world(comm) ? MPI_COMM_WORLD : comm;
}

int get_attribute(decltype(RealFunctions::MPI_Comm_get_attr) real, MPI_Comm comm, int keyval,
                  void* value, int* flag) {
  const int rc = real(holder(comm, keyval), keyval, value, flag);
  if (rc == MPI_SUCCESS && g_world.is_on && keyval == MPI_APPNUM && *flag != 0 &&
      g_world.appnum >= 0)
    *static_cast<int**>(value) = &g_world.appnum;
  return rc;
}

// ---- callbacks ----

// What a keyval's callbacks need, as long as the program runs.
struct Callbacks {
  MPI_Comm_copy_attr_function* copy;
  MPI_Comm_delete_attr_function* remove;
  void* extra;
};

int copy_in_world(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  const CallbackFrame frame(__builtin_frame_address(0));
  const auto* const of = static_cast<const Callbacks*>(extra);
  return of->copy(out_of_world(comm), keyval, of->extra, in, out, flag);
}

int remove_in_world(MPI_Comm comm, int keyval, void* value, void* extra) {
  const CallbackFrame frame(__builtin_frame_address(0));
  const auto* const of = static_cast<const Callbacks*>(extra);
  return of->remove(out_of_world(comm), keyval, value, of->extra);
}

// MPI's own look at no communicator, and some are null pointers.
bool is_mpis(MPI_Comm_copy_attr_function* copy) {
  return copy == MPI_COMM_NULL_COPY_FN || copy == MPI_COMM_DUP_FN || copy == MPI_NULL_COPY_FN ||
         copy == MPI_DUP_FN;
}
bool is_mpis(MPI_Comm_delete_attr_function* remove) {
  return remove == MPI_COMM_NULL_DELETE_FN || remove == MPI_NULL_DELETE_FN;
}

thread_local bool t_makes_fortran_keyval = false;

template <class Real>
int create_keyval(Real real, MPI_Comm_copy_attr_function* copy,
                  MPI_Comm_delete_attr_function* remove, int* keyval, void* extra) {
  if (t_makes_fortran_keyval || (is_mpis(copy) && is_mpis(remove)))
    return real(copy, remove, keyval, extra);
  return real(is_mpis(copy) ? copy : copy_in_world, is_mpis(remove) ? remove : remove_in_world,
              keyval, new Callbacks{copy, remove, extra});
}

// ---- the same for Fortran, where the extra state is a number ----

// MPICH keeps the address of the extra state, and the program may change what is there; Open MPI
// keeps its value. Which of both it is shows in the address that a callback gets.
struct FortranCallbacks {
  void* copy;
  void* remove;
  void* place;  // where the program's extra state is
  MPI_Aint value;
  // This entry's index, which MPI has in place of the program's extra state.
  MPI_Aint wide_index;
  MPI_Fint index;

  template <class Int>
  Int* extra(Int* given, Int* copied) {
    if (given == static_cast<void*>(&wide_index) || given == static_cast<void*>(&index))
      return static_cast<Int*>(place);
    *copied = static_cast<Int>(value);
    return copied;
  }
};
constexpr size_t kMostFortran = 4096;
FortranCallbacks g_fortran[kMostFortran];
std::atomic<size_t> g_fortran_count{0};

MPI_Fint fortran_out_of_world(MPI_Fint comm) {
  return g_world.is_on && comm == MPI_Comm_c2f(g_world.comm) ? MPI_Comm_c2f(MPI_COMM_WORLD) : comm;
}

template <class Int>
void fortran_copy(MPI_Fint* comm, MPI_Fint* keyval, Int* extra, Int* in, Int* out, MPI_Fint* flag,
                  MPI_Fint* ierr) {
  const CallbackFrame frame(__builtin_frame_address(0));
  FortranCallbacks& of = g_fortran[static_cast<size_t>(*extra)];
  MPI_Fint given = fortran_out_of_world(*comm);
  Int copied = 0;
  reinterpret_cast<decltype(&fortran_copy<Int>)>(of.copy)(&given, keyval, of.extra(extra, &copied),
                                                          in, out, flag, ierr);
}

template <class Int>
void fortran_remove(MPI_Fint* comm, MPI_Fint* keyval, Int* value, Int* extra, MPI_Fint* ierr) {
  const CallbackFrame frame(__builtin_frame_address(0));
  FortranCallbacks& of = g_fortran[static_cast<size_t>(*extra)];
  MPI_Fint given = fortran_out_of_world(*comm);
  Int copied = 0;
  reinterpret_cast<decltype(&fortran_remove<Int>)>(of.remove)(&given, keyval, value,
                                                              of.extra(extra, &copied), ierr);
}

template <class F>
void* address_of(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

FortranKeyval::FortranKeyval() { t_makes_fortran_keyval = true; }
FortranKeyval::~FortranKeyval() { t_makes_fortran_keyval = false; }

MPI_Fint fortran_in_world(MPI_Fint comm) {
  return g_world.is_on ? MPI_Comm_c2f(in_world(MPI_Comm_f2c(comm))) : comm;
}

MPI_Fint fortran_holder(MPI_Fint comm, int keyval) {
  return g_world.is_on ? MPI_Comm_c2f(holder(MPI_Comm_f2c(comm), keyval)) : comm;
}

void* fortran_attribute_in_world(bool wide, void** copy, void** remove, void* extra) {
  const size_t i = g_fortran_count.fetch_add(1);
  if (i >= kMostFortran) return extra;  // its callbacks see the communicator as MPI knows it
  const MPI_Aint value = wide ? *static_cast<MPI_Aint*>(extra) : *static_cast<MPI_Fint*>(extra);
  g_fortran[i] = {*copy, *remove, extra, value, static_cast<MPI_Aint>(i), static_cast<MPI_Fint>(i)};
  *copy = wide ? address_of(fortran_copy<MPI_Aint>) : address_of(fortran_copy<MPI_Fint>);
  *remove = wide ? address_of(fortran_remove<MPI_Aint>) : address_of(fortran_remove<MPI_Fint>);
  return wide ? static_cast<void*>(&g_fortran[i].wide_index) : &g_fortran[i].index;
}

namespace world_by_hand {

int MPI_Comm_get_attr(decltype(RealFunctions::MPI_Comm_get_attr) real, MPI_Comm comm,
                      int comm_keyval, void* attribute_val, int* flag) {
  return get_attribute(real, comm, comm_keyval, attribute_val, flag);
}

#ifdef REFRAIN_HAS_MPI_Attr_get
int MPI_Attr_get(decltype(RealFunctions::MPI_Attr_get) real, MPI_Comm comm, int keyval,
                 void* attribute_val, int* flag) {
  return get_attribute(real, comm, keyval, attribute_val, flag);
}
#endif

int MPI_Comm_create_keyval(decltype(RealFunctions::MPI_Comm_create_keyval) real,
                           MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                           int* keyval, void* extra) {
  return create_keyval(real, copy, remove, keyval, extra);
}

#ifdef REFRAIN_HAS_MPI_Keyval_create
int MPI_Keyval_create(decltype(RealFunctions::MPI_Keyval_create) real, MPI_Copy_function* copy,
                      MPI_Delete_function* remove, int* keyval, void* extra) {
  return create_keyval(real, copy, remove, keyval, extra);
}
#endif

}  // namespace world_by_hand

}  // namespace refrain::tracer
