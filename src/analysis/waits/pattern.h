// The kinds of waiting that the analysis tells apart, as a tree: a pattern's time holds that of the
// patterns below it. Names and definitions follow EXPERT and Scalasca (F. Wolf, B. Mohr, "Automatic
// performance analysis of hybrid MPI/OpenMP applications"; the online help of Scalasca's SCOUT);
// docs/waits.md has them in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace refrain::analysis::waits {

enum class Pattern : uint8_t {
  kAll,                     // every wait
  kPointToPoint,            //   messages
  kLateSender,              //     the receive is there before the send
  kLateSenderWrongOrder,    //       ... while an earlier message lies unreceived
  kLateReceiver,            //     the send is there before the receive, and blocks
  kLateReceiverWrongOrder,  //       ... which took a message that was sent later, first
  kCollective,              //   collectives
  kEarlyReduce,             //     n to 1: the root is there before the last sender
  kLateBroadcast,           //     1 to n: a receiver is there before the root
  kEarlyScan,               //     a rank is there before one below it
  kWaitAtNxN,               //     n to n: before the last rank
  kNxNCompletion,           //     n to n: after the first rank has left
  kLateNeighbour,           //     neighbourhood: before the last rank that it hears from
  kWaitAtBarrier,           //     barrier: before the last rank
  kBarrierCompletion,       //     barrier: after the first rank has left
  kWaitAtCollectiveIo,      //     collective file operation: before the last rank
  kOneSided,                //   one-sided communication
  kWaitAtWindow,            //     making and freeing a window
  kWaitAtFence,             //     fence: before the last rank
  kLatePost,                //     an access epoch before its exposure epoch
  kEarlyWait,               //     an exposure epoch's end before that of an access epoch
  kLockContention,          //     a lock that another rank holds
  kStartAndEnd,             //   MPI_Init and MPI_Finalize
  kInitImbalance,           //     before the last rank has called MPI_Init
  kFinalizeImbalance,       //     before the last rank has called MPI_Finalize
};
inline constexpr int kPatterns = 25;

// "late_sender"; the names of the JSON.
std::string_view name_of(Pattern pattern);
std::optional<Pattern> pattern_named(std::string_view name);
// Those that people may mean: by name or title, whatever their letters' case, spaces and signs.
// More than one for a title that two patterns have; empty: there is none.
std::vector<Pattern> patterns_called(std::string_view words);
// "Late sender"; for people.
std::string_view title_of(Pattern pattern);
// The pattern that contains this one; kAll for itself.
Pattern parent_of(Pattern pattern);
int depth_of(Pattern pattern);
bool contains(Pattern outer, Pattern inner);

}  // namespace refrain::analysis::waits
