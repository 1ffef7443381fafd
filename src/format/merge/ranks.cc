#include "format/merge/ranks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "format/codes/quantise.h"
#include "format/places.h"
#include "format/posix.h"

namespace refrain::format {

namespace {

RankTotals totals_of(const TotalCodes& codes) {
  return {time_of(codes.in_mpi),
          time_of(codes.outside),
          {time_of(codes.memory), time_of(codes.time)},
          time_of(codes.own),
          count_of(codes.switches)};
}

// Of all ranks of the world. A rank that does not know its place has -1, as one that is missing.
void take_places(const PartialTrace& from, TraceData& to) {
  // Places of `from` as numbers of places of `to`; -1 for one that is empty.
  std::vector<int64_t> index;
  for (const std::string& bytes : from.places) {
    base::ByteReader in(bytes);
    // Equal places were united while they were bytes. They are read here, once each.
    index.push_back(bytes.empty() ? -1 : static_cast<int64_t>(to.places.size()));
    if (!bytes.empty()) to.places.push_back(read_place(in));
  }
  // No rank knows its place: then the file has no list either.
  if (to.places.empty()) return;
  int64_t next = 0;
  const auto fill_up_to = [&](int64_t rank) {
    if (rank > next) to.place_of_rank.append_run(-1, 0, static_cast<uint64_t>(rank - next));
  };
  const base::RunList ranks = from.ranks.runs(), places = from.place_of_rank.runs();
  for (uint64_t i = 0; i < ranks.size(); ++i) {
    const int64_t rank = ranks.at(i), place = places.at(i);
    // Ranks that handed nothing over (they died, or are not recorded) still have a line.
    fill_up_to(rank);
    const bool is_known = place >= 0 && static_cast<size_t>(place) < index.size();
    to.place_of_rank.append(is_known ? index[static_cast<size_t>(place)] : -1);
    next = rank + 1;
  }
  fill_up_to(static_cast<int64_t>(from.world_size));
}

// Behind the totals, which have what is not among the pieces.
void take_own_work(PartialTrace& from, TraceData& to) {
  to.own_work = std::move(from.own_work);
  for (const OwnWork& work : to.own_work)
    for (const OwnPiece& piece : work.pieces)
      if (work.rank < to.totals.size()) to.totals[work.rank].own_ns += piece.ns;
}

}  // namespace

void check_gaps(PartialTrace& all) {
  const bool has_any = std::any_of(all.groups.begin(), all.groups.end(), [](const auto& group) {
    return !group.signatures.gaps().empty();
  });
  if (all.lacks_gaps && has_any)
    all.losses.push_back({"gaps_missing", 0, -1, "some ranks were recorded without --gaps"});
  all.lacks_gaps = all.lacks_gaps || !has_any;
}

void take_rest(PartialTrace& from, TraceData& to) {
  to.definitions = std::move(from.definitions);
  to.grammars = std::move(from.grammars);
  to.losses = std::move(from.losses);
  to.meta.text = std::move(from.text);
  if (const uint64_t unnamed = from.programs.put(to.meta.text); unnamed > 0)
    to.losses.push_back(
        LossRecord{"not_named", unnamed, -1, "jobs that MPI_Comm_spawn has started"});
  // A part of the run has no trace.
  for (const LossRecord& loss : to.losses)
    if (loss.reason == "spawned_not_recorded") to.meta.complete = false;
  to.meta.hosts = std::move(from.hosts);
  to.meta.ranks = from.world_size;
  to.meta.duration_ns = from.duration_ns;
  // The lists of a trace are by rank of the world, those of a record by rank that is there: only
  // with all ranks are they the same.
  const uint64_t missing = from.world_size - from.ranks.size();
  take_places(from, to);
  to.posix = posix_columns(from.posix);
  if (missing == 0) {
    to.meta.host_of_rank = from.host_of_rank.runs();
    for (const TotalCodes& t : from.totals) to.totals.push_back(totals_of(t));
    to.cost = cost_of(to.totals);
    take_own_work(from, to);
    return;
  }
  // Ranks that are missing have zeros, which say that nothing is known.
  to.totals.resize(from.world_size);
  uint64_t next = 0;
  const base::RunList ranks = from.ranks.runs(), host_of_rank = from.host_of_rank.runs();
  for (uint64_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<uint64_t>(ranks.at(i));
    to.meta.host_of_rank.append_run(-1, 0, rank - next);
    to.meta.host_of_rank.append(host_of_rank.at(i));
    to.totals[rank] = totals_of(from.totals[i]);
    next = rank + 1;
  }
  to.cost = cost_of(to.totals);
  take_own_work(from, to);
  to.meta.host_of_rank.append_run(-1, 0, from.world_size - next);
  to.meta.complete = false;
  // MPI_Finalize may have told already which ranks are not recorded, and why.
  if (!from.missing_is_told)
    to.losses.push_back(LossRecord{"rank_missing", 0, -1, std::to_string(missing) + " ranks"});
}

}  // namespace refrain::format
