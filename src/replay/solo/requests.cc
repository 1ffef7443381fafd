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
    call_general(*request, request->query, General::kQuery);
    call_general(*request, request->free, General::kFree);
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
        if (request->is_general) call_general(*request, request->free, General::kFree);
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

// The bytes of a record, to where they belong in this process.
void Player::fill_places(const std::vector<Place>& places, uint64_t skip) {
  uint64_t left = messages_.left();
  ++counts_.filled;
  counts_.filled_bytes += left;
  for (const Place& place : places) {
    const auto size = static_cast<uint64_t>(std::max<int64_t>(place.type.size(), 1));
    const uint64_t elements = place.count == 0 ? (skip + left + size - 1) / size : place.count;
    place.type.for_each_piece(elements, [&](const mpi::TypeMap::Piece& piece) {
      if (skip >= piece.bytes) {
        skip -= piece.bytes;
        return true;
      }
      const uint64_t bytes = std::min<uint64_t>(piece.bytes - skip, left);
      if (!messages_.take({place.at + piece.offset + skip, static_cast<size_t>(bytes)}))
        end_at_damage();
      skip = 0;
      left -= bytes;
      return left > 0;
    });
    if (left == 0) return;
  }
}

// Where the status of a request is: in the order of the requests, or in that of the indices of
// those that were complete.
size_t Player::status_index(const Frame& frame, size_t param, uint64_t request) const {
  if (!frame.info.params[param].is_array) return 0;
  const Value* const indices = frame.signature->find("array_of_indices");
  if (indices == nullptr) return static_cast<size_t>(request);
  size_t at = 0, found = 0;
  indices->at_exit().for_each([&](const Value& index) {
    if (index.is_integer() && index.number == static_cast<int64_t>(request)) found = at;
    ++at;
  });
  return found;
}

void Player::put_logged_status(const Frame& frame, const MessageSource::Record& record) {
  for (size_t i = 0; i < frame.info.params.size(); ++i) {
    if (frame.info.params[i].kind != ParamKind::kStatus || frame.given.word(i) == 0) continue;
    if (frame.info.params[i].direction == Direction::kIn) continue;
    if (frame.value(i).at_exit().is_constant()) return;  // ignored
    auto& status = frame.given.address<MPI_Status>(i)[status_index(frame, i, record.where)];
    put_status_bytes(status, record.status.bytes, record.status.cancelled);
    status.MPI_ERROR = static_cast<int>(record.status.error);
    return;
  }
}

// Window memory that others have changed.
void Player::put_window(const MessageSource::Record& record) {
  Object* const window = objects_.find_number(ParamKind::kWin, static_cast<int64_t>(record.window));
  std::byte* base = window == nullptr ? nullptr : static_cast<std::byte*>(window->base);
  if (window != nullptr && !window->regions.empty() && record.region < window->regions.size())
    base = window->regions[record.region];
  if (window != nullptr) {
    const auto others = others_memory_.find({window->key, static_cast<int64_t>(record.region)});
    if (others != others_memory_.end() && others->second != nullptr) base = others->second.get();
  }
  if (base == nullptr) {
    ++counts_.missing;
    return;
  }
  if (!messages_.take({base + record.offset, static_cast<size_t>(record.bytes)})) end_at_damage();
}

// What the log has of this call.
void Player::fill_buffers(Frame& frame) {
  if (!messages_.is_open()) return;
  const uint32_t thread = frame.thread.location;
  const int at = position(frame.info, ParamKind::kRequest);
  while (const MessageSource::Record* const record = messages_.next_of(thread, frame.seq)) {
    const auto contents_places = [&]() -> std::vector<Place> {
      const Object* request = nullptr;
      if (at >= 0 && frame.info.params[static_cast<size_t>(at)].direction != Direction::kOut)
        request = request_at(frame, static_cast<size_t>(at), record->where);
      if (request != nullptr) return request->places;
      if (const Object* const file = split_file(frame)) return file->places;
      return places_of(frame);
    };
    switch (record->kind) {
      case MessageSource::Kind::kContents:
        if (frame.meaning.plain == mpi::kMPI_Pack || frame.meaning.plain == mpi::kMPI_Pack_external)
          break;  // really packed
        fill_places(contents_places(), 0);
        break;
      case MessageSource::Kind::kPart: {
        const uint64_t part = record->partitions == 0 ? 0 : record->bytes / record->partitions;
        fill_places(contents_places(), part * record->partition);
        break;
      }
      case MessageSource::Kind::kFetched: {
        const auto known = fetching_.find({record->post_thread, record->post_number});
        if (known == fetching_.end()) {
          ++counts_.missing;
          break;
        }
        fill_places(known->second, 0);
        fetching_.erase(known);
        break;
      }
      case MessageSource::Kind::kStatus: put_logged_status(frame, *record); break;
      case MessageSource::Kind::kWindow: put_window(*record); break;
      case MessageSource::Kind::kInside:
      case MessageSource::Kind::kMissing: ++counts_.missing; break;
      default: break;
    }
  }
  if (messages_.error()) end_at_damage();
  // Logging had ended, and this call would have filled a buffer.
  if (const std::string why = messages_.ended_early(); !why.empty() && frame.ok() && fills(frame))
    end(4, messages_path() + ": the log ends at offset " + std::to_string(messages_.offset()) +
               ", as " + why + ": the replay ends at call " + std::to_string(frame.seq) + ", " +
               std::string(frame.info.name));
}

// Whether a call is of those whose contents would be in a log.
bool Player::fills(const Frame& frame) const {
  if (frame.meaning.how == mpi::How::kNonblocking || frame.meaning.how == mpi::How::kPersistent)
    return false;
  if (frame.meaning.does_any(mpi::kDoesComplete)) return true;
  for (const BufferInfo& buffer : frame.meaning.buffers)
    if (buffer.param >= 0 && buffer.is_written &&
        frame.meaning.does_any(mpi::kDoesReceive | mpi::kDoesCollective))
      return true;
  return false;
}

// The file whose split collective this call completes.
const Object* Player::split_file(const Frame& frame) {
  if (frame.info.group != mpi::CallGroup::kIo || !frame.meaning.does_any(mpi::kDoesComplete))
    return nullptr;
  return objects_.find(ParamKind::kFile, frame.given.key(0));
}

// Accesses that a synchronisation completes, and split collectives of files.
void Player::keep_pending(Frame& frame) {
  if (frame.info.group == mpi::CallGroup::kIo && frame.meaning.how == mpi::How::kNonblocking &&
      position(frame.info, ParamKind::kRequest) < 0) {
    objects_.at(ParamKind::kFile, frame.given.key(0)).places = places_of(frame);
    return;
  }
  if (!frame.meaning.does_any(mpi::kDoesAccess) || position(frame.info, ParamKind::kRequest) >= 0)
    return;
  constexpr size_t kMostPending = 100000;  // accesses that bring nothing are never asked for
  std::vector<Place> places = places_of(frame);
  if (places.empty()) return;
  if (fetching_.size() >= kMostPending) fetching_.erase(fetching_.begin());
  fetching_[{frame.thread.location, frame.seq}] = std::move(places);
}

void Player::end_at_damage() {
  const auto& error = messages_.error();
  end(4, error ? error->to_string() + ": the replay ends here"
               : messages_path() + ": the log ends within contents, at offset " +
                     std::to_string(messages_.offset()));
}

}  // namespace refrain::replay::solo
