#include "events/by_rank/decoded_ranks.h"

#include "events/payload.h"

namespace refrain::events {
namespace {

// Nothing where the trace does not tell, which is not 0 bytes: a format that has no word for it
// counts it (Scope::not_held).
std::optional<uint64_t> bytes_of(const Trace& trace, const Value& counts, const Value& type) {
  const uint64_t count = sum_of_counts(counts);
  if (count == 0) return 0;
  const auto size = element_bytes(trace, type);
  return size ? std::optional(multiply(*size, count)) : std::nullopt;
}

// A partitioned message is as large as all of its partitions; `count` is of one.
std::optional<uint64_t> times_parts(std::optional<uint64_t> bytes, const Signature& call) {
  const Value* parts = call.find("partitions");
  if (!bytes || parts == nullptr) return bytes;
  return multiply(*bytes, sum_of_counts(parts->at_entry()));
}

}  // namespace

std::optional<uint64_t> sent_bytes(const Trace& trace, const Signature& call) {
  // MPI_Sendrecv and its kin have a count for either direction.
  const bool has_two = call.find("sendcount") != nullptr;
  return times_parts(bytes_of(trace, argument(call, has_two ? "sendcount" : "count"),
                              argument(call, has_two ? "sendtype" : "datatype")),
                     call);
}

std::optional<uint64_t> receive_room(const Trace& trace, const Signature& call) {
  const bool has_two = call.find("recvcount") != nullptr;
  return times_parts(bytes_of(trace, argument(call, has_two ? "recvcount" : "count"),
                              argument(call, has_two ? "recvtype" : "datatype")),
                     call);
}

DecodedRank::DecodedRank(const Trace& trace, World& world, Rank rank)
    : reader(trace, rank, trace.has_times() ? Times::kRead : Times::kSkip),
      decoder(world.decoder(reader)) {}

const DecodedRank::Sizes& DecodedRank::sizes_of(const Signature& call) {
  const auto [known, is_new] = sizes_.try_emplace(call.id);
  if (is_new)
    known->second = {sent_bytes(reader.trace(), call), receive_room(reader.trace(), call)};
  return known->second;
}

DecodedRank& DecodedRanks::of(Rank rank) {
  const auto at = static_cast<size_t>(rank);
  if (at >= ranks_.size()) ranks_.resize(at + 1);
  if (ranks_[at] == nullptr) ranks_[at] = std::make_unique<DecodedRank>(trace_, world_, rank);
  return *ranks_[at];
}

}  // namespace refrain::events
