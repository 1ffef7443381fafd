#include "cli/launch/find_mpi.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "cli/launch/elf_file.h"
#include "cli/launch/launch_line.h"

#include "base/known_mpis.h"
#include "base/launcher_words.h"

namespace refrain::cli {
namespace {

constexpr int kMaxInterpreters = 4;     // the kernel's limit of nested #! lines
constexpr size_t kMaxLibraries = 4096;  // of one program; more is a loop of some kind
constexpr size_t kMaxInterpreterLine = 255;

// What is said of an MPI with a recorder.
struct About {
  Mpi mpi;
  std::string_view word;      // as cmake/RefrainKnownMpis.cmake has it
  std::string_view name;      // its own; empty: the library of any may be behind it
  std::string_view launcher;  // empty: it is not told from others
  std::string_view there;     // its launcher as Debian and its descendants have it
};
constexpr About kAbout[] = {
    {Mpi::kMpich, "mpich", "MPICH", "mpiexec", "mpiexec.mpich"},
    {Mpi::kOpenMpi, "openmpi", "Open MPI", "mpirun", "mpirun.openmpi"},
    {Mpi::kAbi, "abi", "", "", ""},
    {Mpi::kSmpi, "smpi", "SMPI", "", ""},
};

About about(Mpi mpi) {
  for (const About& row : kAbout)
    if (row.mpi == mpi) return row;
  return {mpi, "", "", "", ""};
}

Mpi mpi_of_word(std::string_view word) {
  if (word.empty()) return Mpi::kNone;
  for (const About& row : kAbout)
    if (row.word == word) return row.mpi;
  return Mpi::kOther;
}

// The interpreter of a script, empty when the file does not begin with #!.
std::string interpreter_of(const std::string& path) {
  char begin[kMaxInterpreterLine];
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, begin, sizeof begin);
  if (fd >= 0) close(fd);
  const std::string text(begin, got < 0 ? 0 : static_cast<size_t>(got));
  if (!text.starts_with("#!")) return "";
  const std::string line = text.substr(
      2, text.find('\n') == std::string::npos ? std::string::npos : text.find('\n') - 2);
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_first_of(" \t\r", first) - first);
}

// A library that is a whole interpreter. (Others that import dlopen, such as libcrypto, load
// plug-ins of their own.)
bool is_interpreter(const std::string& library) {
  for (const char* prefix : {"libpython", "libperl", "libjulia", "libjvm", "libjli", "libruby",
                             "libR.so", "liblua", "libtcl", "libguile", "liboctinterp"})
    if (library.starts_with(prefix)) return true;
  return false;
}

// Libraries of the C library and of compilers: behind them there is no MPI, and each rank of a job
// would open them for nothing.
bool is_of_system(std::string_view library) {
  for (const std::string_view stem :
       {"libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "ld-linux", "libgcc_s.so",
        "libstdc++.so", "libgfortran.so", "libquadmath.so"})
    if (library.starts_with(stem)) return true;
  return false;
}

// Two MPIs that cannot work in one program.
bool excludes(Mpi a, Mpi b) { return a != b && !about(a).name.empty() && !about(b).name.empty(); }

// Breadth first, as the loader does it.
class Closure {
 public:
  explicit Closure(const LibrarySearch& search, Mpi of_launcher = Mpi::kNone)
      : search_(search), of_launcher_(of_launcher) {}

  ProgramMpi walk(const ElfFile& program, const std::string& path) {
    pending_.push_back({program, path, {}});
    for (size_t i = 0; i < pending_.size() && i < kMaxLibraries; ++i) {
      const Entry entry = pending_[i];
      for (const std::string& name : entry.file.needed) visit(name, entry);
    }
    if (program.may_load_more) result_.may_load_later = true;
    return result_;
  }

 private:
  struct Entry {
    ElfFile file;
    std::string path;
    std::vector<std::string> rpath;  // of the files that led here, innermost first
  };

