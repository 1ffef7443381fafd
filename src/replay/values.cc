// From recorded values to arguments, and what came of them.

#include <algorithm>
#include <utility>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/handle_kinds.h"
#include "replay/engine.h"
#include "replay/objects/stand_ins.h"
#include "replay/reissue.h"
#include "replay/room.h"
#include "replay/threads/touches.h"

namespace refrain::replay {
namespace {

using mpi::Direction;
using mpi::ParamKind;

bool is_with_nobody(const mpi::CallInfo& info, const Arguments& arguments) {
  for (size_t i = 0; i < info.params.size(); ++i)
    if (info.params[i].kind == ParamKind::kRank && !info.params[i].is_array &&
        arguments.slot(i).number == MPI_PROC_NULL)
      return true;
  return false;
}

}  // namespace

base::Result<int64_t> Engine::number_of(const Frame& frame, const Value& value) const {
  switch (value.kind) {
    case ValueKind::kInteger: return value.number;
    case ValueKind::kConstant: {
      const auto known = value_of_constant(value.constant_id());
      if (!known) return wrong(frame, "this MPI has no " + std::string(value.name()));
      return static_cast<int64_t>(*known);
    }
    case ValueKind::kBits: {
      int64_t bits = value.number;
      for (const Value& bit : value.items)
        if (const auto known = value_of_constant(bit.constant_id())) bits |= *known;
      return bits;
    }
    default: return int64_t{0};
  }
}

base::Result<int64_t> Engine::handle_of(const Frame& frame, ParamKind kind, const Value& value) {
  if (value.kind == ValueKind::kConstant || value.kind == ValueKind::kInteger)
    return number_of(frame, value);
  if (kind == ParamKind::kRequest) {
    if (const Request* const known = find_request(value); known != nullptr)
      return static_cast<int64_t>(known->key);
    return static_cast<int64_t>(null_request());
  }
  if (!value.is_object()) return int64_t{0};
  if (const uint32_t id = predefined(value.definition()); id != 0) {
    if (kind == ParamKind::kDatatype) return predefined_type(frame, value.definition(), id);
    const auto constant = value_of_constant(id);
    if (!constant) return wrong(frame, "this MPI has no " + std::string(mpi::constant_name(id)));
    return static_cast<int64_t>(*constant);
  }
  const ObjectKey key = object_key(kind, value);
  const auto& objects = made_with(key).objects;
  const auto known = objects.find(key);
  if (known != objects.end()) return static_cast<int64_t>(known->second);
  return make_from_definition(frame, kind, value);
}

// Handles of MPI_T are of several kinds, each with numbers of its own.
Engine::ObjectKey Engine::object_key(ParamKind kind, const Value& value) const {
  if (kind != ParamKind::kToolHandle) return {kind, value.number};
  const std::string name = trace_.object_name(value.definition());
  const auto kinds = static_cast<int64_t>(name.find('#'));  // their names differ in length
  return {kind, value.number * 64 + kinds};
}

// The constant that an object is; 0: the program made it.
uint32_t Engine::predefined(DefinitionId definition) {
  const auto [known, is_new] = predefined_.try_emplace(definition, 0);
  if (is_new) known->second = mpi::constant_id(trace_.object_name(definition));
  return known->second;
}

base::Status Engine::fill_numbers(const Frame& frame, const Value& value, Slot& slot) const {
  base::Status good = base::Done{};
  value.for_each([&](const Value& element) {
    if (element.is_array()) {  // ranges of ranks
      if (auto inner = fill_numbers(frame, element, slot); !inner.ok()) good = inner;
      return;
    }
    const auto number = number_of(frame, element);
    if (!number.ok()) good = number.error();
    slot.numbers.push_back(number.ok() ? *number : 0);
  });
  return good;
}

base::Status Engine::fill_handles(const Frame& frame, ParamKind kind, const Value& value,
                                  Slot& slot) {
  base::Status good = base::Done{};
  value.for_each([&](const Value& element) {
    const auto handle = handle_of(frame, kind, element.at_entry());
    if (!handle.ok()) good = handle.error();
    slot.numbers.push_back(handle.ok() ? *handle : 0);
  });
  return good;
}

void Engine::prepare_output(const Frame& frame, size_t i, Slot& slot) const {
  const mpi::ParamInfo& param = frame.info.params[i];
  const Value& value = frame.signature.args[i].value;
  slot.room = room_of(frame.signature, frame.info, i);
  // A constant in the place of an output: MPI_STATUS_IGNORE, MPI_UNWEIGHTED.
  const bool has_place = param.kind == ParamKind::kStatus || param.is_array;
  if (value.kind == ValueKind::kConstant && has_place) {
    slot.is_address = true;
    slot.address = reinterpret_cast<void*>(value_of_constant(value.constant_id()).value_or(0));
  }
}

base::Status Engine::prepare_status(const Frame& frame, size_t i, Slot& slot) {
  if (frame.info.params[i].direction == Direction::kInOut) {  // MPI_Status_set_elements
    slot.is_address = true;
    slot.address = &made_status_;
    return base::Done{};
  }
  const Value& value = frame.signature.args[i].value.at_entry();
  const auto number = [&](const Value& v) {
    const auto known = number_of(frame, v);
    return static_cast<int>(known.ok() ? *known : 0);
  };
  if (value.kind != ValueKind::kStatus) return base::Done{};
  // One that no message has, such as in the status of an operation on a file, has no other either.
  const int recorded = number(value.tag());
  const auto other = static_cast<int>(tag_of(recorded));
  const int tag = other < 0 ? recorded : other;
  const auto known = statuses_.find({number(value.source()), tag});
  MPI_Status status{};
  status.MPI_SOURCE = number(value.source());
  status.MPI_TAG = tag;
  if (known != statuses_.end()) status = known->second;
  MPI_Status* const place = slot.make_place<MPI_Status>();
  *place = status;
  slot.is_address = true;
  slot.address = place;
  return base::Done{};
}

base::Status Engine::prepare(Frame& frame) {
  const size_t count = frame.info.params.size();
  frame.arguments->reset(count);
  for (size_t i = 0; i < count && i < frame.signature.args.size(); ++i)
    if (auto good = prepare_one(frame, i); !good.ok()) return good;
  return base::Done{};
}

base::Status Engine::prepare_one(Frame& frame, size_t i) {
  const mpi::ParamInfo& param = frame.info.params[i];
  Slot& slot = frame.arguments->slot(i);
  const Value& entry = frame.signature.args[i].value.at_entry();
  slot.is_count = param.kind == ParamKind::kCount || param.kind == ParamKind::kDisplacement;
  if (param.direction == Direction::kOut) {
    if (param.kind == ParamKind::kPointer || param.kind == ParamKind::kBuffer) return base::Done{};
    prepare_output(frame, i, slot);
    if (param.kind == ParamKind::kRequest && frame.staged.op->makes_request) {
      Request& request = own_.requests[frame.signature.id];
      request = Request();
      slot.is_address = true;
      slot.address = &request.key;
    }
    return base::Done{};
  }
  switch (param.kind) {
    case ParamKind::kBuffer: return base::Done{};
    case ParamKind::kStatus: return prepare_status(frame, i, slot);
    case ParamKind::kFunction: slot.address = stand_in_function(frame, i); return base::Done{};
    case ParamKind::kString: return prepare_text(frame, i, slot);
    case ParamKind::kPointer: return base::Done{};
    default: break;
  }
  if (param.direction == Direction::kInOut) slot.room = room_of(frame.signature, frame.info, i);
  if (entry.is_array() && entry.size() == 0 && param.kind == ParamKind::kRequest) {
    slot.is_address = true;  // the program passed none
    return base::Done{};
  }
  if (entry.is_array()) {
    return is_handle(param.kind) ? fill_handles(frame, param.kind, entry, slot)
                                 : fill_numbers(frame, entry, slot);
  }
  if (param.is_array) {  // a constant in its place, or nothing
    slot.is_address = true;
    if (entry.kind == ValueKind::kConstant)
      slot.address = reinterpret_cast<void*>(value_of_constant(entry.constant_id()).value_or(0));
    return base::Done{};
  }
  if (entry.is_null() && param.direction == Direction::kInOut && is_handle(param.kind)) {
    slot.is_address = true;  // the program passed no place
    return base::Done{};
  }
  if (param.kind == ParamKind::kRequest && entry.kind == ValueKind::kRequest) {
    // In a variable of its own, as in most programs: where an MPI gives out one handle for several
    // requests, a recorder tells them apart by that.
    Request* const known = find_request(entry);
    slot.is_address = known != nullptr;
    if (known != nullptr) slot.address = &known->key;
  }
  if (param.kind == ParamKind::kInfo && frame.info.group != mpi::CallGroup::kInfo) {
    slot.number = static_cast<int64_t>(hint_free_info(frame, entry));
    return base::Done{};
  }
  const auto value =
      is_handle(param.kind) ? handle_of(frame, param.kind, entry) : number_of(frame, entry);
  if (!value.ok()) return value.error();
  slot.number = *value;
  if (param.kind != ParamKind::kTag || !entry.is_integer()) return base::Done{};
  slot.number = tag_of(*value);
  if (slot.number >= 0 || *value < 0) return base::Done{};
  return wrong(frame, "this MPI has no tag " + std::to_string(*value) + ", and none is left");
}

void* Engine::stand_in_function(const Frame& frame, size_t i) const {
  const Value& value = frame.signature.args[i].value.at_entry();
  if (value.kind == ValueKind::kConstant)
    return reinterpret_cast<void*>(value_of_constant(value.constant_id()).value_or(0));
  return stand_in(frame.info.id, frame.info.params[i].name);
}

// ---- after the call ----

void Engine::bind(const Frame& frame, ParamKind kind, const Value& entry, const Value& exit,
                  uint64_t key, Frame& owner) {
  if (kind == ParamKind::kRequest) {
    if (exit.kind != ValueKind::kRequest || exit.request_signature() != frame.signature.id) return;
    Request& request = own_.requests[frame.signature.id];
    request.key = key;
    request.is_persistent = frame.info.persistent;
    request.is_active = !request.is_persistent;
    request.has_nobody = request.is_persistent && is_with_nobody(frame.info, *frame.arguments);
    note_anybody(frame, request);
    request.blocks = std::move(owner.blocks);
    request.arguments = std::move(owner.arguments);
    owner.arguments = std::make_unique<Arguments>();
    return;
  }
  const bool freed =
      entry.is_object() && (!exit.is_object() || frame.meaning.does_any(mpi::kDoesFree));
  if (freed) {
    RankState::Made& made = made_with(object_key(kind, entry));
    const auto earlier = made.earlier.find(object_key(kind, entry));
    if (earlier == made.earlier.end()) {
      made.objects.erase(object_key(kind, entry));
    } else {
      made.objects[object_key(kind, entry)] = earlier->second.back();
      earlier->second.pop_back();
      if (earlier->second.empty()) made.earlier.erase(earlier);
    }
    made.kept.erase(object_key(kind, entry));
    if (kind == ParamKind::kWin) note_window(frame, object_key(kind, entry), true);
  }
  if (freed || !exit.is_object()) return;
  if (predefined(exit.definition()) != 0) return;
  if (kind == ParamKind::kComm && frame.meaning.how == mpi::How::kWaits &&
      !is_as_recorded(key, exit.definition()))
    if (const auto made = make_comm(frame, exit.definition()); made.ok())
      key = with_topology(frame, static_cast<uint64_t>(*made));
  if (frame.info.id == mpi::kMPI_Dist_graph_create && kind == ParamKind::kComm)
    key = with_recorded_neighbours(frame, exit.definition(), key);
  const ObjectKey name = object_key(kind, exit);
  RankState::Made& made = entry.is_object() ? made_with(name) : own_;
  // The program has another reference to a group, error handler or type that is there, and frees
  // it as often.
  const bool may_be_there =
      kind == ParamKind::kGroup || kind == ParamKind::kErrhandler || kind == ParamKind::kDatatype;
  if (const auto there = made.objects.find(name);
      may_be_there && !entry.is_object() && there != made.objects.end())
    made.earlier[name].push_back(there->second);
  made.objects[name] = key;
  if (kind != ParamKind::kWin) return;
  made.kept[name] = std::move(owner.blocks);
  if (!entry.is_object()) note_window(frame, name, false);
}

void Engine::bind_outputs(Frame& frame) {
  if (frame.signature.failed()) return;
  note_statuses(frame);
  note_port(frame);
  for (size_t i = 0; i < frame.info.params.size() && i < frame.signature.args.size(); ++i) {
    const mpi::ParamInfo& param = frame.info.params[i];
    if (!is_handle(param.kind)) continue;
    const Value& value = frame.signature.args[i].value;
    if (param.direction == Direction::kIn && value.kind != ValueKind::kChanged) continue;
    const Value& entry = param.direction == Direction::kOut ? Value::null() : value.at_entry();
    const Value& exit = value.at_exit();
    if (i >= frame.arguments->size()) return;  // a request took them
    const Slot& slot = frame.arguments->slot(i);
    const bool is_request = param.kind == ParamKind::kRequest;
    if (frame.info.id == mpi::kMPI_Request_free && is_request) {
      auto& requests = made_with(request_thing(entry.request_signature())).requests;
      if (const auto freed = requests.find(entry.request_signature()); freed != requests.end()) {
        let_others_go(freed->second);
        requests.erase(freed);
      }
    }
    if (!exit.is_array()) {
      const uint64_t key = slot.is_address && slot.address != nullptr
                               ? *static_cast<const uint64_t*>(slot.address)
                               : slot.read_key();
      bind(frame, param.kind, entry, exit, key, frame);
      continue;
    }
    size_t at = 0;
    exit.for_each([&](const Value& element) {
      bind(frame, param.kind, Value::null(), element.at_exit(), slot.read_key(at++), frame);
    });
  }
}

void Engine::note_statuses(const Frame& frame) {
  for (size_t i = 0; i < frame.info.params.size(); ++i) {
    const mpi::ParamInfo& param = frame.info.params[i];
    if (param.kind != ParamKind::kStatus || param.direction == Direction::kIn) continue;
    const Slot& slot = frame.arguments->slot(i);
    if (slot.is_address || slot.place == nullptr) continue;
    const auto* const made = reinterpret_cast<const MPI_Status*>(slot.place.get());
    const Value& value = frame.signature.args[i].value.at_exit();
    const size_t count = param.is_array ? value.size() : 1;
    for (size_t k = 0; k < std::min(count, slot.room); ++k)
      statuses_[{made[k].MPI_SOURCE, made[k].MPI_TAG}] = made[k];
  }
}

}  // namespace refrain::replay
