// What the process really does itself: addresses, memory, windows, statuses, and the numbers that
// handles have in Fortran. And what is asked outside of the trace: after MPI_Finalize, and by the
// MPI's own Fortran layer.

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "mpi/call_ids.h"
#include "mpi/handle_kinds.h"
#include "mpi_runtime/status_fields.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::Direction;
using mpi::ParamKind;

std::byte* zeroed(int64_t bytes) {
  void* const made = std::calloc(1, bytes > 0 ? static_cast<size_t>(bytes) : 1);
  return static_cast<std::byte*>(made);
}

// Of what a function returns.
ParamKind kind_of_result(std::string_view word) {
  constexpr std::pair<std::string_view, ParamKind> kKinds[] = {
      {"comm", ParamKind::kComm},       {"datatype", ParamKind::kDatatype},
      {"group", ParamKind::kGroup},     {"op", ParamKind::kOp},
      {"win", ParamKind::kWin},         {"file", ParamKind::kFile},
      {"info", ParamKind::kInfo},       {"errhandler", ParamKind::kErrhandler},
      {"message", ParamKind::kMessage}, {"session", ParamKind::kSession},
      {"request", ParamKind::kRequest}};
  for (const auto& [text, kind] : kKinds)
    if (text == word) return kind;
  return ParamKind::kInt;
}

}  // namespace

// MPI_X_c2f, MPI_X_f2c and their relatives. False: it is another function.
bool Player::conversions(Frame& frame) {
  if (frame.info.params.size() != 1) return false;
  const ParamKind from = frame.info.params[0].kind, to = kind_of_result(frame.info.return_kind);
  if (is_handle(from) && frame.info.return_kind == "int") {
    const uint64_t key = frame.given.key(0);
    int64_t number = objects_.to_fortran(from, key);
    if (frame.signature != nullptr && frame.signature->result.is_integer())
      number = objects_.also_in_fortran(from, key, frame.signature->result.number);
    frame.result = static_cast<uint64_t>(number);
    return true;
  }
  if (is_handle(to)) {
    frame.result = objects_.from_fortran(to, frame.given.number(0));
    return true;
  }
  return false;
}

// Statuses in C, Fortran and mpi_f08 are the same bytes in both MPIs.
bool Player::statuses(Frame& frame) {
  switch (frame.info.id) {
    case mpi::kMPI_Status_c2f:
    case mpi::kMPI_Status_f2c:
    case mpi::kMPI_Status_c2f08:
    case mpi::kMPI_Status_f082c:
    case mpi::kMPI_Status_f082f:
    case mpi::kMPI_Status_f2f08:
      if (frame.given.word(0) != 0 && frame.given.word(1) != 0 && frame.ok())
        std::memcpy(frame.given.address(1), frame.given.address(0), sizeof(MPI_Status));
      return true;
    case mpi::kMPI_Status_set_elements:
    case mpi::kMPI_Status_set_elements_x: {
      const mpi::TypeMap* const type = type_of(frame.given.key(1));
      const auto count = static_cast<uint64_t>(frame.given.number(2));
      if (type != nullptr)
        mpi_runtime::put_status_bytes(*frame.given.address<MPI_Status>(0),
                                      count * static_cast<uint64_t>(type->size()), false);
      return true;
    }
    default: return false;
  }
}

void Player::memory(Frame& frame) {
  const auto hand_out = [&](size_t i, void* made) {
    if (frame.given.word(i) != 0) *frame.given.address<void*>(i) = made;
  };
  switch (frame.meaning.plain) {
    case mpi::kMPI_Get_address:
    case mpi::kMPI_Address: frame.given.put(1, 0, frame.given.word(0)); return;
    case mpi::kMPI_Aint_add: frame.result = frame.given.word(0) + frame.given.word(1); return;
    case mpi::kMPI_Aint_diff: frame.result = frame.given.word(0) - frame.given.word(1); return;
    case mpi::kMPI_Alloc_mem:
      if (frame.ok()) hand_out(2, zeroed(frame.given.number(0)));
      return;
    case mpi::kMPI_Free_mem: std::free(frame.given.address(0)); return;
    case mpi::kMPI_Buffer_attach:
      if (frame.ok()) attached_.push_back({frame.given.address(0), frame.given.number(1)});
      return;
    case mpi::kMPI_Buffer_detach:
      if (frame.ok() && !attached_.empty()) {
        hand_out(0, attached_.back().first);
        attached_.pop_back();
      }
      return;
    default: return;
  }
}

