// Spool: the record of this process in a file, which survives the death of the process.
//
//   definition, signature, loss --append--> tables        call --push--> log of the location
//                                                                          | full
//                                    grammar, statistics --checkpoint--> base, stats; log anew
//
// Between checkpoints only the log grows; at a checkpoint the current grammar becomes the new base.
// The log holds at least 8000 calls, and at least as many as make its bytes twice those of the
// grammar. So a checkpoint costs a few ns per call, and a program without repetition, whose grammar
// is larger than its log, rarely needs one.
//
// Laws: as in spool_file.h; when the spool can grow no further, it stops, says so in the file, and
// recording to memory goes on. Thread safe; a push is per
// location, takes no lock, and is called without Process::Guard.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "format/merge/unique.h"
#include "format/trace_data.h"
#include "grammar/grammar.h"
#include "options/live_policy.h"
#include "tracer/spool/spool_file.h"
#include "tracer/state/record_sink.h"

namespace refrain::tracer {

struct Location;
class Process;

// What Spool keeps of a location.
struct SpoolThread {
  Location* location = nullptr;
  format::spool::Chunk* state = nullptr;
  std::vector<format::spool::Chunk*> logs;  // the last one is being filled
  // Two chunks in turn; the other one is valid while one is being written.
  struct Pair {
    format::spool::Chunk* chunk[2] = {};
    uint64_t generation = 0;
  } base, stats;
  // What was too large to keep: chunks of the file that are not mapped, and the calls in them.
  struct Part {
    uint64_t offset = 0, bytes = 0, calls = 0;
  };
  std::vector<Part> parts;                // grammars
  std::vector<Part> stats_parts;          // durations
  uint64_t memos_from = 0;                // calls before those that are counted in memos
  format::spool::Chunk* times = nullptr;  // the one that is being filled
  std::vector<Part> time_chunks;          // all of them
};

class Spool final : public RecordSink {
 public:
  using Text = std::map<std::string, std::string>;

  // Once rank and size are known; `run` is the same number on all ranks, 0 when they cannot agree
  // on one. Leaves process.spool null when there is none (REFRAIN_SPOOL=off, or no place for it).
  // `text`: what is known of the run by then.
  static void open(Process& process, uint64_t run, const Text& text);

  // ---- RecordSink ----
  void definition(const format::Definition& d) override;
  void signature(std::string_view bytes) override;
  void loss(const char* reason, uint64_t calls, const char* detail) override;
  void text(const std::string& key, const std::string& value) override;
  void place(const format::RankPlace& place) override;
  void clock_point(const format::ClockPoint& point) override;
  void attach(Location& location) override;
  void push_slowly(Location& location, uint32_t terminal, uint64_t ticks, uint64_t gap) override;
  bool finish_part(Location& location, uint32_t first_terminal, Part what) override;
  bool times(Location& location, const format::TimeBlock& block, std::string_view bytes) override;
  bool may_keep_times() override;
  bool each_run_of_times(const Location& location, const TimeVisit& visit) override;
  void own_piece(uint32_t thread, uint64_t call, uint64_t ns) override;
  void set_state(format::spool::State state) override;
  format::spool::State state();  // kStopped where there is none
  void abandon() override;
  uint64_t mapped() const override { return file_.mapped(); }

  // Back from the file, when nothing is recorded any more; only what is there no longer is in
  // memory. The first `count` signatures, in order: false when they cannot be had.
  bool read_signatures(uint64_t count, format::UniqueSignatures& to);
  // Their statistics are added to `durations`, which is indexed by number_of[terminal], and `gaps`,
  // which is the same or empty.
  void read_durations(const std::vector<uint32_t>& number_of,
                      std::deque<format::DurationStats>& durations,
                      std::deque<format::DurationStats>& gaps);
  // The grammar of all calls of the location, over number_of[terminal], how many of them could not
  // be read back, and how many of the last ones there was no memory for.
  grammar::Grammar whole_grammar(Location& location, const std::vector<uint32_t>& number_of,
                                 uint64_t* lost, uint64_t* lost_at_end);

  // Whether the times of the location's calls can probably be read back.
  bool has_times(const Location& location);

  // Bytes of the file in our memory, at most at any time.
  uint64_t most_mapped() const { return file_.most_mapped(); }

  // The run has ended, and the clock's rate stays as it is: durations as the trace will have them.
  // For who receives the job while it runs; of very many only where somebody was asked to.
  void last_statistics();
  // The run has ended, and this is known of all of it; pieces of work at the clock rate that the
  // trace has.
  void run_end(const format::RankRecord& record);

  // Whether everything that was recorded is in the file.
  bool is_whole() { return !stopped_ && file_.header() != nullptr; }
  // The analyser will write the trace of what is there, and remove the file.
  void leave();

  const std::string& folder() const { return file_.folder(); }
  // Nothing more is recorded, and little is read back: the file need not be in our memory.
  void let_pages_go() { file_.let_pages_go(); }
  // The trace is written: this process' file, and the folder when it is the last.
  void remove();
  // The same for the files of all ranks, where they cannot agree that it is written.
  void remove_run();

 private:
  explicit Spool(Process& process) : process_(process) {}
  // Held while the file is changed; free of cost with a single thread.
  class Lock {
   public:
    explicit Lock(Spool& spool);
    ~Lock() {
      if (mutex_ != nullptr) mutex_->unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::mutex* mutex_;
  };
  bool create(uint64_t run);
  void meet_analyser(uint64_t run);
  bool write_all(const Text& text);
  bool take_posix();
  // A record: its kind and its bytes, in one piece or two.
  bool append(std::string_view bytes, std::string_view more = {});
  bool append_text(const std::string& key, const std::string& value);
  bool append_definition(const format::Definition& d);
  bool append_signature(std::string_view bytes);
  bool attach_locked(Location& location);
  void attach_row(Location& location);
  bool extend(SpoolThread& t, uint64_t position, uint64_t words);
  bool is_log_large(const SpoolThread& t) const;
  bool checkpoint(SpoolThread& t);
  static void fill(format::spool::Chunk& chunk, SpoolThread::Pair& pair, uint64_t position,
                   std::string_view bytes);
  bool seal(SpoolThread::Pair& pair, format::spool::ChunkType type, uint32_t owner,
            uint64_t position, std::string_view bytes);
  void learn_rate();
  void keep_rate();
  bool write_stats(SpoolThread& t);
  std::string stats_of(const SpoolThread& t, bool with_first_calls);
  format::spool::Chunk* add_part(format::spool::ChunkType type, SpoolThread::Pair& pair,
                                 uint32_t owner, uint64_t position, std::string_view bytes);
  void drop_pair(SpoolThread::Pair& pair);
  void clear_log(SpoolThread& t, uint32_t first_terminal);
  std::string_view read_part(const SpoolThread::Part& part, std::string& bytes);
  bool is_bounded() const;
  uint64_t bounded_to(uint64_t bytes, uint64_t share) const;
  void stop();

  Process& process_;
  std::mutex mutex_;
  SpoolFile file_;
  std::string run_;   // its number
  std::string mark_;  // file in the folder that says that somebody has complained
  bool stopped_ = false;
  options::LivePolicy flow_;                // towards an analyser in the job
  uint64_t waited_in_vain_at_ = 0;          // calls that it had taken then, + 1; 0: never
  format::spool::Chunk* tables_ = nullptr;  // the last one
  uint64_t expected_ = 0;                   // bytes of it whose pages are there
  std::vector<SpoolThread::Part> full_tables_;
  std::vector<std::unique_ptr<SpoolThread>> threads_;
};

}  // namespace refrain::tracer
