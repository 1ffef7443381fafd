// Functions of the program that MPI calls: those of attributes, error handlers and generalised
// requests are really called. Reduction operators are not: their results are in the log.

#include <mpi.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mpi/call_ids.h"
#include "replay/reissue.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::Direction;
using mpi::ParamKind;

// Attributes of Fortran are passed by value, in INTEGERs of two sizes.
using SmallCopy = void(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
using LargeCopy = void(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*, MPI_Fint*, MPI_Fint*);
using SmallDelete = void(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
using LargeDelete = void(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*);
// One form fits the functions of communicators, datatypes and windows where handles are as wide.
using Copy = int(MPI_Comm, int, void*, void*, void*, int*);
using Delete = int(MPI_Comm, int, void*, void*);

template <class T>
T handle_as(uint64_t key) {
  return result_as<T>(key);
}

// In which order the functions of several attributes of an object are called is the MPI's affair.
// Open MPI copies them by their keyvals, so that the copies are set in that order, and an attribute
// that is set again is the last one. MPICH has a list, and copies it from the last one on.
#if defined(OPEN_MPI)
constexpr bool kCopiesByKeyval = true, kSetAgainIsLast = true;
#else
constexpr bool kCopiesByKeyval = false, kSetAgainIsLast = false;
#endif

std::vector<Attribute> by_keyval(const std::map<uint64_t, Attribute>& attributes) {
  std::vector<Attribute> out;
  for (const auto& [key, attribute] : attributes) out.push_back(attribute);
  return out;
}

std::vector<Attribute> last_first(const std::map<uint64_t, Attribute>& attributes) {
  std::vector<Attribute> out = by_keyval(attributes);
  std::sort(out.begin(), out.end(),
            [](const Attribute& a, const Attribute& b) { return a.number > b.number; });
  return out;
}

bool is_handler_call(mpi::CallId id) {
  return id == mpi::kMPI_Comm_call_errhandler || id == mpi::kMPI_Win_call_errhandler ||
         id == mpi::kMPI_File_call_errhandler || id == mpi::kMPI_Session_call_errhandler;
}

constexpr ParamKind kWithHandlers[] = {ParamKind::kFile, ParamKind::kWin, ParamKind::kComm};

}  // namespace

// ---- attributes ----

void Player::make_keyval(Frame& frame) {
  if (!frame.ok()) return;
  Object* const keyval = objects_.find(ParamKind::kKeyval, frame.given.key(2));
  if (keyval == nullptr) return;
  const bool is_fortran = frame.fortran_value_bytes > 0;
  const auto callback = [&](size_t i) {
    // Predefined ones are known by name: MPI_NULL_COPY_FN may be a null pointer.
    const Value& value = frame.value(i).at_entry();
    const bool is_null = value.name().find("NULL") != std::string_view::npos;
    return Callback{is_null ? nullptr : frame.given.address(i), is_fortran};
  };
  keyval->copy = callback(0);
  keyval->remove = callback(1);
  keyval->extra =
      is_fortran && frame.given.word(3) != 0
          ? reinterpret_cast<void*>(frame.fortran_value_bytes == sizeof(MPI_Fint)
                                        ? static_cast<int64_t>(*frame.given.address<MPI_Fint>(3))
                                        : static_cast<int64_t>(*frame.given.address<MPI_Aint>(3)))
          : frame.given.address(3);
  keyval->has_small_values = frame.fortran_value_bytes == sizeof(MPI_Fint);
  ++callbacks_;
}

int Player::call_copy(ParamKind kind, const Object& keyval, uint64_t key, void* in, void** out,
                      int* flag) {
  *flag = 0;
  void* const function = keyval.copy.function;
  if (function == nullptr) return MPI_SUCCESS;
  if (!keyval.copy.is_fortran) {
    auto* const copy = reinterpret_cast<Copy*>(function);
    return copy(handle_as<MPI_Comm>(key), static_cast<int>(keyval.key), keyval.extra, in, out,
                flag);
  }
  auto object = static_cast<MPI_Fint>(objects_.to_fortran(kind, key));
  auto number = static_cast<MPI_Fint>(keyval.key);
  MPI_Fint is_copied = 0, error = MPI_SUCCESS;
  if (keyval.has_small_values) {
    auto extra = static_cast<MPI_Fint>(reinterpret_cast<intptr_t>(keyval.extra));
    auto value = static_cast<MPI_Fint>(reinterpret_cast<intptr_t>(in));
    MPI_Fint made = 0;
    reinterpret_cast<SmallCopy*>(function)(&object, &number, &extra, &value, &made, &is_copied,
                                           &error);
    *out = reinterpret_cast<void*>(static_cast<intptr_t>(made));
  } else {
    auto extra = static_cast<MPI_Aint>(reinterpret_cast<intptr_t>(keyval.extra));
    auto value = static_cast<MPI_Aint>(reinterpret_cast<intptr_t>(in));
    MPI_Aint made = 0;
    reinterpret_cast<LargeCopy*>(function)(&object, &number, &extra, &value, &made, &is_copied,
                                           &error);
    *out = reinterpret_cast<void*>(static_cast<intptr_t>(made));
  }
  *flag = is_copied != 0 ? 1 : 0;
  return error;
}

void Player::call_delete(ParamKind kind, uint64_t keyval_key, uint64_t key, void* value) {
  const Object* const keyval = objects_.find(ParamKind::kKeyval, keyval_key);
  if (keyval == nullptr || keyval->remove.function == nullptr) return;
  void* const function = keyval->remove.function;
  if (!keyval->remove.is_fortran) {
    reinterpret_cast<Delete*>(function)(handle_as<MPI_Comm>(key), static_cast<int>(keyval_key),
                                        value, keyval->extra);
    return;
  }
  auto object = static_cast<MPI_Fint>(objects_.to_fortran(kind, key));
  auto number = static_cast<MPI_Fint>(keyval_key);
  MPI_Fint error = MPI_SUCCESS;
  if (keyval->has_small_values) {
    auto small = static_cast<MPI_Fint>(reinterpret_cast<intptr_t>(value));
    auto extra = static_cast<MPI_Fint>(reinterpret_cast<intptr_t>(keyval->extra));
    reinterpret_cast<SmallDelete*>(function)(&object, &number, &small, &extra, &error);
  } else {
    auto large = static_cast<MPI_Aint>(reinterpret_cast<intptr_t>(value));
    auto extra = static_cast<MPI_Aint>(reinterpret_cast<intptr_t>(keyval->extra));
    reinterpret_cast<LargeDelete*>(function)(&object, &number, &large, &extra, &error);
  }
}

void Player::get_attribute(Frame& frame) {
  const Value& flag = frame.value(3).at_exit();
  if (!frame.ok() || frame.given.word(2) == 0 || (flag.is_integer() && flag.number == 0)) return;
  const ParamKind kind = frame.info.params[0].kind;
  const uint64_t key = frame.given.key(0), keyval = frame.given.key(1);
  void* value = nullptr;
  const Object* const object = objects_.find(kind, key);
  const auto own = object == nullptr ? std::map<uint64_t, Attribute>::const_iterator()
                                     : object->attributes.find(keyval);
  const bool is_own = object != nullptr && own != object->attributes.end();
  const bool is_address = frame.value(1).at_entry().name() == "MPI_WIN_BASE";
  int64_t number = frame.value(2).at_exit().integer_or(0);
  if (is_own) {
    value = own->second.value;
    number = reinterpret_cast<intptr_t>(value);
  } else if (is_address && object != nullptr) {
    value = object->base;
    number = reinterpret_cast<intptr_t>(value);
  } else {
    // MPI keeps the number, and hands out a pointer to it. Little-endian: an int is in front.
    auto& place = attribute_places_[{key, keyval}];
    if (place == nullptr) place = std::make_unique<int64_t>();
    *place = number;
    value = place.get();
  }
  void* const out = frame.given.address(2);
  if (frame.fortran_value_bytes == sizeof(MPI_Fint))
    *static_cast<MPI_Fint*>(out) = static_cast<MPI_Fint>(number);
  else if (frame.fortran_value_bytes > 0)
    *static_cast<MPI_Aint*>(out) = static_cast<MPI_Aint>(number);
  else
    *static_cast<void**>(out) = value;
}

void Player::set_attribute(Frame& frame) {
  const ParamKind kind = frame.info.params[0].kind;
  const uint64_t key = frame.given.key(0), keyval = frame.given.key(1);
  void* value = frame.given.address(2);
  if (frame.fortran_value_bytes == sizeof(MPI_Fint))
    value = reinterpret_cast<void*>(static_cast<intptr_t>(*static_cast<MPI_Fint*>(value)));
  else if (frame.fortran_value_bytes > 0)
    value = reinterpret_cast<void*>(static_cast<intptr_t>(*static_cast<MPI_Aint*>(value)));
  Object& object = objects_.at(kind, key);
  if (const auto old = object.attributes.find(keyval); old != object.attributes.end())
    call_delete(kind, keyval, key, old->second.value);
  if (!frame.ok()) return;
  if (Object* const own = objects_.find(ParamKind::kKeyval, keyval)) own->was_set = true;
  Attribute& attribute = objects_.at(kind, key).attributes[keyval];
  const bool keeps_place = attribute.number != 0 && !kSetAgainIsLast;
  attribute = {value, keyval, keeps_place ? attribute.number : ++attributes_set_};
}

void Player::delete_attribute(Frame& frame) {
  const ParamKind kind = frame.info.params[0].kind;
  const uint64_t key = frame.given.key(0), keyval = frame.given.key(1);
  Object& object = objects_.at(kind, key);
  const auto old = object.attributes.find(keyval);
  if (old == object.attributes.end()) return;
  call_delete(kind, keyval, key, old->second.value);
  if (frame.ok()) objects_.at(kind, key).attributes.erase(keyval);
}

// Of MPI_Comm_dup and MPI_Type_dup.
void Player::copy_attributes(Frame& frame) {
  if (callbacks_ == 0) return;
  const ParamKind kind = frame.info.params[0].kind;
  const Object* const from = objects_.find(kind, frame.given.key(0));
  if (from == nullptr || from->attributes.empty()) return;
  const size_t out = frame.meaning.plain == mpi::kMPI_Comm_dup_with_info ? 2 : 1;
  std::map<uint64_t, Attribute> copies;
  for (const Attribute& attribute :
       kCopiesByKeyval ? by_keyval(from->attributes) : last_first(from->attributes)) {
    const Object* const keyval = objects_.find(ParamKind::kKeyval, attribute.keyval);
    if (keyval == nullptr) continue;
    void* copy = nullptr;
    int flag = 0;
    const int error = call_copy(kind, *keyval, frame.given.key(0), attribute.value, &copy, &flag);
    if (error != MPI_SUCCESS || flag == 0) continue;
    copies[attribute.keyval] = {copy, attribute.keyval,
                                kCopiesByKeyval ? ++attributes_set_ : attribute.number};
  }
  if (frame.ok() && frame.given.word(out) != 0)
    objects_.at(kind, frame.given.key(out)).attributes = std::move(copies);
}

// Of an object that is freed: the last one that was set first, as MPI 4.1 asks for MPI_COMM_SELF
// and MPIs do for all.
void Player::delete_attributes(ParamKind kind, uint64_t key) {
  const Object* const object = objects_.find(kind, key);
  if (object == nullptr) return;
  for (const Attribute& attribute : last_first(object->attributes))
    call_delete(kind, attribute.keyval, key, attribute.value);
  if (Object* const still = objects_.find(kind, key); still != nullptr) still->attributes.clear();
}

void Player::attributes(Frame& frame) {
  switch (frame.meaning.plain) {
    case mpi::kMPI_Keyval_create:
    case mpi::kMPI_Comm_create_keyval:
    case mpi::kMPI_Type_create_keyval:
    case mpi::kMPI_Win_create_keyval: return make_keyval(frame);
    case mpi::kMPI_Attr_get:
    case mpi::kMPI_Comm_get_attr:
    case mpi::kMPI_Type_get_attr:
    case mpi::kMPI_Win_get_attr: return get_attribute(frame);
    case mpi::kMPI_Attr_put:
    case mpi::kMPI_Comm_set_attr:
    case mpi::kMPI_Type_set_attr:
    case mpi::kMPI_Win_set_attr: return set_attribute(frame);
    case mpi::kMPI_Attr_delete:
    case mpi::kMPI_Comm_delete_attr:
    case mpi::kMPI_Type_delete_attr:
    case mpi::kMPI_Win_delete_attr: return delete_attribute(frame);
    default: return;
  }
}

// ---- error handlers ----

void Player::handlers(Frame& frame) {
  const auto& params = frame.info.params;
  if (params.size() != 2) return;
  const bool has_handler = params[1].kind == ParamKind::kErrhandler;
  const bool is_set = has_handler && params[1].direction == Direction::kIn;
  const bool is_create = has_handler && params[0].kind == ParamKind::kFunction;
  if (is_set && frame.ok()) {
    // The program may free its handle now: the function stays with what it was set for.
    const Object* const set = objects_.find(ParamKind::kErrhandler, frame.given.key(1));
    objects_.at(params[0].kind, frame.given.key(0)).handler = set ? set->handler : Callback();
  } else if (is_create && frame.ok()) {
    Object* const made = objects_.find(ParamKind::kErrhandler, frame.given.key(1));
    if (made == nullptr) return;
    made->handler = {frame.given.address(0), frame.fortran_value_bytes > 0};
    ++callbacks_;
  } else if (is_handler_call(frame.info.id)) {
    const Object* const subject = objects_.find(frame.info.params[0].kind, frame.given.key(0));
    if (subject != nullptr) call_handler(*subject, static_cast<int>(frame.given.number(1)));
  }
}

void Player::call_handler(const Object& subject, int code) {
  const Callback handler = subject.handler;
  if (handler.function == nullptr) return;
  if (handler.is_fortran) {
    auto object = static_cast<MPI_Fint>(objects_.to_fortran(subject.kind, subject.key));
    reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*)>(handler.function)(&object, &code);
  } else {
    uint64_t key = subject.key;
    reinterpret_cast<void (*)(void*, int*, ...)>(handler.function)(&key, &code);
  }
}

