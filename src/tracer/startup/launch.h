// Finds the recorded ranks of this host without MPI, because ranks without a recorder do not answer
// its messages.
//
//   MPI_Init begins   each recorded rank puts its mark into a file of the launch in shared memory
//   MPI_Init ends     all ranks were in it, so all marks are there: their number against that of
//                     the ranks that the launcher has started here
//
// The file is named after the process of the launcher that started these ranks, and removed as soon
// as all marks are there. If marks are missing, a rank that has waited long enough closes the file:
// from then on the marks are final, and a rank that comes later knows that the others do not count
// it. So all ranks with a mark get the same result. Files of killed launches are removed by the
// next launch.
//
// Laws: no MPI; a few system calls, and no waiting if all ranks are recorded. The result is
// "unknown" rather than wrong: in containers that hide the launcher, and with launchers that do not
// say how many ranks they started.
#pragma once

#include <cstdint>
#include <vector>

namespace refrain::tracer {

struct RecordedRanks {
  enum class Are : uint8_t {
    kUnknown,
    kAll,        // of this host
    kSome,       // those of `ranks`
    kWithoutUs,  // this process came when the others had closed the file
  };
  Are are = Are::kUnknown;
  bool is_whole_job = false;  // kAll: there is no other host
  std::vector<int> ranks;     // kSome: in MPI_COMM_WORLD, ascending
};

// Who is looked for: those with a recorder, or those that take part in a job with an analyser
// (`record --live`, and the analysers).
enum class LaunchBoard : uint8_t { kRecorded, kLive };

// What a rank says that misses some of the latter.
inline constexpr const char* kNotAllLive =
    "a rank of the job takes no part in its analysis: start every program beside `refrain live "
    "analyze` with `refrain record --live`. The job ends.";

// Said where a program begins with a session beside an analyser (docs/decisions/0213).
inline constexpr const char* kSessionsBesideAnalyser =
    "a program that uses MPI sessions before MPI_Init cannot run in one job with `refrain live "
    "analyze`: record it without an analyser. The job ends.";

// How a rank begins.
enum class Begins : uint8_t { kWithWorld, kWithSession, kAsAnalyser };

// Before MPI_Abort, as long as base/last_words.h has it.
void wait_to_abort(bool has_said);

// Before the MPI library's MPI_Init. Keeps errno.
void announce_rank(LaunchBoard board = LaunchBoard::kRecorded, Begins begins = Begins::kWithWorld);

// Right after a rank was announced on the live board: whether one that begins with a session and an
// analyser are both among those that came until then. Of all that see it, the first is to say it.
// Ranks of this host only. No waiting: whoever comes second sees it.
enum class Conflict : uint8_t { kNone, kSayIt, kIsSaid };
Conflict find_sessions_beside_analyser();

// Who has come to the live board until now. launcher 0: nothing is known, or there are other hosts.
struct Arrivals {
  int launcher = 0;    // the process that started the ranks
  uint32_t local = 0;  // how many ranks that is
  uint32_t programs = 0, analysers = 0;
};
Arrivals who_has_come();

// After it, once; `rank` and `size` are those of MPI_COMM_WORLD.
RecordedRanks look_for_recorded(int rank, int size, LaunchBoard board = LaunchBoard::kRecorded);

// The job ends.
void forget_launch();

}  // namespace refrain::tracer