  void visit(const std::string& name, const Entry& user) {
    if (!seen_.insert(name).second) return;
    const std::string base = name.substr(name.rfind('/') + 1);
    if (base.starts_with("libpmix.so")) result_.speaks_pmix = true;
    const Mpi mpi = mpi_of_library(base);
    note(mpi, base);
    if ((mpi != Mpi::kNone && mpi == of_launcher_) || is_of_system(base)) return;
    const std::string path = search_.find(name, user.file, user.path, user.rpath);
    if (path.empty()) return;
    const bool may_be_interpreter = is_interpreter(base);
    auto file = read_elf(path, may_be_interpreter ? Symbols::kRead : Symbols::kSkipped);
    if (!file.ok()) return;
    if (may_be_interpreter && file->may_load_more) result_.may_load_later = true;
    note(mpi_of_library(file->soname), file->soname);
    Entry next{std::move(*file), path, {}};
    for (const std::string& d : user.file.rpath)
      next.rpath.push_back(LibrarySearch::expand(d, user.path));
    next.rpath.insert(next.rpath.end(), user.rpath.begin(), user.rpath.end());
    pending_.push_back(std::move(next));
  }

  // The first one wins; an unknown MPI gives way to a known one (libmpi.so -> libopen-pal.so.40).
  void note(Mpi mpi, const std::string& library) {
    if (mpi == Mpi::kNone) return;
    if (excludes(result_.mpi, mpi) && result_.second_library.empty())
      result_.second_library = library;
    if (result_.mpi != Mpi::kNone && !(result_.mpi == Mpi::kOther && mpi != Mpi::kOther)) return;
    result_.mpi = mpi;
    result_.library = library;
  }

  const LibrarySearch& search_;
  const Mpi of_launcher_;
  std::vector<Entry> pending_;
  std::set<std::string> seen_;
  ProgramMpi result_;
};

}  // namespace

std::string mpi_word(Mpi mpi) { return std::string(about(mpi).word); }

bool is_known_mpi(const std::string& word) {
  const auto known = base::known_mpis();
  return std::find(known.begin(), known.end(), word) != known.end();
}

std::string known_mpi_words() {
  std::string words;
  for (const std::string_view known : base::known_mpis())
    words += (words.empty() ? "" : ", ") + std::string(known);
  const size_t last = words.rfind(", ");
  return last == std::string::npos ? words : words.replace(last, 2, " or ");
}

std::vector<std::string> launched_mpi_words() {
  const auto launched = base::launched_mpis();
  return {launched.begin(), launched.end()};
}

std::string mpi_named_in(std::string_view text) {
  for (const About& row : kAbout)
    if (!row.name.empty() && text.find(row.name) != text.npos) return std::string(row.word);
  return "";
}

Mpi mpi_of_library(const std::string& name) { return mpi_of_word(base::mpi_of_library(name)); }

Launcher find_launcher(const Environment& environment) {
  const auto is_set = [&](const char* name) {
    const char* value = environment(name);
    return value != nullptr && value[0] != '\0';
  };
  Launcher out;
  const bool openmpi = is_set("OMPI_COMM_WORLD_SIZE") || is_set("OMPI_UNIVERSE_SIZE");
  const bool mpich = is_set("PMI_RANK") || is_set("PMI_SIZE") || is_set("PMI_FD") ||
                     is_set("HYDRA_CONTROL_FD") || is_set("MPI_LOCALNRANKS");
  if (openmpi != mpich) out.mpi = openmpi ? Mpi::kOpenMpi : Mpi::kMpich;
  if (const char* const rank = base::told_rank_or_task(environment); rank != nullptr)
    out.rank = std::atoi(rank);
  if (is_set("SLURM_STEP_ID")) return out;
  if (out.mpi == Mpi::kOpenMpi && is_set("OMPI_COMM_WORLD_SIZE"))
    out.only_for_mpi = std::atoi(environment("OMPI_COMM_WORLD_SIZE"));
  if (out.mpi == Mpi::kMpich && is_set("PMI_SIZE") && is_set("MPI_LOCALNRANKS") &&
      !is_set("PMIX_NAMESPACE"))
    out.only_for_mpi = std::atoi(environment("PMI_SIZE"));
  return out;
}

