// Processes that this test starts are the ranks, and it is their launcher.
#include "tracer/startup/launch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "mpi_runtime/built_with.h"
#include "tracer/startup/launcher.h"

namespace refrain::mpi_runtime {

const char* own_word() { return "openmpi"; }

}  // namespace refrain::mpi_runtime

namespace refrain::tracer {
namespace {

using Are = RecordedRanks::Are;

std::string text_of(const RecordedRanks& found) {
  std::string text;
  switch (found.are) {
    case Are::kUnknown: return "unknown";
    case Are::kWithoutUs: return "without us";
    case Are::kAll: return found.is_whole_job ? "all" : "all of this host";
    case Are::kSome: break;
  }
  for (const int rank : found.ranks) text += std::to_string(rank) + " ";
  return text;
}

// Ranks that come to MPI_Init together; what each of them found.
class Ranks {
 public:
  explicit Ranks(int local) : local_(local) {}

  // One more; the launcher may have named `rank` in a shell that stands in between.
  void start(int rank, int size) {
    int to[2], from[2];
    ASSERT_EQ(pipe(to) + pipe(from), 0);
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
      if (local_ > 0) setenv("OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(local_).c_str(), 1);
      setenv("PMIX_NAMESPACE", ("test" + std::to_string(getppid())).c_str(), 1);
      announce_rank();
      char go = 0;
      if (write(from[1], "x", 1) != 1 || read(to[0], &go, 1) != 1) _exit(1);
      const std::string text = text_of(look_for_recorded(rank, size));
      if (write(from[1], text.c_str(), text.size()) < 0 || read(to[0], &go, 1) != 1) _exit(1);
      forget_launch();
      _exit(0);
    }
    close(to[0]);
    close(from[1]);
    char ready = 0;
    ASSERT_EQ(read(from[0], &ready, 1), 1);
    children_.push_back({pid, to[1], from[0]});
  }

  // All go on behind MPI_Init.
  std::vector<std::string> look() {
    std::vector<std::string> texts;
    for (; looked_ < children_.size(); ++looked_)
      EXPECT_EQ(write(children_[looked_].to, "x", 1), 1);
    for (; said_ < children_.size(); ++said_) {
      char text[200];
      const ssize_t n = read(children_[said_].from, text, sizeof text);
      texts.emplace_back(text, n > 0 ? static_cast<size_t>(n) : 0);
    }
    return texts;
  }

  ~Ranks() {
    for (const Child& child : children_) {
      EXPECT_EQ(write(child.to, "x", 1), 1);
      close(child.to);
      int status = 1;
      waitpid(child.pid, &status, 0);
      EXPECT_EQ(status, 0);
      close(child.from);
    }
  }

 private:
  struct Child {
    pid_t pid;
    int to, from;
  };
  int local_;
  std::vector<Child> children_;
  size_t looked_ = 0, said_ = 0;
};

// Ranks that come one after the other to the live board: what each of them sees of sessions beside
// an analyser.
class Beginners {
 public:
  explicit Beginners(int local) : local_(local) {}

