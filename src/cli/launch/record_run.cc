// Becomes the program, with the recorder preloaded.
//
// Stands between the launcher and the program on every rank. It finds the program's MPI from its
// file, checks what can be checked before anything runs, hands its options to the recorder through
// the environment, and replaces itself by the program: no parent stays behind, so output, signals
// and exit status are the program's own.

#include "cli/record.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "cli/launch/find_mpi.h"
#include "cli/launch/own_files.h"
#include "cli/launch/preload.h"
#include "cli/launch/record_options.h"
#include "cli/launch/refuse.h"
#include "cli/launch/smpi_line.h"
#include "cli/output/common.h"
#include "format/layout.h"
#include "options/environment.h"
#include "text/escape.h"

namespace refrain::cli {
namespace {

constexpr const char* kHeapLibrary = "librefrain-heap.so";
constexpr const char* kPosixLibrary = "librefrain-posix.so";
constexpr const char* kWtimeLibrary = "librefrain-wtime.so";

const char* getenv_of(const char* name) { return std::getenv(name); }

std::string absolute(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char buffer[PATH_MAX];
  if (getcwd(buffer, sizeof(buffer)) == nullptr) return path;
  std::string relative = path;
  while (relative.rfind("./", 0) == 0) relative.erase(0, 2);
  return std::string(buffer) + "/" + relative;
}

// Whether something else than a trace would be lost, such as the program itself. An empty file is
// what `mktemp` makes; of one that cannot be read nothing is said here.
bool is_of_somebody_else(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rbe"),
                                                           std::fclose);
  char begin[format::kMagic.size()];
  const size_t n = in == nullptr ? 0 : std::fread(begin, 1, sizeof begin, in.get());
  return n > 0 && std::string_view(begin, n) != format::kMagic;
}

// The files beside the trace, until it is whole, have its name and a few letters more.
base::Status check_length(const std::string& path, const std::string& directory) {
  constexpr size_t kMore = 20;
  const long most = pathconf(directory.c_str(), _PC_NAME_MAX);
  const size_t length = path.size() - (path.rfind('/') + 1);
  if (most < 0 || length + kMore <= static_cast<size_t>(most)) return base::Done{};
  return base::fail("the name of the output has " + std::to_string(length) +
                        " bytes, and at most " + std::to_string(most - static_cast<long>(kMore)) +
                        " are possible here",
                    path);
}

// The file is written when the program is done, hours from now: better to complain at once.
base::Status check_output(const std::string& path) {
  struct stat info {};
  if (path.empty() || path.back() == '/')
    return base::fail("the output is a directory: name a file", path);
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return base::fail("the output is a directory: name a file", path);
    if (!S_ISREG(info.st_mode))
      return base::fail("the output exists and is not a regular file", path);
    if (is_of_somebody_else(path))
      return base::fail("the output exists and is no trace: it would be lost; name another file",
                        path);
  }
  const std::string directory = directory_of(path);
  if (stat(directory.c_str(), &info) != 0)
    return base::fail(std::string("cannot write the trace: no directory ") + directory, path);
  if (!S_ISDIR(info.st_mode))
    return base::fail("cannot write the trace: " + directory + " is no directory", path);
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    return base::fail("cannot write the trace to " + directory + ": " + std::strerror(errno), path);
  return check_length(path, directory);
}

// Whether the system would run the program with other rights than ours: by the bits of its mode,
// unless the file system has none of that, or by capabilities of the file.
bool has_other_rights(const std::string& program, const struct stat& info) {
  struct statvfs system {};
  if (statvfs(program.c_str(), &system) == 0 && (system.f_flag & ST_NOSUID) != 0) return false;
  // Without the group's right to execute the second bit means something else.
  constexpr mode_t kSetGroup = S_ISGID | S_IXGRP;
  return ((info.st_mode & S_ISUID) != 0 && info.st_uid != getuid()) ||
         ((info.st_mode & kSetGroup) == kSetGroup && info.st_gid != getgid()) ||
         (getuid() != 0 && getxattr(program.c_str(), "security.capability", nullptr, 0) > 0);
}

