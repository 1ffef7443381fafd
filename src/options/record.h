// The options of `refrain record`, once: what --help, man pages and completion say of each, its
// word on the command line, and its variable in the environment, which users may set and by which
// `record` hands the option to the recorder.
//
// An option that is added here is parsed, documented and handed over. What it means is for
// cli/launch/record_options.cc to check and for the recorder to read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace refrain::options {

enum class RecordOption : uint8_t {
  kOutput,
  kTiming,
  kExactCopy,
  kTotals,
  kGaps,
  kSegments,
  kAcrossRanks,
  kClockInterval,
  kNoCompress,
  kBuffer,
  kNoWrite,
  kMpi,
  kCallPath,
  kBuffers,
  kOnly,
  kWithout,
  kComm,
  kMinBytes,
  kMaxBytes,
  kFunctions,
  kPythonFrames,
  kStartPaused,
  kSpool,
  kMemory,
  kQuiet,
};

enum class OptionKind : uint8_t {
  kText,
  kNumber,  // what it may be is checked when it is parsed: cli/record.cc
  kFlag,    // 0 or 1 in the environment
};

struct OptionRow {
  RecordOption option;
  OptionKind kind;
  const char* words;      // "--timing", or "-o,--output"
  const char* variable;   // of the environment
  const char* otherwise;  // the value that it has when nobody gives one
  const char* help;       // %s: the MPIs that there are recorders for
};

