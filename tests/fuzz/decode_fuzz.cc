// Any bytes into everything that reads trace files: decode() and check() agree on what is good, and
// whatever decodes can be asked about.
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/signatures/slot_evaluator.h"
#include "support.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain::format;
  using refrain::fuzz::require;
  const std::string bytes = refrain::fuzz::trace_file(refrain::fuzz::view_of(data, size));
  auto trace = decode(bytes, "fuzz");
  if (trace.ok()) {
    SlotEvaluator evaluator(*trace);
    for (const Group& g : trace->groups)
      for (const uint32_t s : g.signatures)
        (void)evaluator.values(s, {static_cast<uint64_t>(g.ranks.at(0)), 0}).size();
    require(section_sizes(bytes, "fuzz").ok(), "a good trace has sections");
  }
  (void)annotate(bytes).size();
  require(trace.ok() == check(bytes).empty(), "decode() and check() agree");
  return 0;
}
