// Messages of jobs elsewhere: any bytes are a message or an error, and what is wrong with one marks
// the rank that it names, and no other.
#include "online/remote/remote_jobs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/live/encode/stream_writer.h"

namespace refrain::online {
namespace {

namespace fs = std::filesystem;
namespace live = format::live;
namespace spool = format::spool;

constexpr uint64_t kRun = 0x0123456789abcdef;
constexpr uint32_t kRanks = 2;

// What is put there comes with the next wait().
class TestInlet : public Inlet {
 public:
  TestInlet(std::vector<std::pair<std::string, std::string>>& queue, std::vector<uint64_t>& purged)
      : queue_(queue), purged_(purged) {}
  base::Status receive(uint64_t, const Visit& visit) override {
    for (const auto& [subject, message] : std::exchange(queue_, {})) visit(subject, message);
    return base::Done{};
  }
  void purge(uint64_t run) override { purged_.push_back(run); }

 private:
  std::vector<std::pair<std::string, std::string>>& queue_;
  std::vector<uint64_t>& purged_;
};

// Blocks of the stream of a rank that has made so many calls.
std::string stream_of(uint64_t run, uint32_t rank, int calls) {
  live::Hello hello;
  hello.job = "run.rfn";
  hello.header.world_size = kRanks;
  hello.header.run = run;
  hello.header.rank = static_cast<int32_t>(rank);
  std::strcpy(hello.header.host, "elsewhere");
  live::StreamWriter out(rank + 1);
  out.hello(hello);
  base::ByteWriter signature;
  signature.put_u8(static_cast<uint8_t>(spool::RecordKind::kSignature));
  signature.put_varint(1);
  signature.put_u8(0);
  signature.put_u8(1);
  signature.put_zigzag(0);
  out.table(signature.view());
  out.calls(0, std::vector<uint32_t>(static_cast<size_t>(calls), 0));
  live::State state;
  spool::Progress progress;
  progress.calls = static_cast<uint64_t>(calls);
  state.threads = {progress};
  out.state(state);
  return out.take();
}

class RemoteJobsTest : public testing::Test {
 protected:
  void SetUp() override { begin({}); }
  void TearDown() override { fs::remove_all(folder_); }

  void begin(RemoteOptions options) {
    folder_ = fs::temp_directory_path() / ("remote_jobs_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    jobs_ = std::make_unique<RemoteJobs>(std::make_unique<TestInlet>(queue_, purged_),
                                         folder_.string(), options);
    job_ = nullptr;
    sources_.clear();
    send({kRun, Subject::Of::kJob, 0}, MessageKind::kJob, 0,
         spool::write_live_job({"/there/run.rfn.spool", "/there/run.rfn", kRun, kRanks, {}}));
  }
  void send(const Subject& to, MessageKind kind, uint64_t number, std::string_view content,
            uint64_t incarnation = 1) {
    Message m;
    m.kind = kind;
    m.incarnation = incarnation;
    m.number = number;
    m.content = content;
    put(to, write_message(m));
  }
  void put(const Subject& to, const std::string& message) {
    queue_.emplace_back(subject_text(to), message);
    EXPECT_TRUE(jobs_->wait(0).ok());
    if (job_ == nullptr && !jobs_->told().empty()) job_ = jobs_->source(kRun);
    if (job_ == nullptr) return;
    for (FoundRank& found : job_->new_ranks())
      sources_[static_cast<uint64_t>(found.header.rank)] = std::move(found.source);
  }
  static Subject rank(uint64_t number) { return {kRun, Subject::Of::kRank, number}; }
  // Calls of the rank, and what is wrong with it.
  std::pair<uint64_t, std::string> now(uint64_t number) {
    const auto source = sources_.find(number);
    if (source == sources_.end()) return {0, "none"};
    const auto found = source->second->look();
    if (!found.ok()) return {0, found.error().to_string()};
    return {found->threads.empty() ? 0 : found->threads[0].calls,
            found->damage.empty() ? std::string() : found->damage[0]};
  }

  fs::path folder_;
  std::vector<std::pair<std::string, std::string>> queue_;
  std::vector<uint64_t> purged_;
  std::unique_ptr<RemoteJobs> jobs_;
  std::unique_ptr<JobSource> job_;
  std::map<uint64_t, std::unique_ptr<RankSource>> sources_;
};

TEST(Message, OfAnyBytes) {
  Message m;
  m.kind = MessageKind::kTrace;
  m.incarnation = 7;
  m.number = 9;
  m.sent_ns = 11;
  m.clock_offset_ns = -13;
  m.clock_error_ns = 15;
  m.content = "some bytes";
  const std::string good = write_message(m);
  const auto back = read_message(good);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->kind, m.kind);
  EXPECT_EQ(back->incarnation, 7u);
  EXPECT_EQ(back->number, 9u);
  EXPECT_EQ(back->sent_ns, 11u);
  EXPECT_EQ(back->clock_offset_ns, -13);
  EXPECT_EQ(back->clock_error_ns, 15u);
  EXPECT_EQ(back->content, "some bytes");
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(read_message(good.substr(0, n)).ok()) << n;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(read_message(bad).ok()) << bit;
  }
}

TEST(Message, SubjectsHaveOneText) {
  for (const auto of : {Subject::Of::kJob, Subject::Of::kTrace, Subject::Of::kRank}) {
    const auto back = read_subject(subject_text({kRun, of, 17}));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->run, kRun);
    EXPECT_EQ(back->of, of);
  }
  for (const char* bad :
       {"", "refrain.", "refrain.clock", "refrain.0123456789abcdef.", "refrain.0123456789ABCDEF.1",
        "refrain.0123456789abcdef.01", "refrain.0123456789abcdef.-1", "refrain.0123456789abcde.1",
        "refrain.0123456789abcdef.99999999999", "refrain.0123456789abcdef.1.2"})
    EXPECT_FALSE(read_subject(bad).has_value()) << bad;
}

