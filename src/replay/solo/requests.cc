// Requests, and the contents of the buffers that calls fill.
//
// Where the data of a buffer go is found out when the call is made that names it, and kept with the
// request: the program may free types and counts before it completes. Contents come packed from the
// log and go to those places in order.

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "mpi/call_ids.h"
#include "replay/solo/player.h"
#include "replay/solo/status_fields.h"

namespace refrain::replay::solo {
namespace {

using mpi::BufferInfo;
using mpi::Direction;
using mpi::Extent;
using mpi::ParamKind;

int position(const mpi::CallInfo& info, ParamKind kind) {
  for (size_t i = 0; i < info.params.size(); ++i)
    if (info.params[i].kind == kind) return static_cast<int>(i);
  return -1;
}

bool is_one(const Value* value) {
  return value != nullptr && value->at_exit().is_integer() && value->at_exit().number != 0;
}

}  // namespace

void Player::add_places(const Frame& frame, const BufferInfo& buffer, std::vector<Place>& out) {
  auto* const at = frame.given.address<std::byte>(static_cast<size_t>(buffer.param));
  if (frame.value(static_cast<size_t>(buffer.param)).at_entry().name() == "MPI_IN_PLACE") return;
  static const mpi::TypeMap kBytes = *mpi::TypeMap::predefined("MPI_BYTE", {1, 0, 1});
  const auto type = [&](size_t k) -> const mpi::TypeMap* {
    const auto i = static_cast<size_t>(buffer.type_param);
    return type_of(frame.given.key(i, frame.info.params[i].is_array ? k : 0));
  };
  if (buffer.extent == Extent::kUnknown || buffer.extent == Extent::kBytes) {
    out.push_back({at, kBytes, 0});
    return;
  }
  if (buffer.extent != Extent::kBlocks) {
    if (const mpi::TypeMap* const map = type(0)) out.push_back({at, *map, 0});
    return;
  }
  const auto counts = static_cast<size_t>(buffer.count_param);
  const auto displs = static_cast<size_t>(buffer.displs_param);
  const bool many_types = frame.info.params[static_cast<size_t>(buffer.type_param)].is_array;
  const uint64_t blocks = frame.value(counts).at_entry().size();
  for (uint64_t k = 0; k < blocks; ++k) {
    const mpi::TypeMap* const map = type(k);
    const int64_t count = frame.given.number(counts, k);
    if (map == nullptr || count <= 0) continue;
    const int64_t unit = many_types ? 1 : map->extent();
    out.push_back({at + frame.given.number(displs, k) * unit, *map, static_cast<uint64_t>(count)});
  }
}

std::vector<Place> Player::places_of(const Frame& frame) {
  std::vector<Place> out;
  for (const BufferInfo& buffer : frame.meaning.buffers)
    if (buffer.param >= 0 && (buffer.is_written || buffer.is_read_at_root))
      add_places(frame, buffer, out);
  return out;
}

// Of a call that made a request.
void Player::keep_places(Frame& frame) {
  const int at = position(frame.info, ParamKind::kRequest);
  if (at < 0 || frame.info.params[static_cast<size_t>(at)].direction != Direction::kOut) return;
  Object* const request = request_at(frame, static_cast<size_t>(at), 0);
  if (request == nullptr) return;
  request->places = places_of(frame);
  for (const ParamKind kind : {ParamKind::kFile, ParamKind::kWin, ParamKind::kComm})
    if (const int subject = position(frame.info, kind); subject >= 0) {
      request->subject = frame.given.key(static_cast<size_t>(subject));
      request->subject_kind = kind;
    }
}

Object* Player::request_at(const Frame& frame, size_t param, size_t k) {
  return frame.given.word(param) == 0
             ? nullptr
             : objects_.find(ParamKind::kRequest, frame.given.key(param, k));
}

// Which of the requests of a completing call are done.
std::vector<size_t> Player::finished(const Frame& frame, size_t param) const {
  std::vector<size_t> out;
  const Signature& s = *frame.signature;
  if (const Value* const flag = s.find("flag"); flag != nullptr && !is_one(flag)) return out;
  const bool is_array = frame.info.params[param].is_array;
  if (const Value* const indices = s.find("array_of_indices"); indices != nullptr) {
    indices->at_exit().for_each([&](const Value& v) {
      if (v.is_integer()) out.push_back(static_cast<size_t>(v.number));
    });
    return out;
  }
  if (const Value* const index = s.find("index"); index != nullptr && is_array) {
    if (index->at_exit().is_integer()) out.push_back(static_cast<size_t>(index->at_exit().number));
    return out;
  }
  const size_t count = is_array ? frame.value(param).at_entry().size() : 1;
  const Value* const statuses = s.find("array_of_statuses");
  for (size_t k = 0; k < count; ++k) {
    if (s.failed() && is_array && statuses != nullptr) {
      const Value status = statuses->at_exit().at(k);
      if (status.kind == ValueKind::kStatus && status.source().is_null()) continue;  // pending
    }
    out.push_back(k);
  }
  return out;
}

void Player::end_request(Frame& frame, size_t param, size_t k, bool takes) {
  Object* const request = request_at(frame, param, k);
  if (request == nullptr) return;
  if (request->is_general && takes) {
    MPI_Status unused{};
    if (request->query.function != nullptr)
      reinterpret_cast<MPI_Grequest_query_function*>(request->query.function)(request->extra,
                                                                              &unused);
    if (request->free.function != nullptr)
      reinterpret_cast<MPI_Grequest_free_function*>(request->free.function)(request->extra);
  }
  if (!takes || request->is_persistent) return;
  objects_.erase(ParamKind::kRequest, request->key);
  frame.given.put(param, k, null_handle(ParamKind::kRequest));
}

void Player::complete(Frame& frame) {
  const int at = position(frame.info, ParamKind::kRequest);
  if (at < 0) return;
  const auto param = static_cast<size_t>(at);
  const mpi::CallId plain = frame.meaning.plain;
  if (plain == mpi::kMPI_Request_free) {
    if (frame.ok()) {
      if (Object* const request = request_at(frame, param, 0); request != nullptr) {
        if (request->is_general && request->free.function != nullptr)
          reinterpret_cast<MPI_Grequest_free_function*>(request->free.function)(request->extra);
        objects_.erase(ParamKind::kRequest, request->key);
      }
      frame.given.put(param, 0, null_handle(ParamKind::kRequest));
    }
    return;
  }
  if (!frame.meaning.does_any(mpi::kDoesComplete)) return;
  if (frame.info.params[param].direction == Direction::kOut) return;
  for (const size_t k : finished(frame, param)) end_request(frame, param, k, true);
}

void Player::fill_places(const std::vector<Place>& places, std::span<const std::byte> packed) {
  ++counts_.filled;
  counts_.filled_bytes += packed.size();
  for (const Place& place : places) {
    if (packed.empty()) return;
    const auto size = static_cast<uint64_t>(std::max<int64_t>(place.type.size(), 1));
    const uint64_t room = place.count == 0 ? UINT64_MAX : place.count * size;
    const auto part = packed.first(std::min<uint64_t>(packed.size(), room));
    place.type.unpack(part, (part.size() + size - 1) / size, place.at);
    packed = packed.subspan(part.size());
  }
}

}  // namespace refrain::replay::solo