// For such a program, and all that it starts, the system's loader ignores what is to be preloaded.
// Run as the user whose rights it takes, it can be recorded: then it takes none.
base::Status check_rights(const std::string& program) {
  struct stat info {};
  if (stat(program.c_str(), &info) != 0) return base::usage(std::strerror(errno), program);
  if (!has_other_rights(program, info)) return base::Done{};
  return base::unsupported(
      "a setuid or setgid program cannot be recorded, because the system ignores preloaded "
      "libraries; record a copy without these bits",
      program);
}

base::Result<std::string> resolve(const std::string& word) {
  const auto path = look_for_program(word, environment("PATH"));
  return path.ok() ? base::Result<std::string>(absolute(*path)) : path;
}

// Path of a library of ours.
base::Result<std::string> find_library(const std::string& file) {
  const std::vector<std::string> directories = own_folders();
  for (const std::string& directory : directories) {
    const std::string path = directory + "/" + file;
    if (access(path.c_str(), R_OK) != 0) continue;
    std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
    std::string out = real ? real.get() : path;
    if (out.find_first_of(" :") != std::string::npos)
      return base::unsupported("the recorder's path must not contain a space or a colon", out);
    return out;
  }
  std::string looked;
  for (const std::string& directory : directories)
    looked += (looked.empty() ? "" : ", ") + directory;
  return base::unsupported("no " + file + " in " + looked +
                           ": ./dev build makes one for each MPI that is installed; or set "
                           "REFRAIN_LIBRARY_PATH to the folder that has it");
}

base::Result<std::string> find_recorder(const std::string& mpi) {
  return find_library("librefrain-" + mpi + ".so");
}

struct ChosenMpi {
  std::string word;
  bool is_guess;  // the program opens its MPI when it runs
};

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat of_a {
  }, of_b{};
  return stat(a.c_str(), &of_a) == 0 && stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

// Which recorder to preload; see find_mpi.h for how the program is looked at. Refrain
// itself uses no MPI, but `refrain replay` becomes a program of the launcher's MPI.
base::Result<ChosenMpi> choose_mpi(const RecordOptions& options, const std::string& program,
                                   const Launcher& launcher) {
  const LibrarySearch search(environment("LD_LIBRARY_PATH"));
  const auto found = find_mpi(program, search, launcher.mpi);
  if (!found.ok()) return found.error();
  const bool is_guess = found->mpi == Mpi::kNone;
  if (!options[RecordOption::kMpi].empty()) return ChosenMpi{options[RecordOption::kMpi], is_guess};
  if (!found->second_library.empty())
    return base::unsupported("linked with two MPIs, " + found->library + " and " +
                                 found->second_library +
                                 ": link all parts with one, or say --mpi for the one that runs",
                             program);
  if (std::string wrong = wrong_launcher(*found, launcher, environment("PATH")); !wrong.empty())
    return base::usage(wrong, program);
  if (found->mpi == Mpi::kOther)
    return base::unsupported("uses " + found->library + ", an MPI without a recorder (--mpi " +
                                 known_mpi_words() + " overrides)",
                             program);
  if (!is_guess) return ChosenMpi{mpi_word(found->mpi), false};
  if (!found->may_load_later && !is_same_file(program, self_path()))
    return base::usage("not an MPI program: it neither uses an MPI library nor can load one",
                       program);
  const ProgramMpi mpi4py = find_mpi4py(found->interpreter, getenv_of, search);
  if (std::string wrong = wrong_launcher(mpi4py, launcher, environment("PATH")); !wrong.empty())
    return base::usage("mpi4py is " + wrong, program);
  if (launcher.mpi != Mpi::kNone) return ChosenMpi{mpi_word(launcher.mpi), true};
  if (is_known_mpi(mpi_word(mpi4py.mpi))) return ChosenMpi{mpi_word(mpi4py.mpi), true};
  std::vector<std::string> there = launched_mpi_words();
  std::erase_if(there, [](const std::string& mpi) { return !find_recorder(mpi).ok(); });
  if (there.size() == 1) return ChosenMpi{there.front(), true};
  return base::usage("cannot tell which MPI it will load: start it through mpiexec, or say --mpi " +
                         known_mpi_words(),
                     program);
}

