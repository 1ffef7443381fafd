// The options of `refrain record` and the environment variables of Refrain, as tables. The tables
// give --help, the man pages, the parser of the command line, and the variables by which `record`
// passes an option to the recorder; environment.h reads them there. Users may set the variables.
//
// A new row is parsed, documented and passed on. cli/launch/record_options.cc checks which options
// can be combined; the recorder reads the value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace refrain::options {

enum class RecordOption : uint8_t {
  kOutput,
  kTiming,
  kExactCopy,
  kCluster,
  kMix,
  kEndpoints,
  kAssign,
  kSteps,
  kDistance,
  kMetric,
  kSeed,
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
  kPosix,
  kOnly,
  kWithout,
  kComm,
  kMinBytes,
  kMaxBytes,
  kFunctions,
  kPythonFrames,
  kStartPaused,
  kSpool,
  kLiveDir,
  kLive,
  kLiveName,
  kLivePolicy,
  kLiveOnly,
  kMemory,
  kMessages,
  kNodeSize,
  kMap,
  kMessageLimit,
  kQuiet,
};

enum class OptionKind : uint8_t {
  kText,
  kNumber,  // cli/record.cc checks its range
  kFlag,    // 0 or 1 in the environment
};

struct OptionRow {
  RecordOption option;
  OptionKind kind;
  const char* words;      // "--timing", or "-o,--output"
  const char* variable;   // of the environment
  const char* otherwise;  // the default
  const char* help;       // %s: the MPIs that this build has recorders for
};

inline constexpr uint32_t kMostCallPath = 32;