  Conflict start(int rank, Begins begins) {
    const pid_t pid = fork();
    if (pid == 0) {
      setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
      setenv("OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(local_).c_str(), 1);
      setenv("PMIX_NAMESPACE", ("live" + std::to_string(getppid())).c_str(), 1);
      announce_rank(LaunchBoard::kLive, begins);
      const Conflict found = find_sessions_beside_analyser();
      if (begins == Begins::kWithSession) forget_launch();  // it ends, and the others come later
      _exit(static_cast<int>(found));
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return static_cast<Conflict>(WEXITSTATUS(status));
  }

 private:
  int local_;
};

TEST(Launch, TheFirstThatSeesSessionsBesideAnAnalyserSaysSo) {
  Beginners analyser_first(5);
  EXPECT_EQ(analyser_first.start(4, Begins::kAsAnalyser), Conflict::kNone);
  EXPECT_EQ(analyser_first.start(3, Begins::kWithWorld), Conflict::kNone);
  EXPECT_EQ(analyser_first.start(0, Begins::kWithSession), Conflict::kSayIt);
  EXPECT_EQ(analyser_first.start(1, Begins::kWithSession), Conflict::kIsSaid);
  EXPECT_EQ(analyser_first.start(2, Begins::kWithSession), Conflict::kIsSaid);
}

TEST(Launch, AnAnalyserSeesSessionsThatAreOver) {
  Beginners sessions_first(3);
  EXPECT_EQ(sessions_first.start(0, Begins::kWithSession), Conflict::kNone);
  EXPECT_EQ(sessions_first.start(1, Begins::kWithSession), Conflict::kNone);
  EXPECT_EQ(sessions_first.start(2, Begins::kAsAnalyser), Conflict::kSayIt);
}

TEST(Launch, SessionsAloneAreNoConflict) {
  Beginners sessions(2);
  EXPECT_EQ(sessions.start(0, Begins::kWithSession), Conflict::kNone);
  EXPECT_EQ(sessions.start(1, Begins::kWithSession), Conflict::kNone);
  // The last one has removed the file: another launch of this name begins anew.
  EXPECT_EQ(sessions.start(0, Begins::kAsAnalyser), Conflict::kNone);
  EXPECT_EQ(sessions.start(1, Begins::kWithWorld), Conflict::kNone);
}

using Texts = std::vector<std::string>;

TEST(Launch, AllAreThere) {
  Ranks ranks(3);
  for (const int rank : {2, 0, 1}) ranks.start(rank, 3);
  EXPECT_EQ(ranks.look(), Texts({"all", "all", "all"}));
}

TEST(Launch, AllOfThisHost) {
  Ranks ranks(2);
  for (const int rank : {4, 5}) ranks.start(rank, 6);
  EXPECT_EQ(ranks.look(), Texts(2, "all of this host"));
}

TEST(Launch, SomeAreMissing) {
  Ranks ranks(4);
  for (const int rank : {3, 1}) ranks.start(rank, 4);
  EXPECT_EQ(ranks.look(), Texts(2, "1 3 "));
  ranks.start(2, 4);  // when it is too late
  EXPECT_EQ(ranks.look(), Texts(1, "without us"));
}

TEST(Launch, OneRankTwice) {
  Ranks ranks(2);
  for (const int rank : {0, 0}) ranks.start(rank, 2);
  EXPECT_EQ(ranks.look(), Texts({"0 ", "without us"}));
}

TEST(Launch, NobodySaysHowMany) {
  Ranks ranks(0);
  for (const int rank : {0, 1}) ranks.start(rank, 2);
  EXPECT_EQ(ranks.look(), Texts(2, "unknown"));
}

TEST(Launch, MpiCountsOtherwise) {
  Ranks ranks(2);
  for (const int rank : {0, 1}) ranks.start(rank, 1);
  EXPECT_EQ(ranks.look(), Texts(2, "unknown"));
}

TEST(Launch, OneOfThoseThatLiveIsTheFirstToAsk) {
  struct Asker {
    pid_t pid = 0;
    int end[2] = {};
  };
  const auto start = [](int rank, bool* is_first) {
    Asker asker;
    int answer[2];
    EXPECT_EQ(pipe(answer) + pipe(asker.end), 0);
    asker.pid = fork();
    if (asker.pid == 0) {
      setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
      setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "3", 1);
      setenv("PMIX_NAMESPACE", ("ask" + std::to_string(getppid())).c_str(), 1);
      const char text = is_first_to_ask("openmpi") ? 'y' : 'n';
      char end = 0;
      _exit(write(answer[1], &text, 1) == 1 && read(asker.end[0], &end, 1) == 1 ? 0 : 1);
    }
    char text = 0;
    EXPECT_EQ(read(answer[0], &text, 1), 1);
    *is_first = text == 'y';
    close(answer[0]);
    close(answer[1]);
    return asker;
  };
  const auto end = [](const Asker& asker) {
    int status = 1;
    EXPECT_EQ(write(asker.end[1], "x", 1), 1);
    waitpid(asker.pid, &status, 0);
    EXPECT_EQ(status, 0);
    close(asker.end[0]);
    close(asker.end[1]);
  };
  bool first = false, second = true, third = false;
  const Asker one = start(1, &first), two = start(2, &second);
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  end(one);
  const Asker three = start(0, &third);
  EXPECT_TRUE(third);
  end(two);
  end(three);
}

TEST(Launch, ProcessesHaveABegin) {
  EXPECT_GT(birth_of(getpid()), 0u);
  EXPECT_EQ(birth_of(1 << 30), 0u);
  EXPECT_GT(process_space(), 0u);
}

TEST(Launch, Numbers) {
  const char* at = "127-x";
  unsigned long number = 0;
  EXPECT_TRUE(take_number(&at, &number));
  EXPECT_EQ(number, 127u);
  EXPECT_EQ(*at, '-');
  EXPECT_FALSE(take_number(&at, &number));
}

}  // namespace
}  // namespace refrain::tracer
