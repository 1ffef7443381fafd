// Any bytes into the receiver of a live stream. Whatever was received before the first error
// becomes a trace, and that trace is a good one.
//
// The input is a stream, of which the checksums are made right; or, after a byte below 'R',
// records, each as its kind (u8), length (u16, little-endian) and bytes, behind a hello of rank
// (u8) 0 to 3.
#include <algorithm>
#include <cstring>

#include "format/codes/checksum.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/live/decode/receiver.h"
#include "format/live/encode/stream_writer.h"
#include "format/spool/post_mortem.h"
#include "reader/verify/verify.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

namespace live = format::live;

void put(std::string& bytes, size_t at, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i);
}

// Makes magic, checksums and numbers right, so that damage gets past them.
std::string resealed(std::string bytes) {
  uint32_t number = 0;
  for (size_t at = 0; bytes.size() - at >= live::kBlockHeadBytes;) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + at + 24, sizeof length);
    const size_t payload = at + live::kBlockHeadBytes;
    if (length > bytes.size() - payload) length = static_cast<uint32_t>(bytes.size() - payload);
    put(bytes, at, live::kBlockMagic);
    put(bytes, at + 16, number++);
    put(bytes, at + 20, 0);
    put(bytes, at + 24, length);
    put(bytes, at + 28, format::checksum32(std::string_view(bytes).substr(payload, length)));
    put(bytes, at + 32, format::checksum32(std::string_view(bytes).substr(at, 32)));
    at = payload + length;
  }
  return bytes;
}

std::string from_records(std::string_view input) {
  Input in(input);
  live::StreamWriter out(1);
  live::Hello hello;
  hello.job = "fuzz.rfn";
  hello.header.world_size = 4;
  hello.header.rank = static_cast<int32_t>(in.below(4));
  out.hello(hello);
  while (!in.at_end()) {
    std::string record(1, static_cast<char>(in.u8()));
    record += in.bytes(in.u16());
    out.table(record);  // which puts any kind
  }
  return out.take();
}

void make_trace(live::Receiver& receiver) {
  format::spool::PostMortem all;
  const auto now = receiver.now();
  if (!all.add(receiver.take()).ok() || now.header.world_size > 4096) return;
  const auto trace = all.finish();
  require(trace.ok(), "what was accepted becomes a trace");
  const auto bytes = format::encode(*trace);
  if (!bytes.ok()) return;  // beyond a limit of the format
  const auto opened = Trace::from_bytes(*bytes, "received");
  if (!opened.ok()) std::fprintf(stderr, "%s\n", opened.error().to_string().c_str());
  require(opened.ok(), "a received trace is a good one");
  (void)reader::verify(*opened, 10).size();
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain::fuzz;
  if (size == 0) return 0;
  const std::string_view input = view_of(data, size);
  const std::string bytes =
      input[0] == 'R' ? resealed(std::string(input)) : from_records(input.substr(1));
  live::Receiver whole, pieces;
  const bool is_good = whole.receive(bytes).ok();
  bool is_good_in_pieces = true;
  for (size_t at = 0; at < bytes.size() && is_good_in_pieces; at += 61)
    is_good_in_pieces = pieces.receive(std::string_view(bytes).substr(at, 61)).ok();
  require(is_good == is_good_in_pieces, "pieces are judged as the whole");
  require(whole.calls() == pieces.calls(), "and say the same");
  if (whole.has_begun()) make_trace(whole);
  return 0;
}
