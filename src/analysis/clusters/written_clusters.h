// Clustered traces as they are read again, for tests.
#pragma once

#include <gtest/gtest.h>

#include "analysis/clusters/cluster.h"
#include "format/decode/decode.h"
#include "reader/verify/verify_times.h"
#include "refrain/trace.h"

namespace refrain::analysis::clusters {

inline FoundClusters found(const Trace& trace, ClusterRequest request) {
  const auto out = find(trace, request);
  EXPECT_TRUE(out.ok()) << out.error().to_string();
  return out.ok() ? *out : FoundClusters();
}

inline Trace written(const Trace& trace, const FoundClusters& f) {
  const auto bytes = encode(trace, f);
  EXPECT_TRUE(bytes.ok()) << bytes.error().to_string();
  auto back = Trace::from_bytes(*bytes, "c.rfn");
  EXPECT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_TRUE(format::check(*bytes).empty());
  EXPECT_TRUE(reader::verify_times(*back, 10).empty());
  return *back;
}

}  // namespace refrain::analysis::clusters
