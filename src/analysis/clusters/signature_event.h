// What a call signature says of a rank: the values that its eleven numbers are means of.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "events/op.h"
#include "refrain/calls.h"
#include "refrain/trace.h"
#include "similarity/ranks/rank_signature.h"

namespace refrain::analysis::clusters {

// A call path as a number that is the same in every run of the same programs: by build ids and
// offsets (paths of files where a module has no build id), innermost first. Keeps what it knows.
class StackHashes {
 public:
  explicit StackHashes(const Trace& trace) : trace_(trace) {}
  // `site`: a call site or call path; kNoDefinition has a number as well.
  uint64_t of(DefinitionId site);

 private:
  Trace trace_;
  std::unordered_map<DefinitionId, uint64_t> known_;
};

// The distance from `me` to `peer` among `size` ranks that stand in a ring: in (-size/2, size/2].
// size > 0.
int64_t relative_rank(int64_t peer, int64_t me, int64_t size);

// Decodes for one rank. Uses the reader while it lives.
class SignatureEvents {
 public:
  // `comms`, `places`, `stacks`: one for all ranks.
  SignatureEvents(RankReader& reader, events::CommTable& comms, events::Decoder::Places& places,
                  StackHashes& stacks)
      : reader_(reader), ops_(reader, comms, places), stacks_(stacks) {}

  struct Event {
    similarity::RankEvent event;
    uint64_t call_class = 0;  // function, call path, communicator, and which ends are nobody
    // Another rank with the same parameters has the same event.
    bool is_absolute = true;
  };
  Event of(SignatureId id);

 private:
  uint64_t class_of(const Signature& call, uint64_t stack) const;
  void add_ends(const Signature& call, Event& out);
  void add_end(const Signature& call, similarity::RankFeature feature, const Value& peer,
               Event& out);
  void add_relative(const Signature& call, similarity::RankFeature feature, int64_t peer,
                    Event& out);
  void add_taken(const Signature& call, Event& out);
  void add_types(const Signature& call, Event& out);
  const Value& taken(const Signature& call, bool source) const;

  RankReader& reader_;
  events::Decoder ops_;
  StackHashes& stacks_;
};

}  // namespace refrain::analysis::clusters
