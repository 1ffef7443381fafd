#include "replay/solo/objects.h"

#include <mpi.h>

#include <cstring>
#include <utility>

#include "replay/solo/entry.h"
#include "replay/solo/fortran_handles.h"

namespace refrain::replay::solo {
namespace {

using mpi::ParamKind;

// Where handles are ints (MPICH and its kin), the upper bits tell the kind of the object, and that
// it is no predefined one.
uint32_t int_handle(ParamKind kind, uint32_t number) {
  uint32_t kind_bits = 0;
  switch (kind) {
    case ParamKind::kComm: kind_bits = 1; break;
    case ParamKind::kGroup: kind_bits = 2; break;
    case ParamKind::kDatatype: kind_bits = 3; break;
    case ParamKind::kErrhandler: kind_bits = 5; break;
    case ParamKind::kOp: kind_bits = 6; break;
    case ParamKind::kInfo: kind_bits = 7; break;
    case ParamKind::kWin: kind_bits = 8; break;
    case ParamKind::kKeyval: kind_bits = 9; break;
    case ParamKind::kRequest: kind_bits = 11; break;
    default: kind_bits = 12; break;
  }
  return uint32_t{2} << 30 | kind_bits << 26 | number;
}

constexpr size_t kBodyBytes = 1024;  // more than any object of an MPI that its Fortran layer reads

}  // namespace

size_t handle_bytes(ParamKind kind) {
  switch (kind) {
    case ParamKind::kComm: return sizeof(MPI_Comm);
    case ParamKind::kKeyval: return sizeof(int);
    case ParamKind::kFile: return sizeof(MPI_File);
    case ParamKind::kToolHandle: return sizeof(void*);
    default: return sizeof(MPI_Datatype);
  }
}

uint64_t null_handle(ParamKind kind) {
  switch (kind) {
    case ParamKind::kComm: return key_of(MPI_COMM_NULL);
    case ParamKind::kDatatype: return key_of(MPI_DATATYPE_NULL);
    case ParamKind::kGroup: return key_of(MPI_GROUP_NULL);
    case ParamKind::kWin: return key_of(MPI_WIN_NULL);
    case ParamKind::kFile: return key_of(MPI_FILE_NULL);
    case ParamKind::kOp: return key_of(MPI_OP_NULL);
    case ParamKind::kErrhandler: return key_of(MPI_ERRHANDLER_NULL);
    case ParamKind::kInfo: return key_of(MPI_INFO_NULL);
    case ParamKind::kMessage: return key_of(MPI_MESSAGE_NULL);
    case ParamKind::kRequest: return key_of(MPI_REQUEST_NULL);
    case ParamKind::kKeyval: return key_of(MPI_KEYVAL_INVALID);
#ifdef MPI_SESSION_NULL
    case ParamKind::kSession: return key_of(MPI_SESSION_NULL);
#endif
    default: return 0;
  }
}

Objects::Objects() {
  for (const FortranHandle& row : fortran_handles()) {
    const ParamKind kind = row.kind;
    by_fortran_[{kind, static_cast<uint64_t>(row.number)}] = row.key;
    predefined_fortran_.try_emplace({kind, row.key}, row.number);
  }
}

void Object::reset() {
  if (kind == ParamKind::kRequest)
    reset_request();
  else
    reset_others();
}

// Programs end requests more often than all else.
void Object::reset_request() {
  made_by = 0;
  is_persistent = is_general = is_partitioned = has_small_values = false;
  query = free = cancel = {};
  extra = nullptr;
  subject = 0;
  subject_kind = ParamKind::kComm;
  flat = nullptr;
  if (!places.empty()) places.clear();
  if (inside != nullptr) inside.reset();
}

void Object::reset_others() {
  reset_request();
  definition = kNoDefinition;
  type = {};
  has_type = false;
  attributes.clear();
  handler = copy = remove = {};
  base = nullptr;
  bytes = flavor = model = 0;
  unit = 1;
  owns_memory = was_set = false;
  regions.clear();
  own_part = -1;
}

Object& Objects::at(ParamKind kind, uint64_t key) {
  if (Object* const known = find(kind, key)) return *known;
  Object& object = *predefined_.emplace_back(std::make_unique<Object>());
  object.kind = kind;
  object.key = key;
  object.is_predefined = object.is_there = true;
  by_key_.put(mixed(kind, key), &object);
  return object;
}

// The same number gives the same body.
void Objects::give_handle(Object& object, uint32_t own) {
  object.own = own;
  object.fortran = own;
  if (object.kind == ParamKind::kKeyval) {
    object.key = own;
  } else if (handle_bytes(object.kind) == sizeof(int)) {
    object.key = int_handle(object.kind, own);
    object.fortran = static_cast<int32_t>(object.key);
  } else {
    if (object.body == nullptr) {
      object.body = std::make_unique<std::byte[]>(kBodyBytes);
      for (size_t i = 0; i < kBodyBytes; i += sizeof(own))
        std::memcpy(object.body.get() + i, &own, sizeof(own));
    }
    object.key = reinterpret_cast<uint64_t>(object.body.get());
  }
}

Object& Objects::make(ParamKind kind, int64_t number) {
  bool is_same_kind = false;  // as what had the number before: then its handle is the same
  uint32_t own = kFirst + static_cast<uint32_t>(made_.size());
  if (free_numbers_.empty()) {
    made_.push_back(std::make_unique<Object>());
  } else {
    own = free_numbers_.back();
    free_numbers_.pop_back();
    is_same_kind = made_[own - kFirst]->kind == kind;
  }
  Object& made = *made_[own - kFirst];
  made.kind = kind;
  made.number = number;
  made.is_there = true;
  if (!is_same_kind) {
    give_handle(made, own);
    by_key_.put(mixed(kind, made.key), &made);
  }
  by_number_.put(mixed(kind, static_cast<uint64_t>(number)), &made);
  return made;
}

void Objects::erase(ParamKind kind, uint64_t key) {
  if (Object* const object = find(kind, key)) erase(*object);
}

void Objects::erase(Object& object) {
  object.is_there = false;
  if (object.is_predefined)
    by_key_.erase(mixed(object.kind, object.key));
  else
    free_numbers_.push_back(object.own);
  object.reset();
}

void Objects::exchange_numbers(Object& one, Object& other) {
  std::swap(one.number, other.number);
  for (Object* const object : {&one, &other})
    by_number_.put(mixed(object->kind, static_cast<uint64_t>(object->number)), object);
}

int64_t Objects::to_fortran(ParamKind kind, uint64_t key) {
  if (key == 0 && kind == ParamKind::kFile) return 0;  // a null pointer
  if (handle_bytes(kind) == sizeof(int)) return static_cast<int32_t>(key);
  if (const auto known = predefined_fortran_.find({kind, key}); known != predefined_fortran_.end())
    return known->second;
  if (Object* const object = find(kind, key)) return object->fortran;
  return -1;
}

// Numbers from kFirst on are our own.
int64_t Objects::also_in_fortran(ParamKind kind, uint64_t key, int64_t recorded) {
  const int64_t own = to_fortran(kind, key);
  const Object* const object = find(kind, key);
  if (handle_bytes(kind) == sizeof(int) || object == nullptr || object->is_predefined ||
      recorded < 0 || recorded >= kFirst)
    return own;
  recorded_fortran_[{kind, static_cast<uint64_t>(recorded)}] = key;
  return recorded;
}

uint64_t Objects::from_fortran(ParamKind kind, int64_t number) {
  if (handle_bytes(kind) == sizeof(int)) return static_cast<uint32_t>(number);
  const auto own = static_cast<uint64_t>(number);
  if (const auto also = recorded_fortran_.find({kind, own}); also != recorded_fortran_.end())
    if (find(kind, also->second) != nullptr) return also->second;
  if (own >= kFirst && own - kFirst < made_.size()) {
    const Object& object = *made_[own - kFirst];
    return find(kind, object.key) == &object ? object.key : null_handle(kind);
  }
  const auto known = by_fortran_.find({kind, own});
  return known == by_fortran_.end() ? null_handle(kind) : known->second;
}

}  // namespace refrain::replay::solo
