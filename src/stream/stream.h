// A stream of refrain/coupling.h: one end of it, with its partners and buffers (the online-coupling
// paper, section III-A, Figure 9). Codes below zero are those of that header.
//
// Each partner has two tags. On the first one, greetings, once in each direction, say version,
// block size and direction, and a note behind the last block says how many there were. Blocks have
// the other tag to themselves, and nothing but the data is in them: so the caller can fill what is
// sent, and look at what was received, where it is. A reader has `buffers` receives posted for each
// writer, so that MPI never has to keep a block; a writer shares `buffers` among its readers.
//
// Ownership: the transport outlives the stream. Buffers of messages to a process that died are
// never freed, because MPI may still look at them. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stream/transport.h"

namespace refrain::stream {

enum class Balance { kNone = 0, kRandom = 1, kRoundRobin = 2 };

struct StreamOptions {
  size_t block_bytes = size_t{1} << 20;
  int buffers = 3;  // N_A
  Balance balance = Balance::kNone;
  uint64_t seed = 1;  // of Balance::kRandom
};

// How a stream ends, as readers see it.
enum class Ending { kClosed, kAbandoned };

class Stream {
 public:
  Stream(Transport& transport, const StreamOptions& options);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Adds a partner. Both ends use the same `tag` and tag + 1, which no other stream between them
  // has.
  int open(int rank, int tag, bool reads, bool writes);

  // One block: its bytes, 0 at the end (read only), or a code. `data` of read() has room for a
  // block.
  int64_t write(const void* data, size_t bytes, bool wait);
  int64_t read(void* data, bool wait, int* from);

  // The same without a copy. acquire() gives a block to fill, commit() sends its first `bytes`
  // (0: gives it back unused); where commit() fails, the caller still has the block. borrow() shows
  // what was received, until release().
  int acquire(void** block, bool wait);
  int64_t commit(void* block, size_t bytes, bool wait);
  int64_t borrow(const void** block, bool wait, int* from);
  int release(const void* block);

  // As refrain_stream_close(), but for freeing. Nothing else follows.
  int close(Ending ending);

  StreamOptions* options() { return &options_; }
  bool is_open() const { return !partners_.empty(); }
  const std::vector<int>& dead() const { return dead_; }
  const std::string& error() const { return error_; }

 private:
  struct Greeting;
  struct Partner;
  struct Out;
  // A block that was received: in slot `slot` of its writer.
  struct Taken {
    Partner* from = nullptr;
    size_t slot = 0, bytes = 0;
  };
  struct Borrowed {
    char* memory;
    Partner* from;
  };

  int fail(int code, std::string text);
  int post(Partner& partner, size_t slot);
  int greet(Partner& partner, bool* ready);
  int check_greeting(Partner& partner);
  Partner* writable();
  int no_reader_left();
  size_t place_of(const Partner& partner) const;
  void pass_on(const Partner& partner);
  int free_out(Out** out);
  bool are_all_acquired() const;
  int send(Partner& partner, Out& out, size_t bytes);
  // Sends a block, and it is the next reader's turn.
  int64_t hand_over(Partner& to, Out& out, size_t bytes);
  // A round without success: pauses, or fails with EAGAIN and `why` where nobody is to wait; `to`
  // then loses its turn.
  int try_again(Partner* to, bool wait, int round, const char* why);
  int take(Partner& partner, Taken* taken);
  int look_at_end(Partner& partner);
  int sweep(Taken* taken, bool* any_open);
  int sweep_away(bool* any_open);
  int next(Taken* taken, bool wait);
  bool is_any_posted() const;
  int look_who_lives();
  int lose(Partner& partner, const std::string& how);
  void stop_receiving(Partner& partner);
  int end_partner(Partner& partner, Ending ending);
  int finish();
  size_t random_index();

  Transport& transport_;
  StreamOptions options_;
  std::vector<std::unique_ptr<Partner>> partners_;
  std::vector<Out> outs_;
  std::vector<Borrowed> borrowed_;
  bool reads_ = false, writes_ = false;
  size_t next_in_ = 0, next_out_ = 0;  // where the balance goes on
  uint64_t random_;
  int64_t looked_ns_ = 0;  // when it was last looked who lives
  std::vector<int> dead_;
  std::string error_;
};

}  // namespace refrain::stream