void Player::windows(Frame& frame) {
  if (!frame.ok()) return;
  int made_at = -1;
  for (size_t i = 0; i < frame.info.params.size(); ++i)
    if (frame.info.params[i].kind == ParamKind::kWin) made_at = static_cast<int>(i);
  if (made_at < 0) return;
  const auto window = [&]() {
    return objects_.find(ParamKind::kWin, frame.given.key(static_cast<size_t>(made_at)));
  };
  switch (frame.meaning.plain) {
    case mpi::kMPI_Win_create:
      if (Object* const w = window()) {
        w->base = frame.given.address(0);
        w->bytes = frame.given.number(1);
        w->unit = frame.given.number(2);
      }
      return;
    case mpi::kMPI_Win_allocate:
    case mpi::kMPI_Win_allocate_shared:
      if (Object* const w = window()) {
        w->bytes = frame.given.number(0);
        w->base = zeroed(w->bytes);
        w->unit = frame.given.number(1);
        *frame.given.address<void*>(4) = w->base;
        if (frame.meaning.plain == mpi::kMPI_Win_allocate_shared)
          if (const auto comm =
                  trace_->communicator(trace_->communicator_of(w->definition), options_.rank))
            w->own_part = comm->me;
      }
      return;
    case mpi::kMPI_Win_attach:
      if (Object* const w = window()) w->regions.push_back(frame.given.address<std::byte>(1));
      return;
    case mpi::kMPI_Win_shared_query:
      if (Object* const w = window()) {
        const int64_t bytes = frame.given.number(2), rank = frame.given.number(1);
        if (rank < 0 || rank == w->own_part) {
          *frame.given.address<void*>(4) = w->base;
          return;
        }
        auto& others = others_memory_[{w->key, rank}];
        if (others == nullptr)
          others = std::make_unique<std::byte[]>(static_cast<size_t>(bytes) + 1);
        *frame.given.address<void*>(4) = others.get();
      }
      return;
    default: return;
  }
}

void Player::do_by_hand(Frame& frame) {
  if (conversions(frame) || statuses(frame)) return;
  switch (frame.info.group) {
    case mpi::CallGroup::kAttr: attributes(frame); break;
    case mpi::CallGroup::kRma: windows(frame); break;
    default: break;
  }
  memory(frame);
  handlers(frame);
  if (frame.meaning.plain == mpi::kMPI_Comm_dup ||
      frame.meaning.plain == mpi::kMPI_Comm_dup_with_info || frame.info.id == mpi::kMPI_Type_dup)
    copy_attributes(frame);
  if (frame.info.group == mpi::CallGroup::kType) {
    make_type(frame);
    const mpi::CallId plain = frame.meaning.plain;
    if (plain == mpi::kMPI_Pack || plain == mpi::kMPI_Pack_external) pack(frame);
    if (plain == mpi::kMPI_Unpack || plain == mpi::kMPI_Unpack_external) unpack(frame);
    if (plain == mpi::kMPI_Op_create && frame.ok()) ++operators_;
  }
  if (frame.info.group == mpi::CallGroup::kCompletion) general_request(frame);
  if (frame.info.group == mpi::CallGroup::kIo && frame.meaning.does_any(mpi::kDoesFile))
    for (const mpi::BufferInfo& buffer : frame.meaning.buffers)
      if (buffer.is_read && !buffer.is_written) ++counts_.file_writes;
  if (frame.info.id == mpi::kMPI_Finalize) {
    delete_attributes(ParamKind::kComm, key_of(MPI_COMM_SELF));
    is_over_ = true;
    is_plain_ = false;
  }
  if (frame.info.id == mpi::kMPI_Abort) {
    finish();
    std::fflush(nullptr);
    _exit(static_cast<int>(frame.given.number(1)));
  }
}

// How long an array is that the program's call has, for the sake of which the MPI's Fortran layer
// asks for something else first: it is the next one of the trace.
std::optional<uint64_t> Player::length_in_next(Thread& thread, std::string_view param) {
  const Value* const array =
      fill(thread, 1) ? thread.ahead.front().signature->find(param) : nullptr;
  if (array == nullptr) return std::nullopt;
  return array->at_entry().is_array() ? array->at_entry().size() : 0;
}

