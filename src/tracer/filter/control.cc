#include "tracer/filter/control.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "mpi/call_filter.h"
#include "mpi_runtime/comm_facts.h"
#include "mpi_runtime/constants_table.h"
#include "options/environment.h"
#include "tracer/calls/posix_calls.h"
#include "tracer/filter/size_filter.h"
#include "tracer/state/complain.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/state/slow_path_reasons.h"

namespace refrain::tracer {

#ifndef REFRAIN_SMPI
constinit Control g_control;
#endif

using options::RecordOption, options::text_of;

namespace {

bool can_pause(const mpi::CallInfo& call) {
  return call.group == mpi::CallGroup::kMark || mpi::filter_role(call) != mpi::FilterRole::kAlways;
}

// Sets or clears a bit for every function that `which` chooses.
template <class Which>
void mark_calls(uint8_t bit, bool set, Which which) {
  for (const mpi::CallInfo& call : mpi::all_calls()) {
    if (call.id >= kCallSlots || !which(call)) continue;
    if (set)
      control().leave[call.id].fetch_or(bit, std::memory_order_relaxed);
    else
      control().leave[call.id].fetch_and(static_cast<uint8_t>(~bit), std::memory_order_relaxed);
  }
}

bool has_comm(const mpi::CallInfo& call) {
  for (const mpi::ParamInfo& p : call.params) {
    if (p.is_array || p.direction == mpi::Direction::kOut) continue;
    if (p.kind == mpi::ParamKind::kComm || p.kind == mpi::ParamKind::kWin ||
        p.kind == mpi::ParamKind::kFile)
      return true;
  }
  return false;
}

// What the words say of a communicator.
bool keeps_comm(uint64_t comm) {
  std::string name;
  bool asked = false, kept = false;
  const std::string* const words = control().comm_words;
  if (words == nullptr) return true;
  mpi::for_each_word(*words, [&](std::string_view word) {
    if (kept) return;
    if (word == "world" || word == "self") {
      kept = comm == (word == "world" ? comm_world_key() : comm_self_key());
      return;
    }
    if (is_null_comm(comm)) return;
    if (!asked) name = name_of_comm(comm);
    asked = true;
    kept = word == name;
  });
  return kept;
}

// A message that waits for its size holds back all calls behind it: 24 MB of them at most, or as
// much as a grammar may take.
size_t most_held_calls(const Process& p) {
  constexpr size_t kMost = size_t{24} << 20, kLeast = 64 * 1024;
  return std::max(std::min(kMost, p.options.grammar_bytes), kLeast) / sizeof(HeldCall);
}

void filter_sizes(Process& p) {
  const std::string min = text_of(RecordOption::kMinBytes), max = text_of(RecordOption::kMaxBytes);
  const auto bounds = mpi::SizeBounds::parse(min, max);
  if (!bounds.ok()) return complain(p, bounds.error().message.c_str());
  if (!bounds->leaves_out()) return;
  control().sizes = new SizeFilter{*bounds, HeldCalls(most_held_calls(p))};
  if (!min.empty()) p.options.filter += " --min-bytes " + min;
  if (!max.empty()) p.options.filter += " --max-bytes " + max;
}

}  // namespace

bool leaves_out_by_comm(mpi::CallId id, uint64_t comm_key) {
  if (keeps_comm(comm_key)) return false;
  count_left_out(id);
  return true;
}

bool leaves_out_by_object(mpi::CallId id, format::DefinitionKind kind, uint64_t key) {
  const std::lock_guard<std::mutex> lock(control().mutex);
  if (control().objects == nullptr || control().objects->find(kind, key) == HandleMap::kMissing)
    return false;
  count_left_out(id);
  return true;
}

void leave_object_out(format::DefinitionKind kind, uint64_t key) {
  const std::lock_guard<std::mutex> lock(control().mutex);
  if (control().objects == nullptr) control().objects = new HandleMap;
  control().objects->put(kind, key, 0);
}

void forget_object(format::DefinitionKind kind, uint64_t key) {
  if (!control().filters) return;
  const std::lock_guard<std::mutex> lock(control().mutex);
  if (control().objects != nullptr) control().objects->erase(kind, key);
}

void start_control(Process& p) {
  const std::string only = text_of(RecordOption::kOnly), without = text_of(RecordOption::kWithout);
  const auto filter = mpi::CallFilter::parse(only, without);
  if (!filter.ok()) complain(p, filter.error().message.c_str());
  if (filter.ok() && filter->leaves_out()) {
    mark_calls(leave::kFiltered, true,
               [&](const mpi::CallInfo& call) { return !filter->keeps(call.id); });
    if (!only.empty()) p.options.filter += " --only " + only;
    if (!without.empty()) p.options.filter += " --without " + without;
  }
  control().comm_words = new std::string(text_of(RecordOption::kComm));
  if (!control().comm_words->empty()) {
    mark_calls(leave::kByComm, true, [](const mpi::CallInfo& call) {
      return has_comm(call) && mpi::filter_role(call) == mpi::FilterRole::kWord;
    });
    p.options.filter += " --comm " + *control().comm_words;
  }
  filter_sizes(p);
  if (!p.options.filter.empty()) p.options.filter.erase(0, 1);
  control().filters = !p.options.filter.empty();
  set_slow_path_reason(slow_path_reasons::kLeavesOut, control().filters);
  if (options::is_given(RecordOption::kStartPaused)) pause_recording();
}

void pause_recording() {
  // A message log is of no use without all of its calls.
  if (has_slow_path_reason(slow_path_reasons::kLogsMessages)) return;
  const std::lock_guard<std::mutex> lock(control().mutex);
  mark_calls(leave::kPaused, true, can_pause);
  pause_posix(true);
  set_slow_path_reason(slow_path_reasons::kLeavesOut, true);
}

void resume_recording() {
  const std::lock_guard<std::mutex> lock(control().mutex);
  mark_calls(leave::kPaused, false, can_pause);
  pause_posix(false);
  set_slow_path_reason(slow_path_reasons::kLeavesOut, control().filters);
}

void apply_pcontrol(int level) {
  if (level == 0) pause_recording();
  if (level == 1 || level == 2) resume_recording();
}

void add_left_out(std::vector<format::LossRecord>& losses, int rank) {
  for (const mpi::CallInfo& call : mpi::all_calls()) {
    if (call.id >= kCallSlots) continue;
    const uint64_t calls = control().left_out[call.id].load(std::memory_order_relaxed);
    if (calls > 0) losses.push_back({"left_out", calls, rank, std::string(call.name)});
  }
  if (control().sizes != nullptr) control().sizes->held.add_losses(losses, rank);
}

}  // namespace refrain::tracer