// In the order of the help, which is that of RecordOption.
inline constexpr OptionRow kRecordRows[] = {
    {RecordOption::kOutput, OptionKind::kText, "-o,--output", "REFRAIN_OUTPUT", "run.rfn",
     "Trace file to write, of all ranks together"},
    {RecordOption::kTiming, OptionKind::kText, "--timing", "REFRAIN_TIMING", "stats",
     "Times to keep: stats: statistics for each distinct call; exact: begin and end of\n"
     "every call; bins:0.02: the same within 2 %; bins:0.02,MPI_Wait=0.2: another bound\n"
     "for a function; segments:METHOD[:THRESHOLD[:ACROSS RANKS]]: what `refrain reduce`\n"
     "makes of exact times, for example segments:auto"},
    {RecordOption::kExactCopy, OptionKind::kText, "--exact-copy", "REFRAIN_EXACT_COPY", "",
     "With --timing bins or segments: write a second trace with the exact times of\n"
     "the same run, for `refrain check --against`, or `refrain evaluate --against`.\n"
     "With --cluster: write a second trace in which every rank has its own times"},
    {RecordOption::kCluster, OptionKind::kText, "--cluster", "REFRAIN_CLUSTER", "",
     "In MPI_Finalize, find ranks that are alike, and keep the times of one of each kind:\n"
     "a number of clusters, kinds (one for each structure), or auto[:ERR]: as few as keep\n"
     "the relative error below ERR [auto:0.05]. What `refrain cluster` does afterwards"},
    {RecordOption::kMix, OptionKind::kFlag, "--mix", "REFRAIN_MIX", "",
     "With --cluster: ranks of different structure may be one cluster"},
    {RecordOption::kEndpoints, OptionKind::kText, "--endpoints", "REFRAIN_ENDPOINTS", "exact",
     "With --cluster: exact: each rank keeps its calls; lead: its calls are its lead's,\n"
     "relative to the rank"},
    {RecordOption::kAssign, OptionKind::kText, "--assign", "REFRAIN_ASSIGN", "nearest",
     "With --cluster: nearest: each rank takes the nearest lead; tree: it goes where the\n"
     "tree leads it"},
    {RecordOption::kSteps, OptionKind::kText, "--steps", "REFRAIN_STEPS", "1",
     "With --cluster: 1, or 2: by call path first, then by all else"},
    {RecordOption::kDistance, OptionKind::kText, "--distance", "REFRAIN_DISTANCE", "manhattan",
     "With --cluster: of ranks from each other: manhattan or euclidean"},
    {RecordOption::kMetric, OptionKind::kText, "--metric", "REFRAIN_METRIC", "replay",
     "With --cluster auto: the error of what: replay, profile or waits"},
    {RecordOption::kSeed, OptionKind::kText, "--seed", "REFRAIN_SEED", "1",
     "With --cluster auto: which ranks it looks at"},
    {RecordOption::kTotals, OptionKind::kText, "--totals", "REFRAIN_TOTALS", "on",
     "off: leave out the totals of each rank (about a byte): time in MPI and outside,\n"
     "cost of recording, number of times that the rank lost its core"},
    {RecordOption::kGaps, OptionKind::kFlag, "--gaps", "REFRAIN_GAPS", "",
     "Keep statistics of the time between calls as well: before each different call, from\n"
     "the end of the thread's call before it. `refrain replay` computes as long"},
    {RecordOption::kSegments, OptionKind::kText, "--segments", "REFRAIN_SEGMENTS", "loops",
     "With --timing segments: the source of segments: loops (of the grammar), or marks\n"
     "(refrain/mark.h, --functions on, MPI_Pcontrol from level 3 on)"},
    {RecordOption::kAcrossRanks, OptionKind::kText, "--across-ranks", "REFRAIN_ACROSS_RANKS",
     "groups",
     "With --timing segments: a representative may stand for segments of its own rank\n"
     "only (off), of a group of ranks whose segments all match (groups), or of any rank\n"
     "(segments)"},
    {RecordOption::kClockInterval, OptionKind::kNumber, "--clock-interval",
     "REFRAIN_CLOCK_INTERVAL", "0",
     "Seconds between comparisons of the hosts' clocks, in addition to those in MPI_Init\n"
     "and MPI_Finalize; each takes place after a barrier or similar call of all ranks.\n"
     "For long runs, for example 60; 0: no further comparisons"},
    {RecordOption::kNoCompress, OptionKind::kFlag, "--no-compress", "REFRAIN_NO_COMPRESS", "",
     "With --timing exact: write a conventional trace while the program runs, for\n"
     "comparison. Every call goes uncompressed into a buffer; a full buffer is written to\n"
     "a file per thread in OUTPUT.plain. MPI_Finalize makes the trace from these files\n"
     "and removes them. `refrain info` shows their size and the time for writing"},
    {RecordOption::kBuffer, OptionKind::kText, "--buffer", "REFRAIN_BUFFER", "1.5M",
     "With --no-compress: size of the buffer in bytes"},
    {RecordOption::kNoWrite, OptionKind::kFlag, "--no-write", "REFRAIN_NO_WRITE", "",
     "With --no-compress: discard full buffers, and the times in them"},
    {RecordOption::kMpi, OptionKind::kText, "--mpi", "REFRAIN_MPI", "",
     "The program's MPI: %s [detected]"},
    {RecordOption::kCallPath, OptionKind::kNumber, "--callpath", "REFRAIN_CALLPATH", "8",
     "Depth of call paths: 0: none, 1: the call site only, up to 32"},
    {RecordOption::kBuffers, OptionKind::kText, "--buffers", "REFRAIN_BUFFERS", "off",
     "on: identify buffers on the heap (heap#4+128); off: show them as `heap`"},
    {RecordOption::kPosix, OptionKind::kText, "--posix", "REFRAIN_POSIX", "off",
     "on: count the program's calls of POSIX and stdio functions (open, read, write, stat,\n"
     "fopen, fprintf, ...) with their bytes, times and errors, for `refrain profile --posix`"},
    {RecordOption::kOnly, OptionKind::kText, "--only", "REFRAIN_ONLY", "",
     "Record only these calls: groups (p2p, coll, rma, io, comm, ...) and functions,\n"
     "separated by commas. Both ends of a message are kept or none (p2p), and completions\n"
     "follow their requests. The trace counts the calls that were left out"},
    {RecordOption::kWithout, OptionKind::kText, "--without", "REFRAIN_WITHOUT", "",
     "Leave these calls out; same syntax as --only"},
    {RecordOption::kComm, OptionKind::kText, "--comm", "REFRAIN_COMM", "",
     "Record calls on a communicator only for these: world, self, or names given with\n"
     "MPI_Comm_set_name (the same on all members)"},
    {RecordOption::kMinBytes, OptionKind::kText, "--min-bytes", "REFRAIN_MIN_BYTES", "",
     "Leave out messages with fewer bytes, for example 64K, at both ends: a receive has\n"
     "the size of its message. Also accesses to windows and files, and collectives\n"
     "except those whose sizes may differ between ranks (v, w, neighbourhood, files)"},
    {RecordOption::kMaxBytes, OptionKind::kText, "--max-bytes", "REFRAIN_MAX_BYTES", "",
     "Leave out messages with more bytes, in the same way"},
    {RecordOption::kFunctions, OptionKind::kText, "--functions", "REFRAIN_FUNCTIONS", "off",
     "on: record begin and end of the program's own functions that were compiled with\n"
     "-finstrument-functions"},
    {RecordOption::kPythonFrames, OptionKind::kText, "--python-frames", "REFRAIN_PYTHON_FRAMES",
     "on",
     "on: call paths show the functions and lines of Python programs (3.9 to 3.14);\n"
     "off: those of the interpreter"},
    {RecordOption::kStartPaused, OptionKind::kFlag, "--start-paused", "REFRAIN_START_PAUSED", "",
     "Record only MPI_Init and MPI_Finalize until MPI_Pcontrol(1) or refrain_resume() of\n"
     "refrain/mark.h; MPI_Pcontrol(0) and refrain_pause() pause again"},
    {RecordOption::kSpool, OptionKind::kText, "--spool", "REFRAIN_SPOOL", "",
     "Folder for the spool, which `refrain recover` needs if the job dies: for example "
     "/dev/shm, or off [OUTPUT.spool]"},
    {RecordOption::kLiveDir, OptionKind::kText, "--live-dir", "REFRAIN_LIVE_DIR", "",
     "Tell `refrain live serve --dir FOLDER`, which may run already or start later, of this\n"
     "job: a file in the folder names its spool"},
    {RecordOption::kLive, OptionKind::kFlag, "--live", "REFRAIN_LIVE", "",
     "Be analysed while the job runs, by `refrain live analyze` in the same launch:\n"
     "mpiexec -n 4 refrain record --live ./app : -n 1 refrain live analyze -o live.\n"
     "The program's MPI_COMM_WORLD has its own ranks only"},
    {RecordOption::kLiveName, OptionKind::kText, "--live-name", "REFRAIN_LIVE_NAME", "",
     "With --live: programs of one name share MPI_COMM_WORLD, others have their own\n"
     "[the program's name]"},
    {RecordOption::kLivePolicy, OptionKind::kText, "--live-policy", "REFRAIN_LIVE_POLICY", "spool",
     "With --live: where the analyser is more than 2097152 calls of a rank late with times of\n"
     "single calls: spool: nobody waits, and the spool grows; drop: the rank keeps no more\n"
     "times, which is a loss; block:MS: it waits up to MS milliseconds a block of 8192 calls"},
    {RecordOption::kLiveOnly, OptionKind::kFlag, "--live-only", "REFRAIN_LIVE_ONLY", "",
     "With --live: the analyser alone writes the trace, and MPI_Finalize merges nothing"},
    {RecordOption::kMemory, OptionKind::kText, "--memory", "REFRAIN_MEMORY", "",
     "Limit of the memory for recording in a rank, for example 64M; beyond it, parts of "
     "the record go to the spool. MPI_Finalize joins them, which takes memory for the "
     "distinct calls of the rank, and on rank 0 for those of all ranks [no limit]"},
    {RecordOption::kMessages, OptionKind::kText, "--messages", "REFRAIN_MESSAGES", "",
     "Log what calls fill buffers with, for `refrain solo`, in OUTPUT.messages: of all ranks\n"
     "(all), of these (ranks:0-3,8), or of the representatives in a file of `refrain\n"
     "similarity --plan` and all ranks of their nodes (representatives:PLAN)"},
    {RecordOption::kNodeSize, OptionKind::kNumber, "--node-size", "REFRAIN_NODE_SIZE", "0",
     "With --messages: so many consecutive ranks are on a node, and the log of a rank keeps\n"
     "the contents of messages from other nodes only; 0: those of all messages"},
    {RecordOption::kMap, OptionKind::kText, "--map", "REFRAIN_MAP", "",
     "With --messages: a file that says which ranks are on a node, a line such as 0-3,8 for\n"
     "each node, in place of --node-size"},
    {RecordOption::kMessageLimit, OptionKind::kText, "--message-limit", "REFRAIN_MESSAGE_LIMIT", "",
     "With --messages: bytes of a rank's log, for example 4G; behind them nothing is logged,\n"
     "and the trace says so [no limit]"},
    {RecordOption::kQuiet, OptionKind::kFlag, "--quiet", "REFRAIN_QUIET", "",
     "Do not print what was written at the end"},
};

