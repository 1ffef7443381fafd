#include "events/buffers/attached.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "events/payload.h"
#include "mpi/call_ids.h"

namespace refrain::events {
namespace {

// A call of MPI_Win_attach or MPI_Get_address.
struct Said {
  uint64_t seq = 0;
  const Signature* signature = nullptr;
};

// Blocks of memory that look alike are one.
using Block = std::tuple<uint32_t, int64_t>;

Block block_of(const Value& buffer) { return {buffer.id, buffer.number}; }

const Value& place_of(const Signature& call) {
  return argument(call, call.call == mpi::kMPI_Win_attach ? "base" : "location");
}

// The first that is at or after `seq`.
std::vector<Said>::const_iterator from(const std::vector<Said>& all, uint64_t seq) {
  return std::lower_bound(all.begin(), all.end(), seq,
                          [](const Said& one, uint64_t at) { return one.seq < at; });
}

}  // namespace

std::optional<int64_t> address_by(const Signature& attach, const Signature& get_address) {
  const Value &base = place_of(attach), &asked = place_of(get_address);
  const Value& address = argument(get_address, "address").at_exit();
  int64_t moved = 0, out = 0;
  if (base.kind != ValueKind::kBuffer || asked.kind != ValueKind::kBuffer ||
      !address.is_integer() || block_of(base) != block_of(asked) ||
      __builtin_sub_overflow(base.offset, asked.offset, &moved) ||
      __builtin_add_overflow(address.number, moved, &out))
    return std::nullopt;
  return out;
}

bool has_address(const Trace& trace, GroupId group, SignatureId attach) {
  RankReader reader(trace, trace.group_rank(group, 0));
  const Signature& call = reader.signature(attach);
  for (const Trace::Occurrence& seen : trace.occurrences(group))
    if (trace.call_of(seen.signature) == mpi::kMPI_Get_address &&
        address_by(call, reader.signature(seen.signature)))
      return true;
  return false;
}

std::map<uint64_t, int64_t> attached_addresses(RankReader& reader, uint32_t thread) {
  std::map<Block, std::vector<Said>> attached, asked;
  (void)reader.for_each_call(thread, [&](const Call& call) {
    const CallId id = call.signature->call;
    if (id != mpi::kMPI_Win_attach && id != mpi::kMPI_Get_address) return true;
    auto& place = id == mpi::kMPI_Win_attach ? attached : asked;
    place[block_of(place_of(*call.signature))].push_back({call.seq, call.signature});
    return true;
  });
  std::map<uint64_t, int64_t> out;
  for (const auto& [block, all] : attached) {
    const std::vector<Said>& said = asked[block];
    for (size_t i = 0; i < all.size(); ++i) {
      const uint64_t end = i + 1 < all.size() ? all[i + 1].seq : UINT64_MAX;
      const uint64_t begin = i > 0 ? all[i - 1].seq : 0;
      auto found = from(said, all[i].seq);
      if (found == said.end() || found->seq > end) {
        // None before the next one: the last one before this, if it can be of this.
        const bool is_known = std::get<1>(block) >= 0;
        if (found == said.begin()) {
          if (!is_known || said.empty()) continue;
        } else if (is_known || (found - 1)->seq >= begin) {
          --found;
        } else {
          continue;
        }
      }
      if (const auto address = address_by(*all[i].signature, *found->signature))
        out[all[i].seq] = *address;
    }
  }
  return out;
}

}  // namespace refrain::events
