// The pictures of docs/waits.md are programs: each is run, and must have the waits that are drawn.

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "analysis/waits/testing/test_program.h"

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
  explicit Painter(int ranks) : p(ranks), ranks_(ranks) {
    using Kind = format::DefinitionKind;
    win_ = define(Kind::kWin, 0);
    file_ = define(Kind::kFile, 0);
    all_ = define(Kind::kGroup, 0);
    other_ = define(Kind::kGroup, 1);
    std::vector<int64_t> members;
    for (int64_t r = 0; r < ranks; ++r) members.push_back(r);
    line_ = p.builder().comm(1, members);
  }

  // What is not drawn and takes no time: ranks in a line; a window, and the other one of two ranks
  // as a group.
  void prepare(const std::string& name) {
    for (Rank r = 0; r < ranks_; ++r) {
      if (name.starts_with("MPI_Neighbor")) {
        ShapeWriter s = p.simple("MPI_Cart_create", {p.world});
        s.integer(1).array(1).repeat(1).integer(ranks_).array(1).repeat(1).integer(0);
        p.call(r, s.integer(0).object(line_), 0, 0);
      }
      if (name != "MPI_Win_post") continue;
      ShapeWriter window = p.simple("MPI_Win_create", {});
      p.call(r, window.none().integer(8).integer(1).none().object(p.world).object(win_), 0, 0);
      p.call(r, p.simple("MPI_Comm_group", {p.world, all_}), 0, 0);
      ShapeWriter group = p.simple("MPI_Group_incl", {all_});
      p.call(r, group.integer(1).array(1).repeat(1).integer(1 - r).object(other_), 0, 0);
    }
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
    else if (name == "MPI_Win_post" || name == "MPI_Win_start")
      s.object(other_).none().object(win_);
    else if (name == "MPI_Win_complete" || name == "MPI_Win_wait")
      s.object(win_);
    else if (name == "MPI_File_open")
      s.object(p.world).string(format::FieldTag::kString, "x").integer(1).none().object(file_);
    else if (name == "MPI_Neighbor_allgather")
      s.none().integer(1).object(p.type).none().integer(1).object(p.type).object(line_);
    else if (name == "MPI_Win_lock")
      s.constant("MPI_LOCK_EXCLUSIVE").integer(n).none().object(win_);
    else if (name == "MPI_Win_unlock")
      s.integer(n).object(win_);
    else
      EXPECT_EQ(name, "MPI_Finalize") << "has no parameters here yet";
    return s;
  }

  uint32_t define(format::DefinitionKind kind, int64_t number) {
    base::ByteWriter id;
    id.put_zigzag(number);
    const bool is_group = kind == format::DefinitionKind::kGroup;
    return p.builder().define(kind, id.take(),
                              is_group ? std::vector<uint32_t>() : std::vector<uint32_t>{p.world});
  }

  int ranks_;
  uint32_t win_ = 0, file_ = 0, all_ = 0, other_ = 0, line_ = 0;
};

TEST(Pictures, ShowWhatIsFound) {
  const auto all = pictures();
  // Every pattern has one, except those that are only the sum of others: the first two levels of
  // the tree.
  for (int i = 0; i < kPatterns; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    if (depth_of(pattern) >= 2) {
      EXPECT_TRUE(all.contains(std::string(name_of(pattern))));
    }
  }
  for (const auto& [name, calls] : all) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(pattern_named(name));  // of this name, or it is drawn for nothing
    Rank last = 0;
    for (const Drawn& drawn : calls) last = std::max(last, drawn.rank);
    Painter painter(static_cast<int>(last) + 1);
    std::set<std::string> names;
    for (const Drawn& drawn : calls) names.insert(drawn.call);
    for (const std::string& call : names) painter.prepare(call);
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