TEST_F(RemoteJobsTest, RanksComeInPieces) {
  const std::string stream = stream_of(kRun, 0, 10);
  send(rank(0), MessageKind::kStream, 0, stream.substr(0, 100));
  send(rank(0), MessageKind::kStream, 1, stream.substr(100));
  EXPECT_EQ(now(0), std::pair(uint64_t{10}, std::string()));
  EXPECT_FALSE(job_->is_settled());
  send(rank(1), MessageKind::kStreamDied, 0, stream_of(kRun, 1, 5));
  EXPECT_TRUE(job_->is_settled());
  EXPECT_EQ(sources_[0]->life(), Life::kLives);
  EXPECT_EQ(sources_[1]->life(), Life::kDead);
  ASSERT_EQ(job_->hosts().size(), 1u);
  EXPECT_EQ(job_->hosts()[0].host, "elsewhere");
  EXPECT_FALSE(job_->hosts()[0].is_compared);
}

TEST_F(RemoteJobsTest, WhatIsWrongMarksOneRank) {
  const std::string first = stream_of(kRun, 0, 10), other = stream_of(kRun, 1, 5);
  struct Case {
    std::string what;
    std::string message;
    const char* says;
  };
  Message again, gap;
  again.incarnation = gap.incarnation = 1;
  gap.number = 7;
  std::string torn = write_message(again);
  torn.resize(torn.size() - 1);
  Message garbage = again;
  garbage.number = 1;
  garbage.content = "not a block, but long enough to be the head of one";
  for (const Case& c : {Case{"again", write_message(again), "came again"},
                        {"gap", write_message(gap), "missing"},
                        {"torn", torn, "message"},
                        {"none", "x", "not a message"},
                        {"blocks", write_message(garbage), "block"}}) {
    begin({});
    send(rank(0), MessageKind::kStream, 0, first);
    send(rank(1), MessageKind::kStream, 0, other);
    put(rank(0), c.message);
    EXPECT_EQ(now(0).first, 10u) << c.what;
    EXPECT_NE(now(0).second.find(c.says), std::string::npos) << c.what << ": " << now(0).second;
    EXPECT_EQ(now(1), std::pair(uint64_t{5}, std::string())) << c.what;
    // Its end is known all the same, and a feed that begins again heals it.
    send(rank(0), MessageKind::kStreamDone, 9, "");
    EXPECT_EQ(sources_[0]->life(), Life::kDone) << c.what;
    send(rank(0), MessageKind::kStream, 0, stream_of(kRun, 0, 20), 2);
    EXPECT_EQ(now(0), std::pair(uint64_t{20}, std::string())) << c.what;
    EXPECT_EQ(sources_[0]->life(), Life::kLives) << c.what;
    // What the earlier one sent counts no more.
    send(rank(0), MessageKind::kStreamDied, 1, "", 1);
    EXPECT_EQ(sources_[0]->life(), Life::kLives) << c.what;
  }
}

TEST_F(RemoteJobsTest, AStreamIsOfTheRankThatItSays) {
  send(rank(0), MessageKind::kStream, 0, stream_of(kRun, 1, 10));
  send(rank(1), MessageKind::kStream, 0, stream_of(kRun + 1, 1, 10));
  EXPECT_TRUE(sources_.empty());
  queue_.emplace_back("elsewhere", "x");
  EXPECT_TRUE(jobs_->wait(0).ok());
  EXPECT_EQ(jobs_->ignored(), 1u);
}

TEST_F(RemoteJobsTest, AJobSendsSoMuchAndOthersGoOn) {
  const std::string stream = stream_of(kRun, 0, 10);
  begin({stream.size() + 10});
  send(rank(0), MessageKind::kStream, 0, stream);
  send(rank(0), MessageKind::kStream, 1, "more than ten bytes");
  EXPECT_EQ(now(0).first, 10u);
  EXPECT_NE(now(0).second.find("--job-bytes"), std::string::npos);
  // One that is started again counts from its begin.
  send(rank(0), MessageKind::kStream, 0, stream, 2);
  EXPECT_EQ(now(0), std::pair(uint64_t{10}, std::string()));
}

TEST_F(RemoteJobsTest, AWholeTraceSettlesAJob) {
  const Subject trace{kRun, Subject::Of::kTrace, 0};
  send(trace, MessageKind::kTrace, 0, "first ");
  EXPECT_TRUE(job_->trace_file().empty());
  // A feed that was started again sends all of it again.
  send(trace, MessageKind::kTrace, 0, "first ", 2);
  send(trace, MessageKind::kTraceLast, 1, "second", 2);
  ASSERT_FALSE(job_->trace_file().empty());
  EXPECT_EQ(fs::file_size(job_->trace_file()), 12u);
  EXPECT_TRUE(job_->is_settled());
  const std::string file = job_->trace_file();
  jobs_->forget(kRun);
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(jobs_->told().empty());
  EXPECT_TRUE(jobs_->wait(0).ok());
  EXPECT_EQ(purged_, std::vector<uint64_t>{kRun});
  // Whoever sends it again is told to go, too.
  queue_.emplace_back(subject_text(rank(0)), "x");
  EXPECT_TRUE(jobs_->wait(0).ok());
  EXPECT_TRUE(jobs_->wait(0).ok());
  EXPECT_EQ(purged_.size(), 2u);
  EXPECT_TRUE(jobs_->told().empty());
}

}  // namespace
}  // namespace refrain::online