// A new communicator has the handler of the one that it was made from.
void Player::inherit_handler(Frame& frame) {
  const bool makes =
      frame.info.group == mpi::CallGroup::kComm || frame.info.group == mpi::CallGroup::kTopo;
  if (!makes || callbacks_ == 0 || !frame.ok()) return;
  const auto& params = frame.info.params;
  const Object* parent = nullptr;
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].kind != ParamKind::kComm || params[i].is_array) continue;
    if (params[i].direction == Direction::kIn && parent == nullptr) {
      parent = objects_.find(ParamKind::kComm, frame.given.key(i));
    } else if (params[i].direction == Direction::kOut && parent != nullptr &&
               frame.given.word(i) != 0 && frame.given.key(i) != null_handle(ParamKind::kComm)) {
      const Callback handler = parent->handler;
      objects_.at(ParamKind::kComm, frame.given.key(i)).handler = handler;
    }
  }
}

// A call of the trace failed: the handler of its communicator, window or file is called.
void Player::handle_error(Frame& frame) {
  if (frame.ok() || callbacks_ == 0) return;
  const Object* subject = nullptr;
  for (const ParamKind kind : kWithHandlers)
    for (size_t i = 0; i < frame.info.params.size() && subject == nullptr; ++i)
      if (frame.info.params[i].kind == kind && frame.info.params[i].direction == Direction::kIn &&
          !frame.info.params[i].is_array)
        subject = objects_.find(kind, frame.given.key(i));
  for (size_t i = 0; i < frame.info.params.size() && subject == nullptr; ++i)
    if (frame.info.params[i].kind == ParamKind::kRequest && frame.given.word(i) != 0)
      if (const Object* const request = request_at(frame, i, 0); request != nullptr)
        subject = objects_.find(request->subject_kind, request->subject);
  if (subject == nullptr) subject = objects_.find(ParamKind::kComm, key_of(MPI_COMM_WORLD));
  if (subject != nullptr) call_handler(*subject, static_cast<int>(frame.result));
}

