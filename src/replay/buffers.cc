// Memory for the buffers of a call: as much as its counts, displacements and datatypes reach.

#include <algorithm>
#include <cstring>
#include <limits>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/plan/needs.h"
#include "replay/quiet.h"
#include "replay/reissue.h"

namespace refrain::replay {
namespace {

using mpi::BufferInfo;
using mpi::Direction;
using mpi::Extent;
using mpi::ParamKind;
using mpi::Times;

constexpr int64_t kUnknownBytes = 4096;
constexpr int64_t kOutputBytes = 64;

// Stops at the ends of its range.
int64_t times(int64_t a, int64_t b) {
  int64_t out = 0;
  if (!__builtin_mul_overflow(a, b, &out)) return out;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max() / 2
                            : std::numeric_limits<int64_t>::min() / 2;
}
int64_t plus(int64_t a, int64_t b) {
  int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return a < 0 ? std::numeric_limits<int64_t>::min() / 2 : std::numeric_limits<int64_t>::max() / 2;
}

struct Shape {
  int64_t extent = 0, true_low = 0, true_high = 0;
};

Shape shape_of(MPI_Datatype type) {
  Shape shape;
  if (type == MPI_DATATYPE_NULL) return shape;
  MPI_Aint lb = 0, extent = 0;
  REFRAIN_QUIET(MPI_Type_get_extent)(type, &lb, &extent);
  MPI_Aint true_lb = lb, true_extent = extent;
#ifndef REFRAIN_SMPI  // whose function calls the one above, where a recorder would see it
  REFRAIN_QUIET(MPI_Type_get_true_extent)(type, &true_lb, &true_extent);
#endif
  shape.extent = extent;
  shape.true_low = true_lb;
  shape.true_high = plus(true_lb, true_extent);
  return shape;
}

// What a communicator, window or file says of the number of ranks.
int64_t ranks_of(MPI_Comm comm, Times which) {
  int n = 0, inter = 0;
  if (comm == MPI_COMM_NULL) return 0;
  if (which == Times::kInDegree || which == Times::kOutDegree) {
    int kind = MPI_UNDEFINED;
    REFRAIN_QUIET(MPI_Topo_test)(comm, &kind);
    if (kind == MPI_CART) {
      REFRAIN_QUIET(MPI_Cartdim_get)(comm, &n);
      return 2 * int64_t{n};
    }
    if (kind == MPI_GRAPH) {
      int rank = 0;
      REFRAIN_QUIET(MPI_Comm_rank)(comm, &rank);
      REFRAIN_QUIET(MPI_Graph_neighbors_count)(comm, rank, &n);
      return n;
    }
    int in = 0, out = 0, weighted = 0;
    if (kind == MPI_DIST_GRAPH)
      REFRAIN_QUIET(MPI_Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
    return which == Times::kInDegree ? in : out;
  }
  REFRAIN_QUIET(MPI_Comm_test_inter)(comm, &inter);
  if (inter != 0 && which == Times::kSize)
    REFRAIN_QUIET(MPI_Comm_remote_size)(comm, &n);
  else
    REFRAIN_QUIET(MPI_Comm_size)(comm, &n);
  return n;
}

int position(const mpi::CallInfo& info, ParamKind kind) {
  for (size_t i = 0; i < info.params.size(); ++i)
    if (info.params[i].kind == kind && info.params[i].direction == Direction::kIn)
      return static_cast<int>(i);
  return -1;
}

void extend(int64_t& low, int64_t& high, int64_t at, int64_t count, const Shape& shape) {
  if (count <= 0 || shape.true_high <= shape.true_low) return;
  const int64_t last = times(count - 1, shape.extent);
  if (low == high) low = std::numeric_limits<int64_t>::max(), high = -low;
  low = std::min({low, plus(at, shape.true_low), plus(plus(at, last), shape.true_low)});
  high = std::max({high, plus(at, shape.true_high), plus(plus(at, last), shape.true_high)});
}

}  // namespace

Engine::Span Engine::span_of(const Frame& frame, const BufferInfo& buffer) const {
  Span span;
  Arguments& a = *frame.arguments;
  const auto slot = [&](int8_t param) -> const Slot& { return a.slot(static_cast<size_t>(param)); };
  const auto is_null = [&](int8_t param) {
    return events::argument(frame.signature, param).is_null();
  };
  const auto type_at = [&](size_t i) {
    const Slot& s = slot(buffer.type_param);
    if (s.numbers.empty() && is_null(buffer.type_param)) return MPI_DATATYPE_NULL;
    const int64_t key = s.numbers.empty() ? s.number : i < s.numbers.size() ? s.numbers[i] : 0;
    return mpi_runtime::handle_of<MPI_Datatype>(static_cast<uint64_t>(key));
  };
  if (buffer.extent == Extent::kUnknown) {
    span.is_known = false;
    return span;
  }
  if (buffer.extent == Extent::kBytes) {
    span.high = std::max<int64_t>(slot(buffer.count_param).number, 0);
    return span;
  }
  const int comm_at = position(frame.info, ParamKind::kComm);
  const MPI_Comm comm = comm_at < 0 ? MPI_COMM_NULL
                                    : mpi_runtime::handle_of<MPI_Comm>(static_cast<uint64_t>(
                                          a.slot(static_cast<size_t>(comm_at)).number));
  int64_t factor = 1;
  if (buffer.times == Times::kParts)
    factor = slot(buffer.times_param).number;
  else if (buffer.times != Times::kOnce)
    factor = ranks_of(comm, buffer.times);
  const Slot* const counts = buffer.count_param >= 0 ? &slot(buffer.count_param) : nullptr;
  if (buffer.extent == Extent::kBlocks) {
    const Slot& displs = slot(buffer.displs_param);
    const bool many_types = !slot(buffer.type_param).numbers.empty();
    const Shape one = many_types ? Shape() : shape_of(type_at(0));
    for (size_t i = 0; i < counts->numbers.size(); ++i) {
      const Shape shape = many_types ? shape_of(type_at(i)) : one;
      const int64_t displ = i < displs.numbers.size() ? displs.numbers[i] : 0;
      const int64_t at = many_types ? displ : times(displ, shape.extent);
      extend(span.low, span.high, at, counts->numbers[i], shape);
    }
    return span;
  }
  int64_t count = counts == nullptr ? 1 : counts->number;
  if (buffer.extent == Extent::kSum || buffer.extent == Extent::kOwn) {
    int rank = 0;
    if (buffer.extent == Extent::kOwn && comm != MPI_COMM_NULL)
      REFRAIN_QUIET(MPI_Comm_rank)(comm, &rank);
    count = 0;
    for (size_t i = 0; i < counts->numbers.size(); ++i)
      if (buffer.extent == Extent::kSum || i == static_cast<size_t>(rank))
        count = plus(count, std::max<int64_t>(counts->numbers[i], 0));
  }
  extend(span.low, span.high, 0, times(count, factor), shape_of(type_at(0)));
  return span;
}

base::Status Engine::give_block(Frame& frame, Slot& slot, const Span& span, bool fresh) {
  const int64_t bytes = span.is_known ? plus(span.high, -span.low) : kUnknownBytes;
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(bytes, 16));
  // Absolute addresses may lie far apart, with little between them that is touched.
  Arena::Block block =
      wanted > options_.limit_bytes ? arena_.take_sparse(wanted) : arena_.take(wanted, fresh);
  if (!block) return wrong(frame, "no memory for a buffer of " + std::to_string(bytes) + " bytes");
  slot.address = block.data() - (span.is_known ? span.low : 0);
  frame.blocks.push_back(std::move(block));
  return base::Done{};
}

// Blocks of the heap are where they were, as seen from one another: buffers that overlapped or were
// the same do so again. False: the trace does not tell the block, or the buffer is larger than any
// block may be.
bool Engine::give_heap(const Value& value, Slot& slot, const Span& span, bool fresh) {
  constexpr int64_t kRoom = int64_t{1} << 34;  // addresses of a block, of which few are used
  if (value.kind != ValueKind::kBuffer || value.number < 0 || !span.is_known ||
      static_cast<BufferPlace>(value.id) != BufferPlace::kHeap)
    return false;
  const int64_t begin = plus(value.offset, span.low), end = plus(value.offset, span.high);
  if (begin < 0 || end > kRoom - 8 || end < begin) return false;
  if (static_cast<uint64_t>(end - begin) > options_.limit_bytes) return false;
  HeapBlock& heap = heap_[value.number];
  if (!heap.block) heap.block = arena_.take_sparse(static_cast<uint64_t>(kRoom));
  if (!heap.block) return false;
  const auto to = static_cast<uint64_t>(end);
  const uint64_t from =
      fresh ? static_cast<uint64_t>(begin) : std::max(static_cast<uint64_t>(begin), heap.filled);
  if (from < to) arena_.fill(heap.block.data() + from / 8 * 8, (to - from / 8 * 8 + 7) / 8 * 8);
  heap.filled = std::max(heap.filled, to);
  slot.address = heap.block.data() + value.offset;
  return true;
}

// Open MPI 4.1 copies all of a message that is too long for its buffer where it takes it from the
// memory of the sender. Programs whose buffers are parts of larger ones survive that, and so must a
// replay of theirs.
int64_t Engine::room_behind() {
  if (room_behind_ >= 0) return room_behind_;
  room_behind_ = 0;
  const auto group = trace_.group_of(rank_);
  if (!group) return 0;
  for (const Trace::Occurrence& seen : trace_.occurrences(*group))
    if (reader_.signature(seen.signature).error_class.name() == "MPI_ERR_TRUNCATE")
      return room_behind_ = static_cast<int64_t>(
                 std::min<uint64_t>(plan::memory_need(trace_).most_bytes, 1 << 26));
  return 0;
}

base::Status Engine::give_buffer(Frame& frame, const BufferInfo& buffer, bool in_place) {
  const auto at = static_cast<size_t>(buffer.param);
  Slot& slot = frame.arguments->slot(at);
  const Value& value = frame.signature.args[at].value.at_entry();
  if (frame.info.id == mpi::kMPI_Win_attach) return attach_memory(frame, slot, value);
  if (frame.info.id == mpi::kMPI_Win_detach) return detach_memory(frame, slot, value);
  if (value.kind == ValueKind::kConstant && value.name() != "MPI_BOTTOM") {
    slot.address = reinterpret_cast<void*>(value_of_constant(value.constant_id()).value_or(0));
    return base::Done{};
  }
  // What is reduced in place again and again would leave the numbers that there are.
  const bool fresh = buffer.is_read && (buffer.is_written || in_place);
  Span span = span_of(frame, buffer);
  if (buffer.is_written && frame.meaning.does_any(mpi::kDoesReceive))
    span.high = plus(span.high, room_behind());
  if (give_heap(value, slot, span, fresh)) return base::Done{};
  return give_block(frame, slot, span, fresh);
}

base::Status Engine::give_buffers(Frame& frame) {
  const CallId plain = frame.meaning.plain;
  bool in_place = false;
  for (const BufferInfo& buffer : frame.meaning.buffers)
    if (buffer.param >= 0 &&
        events::argument(frame.signature, buffer.param).name() == "MPI_IN_PLACE")
      in_place = true;
  for (const BufferInfo& buffer : frame.meaning.buffers) {
    if (buffer.param < 0) continue;
    if (plain == mpi::kMPI_Free_mem) {
      if (allocated_.empty()) return wrong(frame, "nothing was allocated before");
      frame.arguments->slot(0).address = allocated_.back();
      allocated_.pop_back();
      continue;
    }
    if (auto good = give_buffer(frame, buffer, in_place); !good.ok()) return good;
  }
  // Outputs that are addresses, and opaque pointers.
  for (size_t i = 0; i < frame.info.params.size() && i < frame.signature.args.size(); ++i) {
    const mpi::ParamInfo& param = frame.info.params[i];
    Slot& slot = frame.arguments->slot(i);
    const bool is_output = param.direction == Direction::kOut;
    if (param.kind != ParamKind::kPointer && !(param.kind == ParamKind::kBuffer && is_output))
      continue;
    const Value& entry = frame.signature.args[i].value.at_entry();
    if (!is_output && entry.kind == ValueKind::kConstant) {
      slot.address = reinterpret_cast<void*>(value_of_constant(entry.constant_id()).value_or(0));
      continue;
    }
    if (plain == mpi::kMPI_Grequest_start) {
      slot.address = &made_status_;  // what its query function answers
      continue;
    }
    Span span;
    span.high = kOutputBytes;
    if (auto good = give_block(frame, slot, span, false); !good.ok()) return good;
    std::memset(slot.address, 0, kOutputBytes);
  }
  return base::Done{};
}

}  // namespace refrain::replay
