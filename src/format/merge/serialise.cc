// PartialTrace to bytes, for the way from rank to rank; parse_partial.cc reads them.
#include "base/bytes.h"
#include "format/merge/list_bytes.h"
#include "format/merge/merge.h"
#include "format/posix.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

void put(ByteWriter& out, const PartialGroup& g) {
  // As nested runs, so that a mesh of any size takes the same bytes.
  g.ranks.write(out);
  out.put_varint(g.locations.size());
  for (const PartialLocation& l : g.locations) {
    out.put_varint(l.thread);
    l.grammars.write(out);
  }
  put(out, g.signatures);
}

}  // namespace

// In the order in which parse() reads. No version: both ends are one build, and a record lives as
// long as MPI_Finalize.
std::string serialise(const PartialTrace& p) {
  ByteWriter out;
  out.put_varint(p.world_size);
  out.put_varint(p.definitions.size());
  for (const Definition& d : p.definitions) {
    out.put_u8(static_cast<uint8_t>(d.kind));
    out.put_string(d.payload);
    out.put_varint(d.refs.size());
    for (const uint32_t r : d.refs) out.put_varint(r);
  }
  out.put_varint(p.shapes.size());
  for (size_t i = 0; i < p.shapes.size(); ++i) out.put_string(p.shapes[i]);
  put(out, p.grammars);
  out.put_varint(p.groups.size());
  // Tables first, as groups refer to grammars and shapes by number.
  for (const PartialGroup& g : p.groups) put(out, g);
  p.ranks.write(out);
  out.put_varint(p.totals.size());
  // Two bytes a number (a logarithmic code): totals are the only part that grows with each rank,
  // and this is their size on the way to rank 0.
  for (const TotalCodes& t : p.totals) {
    out.put_u16(t.in_mpi), out.put_u16(t.outside);
    out.put_u16(t.memory), out.put_u16(t.time);
    out.put_u16(t.own), out.put_u8(t.switches);
  }
  // Names once, and for each rank a number in runs: ranks of a node stand together mostly.
  out.put_varint(p.hosts.size());
  for (const std::string& h : p.hosts) out.put_string(h);
  p.host_of_rank.write(out);
  out.put_varint(p.places.size());
  for (const std::string& place : p.places) out.put_string(place);
  p.place_of_rank.write(out);
  // Pieces are those that a plan of representatives asked for, not one for each call.
  out.put_varint(p.own_work.size());
  for (const OwnWork& work : p.own_work) {
    out.put_varint(work.rank);
    out.put_varint(work.thread);
    out.put_varint(work.pieces.size());
    for (const OwnPiece& piece : work.pieces) {
      out.put_varint(piece.call);
      out.put_varint(piece.ns);
    }
  }
  out.put_varint(p.posix.size());
  for (const PosixOfRank& rank : p.posix) {
    out.put_varint(rank.rank);
    put(out, rank.uses);
  }
  out.put_varint(p.losses.size());
  // Losses travel whole: a trace that lacks something must say so, even if that makes it larger.
  for (const LossRecord& l : p.losses) {
    out.put_string(l.reason);
    out.put_varint(l.calls);
    out.put_zigzag(l.rank);
    out.put_string(l.detail);
  }
  out.put_varint(p.text.size());
  for (const auto& [key, value] : p.text) {
    out.put_string(key);
    out.put_string(value);
  }
  // Apart from the texts: texts of two ranks are joined by key, programs by rank.
  p.programs.write(out);
  out.put_varint(p.duration_ns);
  out.put_u8(p.lacks_gaps ? 1 : 0);
  return out.take();
}

}  // namespace refrain::format
