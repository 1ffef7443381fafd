// Any bytes into what `refrain recover` does with spool files. Whatever can be read becomes a
// trace, and that trace is a good one.
//
// The input is a spool file, of which the checksums are made right, or a description of one: world
// size and rank (u8 each), flags, then chunks of type, owner, generation (u8 each), position (as
// Input::number()), length (u16) and bytes. Those of type 6 and more are records of the tables.
#include <algorithm>
#include <cstring>

#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/spool/post_mortem.h"
#include "format/spool/read.h"
#include "format/testing/spool_bytes.h"
#include "reader/verify/verify.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

namespace spool = format::spool;

bool is_file(std::string_view input) {
  return input.size() > spool::kPageBytes && std::memcmp(input.data(), "RNSPOOL1", 8) == 0;
}

std::string from_description(std::string_view input) {
  Input in(input);
  const uint32_t world = 1 + in.below(4), rank = in.below(world), flags = in.u8();
  format::testing::SpoolBytes file(rank, world);
  file.header().state = static_cast<spool::State>(flags % 5);
  file.header().ns_per_tick = (flags & 8) != 0 ? 1e5 : 1.0;
  while (!in.at_end()) {
    const uint32_t type = in.u8();
    constexpr uint32_t kFirstRecord = 6;
    if (type >= kFirstRecord) {
      const std::string_view bytes = in.bytes(in.u16());
      file.record(static_cast<spool::RecordKind>(1 + (type - kFirstRecord) % 4), bytes);
      continue;
    }
    const uint32_t owner = in.u8() % 8, generation = in.u8();
    const auto position = static_cast<uint64_t>(in.number());
    const std::string_view bytes = in.bytes(in.u16());
    file.chunk(static_cast<spool::ChunkType>(type), owner, generation, position, bytes);
  }
  return file.bytes();
}

// The same file as another rank's.
std::string of_rank(std::string file, int32_t rank) {
  spool::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  header.rank = rank;
  header.check = spool::check_of(header);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

void recover(const std::string& file, const spool::Header& header) {
  spool::PostMortem dead;
  const int32_t ranks = std::min<int32_t>(static_cast<int32_t>(header.world_size), 4);
  bool any = false;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    auto found = spool::read(rank == header.rank ? file : of_rank(file, rank));
    require(found.ok(), "the other ranks' files are as good");
    any = dead.add(std::move(*found)).ok() || any;
  }
  if (header.world_size > 4096) return;  // every missing rank has a line of its own
  const auto trace = dead.finish();
  require(!any || trace.ok(), "what was accepted becomes a trace");
  if (!trace.ok()) return;
  const auto bytes = format::encode(*trace);
  if (!bytes.ok()) return;  // beyond a limit of the format
  const auto opened = Trace::from_bytes(*bytes, "recovered");
  if (!opened.ok()) std::fprintf(stderr, "%s\n", opened.error().to_string().c_str());
  require(opened.ok(), "a recovered trace is a good one");
  (void)reader::verify(*opened, 10).size();
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain::fuzz;
  const std::string_view input = view_of(data, size);
  std::string file;
  if (is_file(input)) {
    file = input;
    refrain::format::testing::SpoolBytes::reseal(file);
  } else {
    file = from_description(input);
  }
  const auto header = spool::read_header(file);
  const auto rank = spool::read(file);
  require(header.ok() == rank.ok(), "a file with a sound header can be read");
  if (rank.ok()) recover(file, *header);
  return 0;
}
