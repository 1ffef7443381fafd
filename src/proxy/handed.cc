// Requests that one thread makes and another one starts, completes or frees: each waits until the
// request is that far.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mpi/call_ids.h"
#include "proxy/calls.h"

namespace refrain::proxy {
namespace {

using format::Field;
using format::FieldTag;

std::string stage_line(std::string_view what, std::string_view stage,
                       const std::vector<int>& which) {
  return fmt::format("{}({}, {{{}}});", what, stage, fmt::join(which, ", "));
}

// Places of the requests that a completion ends, of `count`.
std::vector<size_t> ended(const Signature& call, size_t count) {
  std::vector<size_t> out;
  const auto add = [&](const Value& v) {
    if (v.is_integer() && v.number >= 0 && static_cast<uint64_t>(v.number) < count)
      out.push_back(static_cast<size_t>(v.number));
  };
  const Value* flag = call.find("flag");
  if (flag != nullptr && flag->integer_or(1) == 0) return out;
  if (const Value* index = call.find("index")) {
    add(*index);
  } else if (const Value* indices = call.find("array_of_indices")) {
    const Value* done = call.find("outcount");
    if (done != nullptr && done->is_integer()) indices->for_each(add);
  } else {
    for (size_t i = 0; i < count; ++i) out.push_back(i);
  }
  return out;
}

}  // namespace

void Calls::hand_over(const Site& site, const Signature& decoded, Statement& out) {
  if (handed_ == nullptr || handed_->empty()) return;
  const CallId id = site.call->info->id;
  const mpi::CallMeaning& meaning = *site.call->meaning;
  // By what happens to them: persistent ones and others.
  std::vector<int> idle, active, made_idle, made_active;
  std::string_view stage_of_started = "kActive";
  const auto sort_in = [&](int variable, std::vector<int>& persistent, std::vector<int>& other) {
    const auto known = handed_->find({site.kind->number, variable});
    if (known == handed_->end()) return;
    (known->second.is_persistent ? persistent : other).push_back(variable);
    if (known->second.is_completed_elsewhere) stage_of_started = "kStarted";
  };
  const int at =
      std::max(arguments_.find(site, "request"), arguments_.find(site, "array_of_requests"));
  if (at < 0) return;
  const Field& field = arguments_.field(site, static_cast<size_t>(at));
  if (field.tag == FieldTag::kNewRequest) {
    sort_in(arguments_.new_request(site), made_idle, made_active);
    for (const auto& [which, stage] :
         {std::pair(&made_idle, "kIdle"), std::pair(&made_active, "kActive")})
      if (!which->empty()) {
        out.before.insert(out.before.begin(), stage_line("await_stage", "kNone", *which));
        out.behind.push_back(stage_line("set_stage", stage, *which));
      }
    return;
  }
  const std::vector<int> numbers = arguments_.request_numbers(
      site,
      field.tag == FieldTag::kChanged && field.children.size() == 2 ? field.children[1] : field);
  if (id == mpi::kMPI_Start || id == mpi::kMPI_Startall) {
    for (const int n : numbers) sort_in(n, idle, idle);
    if (idle.empty()) return;
    out.before.insert(out.before.begin(), stage_line("await_stage", "kIdle", idle));
    out.behind.push_back(stage_line("set_stage", "kActive", idle));
  } else if (id == mpi::kMPI_Request_free) {
    for (const int n : numbers) sort_in(n, idle, active);
    for (const auto& [which, stage] : {std::pair(&idle, "kIdle"), std::pair(&active, "kActive")})
      if (!which->empty()) {
        out.before.insert(out.before.begin(), stage_line("await_stage", stage, *which));
        out.behind.push_back(stage_line("set_stage", "kNone", *which));
      }
  } else {
    const bool keeps = id == mpi::kMPI_Cancel || id == mpi::kMPI_Request_get_status;
    if (!keeps && !meaning.does_any(mpi::kDoesComplete)) return;
    for (const size_t i : ended(decoded, numbers.size())) sort_in(numbers[i], idle, active);
    std::vector<int> all = idle;
    all.insert(all.end(), active.begin(), active.end());
    if (all.empty()) return;
    out.before.insert(out.before.begin(), stage_line("await_stage", stage_of_started, all));
    if (keeps) return;
    if (!idle.empty()) out.behind.push_back(stage_line("set_stage", "kIdle", idle));
    if (!active.empty()) out.behind.push_back(stage_line("set_stage", "kNone", active));
  }
}

}  // namespace refrain::proxy
