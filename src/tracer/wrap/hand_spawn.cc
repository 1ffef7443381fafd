// MPI_Comm_spawn and its like: what is started is a program with a recorder.
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "hand.h"
#include "options/environment.h"
#include "real_functions.h"
#include "tracer/startup/spawned.h"
#include "tracer/startup/trace_path.h"
#include "tracer/state/current.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

extern char** environ;

namespace refrain::tracer {

#if defined(REFRAIN_HAS_MPI_Comm_spawn) && !defined(REFRAIN_SMPI)

namespace {

bool is_executable(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string value_of(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return {};
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  REFRAIN_REAL(PMPI_Info_get)(info, key, MPI_MAX_INFO_VAL, value, &found);
  return found != 0 ? value : "";
}

// Whether the launcher will find the program where `refrain record` looks for it. One that is not
// there is left to the MPI, which has an error for it.
bool can_be_found(const std::string& command, MPI_Info info) {
  if (!value_of(info, "path").empty()) return false;
  const std::string folder = value_of(info, "wdir");
  if (command.find('/') != std::string::npos)
    return is_executable(command[0] == '/' || folder.empty() ? command : folder + "/" + command);
  const char* const path = std::getenv("PATH");
  for (const char* at = path == nullptr ? "" : path; *at != '\0';) {
    const char* const end = std::strchr(at, ':');
    const std::string place(at, end == nullptr ? std::strlen(at) : static_cast<size_t>(end - at));
    if (!place.empty() && is_executable(place + "/" + command)) return true;
    at = end == nullptr ? "" : end + 1;
  }
  return false;
}

// "refrain record ./app" by the program's own words, perhaps behind env(1) or numactl.
bool records_itself(const std::string& command, char* const* argv) {
  std::string before = base::base_name(command);
  for (; argv != nullptr && *argv != nullptr; ++argv) {
    if (before == "refrain" && std::strcmp(*argv, "record") == 0) return true;
    before = base::base_name(*argv);
  }
  return false;
}

// run.rfn -> run.spawn1.rfn; of other roots than rank 0: run.spawn1_rank3.rfn.
std::string output_of(const Process& p, int number) {
  std::string mark = ".spawn" + std::to_string(number);
  if (p.rank != 0) mark += "_rank" + std::to_string(p.rank);
  return marked_path(p.options.output, mark);
}

// What the parent was told, but for what is the child's own: where its trace goes, and what it is.
std::vector<std::string> settings(const std::string& output) {
  using options::RecordOption, options::Variable, options::variable_of;
  std::vector<std::string> out = {variable_of(RecordOption::kOutput) + ("=" + output),
                                  variable_of(Variable::kSpawned) + std::string("=1")};
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string variable = *at;
    const std::string name = variable.substr(0, variable.find('='));
    if (name.rfind("REFRAIN_", 0) != 0 || name.rfind("REFRAIN_TEST", 0) == 0) continue;
    bool is_own = name.size() + 1 >= variable.size();  // empty
    for (const char* own : {variable_of(RecordOption::kOutput), variable_of(Variable::kSpawned),
                            variable_of(Variable::kProgram), variable_of(RecordOption::kMpi),
                            variable_of(Variable::kCommand), variable_of(RecordOption::kExactCopy),
                            variable_of(Variable::kSelf)})
      is_own = is_own || name == own;
    // A folder for the spool of one job is none for another.
    if (name == variable_of(RecordOption::kSpool))
      is_own = is_own || !options::is_word(RecordOption::kSpool, "off");
    if (!is_own) out.push_back(variable);
  }
  return out;
}

// $0 is refrain, then come settings, "--", and the program's words.
constexpr const char* kScript =
    "r=$0;while [ \"$1\" != -- ];do export \"$1\";shift;done;"
    "[ -x \"$r\" ]&&exec \"$r\" record \"$@\";shift;exec \"$@\"";

// The words that start a program with a recorder; the MPI copies them.
class Wrapped {
 public:
  Wrapped(const std::string& self, const std::string& output, const char* command,
          char* const* argv) {
    words_ = {"-c", kScript, self};
    for (std::string& setting : settings(output)) words_.push_back(std::move(setting));
    words_.emplace_back("--");
    words_.emplace_back(command);
    for (; argv != nullptr && *argv != nullptr; ++argv) words_.emplace_back(*argv);
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  char** argv() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

char kShell[] = "/bin/sh";

// One command of a spawn, and whether it can be started with a recorder.
bool can_wrap(const std::string& self, const char* command, char* const* argv, MPI_Info info) {
  // A line of the process manager's protocol has no room for more.
  constexpr size_t kMostLetters = 800;
  if (self.empty() || records_itself(command, argv) || !can_be_found(command, info)) return false;
  for (; argv != nullptr && *argv != nullptr; ++argv)
    if (std::strlen(*argv) > kMostLetters || std::strchr(*argv, '\n') != nullptr) return false;
  return true;
}

std::string self_path() { return options::text_of(options::Variable::kSelf); }

bool is_root(MPI_Comm comm, int root) {
  int rank = -1;
  return REFRAIN_REAL(PMPI_Comm_rank)(comm, &rank) == MPI_SUCCESS && rank == root;
}

Process& own_process() { return *current_location()->process; }

}  // namespace

namespace detour {

int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  const auto real = REFRAIN_REAL(MPI_Comm_spawn);
  if (!is_root(comm, root) || command == nullptr)
    return real(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
  Process& p = own_process();
  StartedJob job;
  job.job.processes = maxprocs > 0 ? static_cast<uint64_t>(maxprocs) : 0;
  job.job.command = command;
  job.is_known = records_itself(command, argv);
  const std::string self = self_path();
  job.is_wrapped = can_wrap(self, command, argv, info);
  int rc = MPI_SUCCESS;
  if (job.is_wrapped) {
    job.job.trace = output_of(p, spawned_count() + 1);
    Wrapped words(self, job.job.trace, command, argv);
    rc = real(kShell, words.argv(), maxprocs, info, root, comm, intercomm, array_of_errcodes);
  } else {
    rc = real(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
  }
  if (rc != MPI_SUCCESS) return rc;
  spawn_started(p, std::move(job));
  return rc;
}

int MPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                            const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                            MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  const auto real = REFRAIN_REAL(MPI_Comm_spawn_multiple);
  const auto as_it_is = [&] {
    return real(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root,
                comm, intercomm, array_of_errcodes);
  };
  if (!is_root(comm, root) || count <= 0) return as_it_is();
  Process& p = own_process();
  const std::string self = self_path();
  const auto argv_of = [&](int i) {
    return array_of_argv == MPI_ARGVS_NULL ? nullptr : array_of_argv[i];
  };
  StartedJob job;
  job.is_wrapped = true;
  job.is_known = true;
  for (int i = 0; i < count; ++i) {
    job.job.processes += array_of_maxprocs[i] > 0 ? static_cast<uint64_t>(array_of_maxprocs[i]) : 0;
    job.job.command += (i > 0 ? " : " : "") + std::string(array_of_commands[i]);
    const bool itself = records_itself(array_of_commands[i], argv_of(i));
    job.is_known = job.is_known && itself;
    // All of them, or none: a recorder cannot be in some ranks of a world only.
    job.is_wrapped =
        job.is_wrapped && can_wrap(self, array_of_commands[i], argv_of(i), array_of_info[i]);
  }
  int rc = MPI_SUCCESS;
  if (job.is_wrapped) {
    job.job.trace = output_of(p, spawned_count() + 1);
    std::vector<std::unique_ptr<Wrapped>> wrapped;
    std::vector<char*> commands(static_cast<size_t>(count), kShell);
    std::vector<char**> argvs;
    for (int i = 0; i < count; ++i) {
      wrapped.push_back(
          std::make_unique<Wrapped>(self, job.job.trace, array_of_commands[i], argv_of(i)));
      argvs.push_back(wrapped.back()->argv());
    }
    rc = real(count, commands.data(), argvs.data(), array_of_maxprocs, array_of_info, root, comm,
              intercomm, array_of_errcodes);
  } else {
    rc = as_it_is();
  }
  if (rc != MPI_SUCCESS) return rc;
  spawn_started(p, std::move(job));
  return rc;
}

}  // namespace detour

#else

#if defined(REFRAIN_HAS_MPI_Comm_spawn)
namespace detour {
int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  return REFRAIN_REAL(MPI_Comm_spawn)(command, argv, maxprocs, info, root, comm, intercomm,
                                      array_of_errcodes);
}
// SimGrid declares it without const, other versions may have it: whichever is called is there.
int MPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                            int array_of_maxprocs[], MPI_Info array_of_info[], int root,
                            MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  return REFRAIN_REAL(MPI_Comm_spawn_multiple)(count, array_of_commands, array_of_argv,
                                               array_of_maxprocs, array_of_info, root, comm,
                                               intercomm, array_of_errcodes);
}
int MPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                            const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                            MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  return MPI_Comm_spawn_multiple(
      count, array_of_commands, array_of_argv, const_cast<int*>(array_of_maxprocs),
      const_cast<MPI_Info*>(array_of_info), root, comm, intercomm, array_of_errcodes);
}
}  // namespace detour
#endif

#endif

}  // namespace refrain::tracer
