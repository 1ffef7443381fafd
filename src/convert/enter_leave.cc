#include "convert/enter_leave.h"

#include <algorithm>
#include <utility>

#include "text/escape.h"
#include "text/values.h"

namespace refrain::convert {

RegionId Regions::of(const Signature& mark) {
  const Value* name = mark.find("name");
  if (name != nullptr) return add(text::printable(name->at_entry().text));
  const Value* function = mark.find("function");
  const DefinitionId id = function == nullptr ? kNoDefinition : function->at_entry().definition();
  const auto known = functions_.find(id);
  return known != functions_.end() ? known->second : functions_[id] = add(function_name(id));
}

RegionId Regions::add(std::string name) {
  const auto [known, is_new] = ids_.try_emplace(name, static_cast<RegionId>(names_.size()));
  if (is_new) names_.push_back(std::move(name));
  return known->second;
}

std::string Regions::function_name(DefinitionId id) {
  const auto site = trace_.site(id);
  if (!site) return "unknown function";
  if (resolve_) {
    // Symbols looks up the instruction before an address that a call returns to.
    const reader::SourcePlace& place =
        symbols_.find(site->module, site->build_id, site->offset + 1);
    if (!place.function.empty()) return text::printable(place.function);
  }
  const std::string name = text::module_and_offset(*site);
  return name.empty() ? "unknown function" : name;
}

EnterLeave::Open& EnterLeave::push(Thread& thread) {
  if (thread.depth == thread.open.size()) thread.open.emplace_back();
  return thread.open[thread.depth++];
}

void EnterLeave::pop(uint32_t number, Thread& thread, uint64_t ns) {
  const Open& top = thread.open[--thread.depth];
  if (top.is_region)
    sink_.leave_region(number, ns, top.region);
  else
    sink_.leave(top.call);
  thread.last_ns = std::max(thread.last_ns, ns);
}

// Closes the calls that have ended by then, and the regions in them.
void EnterLeave::pop_until(uint32_t number, Thread& thread, uint64_t ns) {
  while (true) {
    size_t call = thread.depth;
    while (call > 0 && thread.open[call - 1].is_region) --call;
    if (call == 0 || thread.open[call - 1].call.end_ns > ns) return;
    const uint64_t end = thread.open[call - 1].call.end_ns;
    while (thread.depth >= call) pop(number, thread, end);
  }
}

void EnterLeave::end_region(uint32_t number, Thread& thread, uint64_t ns, RegionId region) {
  size_t at = thread.depth;
  while (at > 0 && thread.open[at - 1].is_region && thread.open[at - 1].region != region) --at;
  if (at == 0 || !thread.open[at - 1].is_region) {
    ++unmatched_;
    return;
  }
  while (thread.depth >= at) pop(number, thread, ns);
}

void EnterLeave::add(const events::Event& event) {
  Thread& thread = threads_[event.thread];
  pop_until(event.thread, thread, event.begin_ns);
  thread.last_ns = std::max(thread.last_ns, event.end_ns);
  const std::string_view name = event.call->name;
  if (name == "refrain_region_begin" || name == "refrain_function_enter") {
    Open& made = push(thread);
    made.is_region = true;
    made.region = regions_.of(*event.call);
    sink_.enter_region(event.thread, event.begin_ns, made.region);
  } else if (name == "refrain_region_end" || name == "refrain_function_leave") {
    end_region(event.thread, thread, event.end_ns, regions_.of(*event.call));
  } else {
    Open& made = push(thread);
    made.is_region = false;
    made.call = event;
    sink_.enter(made.call);
  }
}

void EnterLeave::finish() {
  for (auto& [number, thread] : threads_) {
    pop_until(number, thread, UINT64_MAX);
    while (thread.depth > 0) pop(number, thread, thread.last_ns);
  }
  threads_.clear();
}

}  // namespace refrain::convert
