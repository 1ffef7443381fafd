// Where ranks ran, and the recorder's own work on each: the section `ranks`.
#include "format/codes/run_codec.h"
#include "format/encode/section_writers.h"
#include "format/places.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// A section that others do not share numbers with: those of the list stand behind its structure.
void write_places(const TraceData& trace, ByteWriter& out) {
  out.put_varint(trace.places.size());
  for (const RankPlace& place : trace.places) put(out, place);
  if (trace.places.empty()) return;
  const auto& runs = trace.place_of_rank.runs();
  const bool is_one = runs.size() == 1 && runs[0].start == 0 && runs[0].step == 0;
  out.put_u8(static_cast<uint8_t>(is_one ? PlaceForm::kOne : PlaceForm::kList));
  if (is_one) return;
  ByteWriter structure, numbers;
  write_runs(trace.place_of_rank, structure, numbers);
  out.put_string(structure.view());
  out.put_string(numbers.view());
}

void write_own_work(const TraceData& trace, ByteWriter& out) {
  out.put_varint(trace.own_work.size());
  uint64_t rank = 0;
  for (const OwnWork& work : trace.own_work) {
    out.put_varint(work.rank - rank);
    rank = work.rank;
    out.put_varint(work.thread);
    out.put_varint(work.pieces.size());
    uint64_t call = 0;
    for (const OwnPiece& piece : work.pieces) {
      out.put_varint(piece.call - call);
      call = piece.call;
      out.put_varint(piece.ns);
    }
  }
}

}  // namespace

void write_ranks(Encoding& in, ByteWriter& out) {
  const TraceData& trace = in.trace;
  if (trace.places.empty() && trace.own_work.empty()) return;
  write_places(trace, out);
  write_own_work(trace, out);
}

}  // namespace refrain::format
