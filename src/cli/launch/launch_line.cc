#include "cli/launch/launch_line.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "cli/launch/elf_file.h"

namespace refrain::cli {
namespace {

using base::base_name;

struct LauncherOption {
  std::string_view name;  // without its dashes
  int values;
};
// Options of the common launchers by how many words follow; a few of the many, the rest is guessed.
constexpr std::array kLauncherOptions = {
    LauncherOption{"n", 1},
    LauncherOption{"np", 1},
    LauncherOption{"c", 1},
    LauncherOption{"N", 1},
    LauncherOption{"ppn", 1},
    LauncherOption{"perhost", 1},
    LauncherOption{"npernode", 1},
    LauncherOption{"H", 1},
    LauncherOption{"host", 1},
    LauncherOption{"hosts", 1},
    LauncherOption{"f", 1},
    LauncherOption{"hostfile", 1},
    LauncherOption{"machinefile", 1},
    LauncherOption{"map-by", 1},
    LauncherOption{"bind-to", 1},
    LauncherOption{"rank-by", 1},
    LauncherOption{"mca", 2},
    LauncherOption{"gmca", 2},
    LauncherOption{"x", 1},
    LauncherOption{"wdir", 1},
    LauncherOption{"wd", 1},
    LauncherOption{"genv", 2},
    LauncherOption{"env", 2},
    LauncherOption{"genvlist", 1},
    LauncherOption{"envlist", 1},
    LauncherOption{"launcher", 1},
    LauncherOption{"iface", 1},
    LauncherOption{"p", 1},
    LauncherOption{"oversubscribe", 0},
    LauncherOption{"allow-run-as-root", 0},
};

// Words that the option `word` takes behind itself; -1 when it is not known.
int values_of(const std::string& word) {
  if (word.find('=') != std::string::npos) return 0;
  const std::string_view name = std::string_view(word).substr(word.find_first_not_of('-'));
  for (const LauncherOption& option : kLauncherOptions)
    if (option.name == name) return option.values;
  return -1;
}

// Position of the program in words[begin, end), or `end`.
size_t program_position(const Words& words, size_t begin, size_t end) {
  const char* path = std::getenv("PATH");
  size_t i = begin;
  while (i < end) {
    const std::string& word = words[i];
    if (word.find_first_not_of('-') == std::string::npos) {  // "--": the program follows
      ++i;
      continue;
    }
    if (word[0] != '-') return i;
    const int values = values_of(word);
    ++i;
    if (values >= 0) {
      i += static_cast<size_t>(values);
    } else if (i < end && words[i][0] != '-' &&
               find_program(words[i], path == nullptr ? "" : path).empty()) {
      ++i;  // nothing that could be run: the unknown option's value
    }
  }
  return end;
}

}  // namespace

bool is_smpirun(const std::string& program) { return base_name(program) == "smpirun"; }

bool is_launcher(const std::string& program) {
  const std::string name = base_name(program);
  for (const char* launcher : {"mpiexec", "mpirun"})
    if (name == launcher || name.rfind(std::string(launcher) + ".", 0) == 0) return true;
  if (is_smpirun(program)) return true;
  for (const char* launcher : {"srun", "aprun", "orterun", "prterun", "prun", "jsrun", "ibrun"})
    if (name == launcher) return true;
  return false;
}

Words behind_launcher(const Words& record, const Words& launcher_line) {
  Words out;
  if (!launcher_line.empty()) out.push_back(launcher_line[0]);
  if (!launcher_line.empty() && is_smpirun(launcher_line[0])) {
    out.insert(out.end(), {"-wrapper", shell_line(record)});
    out.insert(out.end(), launcher_line.begin() + 1, launcher_line.end());
    return out;
  }
  for (size_t begin = 1; begin < launcher_line.size();) {
    size_t end = begin;  // one program of several: mpiexec -n 1 a : -n 2 b
    while (end < launcher_line.size() && launcher_line[end] != ":") ++end;
    const size_t program = program_position(launcher_line, begin, end);
    for (size_t i = begin; i < end; ++i) {
      if (i == program) out.insert(out.end(), record.begin(), record.end());
      out.push_back(launcher_line[i]);
    }
    if (end < launcher_line.size()) out.push_back(":");
    begin = end + 1;
  }
  return out;
}

std::string shell_line(const Words& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

std::string find_program(const std::string& program, const std::string& path) {
  const auto can_run = [](const std::string& file) {
    struct stat info {};
    return stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           access(file.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) return can_run(program) ? program : "";
  for (const std::string& directory : split_path(path))
    if (can_run(directory + "/" + program)) return directory + "/" + program;
  return "";
}

base::Result<std::string> look_for_program(const std::string& program, const std::string& path) {
  const std::string found = find_program(program, path);
  if (!found.empty()) return found;
  if (program.find('/') == std::string::npos)
    return base::usage("program not found in PATH", program);
  if (access(program.c_str(), F_OK) != 0) return base::usage("no such program", program);
  return base::usage("not an executable file", program);
}

}  // namespace refrain::cli
