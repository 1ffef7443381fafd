// Small programs of a few ranks as traces, for tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::replay::plan {

class TestCalls {
 public:
  explicit TestCalls(Rank ranks)
      : builder_(static_cast<uint64_t>(ranks)), calls_(static_cast<size_t>(ranks)) {
    world_ = builder_.world();
    format::DatatypeDefinition type;
    type.constant = mpi::constant_id("MPI_BYTE");
    type.id = -1;  // as a recorder writes it
    type.size_bytes = type.extent_bytes = 1;
    type_ = builder_.define(format::DefinitionKind::kDatatype, format::write_datatype(type));
  }

  // MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Recv.
  void message(Rank rank, const char* name, int64_t bytes, Rank peer, int64_t tag) {
    reader::ShapeWriter s = message_shape(name, bytes, peer, tag);
    if (std::string(name) == "MPI_Recv") s.constant("MPI_STATUS_IGNORE");
    add(rank, s);
  }
  // MPI_Isend, MPI_Irecv: the request.
  uint32_t begin(Rank rank, const char* name, int64_t bytes, Rank peer, int64_t tag,
                 uint32_t slot = 0) {
    reader::ShapeWriter s = message_shape(name, bytes, peer, tag);
    s.new_request(slot);
    return add(rank, s);
  }
  // From anybody; the message came from `peer`.
  uint32_t begin_any(Rank rank, int64_t bytes) {
    reader::ShapeWriter s("MPI_Irecv");
    s.none().none().integer(bytes).object(type_).constant("MPI_ANY_SOURCE");
    s.constant("MPI_ANY_TAG").object(world_).new_request(0);
    return add(rank, s);
  }
  void wait(Rank rank, uint32_t request) {
    reader::ShapeWriter s("MPI_Wait");
    s.none().request(request).none();
    add(rank, s);
  }
  void wait_all(Rank rank, const std::vector<uint32_t>& requests) {
    reader::ShapeWriter s("MPI_Waitall");
    s.none().integer(static_cast<int64_t>(requests.size())).array(requests.size());
    for (const uint32_t request : requests) s.repeat(1).request(request);
    s.none();
    add(rank, s);
  }
  void barrier(Rank rank) {
    reader::ShapeWriter s("MPI_Barrier");
    s.none().object(world_);
    add(rank, s);
  }
  void broadcast(Rank rank, Rank root) {
    reader::ShapeWriter s("MPI_Bcast");
    s.none().none().integer(1).object(type_).integer(root).object(world_);
    add(rank, s);
  }
  void plain(Rank rank, const char* name) {
    reader::ShapeWriter s(name);
    s.none();
    add(rank, s);
  }
  uint32_t add(Rank rank, reader::ShapeWriter& shape) {
    const format::StoredSignature stored = reader::ShapeWriter(shape).take();
    std::string key = stored.shape;
    for (const auto& slot : stored.slots) key.append(",").append(std::to_string(slot.a));
    const auto [known, is_new] = known_.try_emplace(key, 0);
    if (is_new) known->second = builder_.signature(shape);
    calls_[static_cast<size_t>(rank)].push_back(known->second);
    return known->second;
  }

  reader::TraceBuilder& builder() { return builder_; }
  uint32_t world() const { return world_; }
  uint32_t type() const { return type_; }
  // Once, at the end.
  Trace open() {
    group();
    return builder_.open();
  }
  // Instead: with MPI_Finalize behind all calls.
  reader::TraceBuilder& finish() {
    for (size_t r = 0; r < calls_.size(); ++r) plain(static_cast<Rank>(r), "MPI_Finalize");
    group();
    return builder_;
  }

 private:
  void group() {
    for (size_t r = 0; r < calls_.size(); ++r) builder_.group({static_cast<int64_t>(r)}, calls_[r]);
  }
  reader::ShapeWriter message_shape(const char* name, int64_t bytes, Rank peer, int64_t tag) const {
    reader::ShapeWriter s(name);
    s.none().none().integer(bytes).object(type_).integer(peer).integer(tag).object(world_);
    return s;
  }

  reader::TraceBuilder builder_;
  uint32_t world_ = 0, type_ = 0;
  std::map<std::string, uint32_t> known_;
  std::vector<std::vector<uint32_t>> calls_;
};

}  // namespace refrain::replay::plan
