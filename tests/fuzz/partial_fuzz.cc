// Any bytes as what one rank sends to another when records are merged (and leaves in OUTPUT.parts/
// when they meet in the file system): what parse() accepts can be written, merged and finished.
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/merge/merge.h"
#include "support.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain::format;
  using refrain::fuzz::require;
  const auto part = parse(refrain::fuzz::view_of(data, size));
  if (!part.ok()) return 0;
  const std::string once = serialise(*part);
  auto again = parse(once);
  require(again.ok(), "what is written can be read");
  require(serialise(*again) == once, "and is the same");
  // Two of the same ranks cannot be merged; one of none can.
  auto both = merge(*part, std::move(*again));
  if (both.ok()) (void)finish(std::move(*both)).ok();
  const auto trace = finish(*part);
  if (!trace.ok()) return 0;
  const auto bytes = encode(*trace);
  if (!bytes.ok()) return 0;
  const auto decoded = decode(*bytes, "fuzz");
  if (!decoded.ok()) std::fprintf(stderr, "%s\n", decoded.error().to_string().c_str());
  require(decoded.ok(), "what is encoded can be decoded");
  return 0;
}
