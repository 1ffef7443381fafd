// Requests, and the contents of the buffers that calls fill.
//
// Where the data of a buffer go is found out when the call is made that names it, and kept with the
// request: the program may free types and counts before it completes. Contents come packed from the
// log and go to those places in order.

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "events/elements.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/status_fields.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::BufferInfo;
using mpi::Extent;
using mpi::ParamKind;

bool is_one(const Value* value) {
  return value != nullptr && value->at_exit().is_integer() && value->at_exit().number != 0;
}

}  // namespace

void Player::add_places(const Frame& frame, const BufferInfo& buffer, std::vector<Place>& out) {
  auto* const at = frame.given.address<std::byte>(static_cast<size_t>(buffer.param));
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

void Player::places_of(const Frame& frame, std::vector<Place>& out) {
  out.clear();
  for (const BufferInfo* const buffer : frame.plan->buffers) add_places(frame, *buffer, out);
}

// Of a call that made a request.
void Player::keep_places(Frame& frame) {
  const Plan& plan = *frame.plan;
  if (!plan.makes_request) return;
  Object* const request = request_at(frame, static_cast<size_t>(plan.request_param), 0);
  if (request == nullptr) return;
  if (plan.flat_later >= 0)
    request->flat = frame.given.address<std::byte>(static_cast<size_t>(plan.flat_later));
  else
    places_of(frame, request->places);
  if (plan.subject_param < 0) return;
  const auto subject = static_cast<size_t>(plan.subject_param);
  request->subject = frame.given.key(subject);
  request->subject_kind = frame.info.params[subject].kind;
}

Object* Player::request_at(const Frame& frame, size_t param, size_t k) {
  return frame.given.word(param) == 0
             ? nullptr
             : objects_.find(ParamKind::kRequest, frame.given.key(param, k));
}

// Which of the requests of a completing call are done.
std::vector<size_t> Player::finished(const Signature& s, const mpi::CallInfo& info, size_t param) {
  std::vector<size_t> out;
  if (const Value* const flag = s.find("flag"); flag != nullptr && !is_one(flag)) return out;
  const bool is_array = info.params[param].is_array;
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
  const size_t count = !is_array               ? 1
                       : param < s.args.size() ? s.args[param].value.at_entry().size()
                                               : 0;
  const Value* const statuses = s.find("array_of_statuses");
  static const Value kNothing;
  events::Elements each_status(statuses == nullptr ? kNothing : statuses->at_exit());
  for (size_t k = 0; k < count; ++k) {
    if (s.failed() && is_array && statuses != nullptr) {
      const Value& status = each_status.at(k);
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
  objects_.erase(*request);
  frame.given.put(param, k, null_handle(ParamKind::kRequest));
}

void Player::free_request(Frame& frame, size_t param) {
  if (Object* const request = request_at(frame, param, 0); request != nullptr) {
    if (request->is_general) call_general(*request, request->free, General::kFree);
    objects_.erase(*request);
  }
  frame.given.put(param, 0, null_handle(ParamKind::kRequest));
}

void Player::complete(Frame& frame) {
  const auto param = static_cast<size_t>(frame.plan->request_param);
  if (frame.plan->frees_request) free_request(frame, param);
  for (const size_t k : frame.plan->finished) end_request(frame, param, k, true);
}

void Player::take(std::byte* at, uint64_t bytes) {
  if (!messages_.take({at, static_cast<size_t>(bytes)})) end_at_damage();
}

// The bytes of a record, to where they belong in this process.
void Player::fill_places(const std::vector<Place>& places, uint64_t skip) {
  uint64_t left = messages_.left();
  ++counts_.filled;
  counts_.filled_bytes += left;
  for (const Place& place : places) {
    if (skip == 0 && place.type.is_flat()) {
      const auto all = place.count * static_cast<uint64_t>(place.type.size());
      const uint64_t bytes = place.count == 0 ? left : std::min(all, left);
      take(place.at, bytes);
      left -= bytes;
      if (left == 0) return;
      continue;
    }
    const auto size = static_cast<uint64_t>(std::max<int64_t>(place.type.size(), 1));
    const uint64_t elements = place.count == 0 ? (skip + left + size - 1) / size : place.count;
    place.type.for_each_piece(elements, [&](const mpi::TypeMap::Piece& piece) {
      if (skip >= piece.bytes) {
        skip -= piece.bytes;
        return true;
      }
      const uint64_t bytes = std::min<uint64_t>(piece.bytes - skip, left);
      take(place.at + piece.offset + skip, bytes);
      skip = 0;
      left -= bytes;
      return left > 0;
    });
    if (left == 0) return;
  }
}

// The same of a buffer whose elements lie in a row.
void Player::fill_flat(std::byte* at) {
  const uint64_t bytes = messages_.left();
  ++counts_.filled;
  counts_.filled_bytes += bytes;
  take(at, bytes);
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

void Player::put_logged_status(const Frame& frame, uint64_t where,
                               const format::messages::StatusFields& fields) {
  if (frame.plan->status_param < 0) return;  // ignored
  const auto i = static_cast<size_t>(frame.plan->status_param);
  if (frame.given.word(i) == 0) return;
  auto& status = frame.given.address<MPI_Status>(i)[status_index(frame, i, where)];
  mpi_runtime::put_status_bytes(status, fields.bytes, fields.cancelled);
  status.MPI_ERROR = static_cast<int>(fields.error);
}

// Window memory that others have changed.
void Player::put_window(const MessageSource::Record& record) {
  Object* const window = objects_.find_number(ParamKind::kWin, static_cast<int64_t>(record.window));
  std::byte* base = window == nullptr ? nullptr : static_cast<std::byte*>(window->base);
  if (window != nullptr && record.region < window->regions.size())
    base = window->regions[record.region];
  if (window != nullptr && window->own_part >= 0 &&
      static_cast<int64_t>(record.region) != window->own_part) {
    base = nullptr;
    const auto others = others_memory_.find({window->key, static_cast<int64_t>(record.region)});
    if (others != others_memory_.end()) base = others->second.get();
  }
  if (base == nullptr) {
    ++counts_.missing;
    return;
  }
  if (!messages_.take({base + record.offset, static_cast<size_t>(record.bytes)})) end_at_damage();
}

const std::vector<Place>& Player::places_of_record(const Frame& frame,
                                                   const MessageSource::Record& record) {
  const Plan& plan = *frame.plan;
  if (plan.request_param >= 0 && !plan.makes_request)
    if (const Object* const request =
            request_at(frame, static_cast<size_t>(plan.request_param), record.where))
      return request->places;
  if (const Object* const file = split_file(frame)) return file->places;
  places_of(frame, places_);
  return places_;
}

// Where its contents go, if they lie in a row there; null: see places_of_record().
std::byte* Player::flat_place(const Frame& frame, const MessageSource::Record& record) {
  const Plan& plan = *frame.plan;
  if (plan.flat_param >= 0)
    return frame.given.address<std::byte>(static_cast<size_t>(plan.flat_param));
  if (plan.request_param < 0 || plan.makes_request) return nullptr;
  const Object* const request =
      request_at(frame, static_cast<size_t>(plan.request_param), record.where);
  return request == nullptr ? nullptr : request->flat;
}

void Player::fill_buffer(Frame& frame, const MessageSource::Record& record) {
  const bool may_imply =
      record.kind == MessageSource::Kind::kContents || record.kind == MessageSource::Kind::kInside;
  // A status that says otherwise has a record behind this one.
  if (may_imply && frame.plan->status_param >= 0 && messages_.implies_statuses())
    put_logged_status(frame, record.where, {.bytes = record.bytes});
  switch (record.kind) {
    case MessageSource::Kind::kContents:
      if (std::byte* const at = flat_place(frame, record)) return fill_flat(at);
      if (frame.meaning.plain == mpi::kMPI_Pack || frame.meaning.plain == mpi::kMPI_Pack_external)
        return;  // really packed
      return fill_places(places_of_record(frame, record), 0);
    case MessageSource::Kind::kPart: {
      const uint64_t part = record.partitions == 0 ? 0 : record.bytes / record.partitions;
      return fill_places(places_of_record(frame, record), part * record.partition);
    }
    case MessageSource::Kind::kFetched: {
      const auto known = fetching_.find({record.post_thread, record.post_number});
      if (known == fetching_.end()) {
        ++counts_.missing;
        return;
      }
      fill_places(known->second, 0);
      fetching_.erase(known);
      return;
    }
    case MessageSource::Kind::kStatus: return put_logged_status(frame, record.where, record.status);
    case MessageSource::Kind::kWindow: return put_window(record);
    case MessageSource::Kind::kInside: return not_kept(frame, record);
    case MessageSource::Kind::kMissing: ++counts_.missing; return;
    default: return;
  }
}

// Of a message within the rank's group, whose contents the log does not have.
void Player::not_kept(const Frame& frame, const MessageSource::Record& record) {
  bool is_there = frame.is_inside;
  const Plan& plan = *frame.plan;
  if (plan.request_param >= 0 && !plan.makes_request)
    if (const Object* const request =
            request_at(frame, static_cast<size_t>(plan.request_param), record.where))
      is_there = request->inside != nullptr;
  if (is_there) return;
  ++counts_.missing;
  if (inside_ != nullptr)
    end(5, "rank " + std::to_string(options_.rank) + ", call " + std::to_string(frame.seq) + ", " +
               std::string(frame.info.name) +
               ": the log does not have what it received from its group, and it is not made again: "
               "record without --node-size and --map");
}

// What the log has of this call.
void Player::fill_buffers(Frame& frame) {
  if (!messages_.is_open()) return;
  const uint32_t thread = frame.thread.location;
  if (messages_.may_have(thread, frame.seq))
    while (const auto* const record = messages_.next_of(thread, frame.seq))
      fill_buffer(frame, *record);
  if (!messages_.is_at_end()) return;
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
      frame.plan->request_param < 0) {
    places_of(frame, objects_.at(ParamKind::kFile, frame.given.key(0)).places);
    return;
  }
  if (!frame.meaning.does_any(mpi::kDoesAccess) || frame.plan->request_param >= 0) return;
  constexpr size_t kMostPending = 100000;  // accesses that bring nothing are never asked for
  std::vector<Place> places;
  places_of(frame, places);
  if (places.empty()) return;
  if (fetching_.size() >= kMostPending) fetching_.erase(fetching_.begin());
  fetching_[{frame.thread.location, frame.seq}] = std::move(places);
}

void Player::end_at_damage() {
  const std::string offset = std::to_string(messages_.offset());
  const std::string why = messages_.error() ? "" : messages_.why_cut();
  const auto& error = messages_.error();
  end(4, (error ? error->to_string()
                : messages_path() + ": the log ends within contents, at offset " + offset +
                      (why.empty() ? "" : ", as " + why)) +
             ": the replay ends here");
}

}  // namespace refrain::replay::solo
