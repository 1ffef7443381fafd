// A status that says no more than the receive asked for is not in the file: a placeholder stands
// for it. Here it gets source and tag of the call itself, or of the one that made the request which
// completed.

#include "reader/posted_status.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace refrain::reader {

namespace {

using Posted = std::function<const Value&(SignatureId)>;

// Random access to an array that is kept as runs.
class RunIndex {
 public:
  explicit RunIndex(const Value& array) : array_(array) {
    uint64_t end = 0;
    for (const Value& run : array.items) ends_.push_back(end += run.repeat);
  }
  struct Place {
    const Value* run = nullptr;  // nullptr: past the end
    uint64_t index = 0;          // in the run
    uint64_t left = 0;           // elements from here to the run's end
  };
  Place find(uint64_t i) const {
    const auto it = std::upper_bound(ends_.begin(), ends_.end(), i);
    if (it == ends_.end()) return {};
    const Value& run = array_.items[static_cast<size_t>(it - ends_.begin())];
    return {&run, i - (*it - run.repeat), *it - i};
  }

 private:
  const Value& array_;
  std::vector<uint64_t> ends_;
};

// Elements that are equal become one run, so that the filled array is as short as it would be in
// the file.
void append_run(Value& array, Value element, uint64_t count) {
  element.repeat = 1;
  element.step = 0;
  if (!array.items.empty()) {
    Value& last = array.items.back();
    const uint64_t repeat = std::exchange(last.repeat, 1);
    const bool same = last == element;
    last.repeat = same ? repeat + count : repeat;
    if (same) return;
  }
  element.repeat = count;
  array.items.push_back(std::move(element));
}

Value message_of(const Value& request, const Posted& posted) {
  return request.kind == ValueKind::kRequest ? posted(request.id) : Value();
}

// One status per request, or per index where the call says which of the requests completed.
Value fill_array(const Value& statuses, const Value& requests, const Value* indices,
                 const Posted& posted) {
  const RunIndex request_index(requests);
  std::optional<RunIndex> chosen;
  if (indices != nullptr) chosen.emplace(*indices);
  Value filled;
  filled.kind = ValueKind::kArray;
  uint64_t element = 0;
  for (const Value& run : statuses.items) {
    if (!is_posted_placeholder(run)) {
      append_run(filled, run, run.repeat);
      element += run.repeat;
      continue;
    }
    for (uint64_t done = 0; done < run.repeat;) {
      uint64_t which = element;
      uint64_t chunk = run.repeat - done;
      if (chosen) {
        const RunIndex::Place at = chosen->find(element);
        which = at.run == nullptr ? UINT64_MAX
                                  : static_cast<uint64_t>(at.run->number) +
                                        static_cast<uint64_t>(at.run->step) * at.index;
        chunk = 1;
      }
      const RunIndex::Place request = request_index.find(which);
      if (request.run != nullptr && !chosen)
        chunk = request.run->step == 0 ? std::min(chunk, request.left) : 1;
      append_run(filled,
                 request.run == nullptr ? Value()
                                        : message_of(request.run->element(request.index), posted),
                 chunk);
      done += chunk;
      element += chunk;
    }
  }
  return filled;
}

// The request that a call which completes one of them is about.
Value completed_request(const Signature& signature) {
  if (const Value* request = signature.find("request")) return request->at_entry();
  const Value* requests = signature.find("array_of_requests");
  const Value* index = signature.find("index");
  if (requests == nullptr || index == nullptr || !index->is_integer() || index->number < 0)
    return {};
  return requests->at_entry().at(static_cast<uint64_t>(index->number));
}

}  // namespace

Value posted_placeholder() {
  Value value;
  value.kind = ValueKind::kStatus;
  return value;
}

bool is_posted_placeholder(const Value& value) {
  return value.kind == ValueKind::kStatus && value.items.empty();
}

Value message_asked_for(const Signature& signature) {
  const Value* source = signature.find("source");
  const Value* tag = signature.find("recvtag");
  if (tag == nullptr) tag = signature.find("tag");
  return source == nullptr || tag == nullptr ? Value() : Value::status(*source, *tag);
}

void fill_posted_statuses(Signature& signature, const Posted& posted) {
  for (size_t i = 0; i < signature.args.size(); ++i) {
    Value& value = signature.args[i].value;
    if (is_posted_placeholder(value)) {
      value = message_asked_for(signature);
      if (value.is_null()) value = message_of(completed_request(signature), posted);
    } else if (value.is_array() &&
               std::any_of(value.items.begin(), value.items.end(), is_posted_placeholder)) {
      const Value* requests = signature.find("array_of_requests");
      if (requests == nullptr) requests = &value;  // no request there: every status becomes null
      value = fill_array(value, requests->at_entry(), signature.find("array_of_indices"), posted);
    }
  }
}

}  // namespace refrain::reader
