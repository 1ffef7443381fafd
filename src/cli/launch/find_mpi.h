// Finds the MPI that a program uses without running it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/launch/library_search.h"

namespace refrain::cli {

enum class Mpi : uint8_t { kNone, kMpich, kOpenMpi, kAbi, kSmpi, kOther };

// "mpich", "openmpi", "abi", "smpi": the word of --mpi and in librefrain-<word>.so.
std::string mpi_word(Mpi mpi);
bool is_known_mpi(const std::string& word);
// "mpich, openmpi, abi or smpi".
std::string known_mpi_words();
// Words of those that replay and the like have a program for: "mpich", "openmpi".
std::vector<std::string> launched_mpi_words();
// The MPI that names itself in a text, as all do in MPI_Get_library_version(); empty: none does.
std::string mpi_named_in(std::string_view text);

// By the name of a library that a program asks for: libmpich.so.* and the libmpi.so.12 of the MPICH
// ABI (Intel MPI, Cray, MVAPICH); libmpi.so.40 and its parts for Open MPI; libmpi_abi.so.* for the
// standard ABI of MPI 5, whichever MPI is behind it; libsimgrid.so.* for SMPI; kOther for an MPI
// that no recorder is built for; kNone for a library that has nothing to do with MPI. The names
// stand in cmake/RefrainKnownMpis.cmake.
Mpi mpi_of_library(const std::string& name);

// What the environment says of the launcher that started this process.
struct Launcher {
  Mpi mpi = Mpi::kNone;
  int rank = 0;  // of this process; 0 without a launcher
  // Processes that it has started, if it is sure that they are ranks of `mpi` or of none; else 0:
  // Slurm's srun serves both, and so does whoever speaks PMIx.
  int only_for_mpi = 0;
};
using Environment = std::function<const char*(const char*)>;  // like getenv
Launcher find_launcher(const Environment& environment);

struct ProgramMpi {
  Mpi mpi = Mpi::kNone;
  bool may_load_later = false;  // an interpreter, or it can start or load something else
  std::string library;          // the name that decided; empty for kNone
  std::string second_library;   // of another MPI, which it needs as well; empty: none
  std::string interpreter;      // of a script; else the program itself
  bool speaks_pmix = false;     // so that Open MPI's launcher can start it as one job
};

// What is wrong when a program is started by the launcher of another MPI, whose every process would
// be a job of its own, and what to use instead; empty: nothing. `path`: $PATH.
std::string wrong_launcher(const ProgramMpi& program, const Launcher& launcher,
                           const std::string& path);

// The MPI that mpi4py was built for, where `interpreter` is a Python that has it; kNone: it is no
// Python, has none, or several. The library is noted, too.
ProgramMpi find_mpi4py(const std::string& interpreter, const Environment& environment,
                       const LibrarySearch& search);

// Follows #! lines and the closure of needed libraries; not what the library of `of_launcher` needs
// itself, which has no news: every rank does this, and that is most of the files. Fails when the
// file is no program, is of another machine, or has MPI linked into itself
// (ErrorCode::kUnsupported: nothing to preload under).
base::Result<ProgramMpi> find_mpi(const std::string& program, const LibrarySearch& search,
                                  Mpi of_launcher = Mpi::kNone);

}  // namespace refrain::cli
