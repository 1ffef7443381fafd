// refrain record: gives its options (options/record.h) to the parser; record_run.cc does the work.
// Plain command lines never come here: see plain_line.h.

#include "cli/record.h"

#include <array>
#include <memory>
#include <string>

#include "cli/launch/find_mpi.h"
#include "cli/options/values.h"
#include "cli/verbs.h"

namespace refrain::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  mpiexec -n 4 refrain record ./app input.txt           writes run.rfn\n"
    "  mpirun -n 64 refrain record -o big.rfn ./app -v       -v is the program's\n"
    "  mpiexec -n 4 refrain record /usr/bin/python3 job.py   mpi4py: the launcher tells the MPI\n"
    "  mpiexec -n 1 refrain record ./a : -n 3 ./b            records rank 0 alone\n"
    "  REFRAIN_OUTPUT=/scratch/a.rfn srun refrain record ./app\n"
    "  REFRAIN_RECORD=0 mpiexec -n 4 refrain record ./app    wrappers only: nothing is recorded\n"
    "  smpirun -np 1024 -platform p.xml -hostfile hosts --cfg=smpi/privatization:mmap \\\n"
    "          -wrapper \"refrain record\" ./app               SimGrid: simulated ranks and "
    "time";

// Where the parser puts what it reads.
struct Parsed {
  std::array<std::string, options::kRecordOptionCount> values;
  std::array<bool, options::kRecordOptionCount> flags{};
};

std::string help_of(const options::OptionRow& row) {
  std::string text = row.help;
  if (const size_t at = text.find("%s"); at != text.npos) text.replace(at, 2, known_mpi_words());
  return text;
}

void add_row(Command& verb, const options::OptionRow& row, Parsed& parsed) {
  const auto i = static_cast<size_t>(row.option);
  if (row.kind == options::OptionKind::kFlag) {
    verb.add_flag(row.words, parsed.flags[i], help_of(row))->envname(row.variable);
    return;
  }
  parsed.values[i] = row.otherwise;
  Option* const option =
      verb.add_option(row.words, parsed.values[i], help_of(row))->envname(row.variable);
  if (row.option == RecordOption::kClockInterval)
    option->transform(seconds_with_unit(0.001, 1e9))->type_name("SECONDS");
  if (row.option == RecordOption::kCallPath)
    option->check(whole_number(0, options::kMostCallPath))->type_name("DEPTH");
  if (*row.otherwise != '\0') option->capture_default_str();
}

RecordOptions options_of(const Command& verb, const Parsed& parsed) {
  RecordOptions options;
  for (const options::OptionRow& row : options::kRecordRows) {
    const auto i = static_cast<size_t>(row.option);
    const std::string names = row.words;
    if (verb.count(names.substr(names.find("--"))) == 0) continue;
    const bool is_flag = row.kind == options::OptionKind::kFlag;
    options.give(row.option, !is_flag ? parsed.values[i] : parsed.flags[i] ? "1" : "0");
  }
  return options;
}

}  // namespace

void add_record(Command& app, int& exit_status) {
  auto parsed = std::make_shared<Parsed>();
  Command* verb = app.add_subcommand(
      "record", "Run a program and record its MPI calls: mpiexec -n 4 refrain record ./app");
  for (const options::OptionRow& row : options::kRecordRows) add_row(*verb, row, *parsed);
  verb->take_program("The program and its own arguments");
  verb->footer(kExamples);
  verb->callback([verb, parsed, &exit_status] {
    exit_status = record(options_of(*verb, *parsed), verb->remaining(),
                         [verb](const std::string& word) { return verb->unknown_option(word); });
  });
}

}  // namespace refrain::cli
