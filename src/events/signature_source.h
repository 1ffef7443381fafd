// The source of the signatures of one rank for a decoder: all signatures of a complete trace, or
// those received so far from a running job.
#pragma once

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::events {

class SignatureSource {
 public:
  virtual ~SignatureSource() = default;
  virtual Rank rank() const = 0;
  // With the definitions that those signatures refer to that have come.
  virtual const Trace& trace() const = 0;
  // Stays in place, and as it is. One with another id: it is not known, or has not come yet.
  virtual const Signature& signature(SignatureId id) = 0;
};

// Of a rank of a trace. The reader outlives it.
class TraceSignatures : public SignatureSource {
 public:
  explicit TraceSignatures(RankReader& reader) : reader_(reader) {}
  Rank rank() const override { return reader_.rank(); }
  const Trace& trace() const override { return reader_.trace(); }
  const Signature& signature(SignatureId id) override { return reader_.signature(id); }

 private:
  RankReader& reader_;
};

}  // namespace refrain::events