// Dimensions for MPI_Cart_rank and MPI_Cart_sub, neighbours for MPI_Neighbor_alltoallw and its kin.
bool Player::topology_beside(Frame& frame) {
  if (frame.meaning.plain == mpi::kMPI_Cartdim_get) {
    auto count = length_in_next(frame.thread, "coords");
    if (!count) count = length_in_next(frame.thread, "remain_dims");
    if (count) frame.given.put(1, 0, *count);
    return count.has_value();
  }
  const auto in = length_in_next(frame.thread, "recvcounts");
  const auto out = length_in_next(frame.thread, "sendcounts");
  if (!in || !out) return false;
  frame.given.put(1, 0, *in);
  frame.given.put(2, 0, *out);
  frame.given.put(3, 0, 0);  // the weights are not asked for
  return true;
}

std::optional<Communicator> Player::communicator_of(uint64_t comm) {
  if (const Object* const object = objects_.find(ParamKind::kComm, comm);
      object != nullptr && !object->is_predefined)
    return trace_->communicator(object->definition, options_.rank);
  return trace_->world(options_.rank);
}

uint64_t Player::partners_of(uint64_t comm) {
  if (comm == key_of(MPI_COMM_SELF)) return 1;
  const auto known = communicator_of(comm);
  if (!known) return 0;
  return known->is_inter ? known->remote_size() : known->size();
}

// Calls that the trace does not have. False: it cannot be answered.
bool Player::answer_beside(Frame& frame) {
  ++counts_.beside;
  if (conversions(frame) || statuses(frame)) return true;
  const auto comm = [&] { return communicator_of(frame.given.key(0)); };
  switch (frame.meaning.plain) {
    case mpi::kMPI_Initialized: frame.given.put(0, 0, 1); return true;
    case mpi::kMPI_Finalized: frame.given.put(0, 0, is_over_ ? 1 : 0); return true;
    case mpi::kMPI_Get_version:
      frame.given.put(0, 0, MPI_VERSION);
      frame.given.put(1, 0, MPI_SUBVERSION);
      return true;
    case mpi::kMPI_Comm_size:
      if (const auto c = comm()) return frame.given.put(1, 0, c->size()), true;
      return false;
    case mpi::kMPI_Comm_rank:
      if (const auto c = comm()) return frame.given.put(1, 0, static_cast<uint64_t>(c->me)), true;
      return false;
    case mpi::kMPI_Comm_remote_size:
      if (const auto c = comm()) return frame.given.put(1, 0, c->remote_size()), true;
      return false;
    case mpi::kMPI_Comm_test_inter:
      if (const auto c = comm()) return frame.given.put(1, 0, c->is_inter ? 1 : 0), true;
      return false;
    case mpi::kMPI_Cartdim_get:
    case mpi::kMPI_Dist_graph_neighbors_count: return topology_beside(frame);
    case mpi::kMPI_Type_size:
    case mpi::kMPI_Type_size_x:
      if (const mpi::TypeMap* const type = type_of(frame.given.key(0)))
        return frame.given.put(1, 0, static_cast<uint64_t>(type->size())), true;
      return false;
    case mpi::kMPI_Type_get_extent:
    case mpi::kMPI_Type_get_extent_x:
      if (const mpi::TypeMap* const type = type_of(frame.given.key(0))) {
        frame.given.put(1, 0, static_cast<uint64_t>(type->lower_bound()));
        frame.given.put(2, 0, static_cast<uint64_t>(type->extent()));
        return true;
      }
      return false;
    case mpi::kMPI_Type_commit: return true;
    case mpi::kMPI_Type_free:
      objects_.erase(ParamKind::kDatatype, frame.given.key(0));
      frame.given.put(0, 0, null_handle(ParamKind::kDatatype));
      return true;
    case mpi::kMPI_Abort: std::fflush(nullptr); _exit(static_cast<int>(frame.given.number(1)));
    default: break;
  }
  if (frame.info.group == mpi::CallGroup::kTool) return true;  // after MPI_Finalize
  if (frame.info.group == mpi::CallGroup::kType && make_type_beside(frame)) return true;
  memory(frame);
  return frame.meaning.plain == mpi::kMPI_Get_address ||
         frame.meaning.plain == mpi::kMPI_Aint_add || frame.meaning.plain == mpi::kMPI_Aint_diff ||
         frame.meaning.plain == mpi::kMPI_Free_mem || frame.meaning.plain == mpi::kMPI_Alloc_mem;
}

}  // namespace refrain::replay::solo
