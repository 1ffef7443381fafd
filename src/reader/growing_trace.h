// GrowingTrace: a Trace of a run that goes on. Definitions and signatures are added to it, and
// every copy of the Trace sees them from then on. It has no calls: they come from elsewhere.
//
// What was given out before (communicators, signatures of a RankReader) stays valid. Unlike other
// traces it may be used by one thread at a time. Memory: what was added.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "format/trace_data.h"
#include "reader/trace_impl.h"
#include "refrain/trace.h"

namespace refrain::reader {

class GrowingTrace {
 public:
  GrowingTrace(uint64_t ranks, std::string name);

  const Trace& trace() const { return trace_; }
  // Refers to definitions that were added before. False: it makes no sense, and nothing was added.
  bool add(format::Definition definition);
  // Of one rank, whose values these are: a signature in split form (format/signatures/walk.h), with
  // the ids of definitions and signatures here. Its id is the number of signatures before.
  void add_signature(std::string_view shape, std::span<const int64_t> values);

 private:
  std::shared_ptr<TraceImpl> impl_;
  Trace trace_;
};

}  // namespace refrain::reader
