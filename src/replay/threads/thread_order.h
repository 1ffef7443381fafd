// ThreadOrder: which calls of one thread have to wait for which calls of another, found before the
// replay.
//
// A trace has the calls of each thread of a rank in order, and nothing of how the program's threads
// waited for each other. What they share shows that there must have been an order: a communicator
// is made before another thread uses it, and freed after that. Here the calls of all threads are
// put into one order in which each of them finds what it needs; of that order the replay keeps what
// is necessary. It is the recorded order where times of single calls are known. Where objects that
// are not alike had one name in turn, each call waits for the one that it means. That a name is
// given again is else no reason to wait: names count in the thread that gave them, and each thread
// is told whose name it uses.
//
// Pure: no MPI, no trace, no system threads. Errors: none; what cannot be ordered is counted.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

namespace refrain::replay {

// What several threads may share: an object, a request, that a persistent request is started, the
// turn in the collectives of a predefined communicator, or the messages of a channel. (Whoever
// looks for a message and then takes it must have been alone with the channel.)
struct Thing {
  uint8_t kind = 0;  // in kinds of parameters (mpi::ParamKind), or one of those below
  int64_t number = 0;
  auto operator<=>(const Thing&) const = default;
};
inline constexpr uint8_t kStarted = 250, kTurns = 251, kChannel = 252;

enum class Effect : uint8_t {
  kMake,  // it must not be there, and is there afterwards
  kUse,   // it must be there
  kFree,  // the same, and it is not there afterwards
  kSee,   // makes it unless it is there
  kTurn,  // it must be there, and its calls of this kind are one after the other
  kLook,  // the same; channels that nobody looks into are left alone
};

struct Touch {
  Thing thing;
  Effect effect = Effect::kUse;
  // What the object is, where that is known: of several objects that had one name in turn, a call
  // means the one that was made as this. 0: not known.
  int64_t made_as = 0;
  bool operator==(const Touch&) const = default;
};

// The calls of a thread that touch anything, in order.
class TouchStream {
 public:
  struct Call {
    uint64_t seq = 0;
    uint64_t begin_ns = 0;  // 0: not known
    uint32_t name = 0;      // the caller's, for ThreadOrder::End
    const std::vector<Touch>* touches = nullptr;
  };
  virtual ~TouchStream() = default;
  virtual bool next(Call& call) = 0;
  virtual void rewind() = 0;
};

struct ThreadOrder {
  // Before call `seq` of a thread, call `after` of thread `other` must have returned.
  struct Wait {
    uint64_t seq = 0;
    uint32_t other = 0;
    uint64_t after = 0;
    bool operator==(const Wait&) const = default;
  };
  std::vector<std::vector<Wait>> of_thread;  // ascending by seq
  // From call `seq` of a thread on, it means by `thing` what `thread` has made; before the first
  // such entry, what itself has made.
  struct Maker {
    uint64_t seq = 0;
    Thing thing;
    uint32_t thread = 0;
    bool operator==(const Maker&) const = default;
  };
  std::vector<std::vector<Maker>> makers;  // by thread; ascending by seq
  // What call `seq` of a thread makes, another thread ends, in a call of that name.
  struct End {
    uint64_t seq = 0;
    uint32_t name = 0;
  };
  std::vector<std::vector<End>> ended_by_others;  // by thread; ascending by seq
  uint64_t forced = 0;  // calls for which there was no order: what they need may not be there
};

// `has_times`: the order is that of begin_ns as far as possible. O(calls * threads), a few times.
ThreadOrder order_threads(std::vector<std::unique_ptr<TouchStream>>& threads, bool has_times);

}  // namespace refrain::replay
