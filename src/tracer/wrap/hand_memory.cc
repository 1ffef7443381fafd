// Memory that MPI hands out: blocks of their own where buffers are told apart.
#include "hand.h"
#include "tracer/symbolic/buffers.h"
#include "tracer/wrap/completion.h"
#include "tracer/wrap/wrapper_support.h"

namespace refrain::tracer::hand {

namespace {

// MPI_Win_allocate and MPI_Win_allocate_shared differ in their names only.
template <class Real, class Size, class Unit>
int allocate_window(CallScope& scope, Real real, Size size, Unit disp_unit, MPI_Info info,
                    MPI_Comm comm, void* baseptr, MPI_Win* win) {
  scope.begin();
  const int rc = real(size, disp_unit, info, comm, baseptr, win);
  scope.end();
  const bool ok = rc == MPI_SUCCESS;
  Encoder& e = scope.encoder(rc);
  if (ok) window_memory_given(handle_key(*win));
  e.integer(size);
  e.integer(disp_unit);
  e.handle(Kind::kInfo, info);
  e.handle(Kind::kComm, comm);
  ok ? encode_pointer(e, pointer_at(baseptr)) : e.none();
  ok ? e.new_win(comm, *win) : e.none();
  scope.commit();
  return rc;
}

}  // namespace

int MPI_Alloc_mem(CallScope& scope, decltype(&::MPI_Alloc_mem) real, MPI_Aint size, MPI_Info info,
                  void* baseptr) {
  scope.begin();
  const int rc = real(size, info, baseptr);
  scope.end();
  const bool ok = rc == MPI_SUCCESS;
  Encoder& e = scope.encoder(rc);
  if (ok) memory_given(pointer_at(baseptr), size);
  e.integer(size);
  e.handle(Kind::kInfo, info);
  ok ? encode_pointer(e, pointer_at(baseptr)) : e.none();
  scope.commit();
  return rc;
}

int MPI_Free_mem(CallScope& scope, decltype(&::MPI_Free_mem) real, void* base) {
  scope.begin();
  const int rc = real(base);
  scope.end();
  scope.encoder(rc).buffer(base);
  if (rc == MPI_SUCCESS) memory_taken(base);
  scope.commit();
  return rc;
}

int MPI_Win_allocate(CallScope& scope, decltype(&::MPI_Win_allocate) real, MPI_Aint size,
                     int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  return allocate_window(scope, real, size, disp_unit, info, comm, baseptr, win);
}

int MPI_Win_allocate_shared(CallScope& scope, decltype(&::MPI_Win_allocate_shared) real,
                            MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                            void* baseptr, MPI_Win* win) {
  return allocate_window(scope, real, size, disp_unit, info, comm, baseptr, win);
}

#ifdef REFRAIN_HAS_MPI_Win_allocate_c
int MPI_Win_allocate_c(CallScope& scope, decltype(&::MPI_Win_allocate_c) real, MPI_Aint size,
                       MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                       MPI_Win* win) {
  return allocate_window(scope, real, size, disp_unit, info, comm, baseptr, win);
}

int MPI_Win_allocate_shared_c(CallScope& scope, decltype(&::MPI_Win_allocate_shared_c) real,
                              MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                              void* baseptr, MPI_Win* win) {
  return allocate_window(scope, real, size, disp_unit, info, comm, baseptr, win);
}
#endif

int MPI_Win_free(CallScope& scope, decltype(&::MPI_Win_free) real, MPI_Win* win) {
  const Captured before = win != nullptr ? scope.capture_to_free(Kind::kWin, *win) : Captured{};
  if (before.what == Captured::What::kDefinition) window_memory_taken(handle_key(*win));
  scope.begin();
  const int rc = real(win);
  scope.end();
  scope.encoder(rc).captured(before);
  if (rc == MPI_SUCCESS)
    scope.released(Kind::kWin, before);
  else
    scope.not_released(Kind::kWin, before);
  scope.commit();
  return rc;
}

}  // namespace refrain::tracer::hand
