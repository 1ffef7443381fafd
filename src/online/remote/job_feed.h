// JobFeed: jobs of this host, as a folder tells of them (told_jobs.h), to messages (message.h) for
// somebody elsewhere. `refrain live feed`.
//
// A rank is looked at again when its messages have been taken, so nothing piles up here while
// nobody takes them: the spools keep it. Whoever is killed begins again from the spools as a new
// incarnation, and so do all jobs when the broker was away: one that was killed has not written the
// last messages that it said it had stored. A job's file in the folder goes when everything of it
// has been taken.
//
// Ownership: holds a lock on the folder, and the spools of living jobs open. Not thread safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/live/encode/feeder.h"
#include "format/spool/job_files.h"
#include "online/remote/message.h"
#include "online/remote/told_jobs.h"

namespace refrain::online {

struct ClockNow {
  int64_t offset_ns = 0;  // theirs minus ours
  uint64_t error_ns = kNoClockError;
};

// Where messages go: a broker (broker.h), or a test.
class Outlet {
 public:
  virtual ~Outlet() = default;
  // Returns when it has been stored; the same message may be sent again after an error, and is
  // stored once.
  virtual base::Status publish(const std::string& subject, const Message& message) = 0;
  // How often the broker was away so far, and came back.
  virtual uint64_t returns() const = 0;
  // By the shortest of some round trips; nothing where nobody answers.
  virtual std::optional<ClockNow> compare_clocks() = 0;
};

class JobFeed {
 public:
  // Fails as lock_job_folder() does.
  static base::Result<std::unique_ptr<JobFeed>> open(const std::string& folder, Outlet& outlet);
  ~JobFeed();
  JobFeed(const JobFeed&) = delete;
  JobFeed& operator=(const JobFeed&) = delete;

  // Sends what is new of all jobs; returns lines for the log. An error: messages are not taken now.
  base::Result<std::vector<std::string>> look();

 private:
  struct Row {
    std::string subject;
    uint64_t next = 0;
    std::deque<std::pair<MessageKind, std::string>> pending;
  };
  struct Rank {
    format::live::Feeder feeder;
    Row row;
    bool is_over = false;
  };
  struct Job {
    ToldJob told;
    std::string spool;
    Row of_job, of_trace;
    std::map<uint64_t, Rank> ranks;
    time_t last_found = 0;
    bool any_died = false, is_trace_sent = false;
  };
  JobFeed(std::string folder, Outlet& outlet);
  std::unique_ptr<Job> begun(ToldJob told) const;
  void begin_anew(std::vector<std::string>& lines);
  void find_jobs(std::vector<std::string>& lines);
  void find_ranks(Job& job);
  void look_at(Job& job, Rank& rank);
  base::Status send(Row& row);
  base::Status feed(Job& job);
  bool is_over(Job& job);
  bool wants_trace(const Job& job) const;
  static void add_pieces(Row& row, MessageKind kind, MessageKind last, std::string_view bytes);

  const std::string folder_;
  Outlet& outlet_;
  uint64_t incarnation_;
  uint64_t returns_ = 0;  // of the broker, as they were when all was begun
  int lock_ = -1;
  std::map<std::string, std::unique_ptr<Job>> jobs_;  // by file; null: tells of none
  ClockNow clock_;
  uint64_t compared_ns_ = 0;
};

}  // namespace refrain::online
