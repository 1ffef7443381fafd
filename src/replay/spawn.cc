// MPI_Comm_spawn: the replay starts itself, with the trace of the job that the program started
// (plan/started.h).

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/plan/started.h"
#include "replay/quiet.h"
#include "replay/reissue.h"

namespace refrain::replay {

#ifdef REFRAIN_SMPI

base::Status Engine::spawn(Frame& frame) { return wrong(frame, "this MPI has no such function"); }

#else

namespace {

// Words as MPI_Comm_spawn takes them.
class Words {
 public:
  Words() = default;
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}
  char** argv() {
    places_.clear();
    for (std::string& word : words_) places_.push_back(word.data());
    places_.push_back(nullptr);
    return places_.data();
  }

 private:
  std::vector<std::string> words_;
  std::vector<char*> places_;
};

std::string own_program() {
  char path[PATH_MAX] = "";
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

size_t position(const mpi::CallInfo& info, std::string_view name) {
  size_t i = 0;
  while (i < info.params.size() && info.params[i].name != name) ++i;
  return i;
}

// What both functions take; of each command how many processes it has, and its hints.
struct Start {
  std::string program;
  Words words;
  std::vector<int> processes;
  std::vector<MPI_Info> infos;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm* made = nullptr;
  int* codes = nullptr;
};

// Several commands differ in their numbers of processes only.
int start(Start& s, bool is_one) {
  if (is_one)
    return MPI_Comm_spawn(s.program.c_str(), s.words.argv(), s.processes[0], s.infos[0], s.root,
                          s.comm, s.made, s.codes);
  std::vector<char*> commands(s.processes.size(), s.program.data());
  std::vector<char**> words(s.processes.size(), s.words.argv());
  return MPI_Comm_spawn_multiple(static_cast<int>(commands.size()), commands.data(), words.data(),
                                 s.processes.data(), s.infos.data(), s.root, s.comm, s.made,
                                 s.codes);
}

}  // namespace

base::Status Engine::spawn(Frame& frame) {
  const auto slot = [&](std::string_view name) -> Slot& {
    return frame.arguments->slot(position(frame.info, name));
  };
  const bool is_one = frame.info.id == mpi::kMPI_Comm_spawn;
  const auto comm = mpi_runtime::handle_of<MPI_Comm>(static_cast<uint64_t>(slot("comm").number));
  const int root = static_cast<int>(slot("root").number);
  int me = -1;
  REFRAIN_QUIET(MPI_Comm_rank)(comm, &me);
  std::vector<std::string> words = options_.words_of_started;
  if (me == root)
    words.insert(words.end(), {"--trace", plan::trace_of_started(options_.trace_path, rank_,
                                                                 ++state_.started_jobs)});
  Start one;
  one.program = own_program();
  one.words = Words(std::move(words));
  one.root = root;
  one.comm = comm;
  one.made = slot("intercomm").make_place<MPI_Comm>();
  // Other ranks than the root have no numbers of processes.
  std::vector<int64_t> wanted =
      is_one ? std::vector<int64_t>{slot("maxprocs").number} : slot("array_of_maxprocs").numbers;
  if (!is_one)
    wanted.resize(static_cast<size_t>(std::clamp<int64_t>(slot("count").number, 0, 4096)));
  int64_t all = 0;
  for (const int64_t each : wanted) {
    one.processes.push_back(static_cast<int>(std::clamp<int64_t>(each, 0, 1 << 20)));
    all += one.processes.back();
  }
  const auto take_info = [&](const Value& info) {
    one.infos.push_back(mpi_runtime::handle_of<MPI_Info>(hint_free_info(frame, info.at_entry())));
  };
  if (is_one)
    take_info(events::argument(frame.signature, "info"));
  else
    events::argument(frame.signature, "array_of_info").for_each(take_info);
  one.infos.resize(wanted.size(), MPI_INFO_NULL);
  std::vector<int> codes;
  one.codes = MPI_ERRCODES_IGNORE;
  const Value& recorded = events::argument(frame.signature, "array_of_errcodes");
  if (recorded.kind != ValueKind::kConstant) {
    codes.resize(static_cast<size_t>(all) + recorded.size() + 1);
    one.codes = codes.data();
  }
  int rc = MPI_SUCCESS;
  {
    const OthersMayGo others(state_);
    places_of_calls_.tell(frame.signature.site);
    rc = start(one, is_one);
  }
  if (auto good = judge(frame, rc); !good.ok()) return good;
  bind_outputs(frame);
  return base::Done{};
}

#endif

}  // namespace refrain::replay