// ---- generalised requests ----

void Player::general_request(Frame& frame) {
  if (frame.info.id == mpi::kMPI_Grequest_start && frame.ok()) {
    Object* const request = request_at(frame, 4, 0);
    if (request == nullptr) return;
    request->is_general = true;
    request->query = {frame.given.address(0), false};
    request->free = {frame.given.address(1), false};
    request->cancel = {frame.given.address(2), false};
    request->extra = frame.given.address(3);
    ++callbacks_;
  } else if (frame.info.id == mpi::kMPI_Cancel) {
    Object* const request = request_at(frame, 0, 0);
    if (request != nullptr && request->is_general)
      call_general(*request, request->cancel, General::kCancel);
  }
}

void Player::mark_fortran(uint64_t request) {
  const std::scoped_lock lock(mutex_);
  Object* const object = objects_.find(ParamKind::kRequest, request);
  if (object == nullptr) return;
  for (Callback* callback : {&object->query, &object->free, &object->cancel})
    callback->is_fortran = true;
}

// The functions of a generalised request, as C or Fortran has them.
void Player::call_general(Object& request, const Callback& callback, General which) {
  if (callback.function == nullptr) return;
  MPI_Status status{};
  if (callback.is_fortran) {
    // Open MPI's Fortran layer has put the place of the state where C has the state.
    MPI_Fint error = MPI_SUCCESS, yes = 1;
    void* const extra = request.extra;
    if (which == General::kQuery)
      reinterpret_cast<void (*)(void*, void*, MPI_Fint*)>(callback.function)(extra, &status,
                                                                             &error);
    else if (which == General::kFree)
      reinterpret_cast<void (*)(void*, MPI_Fint*)>(callback.function)(extra, &error);
    else
      reinterpret_cast<void (*)(void*, MPI_Fint*, MPI_Fint*)>(callback.function)(extra, &yes,
                                                                                 &error);
    return;
  }
  if (which == General::kQuery)
    reinterpret_cast<MPI_Grequest_query_function*>(callback.function)(request.extra, &status);
  else if (which == General::kFree)
    reinterpret_cast<MPI_Grequest_free_function*>(callback.function)(request.extra);
  else
    reinterpret_cast<MPI_Grequest_cancel_function*>(callback.function)(request.extra, 0);
}

}  // namespace refrain::replay::solo
