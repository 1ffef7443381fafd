// The guard: function, call site and all inputs but addresses against the trace.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mpi/call_ids.h"
#include "mpi/handle_kinds.h"
#include "replay/reissue.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::Direction;
using mpi::ParamKind;

// Numbers below it are distances; addresses of data are above.
constexpr int64_t kFirstAddress = int64_t{1} << 22;
// Blocks of malloc() are as many bytes apart, and no nearer than twice that.
constexpr int64_t kGrain = 2 * sizeof(void*);

bool may_be_address(ParamKind kind, size_t width) {
  return (kind == ParamKind::kAddress || kind == ParamKind::kDisplacement) && width != sizeof(int);
}

// Whether both may be the distance of the same two blocks on the heap, in two processes.
bool may_be_apart(int64_t recorded, int64_t given) {
  return (recorded - given) % kGrain == 0 && std::abs(recorded) >= 2 * kGrain &&
         std::abs(given) >= 2 * kGrain;
}

uint64_t narrowed(uint64_t value, size_t bytes) {
  return bytes >= sizeof(value) ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_number(ParamKind kind) {
  switch (kind) {
    case ParamKind::kInt:
    case ParamKind::kCount:
    case ParamKind::kRank:
    case ParamKind::kTag:
    case ParamKind::kLogical:
    case ParamKind::kIndex:
    case ParamKind::kAddress:
    case ParamKind::kOffset:
    case ParamKind::kDisplacement:
    case ParamKind::kEnum:
    case ParamKind::kBits:
    case ParamKind::kRanges: return true;
    default: return false;
  }
}

bool Player::same_number(const Frame& frame, size_t i, const Value& value, int64_t given) const {
  const auto number = number_of(value);
  if (!number || *number == given) return true;
  const ParamKind kind = frame.info.params[i].kind;
  const size_t width = frame.given.is_pointer(i) ? frame.given.width(i) : sizeof(int64_t);
  if (value.is_constant() || !may_be_address(kind, width)) return false;
  if (*number >= kFirstAddress || *number <= -kFirstAddress) return true;
  // Datatypes over several arrays of the program have their distances.
  return frame.info.group == mpi::CallGroup::kType && may_be_apart(*number, given);
}

bool Player::same_handle(const Frame& frame, ParamKind kind, const Value& value, uint64_t given) {
  if (value.is_constant()) {
    const auto bits = constant(value.constant_id());
    if (!bits) return true;
    const size_t bytes = handle_bytes(kind);
    if (narrowed(*bits, bytes) == narrowed(given, bytes)) return true;
    // Predefined attributes have a number of their own in MPICH's Fortran.
    return kind == ParamKind::kKeyval && frame.fortran_value_bytes > 0 && given == *bits + 1;
  }
  if (value.kind == ValueKind::kRequest) {
    Object* const object = objects_.find(kind, given);
    if (object == nullptr) return false;
    if (object->number == value.id) return true;
    // An MPI may give out one handle for several sends; then it is a guess of the recorder's which
    // of them a copy of the handle names. What the trace calls the one is the other from now on,
    // or the one that is left would be nobody's.
    Object* const recorded = objects_.find_number(kind, value.id);
    if (recorded == nullptr || recorded->made_by != object->made_by || recorded->receives() ||
        object->receives())
      return false;
    if (!is_trying_) objects_.exchange_numbers(*object, *recorded);
    return true;
  }
  if (!value.is_object()) return true;
  if (const auto bits = predefined(value.definition())) {
    const size_t bytes = handle_bytes(kind);
    return narrowed(*bits, bytes) == narrowed(given, bytes);
  }
  const Object* const object = objects_.find(kind, given);
  // What MPICH's Fortran layer makes of an array section is made by no call of the program: the
  // trace has a description of it, and its number there is nobody's.
  if (kind == ParamKind::kDatatype && object != nullptr && object->number < 0) return true;
  return object != nullptr && object->number == object_number(kind, value);
}

void Player::guard_array(const Frame& frame, size_t i, const Value& value) {
  const mpi::ParamInfo& param = frame.info.params[i];
  if (frame.given.word(i) == 0 && value.size() > 0)
    return differ(frame, std::string(param.name), "a null pointer", "an array");
  size_t k = 0;
  const auto one = [&](const Value& element) {
    const Value& entry = element.at_entry();
    if (is_handle(param.kind)) {
      const uint64_t key = frame.given.key(i, k);
      if (!same_handle(frame, param.kind, entry, key))
        differ(frame, std::string(param.name) + "[" + std::to_string(k) + "]",
               text_of(param.kind, key), text_of(entry));
    } else if (is_number(param.kind)) {
      const int64_t number = frame.given.number(i, k);
      if (!same_number(frame, i, entry, number))
        differ(frame, std::string(param.name) + "[" + std::to_string(k) + "]",
               std::to_string(number), text_of(entry));
    }
    ++k;
  };
  value.for_each([&](const Value& element) {
    if (element.is_array())
      element.for_each(one);  // ranges of ranks
    else
      one(element);
  });
}

void Player::guard_one(const Frame& frame, size_t i) {
  const mpi::ParamInfo& param = frame.info.params[i];
  const Value& value = frame.value(i).at_entry();
  if (value.is_null() || param.direction == Direction::kOut) return;
  const std::string name(param.name);
  const bool points = frame.given.is_pointer(i);
  if (value.is_constant() && (param.is_array || param.kind == ParamKind::kBuffer)) {
    const auto bits = constant(value.constant_id());
    if (bits && *bits != frame.given.word(i))
      differ(frame, name, "another address", text_of(value));
    return;
  }
  if (value.is_array()) {
    if (param.kind != ParamKind::kString) guard_array(frame, i, value);
    return;
  }
  if (points && frame.given.word(i) == 0) return;
  if (is_handle(param.kind)) {
    const uint64_t key = frame.given.key(i);
    if (!same_handle(frame, param.kind, value, key))
      differ(frame, name, text_of(param.kind, key), text_of(value));
    return;
  }
  if (is_number(param.kind)) {
    const int64_t number = frame.given.number(i);
    if (!same_number(frame, i, value, number))
      differ(frame, name, std::to_string(number), text_of(value));
    return;
  }
  switch (param.kind) {
    case ParamKind::kString: {
      const char* const text = frame.given.address<const char>(i);
      if (text == nullptr || value.kind != ValueKind::kString || param.is_array) return;
      if (without_blanks(text) != without_blanks(value.text))
        differ(frame, name, '"' + std::string(text) + '"', text_of(value));
      return;
    }
    case ParamKind::kFunction: {
      const uintptr_t recorded = sites_->address_of(value.definition());
      if (recorded != 0 && recorded != frame.given.word(i))
        differ(frame, name, sites_->text_of(frame.given.word(i)), sites_->text_of(recorded));
      return;
    }
    default: return;
  }
}

void Player::guard(const Frame& frame) {
  const uintptr_t recorded = frame.plan->site;
  if (recorded != 0 && frame.site != 0 && recorded != frame.site)
    differ(frame, "call site", sites_->text_of(frame.site), sites_->text_of(recorded));
  if (frame.plan->widths != frame.given.widths()) plan_words(frame.given, *frame.plan);
  for (size_t i = 0; i < frame.given.size(); ++i)
    if (!frame.plan->is_word_equal(frame.given.word(i), i)) guard_one(frame, i);
  for (const Check& check : frame.plan->other_checks)
    if (!is_as_planned(frame.given, *frame.plan, check)) guard_one(frame, check.param);
}

void Player::differ(const Frame& frame, const std::string& what) {
  std::string line = "rank " + std::to_string(options_.rank) + ", thread " +
                     std::to_string(frame.thread.location) + ", call " + std::to_string(frame.seq) +
                     ", " + std::string(frame.info.name) + " at " + sites_->text_of(frame.site) +
                     ": " + what;
  if (trace_->locations(options_.rank).size() > 1)
    line +=
        "; several threads of this rank call MPI, and what each calls may depend on when the "
        "others get how far";
  if (!is_trying_) end(1, line);
  has_difference_ = true;
}

void Player::differ(const Frame& frame, const std::string& parameter, const std::string& here,
                    const std::string& recorded) {
  differ(frame, parameter + " is " + here + ", in the trace " + recorded);
}

std::string Player::text_of(const Value& value) const {
  switch (value.kind) {
    case ValueKind::kInteger: return std::to_string(value.number);
    case ValueKind::kConstant: return std::string(value.name());
    case ValueKind::kObject: return trace_->object_name(value.definition());
    case ValueKind::kRequest: return "a request of signature " + std::to_string(value.id);
    case ValueKind::kString: return '"' + value.text + '"';
    case ValueKind::kArray: return "an array of " + std::to_string(value.size());
    case ValueKind::kBits: {
      std::string text;
      for (const Value& bit : value.items)
        text += std::string(text.empty() ? "" : " | ") + std::string(bit.name());
      if (value.number != 0 || text.empty())
        text += std::string(text.empty() ? "" : " | ") + std::to_string(value.number);
      return text;
    }
    default: return "another value";
  }
}

std::string Player::text_of(ParamKind kind, uint64_t key) {
  if (const Object* const object = objects_.find(kind, key);
      object != nullptr && !object->is_predefined) {
    if (kind == ParamKind::kRequest)
      return "a request of signature " + std::to_string(object->number);
    if (object->definition != kNoDefinition) return trace_->object_name(object->definition);
  }
  const size_t bytes = handle_bytes(kind);
  for (const auto& [definition, bits] : predefined_)
    if (bits && narrowed(*bits, bytes) == narrowed(key, bytes))
      return trace_->object_name(definition);
  if (key == null_handle(kind)) return "the null handle";
  return "another handle";
}

}  // namespace refrain::replay::solo
