// Error handlers of the program: they get MPI_COMM_WORLD. A handler has no room for a word of ours,
// so there is a function of ours for each of the program's.
#include <array>
#include <atomic>
#include <cstdarg>
#include <utility>

#include "tracer/state/complain.h"
#include "tracer/wrap/world.h"
#include "world_hand.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // what old programs call is called

namespace refrain::tracer {

namespace {

constexpr size_t kMost = 64;  // different functions; of one kind
using Handler = void(MPI_Comm*, int*, ...);
using FortranHandler = void(MPI_Fint*, MPI_Fint*, ...);

// Those of the program, by the number of the one that stands for it.
template <class F>
struct Known {
  std::array<std::atomic<F*>, kMost> functions;
};
Known<Handler> g_handlers;
Known<FortranHandler> g_fortran_handlers;

template <size_t I>
void handle(MPI_Comm* comm, int* code, ...) {
  const CallbackFrame frame(__builtin_frame_address(0));
  va_list more;
  va_start(more, code);
  void* const text = va_arg(more, void*);  // Open MPI has one; others are not looked at
  va_end(more);
  MPI_Comm given = out_of_world(*comm);
  g_handlers.functions[I].load()(&given, code, text, nullptr);
}

template <size_t I>
void handle_fortran(MPI_Fint* comm, MPI_Fint* code, ...) {
  const CallbackFrame frame(__builtin_frame_address(0));
  const bool is_own = g_world.is_on && *comm == MPI_Comm_c2f(g_world.comm);
  MPI_Fint given = is_own ? MPI_Comm_c2f(MPI_COMM_WORLD) : *comm;
  g_fortran_handlers.functions[I].load()(&given, code);
}

template <size_t... I>
constexpr std::array<Handler*, kMost> all_of(std::index_sequence<I...>) {
  return {handle<I>...};
}
template <size_t... I>
constexpr std::array<FortranHandler*, kMost> all_fortran_of(std::index_sequence<I...>) {
  return {handle_fortran<I>...};
}

// The function that stands for `function`, from now on.
template <class F>
F* stand_in(Known<F>& known, const std::array<F*, kMost>& ours, F* function) {
  for (size_t i = 0; i < kMost; ++i) {
    F* expected = nullptr;
    if (known.functions[i].compare_exchange_strong(expected, function) || expected == function)
      return ours[i];
  }
  static std::atomic<bool> has_said{false};
  if (!has_said.exchange(true))
    say("more than 64 error handlers: in a job with an analyser, the others get "
        "another handle than MPI_COMM_WORLD");
  return function;
}

Handler* in_place_of(Handler* function) {
  static constexpr auto kOurs = all_of(std::make_index_sequence<kMost>());
  return function == nullptr ? function : stand_in(g_handlers, kOurs, function);
}

// Errors that belong to no communicator are those of the real world.
template <class Real>
int set_handler(Real real, MPI_Comm comm, MPI_Errhandler handler) {
  const int rc = real(in_world(comm), handler);
  if (rc == MPI_SUCCESS && g_world.is_on && comm == MPI_COMM_WORLD) real(MPI_COMM_WORLD, handler);
  return rc;
}

}  // namespace

void* fortran_handler_in_world(void* function) {
  static constexpr auto kOurs = all_fortran_of(std::make_index_sequence<kMost>());
  return reinterpret_cast<void*>(
      stand_in(g_fortran_handlers, kOurs, reinterpret_cast<FortranHandler*>(function)));
}

namespace world_by_hand {

int MPI_Comm_create_errhandler(decltype(RealFunctions::MPI_Comm_create_errhandler) real,
                               MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  return real(in_place_of(function), errhandler);
}

int MPI_Comm_set_errhandler(decltype(RealFunctions::MPI_Comm_set_errhandler) real, MPI_Comm comm,
                            MPI_Errhandler errhandler) {
  return set_handler(real, comm, errhandler);
}

#ifdef REFRAIN_HAS_MPI_Errhandler_create
int MPI_Errhandler_create(decltype(RealFunctions::MPI_Errhandler_create) real,
                          MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  return real(in_place_of(function), errhandler);
}
#endif

#ifdef REFRAIN_HAS_MPI_Errhandler_set
int MPI_Errhandler_set(decltype(RealFunctions::MPI_Errhandler_set) real, MPI_Comm comm,
                       MPI_Errhandler errhandler) {
  return set_handler(real, comm, errhandler);
}
#endif

}  // namespace world_by_hand

}  // namespace refrain::tracer
