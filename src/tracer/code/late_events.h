// What a thread of the MPI library has yet to do when the library unloads the code for it.
//
// In MPI_Finalize, Open MPI 4 hands the end of event handling over to its progress thread, and then
// unloads the component whose function that is (mca_pmix_*), without waiting for the thread. Where
// cores are busy the thread comes too late and jumps to where that function was: SIGSEGV in one
// rank of some thousands (github.com/open-mpi/ompi/issues/10117). It may be that a rank that has
// slept, as the recorder's do while they wait for each other, gets ahead of the thread more often.
// So once that has been handed over, which is where the component that does it (mca_errmgr_*) is
// unloaded, the rank goes on when the library's threads have nothing left to do.
//
// Threads: all of these for the one that calls MPI_Init and MPI_Finalize. Errors: none; where /proc
// says nothing of threads nobody is waited for.
#pragma once

namespace refrain::tracer {

// Before MPI_Init and behind it: the threads that came meanwhile are the library's.
void note_threads_before_mpi();
void note_threads_of_mpi();
// MPI_Finalize begins. Nothing follows from it where no threads of a library were noted.
void expect_unloads();
// To be asked before a library is unloaded: whether to call wait_for_late_events() behind that.
bool has_late_events(void* library);
// Until all of them sleep; a few milliseconds at most in all that was seen, two seconds at most.
void wait_for_late_events();

}  // namespace refrain::tracer