std::string wrong_launcher(const ProgramMpi& program, const Launcher& launcher,
                           const std::string& path) {
  if (launcher.only_for_mpi < 2 || !excludes(program.mpi, launcher.mpi)) return {};
  const About its = about(program.mpi), other = about(launcher.mpi);
  if (its.launcher.empty() || (launcher.mpi == Mpi::kOpenMpi && program.speaks_pmix)) return {};
  const auto launcher_of = [](const About& mpi) {
    return std::string(mpi.name) + "'s " + std::string(mpi.launcher);
  };
  const std::string there(its.there);
  return "built for " + std::string(its.name) + " (" + program.library + "), started by " +
         launcher_of(other) + ", under which each of the " + std::to_string(launcher.only_for_mpi) +
         " processes is a job of its own; use " +
         (find_program(there, path).empty() ? launcher_of(its) : there) + " (or say --mpi " +
         mpi_word(program.mpi) + " if that is meant)";
}

ProgramMpi find_mpi4py(const std::string& interpreter, const Environment& environment,
                       const LibrarySearch& search) {
  namespace fs = std::filesystem;
  ProgramMpi out;
  if (!fs::path(interpreter).filename().string().starts_with("python")) return out;
  std::vector<fs::path> folders;
  if (const char* const words = environment("PYTHONPATH"); words != nullptr)
    for (const std::string& folder : split_path(words)) folders.emplace_back(folder);
  // Not where links lead: a virtual environment has its packages beside the link.
  const fs::path prefix = fs::path(interpreter).parent_path().parent_path();
  std::error_code error;
  for (const fs::path& lib : {prefix / "lib", fs::path("/usr/local/lib")})
    for (const auto& python : fs::directory_iterator(lib, error))
      if (python.path().filename().string().starts_with("python3"))
        for (const char* packages : {"site-packages", "dist-packages"})
          folders.push_back(python.path() / packages);
  for (const fs::path& folder : folders) {
    for (const auto& file : fs::directory_iterator(folder / "mpi4py", error)) {
      const std::string name = file.path().filename().string();
      if (!name.starts_with("MPI.") || file.path().extension() != ".so") continue;
      const auto elf = read_elf(file.path().string());
      if (!elf.ok()) continue;
      const ProgramMpi one = Closure(search).walk(*elf, file.path().string());
      if (out.mpi != Mpi::kNone && one.mpi != out.mpi) return {};
      out = one;
    }
    if (out.mpi != Mpi::kNone) break;
  }
  return out;
}

base::Result<ProgramMpi> find_mpi(const std::string& program, const LibrarySearch& search,
                                  Mpi of_launcher) {
  std::string path = program;
  bool is_script = false;
  for (int i = 0; i < kMaxInterpreters; ++i) {
    const std::string interpreter = interpreter_of(path);
    if (interpreter.empty()) break;
    if (access(interpreter.c_str(), X_OK) != 0)
      return base::usage("its interpreter " + interpreter + " cannot be run", path);
    is_script = true;
    path = interpreter;
  }
  auto file = read_elf(path);
  if (!file.ok()) return file.error();
  if (!file->is_native) return base::unsupported("a program for another kind of machine", path);
  if (!file->is_dynamic || file->interpreter.empty()) {
    if (file->defines_mpi || !file->has_symbol_table)
      return base::unsupported(
          "statically linked, so nothing can be preloaded: link the program with the shared MPI",
          path);
    return ProgramMpi{};
  }
  ProgramMpi out = Closure(search, of_launcher).walk(*file, path);
  if (file->defines_mpi && out.mpi == Mpi::kNone)
    return base::unsupported(
        "MPI is linked statically into the program: link the program with the shared MPI library",
        path);
  out.may_load_later = out.may_load_later || is_script;
  out.interpreter = path;
  return out;
}

}  // namespace refrain::cli
