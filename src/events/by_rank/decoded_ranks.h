// What walks know of a rank's signatures, whoever walks and however often: the readers, and what
// was decoded so far.
//
// Memory: that of the readers and decoders, which grow with the different calls of a rank, not with
// its calls. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "events/comms.h"
#include "events/light_calls.h"
#include "events/op.h"
#include "refrain/calls.h"

namespace refrain::events {

class MessageEnds;

// Bytes of one message of a call that sends, and room of one that receives; nothing: not known.
std::optional<uint64_t> sent_bytes(const Trace& trace, const Signature& call);
std::optional<uint64_t> receive_room(const Trace& trace, const Signature& call);

// What all ranks of one conversion share.
struct World {
  explicit World(const Trace& trace) : comms(trace) {}
  Decoder decoder(RankReader& reader) { return {reader, comms, places}; }
  CommTable comms;
  Decoder::Places places;
  LightRoom light_room;
  // What numbers the ends of messages; nullptr: each RankEvents does it, by a table of its
  // channels.
  MessageEnds* ends = nullptr;
};

struct DecodedRank {
  // The world outlives it.
  DecodedRank(const Trace& trace, World& world, Rank rank);

  struct Sizes {
    std::optional<uint64_t> sent, room;
  };
  // Of the calls that have it: the bytes depend on the signature alone, and to compute them takes
  // longer than the rest of a call.
  const Sizes& sizes_of(const Signature& call);

  RankReader reader;
  Decoder decoder;

 private:
  std::unordered_map<SignatureId, Sizes> sizes_;
};

// For whoever walks all ranks of a trace several times.
class DecodedRanks {
 public:
  explicit DecodedRanks(const Trace& trace) : trace_(trace), world_(trace) {}
  DecodedRanks(const DecodedRanks&) = delete;

  World& world() { return world_; }
  DecodedRank& of(Rank rank);

 private:
  Trace trace_;
  World world_;
  std::vector<std::unique_ptr<DecodedRank>> ranks_;
};

}  // namespace refrain::events
