#include "format/merge/ranks.h"

#include <utility>

#include "format/places.h"

namespace refrain::format {

void take_places(const PartialTrace& from, TraceData& to) {
  std::vector<int64_t> index;
  for (const std::string& bytes : from.places) {
    base::ByteReader in(bytes);
    index.push_back(bytes.empty() ? -1 : static_cast<int64_t>(to.places.size()));
    if (!bytes.empty()) to.places.push_back(read_place(in));
  }
  if (to.places.empty()) return;
  int64_t next = 0;
  const auto fill_up_to = [&](int64_t rank) {
    if (rank > next) to.place_of_rank.append_run(-1, 0, static_cast<uint64_t>(rank - next));
  };
  const base::RunList ranks = from.ranks.runs(), places = from.place_of_rank.runs();
  for (uint64_t i = 0; i < ranks.size(); ++i) {
    const int64_t rank = ranks.at(i), place = places.at(i);
    fill_up_to(rank);
    const bool is_known = place >= 0 && static_cast<size_t>(place) < index.size();
    to.place_of_rank.append(is_known ? index[static_cast<size_t>(place)] : -1);
    next = rank + 1;
  }
  fill_up_to(static_cast<int64_t>(from.world_size));
}

void take_own_work(PartialTrace& from, TraceData& to) {
  to.own_work = std::move(from.own_work);
  for (const OwnWork& work : to.own_work)
    for (const OwnPiece& piece : work.pieces)
      if (work.rank < to.totals.size()) to.totals[work.rank].own_ns += piece.ns;
}

}  // namespace refrain::format
