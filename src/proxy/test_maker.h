// Traces of ranks that send to each other, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "grammar/builder.h"
#include "proxy/proxy.h"
#include "reader/test_trace.h"

namespace refrain::proxy {

using format::FieldTag;
using format::RankExpr;
using reader::fixed;
using reader::me_plus;
using reader::me_plus_mod_size;
using reader::ShapeWriter;
using reader::TraceBuilder;

// Ranks that send to the next one, `steps` times.
class Maker {
 public:
  explicit Maker(uint64_t ranks) : builder(ranks), ranks_(static_cast<int64_t>(ranks)) {
    for (int64_t r = 0; r < ranks_; ++r) all.push_back(r);
    world = builder.world();
    type = builder.predefined_type("MPI_DOUBLE", 8);
    const uint32_t site = builder.site("/bin/app", "", 0x1000);
    ShapeWriter begin("MPI_Init");
    init = builder.signature(begin.object(site).integer(1).none());
    ShapeWriter end("MPI_Finalize");
    finalize = builder.signature(end.object(site));
    site_ = site;
  }
  ShapeWriter& peer(ShapeWriter& shape, RankExpr e) {
    return e.kind == RankExpr::Kind::kConst && e.a < 0 ? shape.constant("MPI_PROC_NULL")
                                                       : shape.integer(e);
  }
  uint32_t send(RankExpr to, int64_t count = 64) {
    ShapeWriter shape("MPI_Send");
    shape.object(site_).heap(-1, 0).integer(count).object(type);
    return builder.signature(peer(shape, to).integer(5).object(world));
  }
  uint32_t receive(RankExpr from, int64_t count = 64) {
    ShapeWriter shape("MPI_Recv");
    shape.object(site_).heap(-1, 0).integer(count).object(type);
    return builder.signature(
        peer(shape, from).integer(5).object(world).constant("MPI_STATUS_IGNORE"));
  }
  void group(const std::vector<int64_t>& of, const std::vector<uint32_t>& step, int steps,
             const std::vector<uint32_t>& opening = {}) {
    std::vector<uint32_t> calls{init};
    calls.insert(calls.end(), opening.begin(), opening.end());
    const int written = std::min(steps, kWritten);
    for (int i = 0; i < written; ++i) calls.insert(calls.end(), step.begin(), step.end());
    calls.push_back(finalize);
    builder.group(of, calls);
    if (steps > written) repeat(step, written, steps, of.size());
  }
  // Another thread of the last group's ranks.
  void thread(uint32_t number, const std::vector<uint32_t>& calls) {
    format::Group& group = builder.data().groups.back();
    grammar::Builder order;
    for (const uint32_t call : calls) {
      size_t terminal = 0;
      while (terminal < group.signatures.size() && group.signatures[terminal] != call) ++terminal;
      if (terminal == group.signatures.size()) group.signatures.push_back(call);
      order.append(static_cast<grammar::Terminal>(terminal));
      builder.data().durations[call].count += group.ranks.size();
    }
    builder.data().grammars.push_back(order.finish());
    group.locations.push_back({number, static_cast<uint32_t>(builder.data().grammars.size() - 1)});
  }
  Outcome write() {
    const Trace trace = builder.open();
    auto out = generate(trace, options);
    EXPECT_TRUE(out.ok()) << out.error().to_string();
    return out.ok() ? *out : Outcome();
  }

  TraceBuilder builder;
  Options options;
  std::vector<int64_t> all;
  uint32_t world = 0, type = 0, init = 0, finalize = 0;

 private:
  static constexpr int kWritten = 1000;  // steps; of more the loop of as many becomes longer

  void repeat(const std::vector<uint32_t>& step, int written, int steps, uint64_t of) {
    int loops = 0;
    for (grammar::Symbol& symbol : builder.data().grammars.back().symbols)
      if (symbol.count == static_cast<uint64_t>(written))
        symbol.count = static_cast<uint64_t>(steps), ++loops;
    EXPECT_EQ(loops, 1);
    for (const uint32_t call : step)
      builder.data().durations[call].count += static_cast<uint64_t>(steps - written) * of;
  }

  int64_t ranks_;
  uint32_t site_ = 0;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace refrain::proxy