// In the order of the help, which is that of RecordOption.
inline constexpr OptionRow kRecordRows[] = {
    {RecordOption::kOutput, OptionKind::kText, "-o,--output", "REFRAIN_OUTPUT", "run.rfn",
     "Trace file to write, of all ranks together"},
    {RecordOption::kTiming, OptionKind::kText, "--timing", "REFRAIN_TIMING", "stats",
     "What to keep of time: stats, of each different call; exact, begin and end of every\n"
     "call; bins:0.02, the same within 2 %, bins:0.02,MPI_Wait=0.2 within another\n"
     "bound for a function; segments:METHOD[:THRESHOLD[:ACROSS RANKS]], what `refrain\n"
     "reduce` makes of exact times, segments:auto say"},
    {RecordOption::kExactCopy, OptionKind::kText, "--exact-copy", "REFRAIN_EXACT_COPY", "",
     "With --timing bins or segments: write a second trace with the exact times of\n"
     "the same run, for `refrain check --against`, or `refrain evaluate --against`"},
    {RecordOption::kTotals, OptionKind::kText, "--totals", "REFRAIN_TOTALS", "on",
     "off: leave out what a trace has for each rank, a byte or so: its time in MPI and\n"
     "outside, what recording cost it, how often it lost its core"},
    {RecordOption::kGaps, OptionKind::kFlag, "--gaps", "REFRAIN_GAPS", "",
     "Keep statistics of the time between calls as well: before each different call, from\n"
     "the end of the thread's call before it. `refrain replay` computes as long"},
    {RecordOption::kSegments, OptionKind::kText, "--segments", "REFRAIN_SEGMENTS", "loops",
     "With --timing segments: where they come from: loops (of the grammar), or marks\n"
     "(refrain/mark.h, --functions on, MPI_Pcontrol from level 3 on)"},
    {RecordOption::kAcrossRanks, OptionKind::kText, "--across-ranks", "REFRAIN_ACROSS_RANKS",
     "groups",
     "With --timing segments: what representatives stand for: segments of their rank\n"
     "only (off), of groups of ranks all of whose segments match (groups), of any rank\n"
     "(segments)"},
    {RecordOption::kClockInterval, OptionKind::kNumber, "--clock-interval",
     "REFRAIN_CLOCK_INTERVAL", "0",
     "Compare the clocks of hosts every so many seconds as well, behind a barrier or the\n"
     "like of all ranks, and not only in MPI_Init and MPI_Finalize: for long runs; 60,\n"
     "say, and 0 for not"},
    {RecordOption::kNoCompress, OptionKind::kFlag, "--no-compress", "REFRAIN_NO_COMPRESS", "",
     "With --timing exact: a conventional trace while the program runs. Every call is\n"
     "written plainly into a buffer, and that to a file of each thread in OUTPUT.plain\n"
     "when it is full; MPI_Finalize makes the trace of these files, and removes them.\n"
     "To compare with: `refrain info` says the bytes, and what writing took"},
    {RecordOption::kBuffer, OptionKind::kText, "--buffer", "REFRAIN_BUFFER", "1.5M",
     "With --no-compress: bytes of the buffer"},
    {RecordOption::kNoWrite, OptionKind::kFlag, "--no-write", "REFRAIN_NO_WRITE", "",
     "With --no-compress: throw full buffers away, and the times with them"},
    {RecordOption::kMpi, OptionKind::kText, "--mpi", "REFRAIN_MPI", "",
     "The program's MPI: %s [found by itself]"},
    {RecordOption::kCallPath, OptionKind::kNumber, "--callpath", "REFRAIN_CALLPATH", "8",
     "Call sites of a call's path: 0 none, 1 the call's own, up to 32"},
    {RecordOption::kBuffers, OptionKind::kText, "--buffers", "REFRAIN_BUFFERS", "off",
     "on: tell buffers on the heap apart (heap#4+128), off: say `heap`"},
    {RecordOption::kOnly, OptionKind::kText, "--only", "REFRAIN_ONLY", "",
     "Record only these calls: groups (p2p, coll, rma, io, comm, ...) and functions,\n"
     "with commas between them. Messages are kept or left out as a whole (p2p), and\n"
     "completions follow their requests. The trace says what was left out"},
    {RecordOption::kWithout, OptionKind::kText, "--without", "REFRAIN_WITHOUT", "",
     "Leave these calls out; the same words"},
    {RecordOption::kComm, OptionKind::kText, "--comm", "REFRAIN_COMM", "",
     "Of calls on a communicator, record only those on these: world, self, or names\n"
     "given with MPI_Comm_set_name (the same on all members)"},
    {RecordOption::kMinBytes, OptionKind::kText, "--min-bytes", "REFRAIN_MIN_BYTES", "",
     "Leave out messages with fewer bytes, 64K say, both ends: receives go by what\n"
     "came. Also accesses to windows and files, and collective calls but those whose\n"
     "amounts may differ between ranks (v and w variants, neighbourhoods, files)"},
    {RecordOption::kMaxBytes, OptionKind::kText, "--max-bytes", "REFRAIN_MAX_BYTES", "",
     "Leave out messages with more bytes; the same"},
    {RecordOption::kFunctions, OptionKind::kText, "--functions", "REFRAIN_FUNCTIONS", "off",
     "on: record where the program's own functions begin and end, of those compiled\n"
     "with -finstrument-functions"},
    {RecordOption::kPythonFrames, OptionKind::kText, "--python-frames", "REFRAIN_PYTHON_FRAMES",
     "on",
     "on: call paths have the functions and lines of Python programs, 3.9 to 3.14;\n"
     "off: the interpreter's own functions"},
    {RecordOption::kStartPaused, OptionKind::kFlag, "--start-paused", "REFRAIN_START_PAUSED", "",
     "Record nothing until MPI_Pcontrol(1) or refrain_resume() of refrain/mark.h, but\n"
     "MPI_Init and MPI_Finalize; MPI_Pcontrol(0) and refrain_pause() pause again"},
    {RecordOption::kSpool, OptionKind::kText, "--spool", "REFRAIN_SPOOL", "",
     "Folder for the spool, which `refrain recover` needs when the job dies: "
     "/dev/shm, say, or off [OUTPUT.spool]"},
    {RecordOption::kMemory, OptionKind::kText, "--memory", "REFRAIN_MEMORY", "",
     "Memory for recording in a rank, 64M say; beyond it parts of the record go to the "
     "spool, and are joined in MPI_Finalize, which takes what the distinct calls of "
     "the rank need, and on rank 0 those of all ranks [no limit]"},
    {RecordOption::kQuiet, OptionKind::kFlag, "--quiet", "REFRAIN_QUIET", "",
     "Do not say at the end what was written"},
};
// Variables that no option goes with.
struct OtherVariable {
  const char* variable;
  const char* what;
};
inline constexpr OtherVariable kOtherVariables[] = {
    // For users.
    {"REFRAIN_RECORD",
     "0: the program runs behind the recorder's wrappers, and nothing is recorded"},
    {"REFRAIN_JOIN_LIMIT", "Seconds to wait for the recorders of other hosts; 0: no limit"},
    {"REFRAIN_LIBRARY_PATH", "The folder that recorders are looked for in first"},
    {"REFRAIN_CLOCK",
     "system: times are those of the system, where the processor's counter goes wrong"},
    {"REFRAIN_CHECK_PATHS",
     "Compares call paths with those of libunwind, for tests: the file for what differs"},
    // From `record` to the recorder.
    {"REFRAIN_CALLED_AS", "How the user called refrain, for the line at the end"},
    {"REFRAIN_COMMAND", "The command line of the program, for the trace"},
    {"REFRAIN_MPI_GUESSED", "1: the program opens its MPI when it runs, and it may be another one"},
    {"REFRAIN_PROGRAM", "The path of the program, for the trace"},
    {"REFRAIN_SELF", "The path of refrain, to record what MPI_Comm_spawn starts"},
    {"REFRAIN_SPAWNED", "1: MPI_Comm_spawn has started this job"},
};

inline constexpr size_t kRecordOptionCount = sizeof kRecordRows / sizeof kRecordRows[0];

constexpr const OptionRow& row_of(RecordOption option) {
  return kRecordRows[static_cast<size_t>(option)];
}
constexpr const char* variable_of(RecordOption option) { return row_of(option).variable; }
constexpr const char* default_of(RecordOption option) { return row_of(option).otherwise; }

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < kRecordOptionCount; ++i)
    if (static_cast<size_t>(kRecordRows[i].option) != i) return false;
  return true;
}
static_assert(rows_are_in_order());

}  // namespace refrain::options
