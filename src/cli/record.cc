// refrain record: its options, as help and completion show them; record_run.cc does the work. Plain
// command lines never come here: see plain_line.h.

#include "cli/record.h"

#include <memory>

#include "cli/find_mpi.h"
#include "cli/usage_error.h"
#include "cli/values.h"
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

void add_times(CLI::App& verb, RecordOptions& options) {
  verb.add_option(
          "--timing", options.timing,
          "What to keep of time: stats, of each different call; exact, begin and end of every\n"
          "call; bins:0.02, the same within 2 %, bins:0.02,MPI_Wait=0.2 within another\n"
          "bound for a function; segments:METHOD[:THRESHOLD[:ACROSS RANKS]], what `refrain\n"
          "reduce` makes of exact times, segments:auto say")
      ->envname("REFRAIN_TIMING")
      ->capture_default_str();
  verb.add_option("--exact-copy", options.exact_copy,
                  "With --timing bins or segments: write a second trace with the exact times of\n"
                  "the same run, for `refrain check --against`, or `refrain evaluate --against`")
      ->envname("REFRAIN_EXACT_COPY");
  verb.add_option(
          "--totals", options.totals,
          "off: leave out what a trace has for each rank, a byte or so: its time in MPI and\n"
          "outside, what recording cost it, how often it lost its core")
      ->envname("REFRAIN_TOTALS")
      ->capture_default_str();
  verb.add_option("--segments", options.segments,
                  "With --timing segments: where they come from: loops (of the grammar), or marks\n"
                  "(refrain/mark.h, --functions on, MPI_Pcontrol from level 3 on)")
      ->envname("REFRAIN_SEGMENTS")
      ->capture_default_str();
  verb.add_option(
          "--across-ranks", options.across_ranks,
          "With --timing segments: what representatives stand for: segments of their rank\n"
          "only (off), of groups of ranks all of whose segments match (groups), of any rank\n"
          "(segments)")
      ->envname("REFRAIN_ACROSS_RANKS")
      ->capture_default_str();
  verb.add_option(
          "--clock-interval", options.clock_interval,
          "Compare the clocks of hosts every so many seconds as well, behind a barrier or the\n"
          "like of all ranks, and not only in MPI_Init and MPI_Finalize: for long runs; 60,\n"
          "say, and 0 for not")
      ->envname("REFRAIN_CLOCK_INTERVAL")
      ->transform(seconds_with_unit(0.001, 1e9))
      ->type_name("SECONDS")
      ->capture_default_str();
  verb.add_flag("--no-compress", options.no_compress,
                "With --timing exact: a conventional trace while the program runs. Every call is\n"
                "written plainly into a buffer, and that to a file of each thread in OUTPUT.plain\n"
                "when it is full; MPI_Finalize makes the trace of these files, and removes them.\n"
                "To compare with: `refrain info` says the bytes, and what writing took")
      ->envname("REFRAIN_NO_COMPRESS");
  verb.add_option("--buffer", options.buffer, "With --no-compress: bytes of the buffer")
      ->envname("REFRAIN_BUFFER")
      ->capture_default_str();
  verb.add_flag("--no-write", options.no_write,
                "With --no-compress: throw full buffers away, and the times with them")
      ->envname("REFRAIN_NO_WRITE");
}

