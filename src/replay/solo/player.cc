#include "replay/solo/player.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "mpi/call_ids.h"
#include "mpi/handle_kinds.h"
#include "mpi_runtime/fortran_site.h"
#include "options/environment.h"
#include "replay/reissue.h"
#include "replay/solo/files.h"
#include "replay/solo/say.h"

namespace refrain::replay::solo {
namespace {

Options options_of_environment() {
  using options::text_of;
  using options::Variable;
  Options out;
  out.trace = text_of(Variable::kSoloTrace);
  // The rank, and the first and the last one of its group: "17" or "17,16,19"; what
  // stands behind an @ is for end_without_call().
  char* at = nullptr;
  out.rank = std::strtoll(text_of(Variable::kSoloRank), &at, 10);
  if (*at == ',') out.first = std::strtoll(at + 1, &at, 10);
  if (*at == ',') out.last = std::strtoll(at + 1, &at, 10);
  out.units = text_of(Variable::kSoloUnits);
  out.together = text_of(Variable::kSoloTogether);
  return out;
}

Player* g_made = nullptr;

// The process that `refrain solo` has become ends, and was not the rank. One that has waited for
// others was a script, whose child was.
void end_without_call() {
  const char* const place = options::text_of(options::Variable::kSoloRank);
  const char* const process = std::strchr(place, '@');
  struct rusage children {};
  if (process == nullptr || std::strtoll(process + 1, nullptr, 10) != getpid() ||
      getrusage(RUSAGE_CHILDREN, &children) != 0 || children.ru_maxrss > 0)
    return;
  std::fflush(nullptr);
  say("rank " + std::to_string(std::strtoll(place, nullptr, 10)) +
      ": the program ends without a call of MPI, the trace has its calls");
  _exit(1);
}

// Behind the exit handlers and the destructors of the program, which may call MPI.
__attribute__((destructor)) void at_end() {
  if (g_made != nullptr) g_made->finish();
}

// The handler is called behind all destructors. A program that failed has a status of its own.
__attribute__((constructor)) void at_begin() {
  const auto at_exit = [](int status, void*) {
    if (status == 0 && g_made == nullptr) end_without_call();
  };
  on_exit(at_exit, nullptr);
}

#if defined(__x86_64__)
// The id of a function without large counts: MPI_Send_c has the id of MPI_Send plus 1000.
uint64_t base_call(uint64_t id) {
  constexpr uint64_t kLarge = 1000;
  return id >= kLarge && id < 2 * kLarge ? id - kLarge : id;
}
#endif

// MPICH's mpi_f08 compares with copies of these addresses, which its MPI_Init fills in.
void fill_copies_of_f08() {
#ifdef MPICH_VERSION
  const std::pair<const char*, const void*> copies[] = {
      {"MPIR_C_MPI_UNWEIGHTED", MPI_UNWEIGHTED}, {"MPIR_C_MPI_WEIGHTS_EMPTY", MPI_WEIGHTS_EMPTY}};
  for (const auto& [name, value] : copies)
    if (void* const copy = dlsym(RTLD_DEFAULT, name)) std::memcpy(copy, &value, sizeof value);
#endif
}

}  // namespace

Player& Player::get() {
  // Never destroyed: threads and handlers of the program's exit may still call MPI.
  static Player* const player = [] {
    auto* const made = new Player(options_of_environment());
    g_made = made;
    return made;
  }();
  return *player;
}

Player::Player(const Options& options) : options_(options), pid_(getpid()) {
  const OwnFiles own;
  keep_stderr();
  fill_copies_of_f08();
  auto trace = Trace::open(options_.trace);
  if (!trace.ok()) end(static_cast<int>(trace.error().code), trace.error().to_string());
  trace_.emplace(std::move(*trace));
  const bool has_others = together_.open(options_.together);
  reader_.emplace(*trace_, options_.rank, has_others ? Times::kRead : Times::kSkip);
  sites_.emplace(*trace_);
  constants_.resize(mpi::constant_count() + 1);
  for (uint32_t id = 1; id < constants_.size(); ++id) constants_[id] = value_of_constant(id);
  plans_.resize(trace_->signature_count());
  note_types();
  refuse_unknown();
  if (options_.last >= 0) open_group(options_.first, options_.last);
  if (access(messages_path().c_str(), F_OK) == 0)
    if (const auto good = messages_.open(messages_path()); !good.ok())
      end(static_cast<int>(good.error().code), good.error().to_string());
  is_plain_ = inside_ == nullptr && !has_others && trace_->locations(options_.rank).size() == 1;
}

// Traces whose calls cannot all be answered.
void Player::refuse_unknown() {
  for (const Loss& loss : trace_->info().losses)
    if (loss.reason == "left_by_jump")
      end(5, options_.trace +
                 ": a callback of the program has left an MPI call by a jump, so the "
                 "trace lacks calls: no rank of it can run alone");
  auto cursor = reader_->cursor(0);
  const Call* call = nullptr;
  while (cursor.ok() && (call = cursor->next()) != nullptr) {
    const CallId id = call->signature->call;
    if (id == mpi::kMPI_Init || id == mpi::kMPI_Init_thread) return;
    if (id == mpi::kMPI_Session_init)
      end(5, options_.trace +
                 ": the program has a session before MPI_Init, where no message log has begun: no "
                 "rank of it can run alone");
  }
}

std::string Player::messages_path() const {
  return options_.trace + ".messages/rank-" + std::to_string(options_.rank) + ".rfm";
}

void Player::end(int status, const std::string& line) const {
  std::fflush(nullptr);
  say(line);
  if (inside_ != nullptr) abort_group(status);
  _exit(status);
}

void refuse_call(const char* name) {
  std::fflush(nullptr);
  say(std::string("the program calls ") + name +
      ", which nothing is known of: it cannot run alone");
  _exit(5);
}

void Player::finish() {
  if (getpid() != pid_) return;  // a child of the program
  const std::scoped_lock lock(mutex_);
  const OwnFiles own;
  for (const auto& thread : threads_) thread->units.finish();
  if (has_finished_) return;
  has_finished_ = true;
  print_summary();
  for (const auto& thread : threads_)
    if (fill(*thread, 1))
      end(1, "rank " + std::to_string(options_.rank) + ", thread " +
                 std::to_string(thread->location) + ", call " +
                 std::to_string(thread->ahead.front().seq) + ": the program ends, the trace has " +
                 std::string(thread->ahead.front().signature->name));
}

// One line, as a recorder prints one.
void Player::print_summary() const {
  const auto n = [](uint64_t v) { return std::to_string(v); };
  std::string line = "rank " + std::to_string(options_.rank) +
                     (inside_ == nullptr ? " ran alone: " : " ran in its group: ") +
                     n(counts_.calls) + " calls answered, " + n(counts_.filled) + " buffers of " +
                     n(counts_.filled_bytes) + " bytes filled";
  if (counts_.missing > 0) line += ", " + n(counts_.missing) + " not in the log";
  if (counts_.of_operators > 0)
    line += ", " + n(counts_.of_operators) + " calls of operators left out";
  if (counts_.of_attributes > 0)
    line += ", " + n(counts_.of_attributes) + " calls of attributes left out";
  if (counts_.file_writes > 0) line += ", " + n(counts_.file_writes) + " writes to files dropped";
  if (files_written() > 0)
    line += ", " + n(files_written()) + " files written in " + files_folder();
  say(line);
}

void Player::answer_from_trace(Frame& frame) {
  const uint64_t before = frame.thread.taken;
  const size_t inner = take(frame);
  if (frame.signature == nullptr) {
    if (!answer_beside(frame)) differ(frame, "the trace has no further call");
    return;
  }
  ++counts_.calls;
  guard(frame);
  put_outputs(frame);
  const Plan& plan = *frame.plan;
  if (plan.is_by_hand) do_by_hand(frame);
  inherit_handler(frame);
  keep_places(frame);
  if (plan.has_pending) keep_pending(frame);
  if (inside_ != nullptr) call_inside(frame);
  const bool sends_itself = plan.own_rank >= 0 && !frame.is_inside;
  if (sends_itself) keep_own_block(frame);
  const uint64_t filled = counts_.filled;
  fill_buffers(frame);
  if (sends_itself) put_own_block(frame, counts_.filled > filled);
  handle_error(frame);
  if (plan.request_param >= 0) complete(frame);
  if (plan.may_release) release_freed(frame);
  if (inner > 0) end_inner(frame, inner, before + 1);
}

// Modules of the program that were built anew. Their call sites are not compared.
void Player::tell_changed() {
  if (!sites_->has_changed()) return;
  for (const std::string& module : sites_->changed())
    say("warning: " + module + " has another build id than when it was recorded");
}

// Threads call in the recorded order.
// The thread whose turn it is may wait for a lock that this one holds. Then nobody gets on.
void Player::wait_for_turn(std::unique_lock<std::recursive_mutex>& lock, const Thread& thread) {
  if (thread.depth > 1) return;
  const auto made = [&](uint32_t location) -> uint64_t {
    for (const auto& other : threads_)
      if (other->location == location) return other->answered;
    return 0;
  };
  if (!lock.owns_lock()) lock.lock();
  const auto is_turn = [&] { return messages_.is_turn_of(thread.location, made); };
  constexpr std::chrono::seconds kPatience{10};
  const auto answered = [&] {
    uint64_t sum = 0;
    for (const auto& other : threads_) sum += other->answered;
    return sum;
  };
  uint64_t calls = answered();
  std::clock_t used = std::clock();  // of all threads
  while (!turn_.wait_for(lock, kPatience, is_turn)) {
    const bool gets_on =
        std::exchange(calls, answered()) != calls || std::clock() - used > CLOCKS_PER_SEC / 10;
    used = std::clock();
    if (!gets_on)
      end(5, "rank " + std::to_string(options_.rank) + ": thread " +
                 std::to_string(thread.location) + " waits for its turn, which is that of thread " +
                 std::to_string(messages_.turn()) +
                 ", and no thread gets on: the program lets its threads take turns, as by a lock "
                 "around their calls, and took others when it was recorded");
  }
}

// Until the other ranks of the node, which run as well, are where they were in place. Nobody waits
// for a rank that is in its last call, or whose threads have several places in time.
void Player::wait_as_in_place(const Frame& frame) {
  if (frame.info.id == mpi::kMPI_Init || frame.info.id == mpi::kMPI_Init_thread) together_.begin();
  if (is_over_ || threads_.size() > 1 || !fill(frame.thread, 1)) return together_.end();
  if (frame.end_ns > 0)
    together_.wait_for_others(frame.end_ns, frame.thread.ahead.front().begin_ns);
}

// What an entry point is looked up for, once.
void Player::first_look(Entry& entry) const {
  entry.meaning = &mpi::meaning_of(entry.call);
  const mpi::CallInfo* const info = mpi::find_call(entry.call);
  for (size_t i = 0; i < std::min<size_t>({info->params.size(), entry.params, 64}); ++i) {
    const mpi::ParamInfo& param = info->params[i];
    if (is_handle(param.kind) && !param.is_array && entry.widths[i] != 0)
      entry.handle_places |= uint64_t{1} << i;
  }
  entry.info = info;
}

// `is_inner`: the MPI's own Fortran layer asks.
uint64_t Player::answer_at(Entry& entry, uint64_t* words, uintptr_t site, bool is_inner,
                           size_t value_bytes) {
  // Where the process has one thread, nobody else is here.
  std::unique_lock lock(mutex_, std::defer_lock);
  if (__libc_single_threaded == 0) lock.lock();
  if (entry.info == nullptr) first_look(entry);
  Thread& thread = thread_of(entry, words, site);
  if (!is_inner && !is_over_) thread.units.call_begins();
  ++thread.depth;
  Frame frame{*entry.info, *entry.meaning, Given(entry, words), thread, site};
  frame.fortran_value_bytes = value_bytes;
  if (is_inner || is_over_) {
    if (!answer_beside(frame))
      differ(frame, is_inner ? "the MPI's Fortran layer asks what cannot be answered"
                             : "the trace has no further call");
  } else if (!is_left_out(entry, frame)) {
    if (messages_.is_open() && !messages_.is_still_turn_of(thread.location))
      wait_for_turn(lock, thread);
    answer_from_trace(frame);
  }
  --thread.depth;
  if (thread.depth == 0 && threads_.size() > 1) turn_.notify_all();
  if (thread.depth == 0 && together_.is_open()) wait_as_in_place(frame);
  if (!is_inner && !is_over_) thread.units.call_ended();
  return frame.result;
}

uint64_t Player::answer(Player* made, Entry& entry, uint64_t* words, void* return_address) {
  const auto site = reinterpret_cast<uintptr_t>(return_address);
  Player& player = made != nullptr ? *made : get();
#if defined(__x86_64__)
  // Only there Fortran entry points have trampolines that note their call.
  if (refrain_fortran_site.address != nullptr) return player.answer_of_fortran(entry, words, site);
#endif
  const Short quick = player.answer_short(entry, words, site);
  return quick.is_done ? quick.result : player.answer_at(entry, words, site, false, 0);
}

#if defined(__x86_64__)
// The trampoline of a Fortran entry point has noted its call: its frame is further up the stack.
uint64_t Player::answer_of_fortran(Entry& entry, uint64_t* words, uintptr_t site) {
  bool is_inner = false;
  mpi_runtime::FortranSite& fortran = refrain_fortran_site;
  const bool is_below = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) <
                        reinterpret_cast<uintptr_t>(fortran.sp);
  std::unique_lock lock(mutex_);
  if (is_below && sites_->is_mpi(site)) {
    is_inner = base_call(fortran.call) != base_call(entry.call);
    if (!is_inner) {
      site = reinterpret_cast<uintptr_t>(fortran.address);
      fortran.call = UINT64_MAX;  // answered
    }
  } else {
    fortran.address = nullptr;
  }
  lock.unlock();
  // Functions of the program that the call calls leave the notes of their own calls there.
  const mpi_runtime::FortranSite noted = fortran;
  const Short quick = is_inner ? Short() : answer_short(entry, words, site);
  const uint64_t result = quick.is_done ? quick.result : answer_at(entry, words, site, is_inner, 0);
  if (noted.address != nullptr) fortran = noted;
  return result;
}
#endif

uint64_t Player::answer_fortran(Entry& entry, uint64_t* words, uintptr_t site, size_t value_bytes) {
  return answer_at(entry, words, site, false, value_bytes);
}

uint64_t answer(Entry& entry, uint64_t* words, void* return_address) {
  return Player::answer(g_made, entry, words, return_address);
}

}  // namespace refrain::replay::solo
