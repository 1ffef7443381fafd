// The pictures of docs/waits.md are programs: each is run, and must have the waits that are drawn.

#include <fstream>
#include <map>
#include <sstream>

#include "analysis/waits/test_program.h"

namespace refrain::analysis::waits {
namespace {

struct Drawn {
  Rank rank = 0;
  std::string call, argument;
  uint64_t begin = 0, end = 0;
  std::string pattern;  // empty: no wait
  uint64_t wait_begin = 0, wait_end = 0;
};

std::map<std::string, std::vector<Drawn>> pictures() {
  std::map<std::string, std::vector<Drawn>> out;
  std::ifstream file(REFRAIN_PICTURES);
  std::string line, name;
  while (std::getline(file, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string first;
    if (!(words >> first)) continue;
    if (first == "picture") {
      words >> name;
      continue;
    }
    Drawn call;
    call.rank = std::stoll(first);
    words >> call.call >> call.argument >> call.begin >> call.end;
    words >> call.pattern >> call.wait_begin >> call.wait_end;
    out[name].push_back(call);
  }
  return out;
}

class Painter {
 public:
  explicit Painter(int ranks) : p(ranks) {
    base::ByteWriter id;
    id.put_zigzag(0);
    win_ = p.builder().define(format::DefinitionKind::kWin, id.take(), {p.world});
  }

  void add(const Drawn& drawn) { p.call(drawn.rank, shape(drawn), drawn.begin, drawn.end); }

  TestProgram p;

 private:
  ShapeWriter shape(const Drawn& drawn) {
    const std::string& name = drawn.call;
    const int64_t n = drawn.argument == "-" ? 0 : std::stoll(drawn.argument);
    if (name == "MPI_Send" || name == "MPI_Ssend") return p.message(name.c_str(), n, 0, p.world);
    if (name == "MPI_Recv") return p.receive(n, 0, p.world);
    if (name == "MPI_Reduce") return p.reduce(n, p.world);
    if (name == "MPI_Bcast") return p.bcast(n, p.world);
    if (name == "MPI_Allreduce") return p.allreduce(p.world);
    if (name == "MPI_Barrier") return p.barrier(p.world);
    ShapeWriter s(name.c_str());
    s.object(p.site);
    if (name == "MPI_Scan")
      s.none().none().integer(1).object(p.type).none().object(p.world);
    else if (name == "MPI_Init")
      s.none().none();
    else if (name == "MPI_Win_create")
      s.none().integer(8).integer(1).none().object(p.world).object(win_);
    else if (name == "MPI_Win_fence")
      s.none().object(win_);
    else if (name == "MPI_Win_lock")
      s.constant("MPI_LOCK_EXCLUSIVE").integer(n).none().object(win_);
    else if (name == "MPI_Win_unlock")
      s.integer(n).object(win_);
    else
      EXPECT_EQ(name, "MPI_Finalize");
    return s;
  }

  uint32_t win_ = 0;
};

TEST(Pictures, ShowWhatIsFound) {
  const auto all = pictures();
  EXPECT_GT(all.size(), 12U);
  for (const auto& [name, calls] : all) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(pattern_named(name));
    Rank last = 0;
    for (const Drawn& drawn : calls) last = std::max(last, drawn.rank);
    Painter painter(static_cast<int>(last) + 1);
    std::map<std::pair<std::string, Rank>, uint64_t> expected, found;
    for (const Drawn& drawn : calls) {
      painter.add(drawn);
      if (!drawn.pattern.empty())
        expected[{drawn.pattern, drawn.rank}] += drawn.wait_end - drawn.wait_begin;
    }
    for (const Severity& s : painter.p.analyse().severities)
      if (name.find("completion") != std::string::npos ||
          std::string(name_of(s.pattern)).find("completion") == std::string::npos)
        found[{std::string(name_of(s.pattern)), s.rank}] += s.ns;
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace refrain::analysis::waits