// `refrain replay`, which becomes smpimain.
bool replays_under_smpi(const std::string& program, const Words& words) {
  return words.size() > 2 && words[1] == "replay" && is_same_file(program, self_path()) &&
         std::any_of(words.begin(), words.end(), is_smpimain);
}

// All ranks are one process there.
base::Status check_smpi(const RecordOptions& options, const Words& words) {
  if (options[RecordOption::kBuffers] == "on")
    return base::unsupported("--buffers on does not work under SMPI, whose ranks share a heap");
  if (options[RecordOption::kPosix] == "on")
    return base::unsupported("--posix on does not work under SMPI, whose ranks are one process");
  if (!options[RecordOption::kMessages].empty())
    return base::unsupported("--messages does not work under SMPI, whose ranks are one process");
  if (!options[RecordOption::kSpool].empty() && options[RecordOption::kSpool] != "off")
    return base::unsupported(
        "there is no spool under SMPI, whose ranks die together: leave out "
        "--spool");
  if (!options[RecordOption::kLiveDir].empty())
    return base::unsupported(
        "there is no spool under SMPI, so nobody can look on: leave out --live-dir");
  if (options.is_on(RecordOption::kLive))
    return base::unsupported("--live does not work under SMPI, whose ranks are one process");
  return check_smpi_line(words);
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
void set(options::Variable variable, const std::string& value) {
  set(options::variable_of(variable), value);
}

// A default is known to the recorder: its variable is not set, as the program and its libraries go
// through all that there are, some of them hundreds of times.
void set_unless(const char* otherwise, const char* name, const std::string& value) {
  value.empty() || value == otherwise ? unsetenv(name) : setenv(name, value.c_str(), 1);
}
void set_option(RecordOption option, const std::string& value) {
  const bool is_flag = options::row_of(option).kind == options::OptionKind::kFlag;
  set_unless(is_flag ? "0" : options::default_of(option), options::variable_of(option), value);
}

// What the recorder reads: each option in its variable.
void hand_over(const RecordOptions& options, const std::string& output, const ChosenMpi& mpi) {
  for (const options::OptionRow& row : options::kRecordRows)
    set_option(row.option, options[row.option]);
  set_option(RecordOption::kOutput, output);
  if (const std::string& copy = options[RecordOption::kExactCopy]; !copy.empty())
    set_option(RecordOption::kExactCopy, absolute(copy));
  if (const std::string& spool = options[RecordOption::kSpool]; mpi.word == kSmpiWord)
    set_option(RecordOption::kSpool, "off");
  else if (!spool.empty() && spool != "off")
    set_option(RecordOption::kSpool, absolute(spool));
  if (const std::string& folder = options[RecordOption::kLiveDir]; !folder.empty())
    set_option(RecordOption::kLiveDir, absolute(folder));
  if (!options[RecordOption::kMessages].empty()) {
    const auto ranks = logged_ranks(options);  // it has been asked
    set_option(RecordOption::kMessages, ranks.ok() ? *ranks : options[RecordOption::kMessages]);
  }
  if (const std::string& map = options[RecordOption::kMap]; !map.empty())
    set_option(RecordOption::kMap, absolute(map));
  for (const RecordOption number : {RecordOption::kCallPath, RecordOption::kClockInterval})
    set_option(number, plain_number(options[number]));
  set_option(RecordOption::kMpi, mpi.word);
  set_unless("0", options::variable_of(options::Variable::kMpiGuessed), mpi.is_guess ? "1" : "0");
}

// What is preloaded beside the recorder.
base::Result<Words> find_libraries(const RecordOptions& options) {
  Words found;
  for (const auto& [is_wanted, name] :
       {std::pair(options[RecordOption::kBuffers] == "on", kHeapLibrary),
        std::pair(options[RecordOption::kPosix] == "on", kPosixLibrary),
        std::pair(!options[RecordOption::kMessages].empty(), kWtimeLibrary)}) {
    if (!is_wanted) continue;
    const auto library = find_library(name);
    if (!library.ok()) return library.error();
    found.push_back(*library);
  }
  return found;
}

// Returns only when the program could not be started.
base::Error become(const std::string& program, Words& words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  return base::usage(std::string("cannot run: ") + std::strerror(errno), program);
}

// A variable that nobody reads is told of once in a job.
void warn_of_variables(const RecordOptions& options, const Launcher& launcher) {
  const bool is_spawned = options::text_of(options::Variable::kSpawned)[0] != '\0';
  if (launcher.rank != 0 || is_spawned || options.is_on(RecordOption::kQuiet)) return;
  for (const std::string& line : misspelt_variables())
    std::fprintf(stderr, "refrain: %s\n", text::printable(line).c_str());
}

// `record`: the user's own words up to the program.
base::Error record(const RecordOptions& options, const Words& record_words, Words words,
                   const Launcher& launcher, const UnknownOption& unknown_option) {
  const bool has_mark = !words.empty() && words[0] == "--";
  if (has_mark) words.erase(words.begin());
  if (words.empty()) return base::usage("no program given (see `refrain record --help`)");
  if (!has_mark && words[0][0] == '-')
    return base::usage(unknown_option(words[0]) + " (see `refrain record --help`)");
  if (is_launcher(words[0]))
    return base::usage("put `refrain record` directly in front of the program: " +
                       shell_line(behind_launcher(record_words, words)));
  if (const auto good = check_words(options); !good.ok()) return good.error();
  const auto program = resolve(words[0]);
  if (!program.ok()) return program.error();
  if (const auto good = check_rights(*program); !good.ok()) return good.error();
  const auto mpi = replays_under_smpi(*program, words) ? base::Result<ChosenMpi>({kSmpiWord, false})
                                                       : choose_mpi(options, *program, launcher);
  if (!mpi.ok()) return mpi.error();
  const bool smpi = mpi->word == kSmpiWord;
  if (smpi)
    if (const auto good = check_smpi(options, words); !good.ok()) return good.error();
  const auto recorder = find_recorder(mpi->word);
  if (!recorder.ok()) return recorder.error();
  const auto beside = find_libraries(options);
  if (!beside.ok()) return beside.error();
  const std::string output = absolute(options[RecordOption::kOutput]);
  if (!options[RecordOption::kExactCopy].empty()) {
    const std::string copy = absolute(options[RecordOption::kExactCopy]);
    if (const auto good = check_output(copy); !good.ok()) return good.error();
    std::error_code ignored;
    if (std::filesystem::weakly_canonical(copy, ignored) ==
        std::filesystem::weakly_canonical(output, ignored))
      return base::usage("--exact-copy names the file of --output: give it a name of its own",
                         copy);
  }
  if (const auto good = check_output(output); !good.ok()) return good.error();

  warn_of_variables(options, launcher);
  hand_over(options, output, *mpi);
  set(options::Variable::kCalledAs, called_as());
  set(options::Variable::kSelf, self_path());
  const Words own = smpi ? smpi_program(words) : words;
  set(options::Variable::kCommand, shell_line(own));
  set(options::Variable::kProgram, own[0] == words[0] ? *program : absolute(own[0]));
  for (const std::string& library : *beside) preload(library);
  preload(*recorder);
  allow_before_address_sanitizer();
  return become(*program, words);
}

// Returns when it cannot run either.
void run_plainly(Words words) {
  if (!words.empty() && words[0] == "--") words.erase(words.begin());
  const auto program =
      words.empty() ? base::Result<std::string>(base::fail("")) : resolve(words[0]);
  if (program.ok()) become(*program, words);
}

// The exit status, unless the program runs without a recorder: what MPI_Comm_spawn has started
// does, as nobody has asked for one there.
int not_recorded(const base::Error& error, const Words& words, const Launcher& launcher) {
  if (options::text_of(options::Variable::kSpawned)[0] != '\0') {
    if (launcher.rank == 0)
      report(
          {error.code, "not recorded: " + error.message + "; it runs all the same", error.place});
    run_plainly(words);
  }
  return refuse(error, launcher);
}

}  // namespace

int record(const RecordOptions& options, const Words& words, const UnknownOption& unknown_option) {
  const Launcher launcher = find_launcher(getenv_of);
  Words line = {"refrain", "record"};
  const Words given = given_words(options);
  line.insert(line.end(), given.begin(), given.end());
  const base::Error error = record(options, line, words, launcher, unknown_option);
  return not_recorded(error, words, launcher);
}

}  // namespace refrain::cli