// Variables without an option.
enum class Variable : uint8_t {
  kRecord,
  kJoinLimit,
  kLibraryPath,
  kClock,
  kCheckPaths,
  kCalledAs,
  kCommand,
  kMpiGuessed,
  kProgram,
  kSelf,
  kSpawned,
  kSoloTrace,
  kSoloRank,
  kSoloFiles,
  kSoloScratch,
  kSoloUnits,
  kSoloTogether,
};

struct VariableRow {
  Variable variable;
  const char* name;
  const char* what;
};

// In the order of Variable.
inline constexpr VariableRow kVariableRows[] = {
    // For users.
    {Variable::kRecord, "REFRAIN_RECORD",
     "0: the program runs behind the recorder's wrappers, and nothing is recorded"},
    {Variable::kJoinLimit, "REFRAIN_JOIN_LIMIT",
     "Seconds to wait for the recorders of other hosts; 0: no limit"},
    {Variable::kLibraryPath, "REFRAIN_LIBRARY_PATH",
     "The folder that recorders are looked for in first"},
    {Variable::kClock, "REFRAIN_CLOCK",
     "system: use the system's clock, on machines whose processor counters do not agree"},
    {Variable::kCheckPaths, "REFRAIN_CHECK_PATHS",
     "For tests: compare call paths with those of libunwind; the file for the differences"},
    // From `record` to the recorder.
    {Variable::kCalledAs, "REFRAIN_CALLED_AS",
     "How the user called refrain, for the line at the end"},
    {Variable::kCommand, "REFRAIN_COMMAND", "The command line of the program, for the trace"},
    {Variable::kMpiGuessed, "REFRAIN_MPI_GUESSED",
     "1: the program loads its MPI at run time, and it may be another one than expected"},
    {Variable::kProgram, "REFRAIN_PROGRAM", "The path of the program, for the trace"},
    {Variable::kSelf, "REFRAIN_SELF",
     "The path of refrain, to record jobs that MPI_Comm_spawn starts"},
    {Variable::kSpawned, "REFRAIN_SPAWNED", "1: MPI_Comm_spawn has started this job"},
    // From `solo` to the library that stands in for an MPI.
    {Variable::kSoloTrace, "REFRAIN_SOLO_TRACE", "The trace that a rank runs from"},
    {Variable::kSoloRank, "REFRAIN_SOLO_RANK",
     "The rank that runs; in a group also its first and last rank; its process: 17,16,19@4711"},
    {Variable::kSoloFiles, "REFRAIN_SOLO_FILES",
     "1: files are written where they are; 0: in a scratch folder"},
    {Variable::kSoloScratch, "REFRAIN_SOLO_SCRATCH", "That folder; not set: a new one"},
    {Variable::kSoloUnits, "REFRAIN_SOLO_UNITS", "Where the times between calls go"},
    {Variable::kSoloTogether, "REFRAIN_SOLO_TOGETHER",
     "Of --concurrent: which of how many ranks it is, and the file of what they share"},
};

inline constexpr size_t kRecordOptionCount = sizeof kRecordRows / sizeof kRecordRows[0];

constexpr const OptionRow& row_of(RecordOption option) {
  return kRecordRows[static_cast<size_t>(option)];
}
constexpr const char* variable_of(RecordOption option) { return row_of(option).variable; }
constexpr const char* variable_of(Variable variable) {
  return kVariableRows[static_cast<size_t>(variable)].name;
}
constexpr const char* default_of(RecordOption option) { return row_of(option).otherwise; }

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < kRecordOptionCount; ++i)
    if (static_cast<size_t>(kRecordRows[i].option) != i) return false;
  for (size_t i = 0; i < sizeof kVariableRows / sizeof kVariableRows[0]; ++i)
    if (static_cast<size_t>(kVariableRows[i].variable) != i) return false;
  return true;
}
static_assert(rows_are_in_order());

}  // namespace refrain::options