void add_filters(CLI::App& verb, RecordOptions& options) {
  verb.add_option("--only", options.only,
                  "Record only these calls: groups (p2p, coll, rma, io, comm, ...) and functions,\n"
                  "with commas between them. Messages are kept or left out as a whole (p2p), and\n"
                  "completions follow their requests. The trace says what was left out")
      ->envname("REFRAIN_ONLY");
  verb.add_option("--without", options.without, "Leave these calls out; the same words")
      ->envname("REFRAIN_WITHOUT");
  verb.add_option("--comm", options.comm,
                  "Of calls on a communicator, record only those on these: world, self, or names\n"
                  "given with MPI_Comm_set_name (the same on all members)")
      ->envname("REFRAIN_COMM");
  verb.add_option("--min-bytes", options.min_bytes,
                  "Leave out messages with fewer bytes, 64K say, both ends: receives go by what\n"
                  "came. Also accesses to windows and files, and collective calls but those whose\n"
                  "amounts may differ between ranks (v and w variants, neighbourhoods, files)")
      ->envname("REFRAIN_MIN_BYTES");
  verb.add_option("--max-bytes", options.max_bytes, "Leave out messages with more bytes; the same")
      ->envname("REFRAIN_MAX_BYTES");
  verb.add_option("--functions", options.functions,
                  "on: record where the program's own functions begin and end, of those compiled\n"
                  "with -finstrument-functions")
      ->envname("REFRAIN_FUNCTIONS")
      ->capture_default_str();
  verb.add_option("--python-frames", options.python_frames,
                  "on: call paths have the functions and lines of Python programs, 3.9 to 3.14;\n"
                  "off: the interpreter's own functions")
      ->envname("REFRAIN_PYTHON_FRAMES")
      ->capture_default_str();
  verb.add_flag("--start-paused", options.start_paused,
                "Record nothing until MPI_Pcontrol(1) or refrain_resume() of refrain/mark.h, but\n"
                "MPI_Init and MPI_Finalize; MPI_Pcontrol(0) and refrain_pause() pause again")
      ->envname("REFRAIN_START_PAUSED");
}

}  // namespace

void add_record(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* verb = app.add_subcommand(
      "record", "Run a program and record its MPI calls: mpiexec -n 4 refrain record ./app");
  verb->prefix_command();
  verb->add_option("-o,--output", options->output, "Trace file to write, of all ranks together")
      ->envname("REFRAIN_OUTPUT")
      ->capture_default_str();
  add_times(*verb, *options);
  verb->add_option("--mpi", options->mpi,
                   "The program's MPI: " + known_mpi_words() + " [found by itself]")
      ->envname("REFRAIN_MPI");
  verb->add_option("--callpath", options->call_path,
                   "Call sites of a call's path: 0 none, 1 the call's own, up to 32")
      ->envname("REFRAIN_CALLPATH")
      ->check(whole_number(0, 32))
      ->type_name("DEPTH")
      ->capture_default_str();
  verb->add_option("--buffers", options->buffers,
                   "on: tell buffers on the heap apart (heap#4+128), off: say `heap`")
      ->envname("REFRAIN_BUFFERS")
      ->capture_default_str();
  add_filters(*verb, *options);
  verb->add_option("--spool", options->spool,
                   "Folder for the spool, which `refrain recover` needs when the job dies: "
                   "/dev/shm, say, or off [OUTPUT.spool]")
      ->envname("REFRAIN_SPOOL");
  verb->add_option(
          "--memory", options->memory,
          "Memory for recording in a rank, 64M say; beyond it parts of the record go to the "
          "spool, and are joined in MPI_Finalize, which takes what the distinct calls of "
          "the rank need, and on rank 0 those of all ranks [no limit]")
      ->envname("REFRAIN_MEMORY");
  verb->add_flag("--quiet", options->quiet, "Do not say at the end what was written")
      ->envname("REFRAIN_QUIET");
  // Shown in the help, never matched: the program and all behind it stay as they are (CLI11 would
  // take options out of them, and gives "--" back to the parent when no positional is open).
  verb->add_option("PROGRAM", "The program, then its own arguments, untouched")
      ->check(CLI::Validator([](std::string&) { return std::string("never"); }, ""));
  verb->validate_positionals();
  verb->footer(kExamples);
  verb->callback([verb, options, &exit_status] {
    const Given given{verb->count("--output") > 0, verb->count("--callpath") > 0,
                      verb->count("--mpi") > 0, verb->count("--spool") > 0,
                      verb->count("--memory") > 0};
    exit_status = record(*options, given, verb->remaining(),
                         [verb](const std::string& word) { return unknown_option(*verb, word); });
  });
}

}  // namespace refrain::cli
