// RemoteJobs: jobs of other hosts, by the messages of those who feed them (message.h, job_feed.h).
//
// Messages come in the order in which each sender sent them, and again from the first one when we
// are started again: so nothing of them is kept on disk but traces that were sent whole. What is
// wrong with a message (torn, come again, forged, too many bytes) marks the rank that it says it is
// of, which then ends with what came before; no other rank and no other job is touched.
//
// Memory: in proportion to the bytes that came, which are limited for each job. Not thread safe.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/spool/live_job.h"
#include "online/rank_source.h"
#include "online/remote/message.h"

namespace refrain::online {

// Where messages come from: a broker (broker.h), or a test.
class Inlet {
 public:
  virtual ~Inlet() = default;
  using Visit = std::function<void(std::string_view subject, std::string_view message)>;
  // Those that come within so long. An error says that the connection is lost; it is made again.
  virtual base::Status receive(uint64_t most_ns, const Visit& visit) = 0;
  // Nothing of the run is needed any more.
  virtual void purge(uint64_t run) = 0;
};

struct RemoteOptions {
  uint64_t most_job_bytes = uint64_t{1} << 30;  // of all ranks of a job
};

class RemoteJobs {
 public:
  // `folder`: for traces that come whole.
  RemoteJobs(std::unique_ptr<Inlet> inlet, std::string folder, RemoteOptions options);
  ~RemoteJobs();

  // Takes what comes within so long.
  base::Status wait(uint64_t most_ns);

  struct Told {
    uint64_t run = 0;
    time_t told = 0;
    format::spool::LiveJob what;
  };
  std::vector<Told> told() const;
  // The source of one of them; it may be used as long as this object is there.
  std::unique_ptr<JobSource> source(uint64_t run);
  // All that the job leaves is written.
  void forget(uint64_t run);
  // Messages that are of no job, or of more jobs than there may be.
  uint64_t ignored() const { return ignored_; }

  static constexpr size_t kMostJobs = 1000;  // at a time

 private:
  struct Rank;
  struct Job;
  class OneRank;
  class OneJob;
  // The messages of a subject.
  struct Row {
    uint64_t incarnation = 0, next = 0;
  };
  enum class Came { kNext, kFirst, kOld, kWrong };
  static Came take(Row& row, const Message& message, std::string* wrong);
  void take(std::string_view subject, std::string_view bytes);
  void take_job(Job& job, const Message& message);
  void take_trace(Job& job, const Message& message);
  void take_rank(Job& job, uint64_t number, const base::Result<Message>& message);
  void receive(Job& job, Rank& rank, const Message& message);

  const std::unique_ptr<Inlet> inlet_;
  const std::string folder_;
  const RemoteOptions options_;
  std::map<uint64_t, std::shared_ptr<Job>> jobs_;  // by run
  std::set<uint64_t> forgotten_, to_purge_;
  uint64_t ignored_ = 0;
};

}  // namespace refrain::online
