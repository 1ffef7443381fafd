// Neighbourhoods and files of a random program; see random_program.h.

#include "analysis/waits/testing/random_program.h"

namespace refrain::analysis::waits {
// Calls that all ranks make, and that wait for all.
void RandomProgram::make_together(CollectiveKind kind,
                                  const std::function<ShapeWriter(Rank)>& shape_of) {
  TrueCollective made;
  made.kind = kind;
  std::vector<uint64_t> begins;
  for (Rank r = 0; r < ranks_; ++r) begins.push_back(next_begin(r));
  const uint64_t last = *std::max_element(begins.begin(), begins.end());
  for (Rank r = 0; r < ranks_; ++r) {
    made.entries.push_back({r, count(r), r, Role::kAll});
    made.leavers.emplace_back(r, count(r));
    call(r, shape_of(r), begins[static_cast<size_t>(r)], last).collectives = {collectives.size()};
  }
  collectives.push_back(made);
}

// A ring or line of all ranks, and edges at random, some of them double or to oneself.
void RandomProgram::make_topologies() {
  std::vector<int64_t> all;
  for (Rank r = 0; r < ranks_; ++r) all.push_back(r);
  const auto n = static_cast<size_t>(ranks_);
  Neighbourhood line{program.builder().comm(3, all), std::vector<std::vector<Rank>>(n)};
  const bool wraps = pick(2) == 0;
  for (Rank r = 0; r < ranks_; ++r)
    for (const Rank other : {r - 1, r + 1})
      if (wraps || (other >= 0 && other < ranks_))
        line.sources[static_cast<size_t>(r)].push_back((other + ranks_) % ranks_);
  make_together(CollectiveKind::kNxN, [&](Rank) {
    ShapeWriter s = begin_shape("MPI_Cart_create");
    s.object(program.world).integer(1);
    put(s, {ranks_});
    put(s, {wraps ? 1 : 0});
    return std::move(s.integer(0).object(line.comm));
  });
  Neighbourhood graph{program.builder().comm(4, all), std::vector<std::vector<Rank>>(n)};
  std::vector<std::vector<int64_t>> from(n), to(n);  // as each rank gives them
  for (int64_t i = 0; i < ranks_; ++i) {
    const auto who = pick(n);
    from[who].push_back(static_cast<int64_t>(pick(n)));
    to[who].push_back(static_cast<int64_t>(pick(n)));
    graph.sources[static_cast<size_t>(to[who].back())].push_back(from[who].back());
  }
  make_together(CollectiveKind::kNxN, [&](Rank r) {
    const auto me = static_cast<size_t>(r);
    ShapeWriter s = begin_shape("MPI_Dist_graph_create");
    s.object(program.world).integer(static_cast<int64_t>(from[me].size()));
    put(s, from[me]);
    put(s, std::vector<int64_t>(from[me].size(), 1));
    put(s, to[me]);
    return std::move(s.none().none().integer(0).object(graph.comm));
  });
  neighbourhoods_ = {line, graph};
}

void RandomProgram::make_file() {
  base::ByteWriter id;
  id.put_zigzag(0);
  file_ = program.builder().define(format::DefinitionKind::kFile, id.take(), {program.world});
  make_together(CollectiveKind::kFile, [&](Rank) {
    ShapeWriter s = begin_shape("MPI_File_open");
    s.object(program.world).string(format::FieldTag::kString, "x").integer(1).none();
    return std::move(s.object(file_));
  });
}

void RandomProgram::neighbour_step() {
  const Neighbourhood& all = neighbourhoods_[pick(2)];
  TrueCollective made;
  made.kind = CollectiveKind::kNeighbours;
  made.sources = all.sources;
  made.is_blocking = pick(2) == 0;
  std::vector<uint64_t> begins;
  for (Rank r = 0; r < ranks_; ++r) begins.push_back(next_begin(r));
  for (Rank r = 0; r < ranks_; ++r) made.entries.push_back({r, count(r), r, Role::kAll});
  const size_t id = collectives.size();
  for (Rank r = 0; r < ranks_; ++r) {
    ShapeWriter s =
        begin_shape(made.is_blocking ? "MPI_Neighbor_allgather" : "MPI_Ineighbor_allgather");
    s.none().integer(1).object(program.type).none().integer(1).object(program.type);
    s.object(all.comm);
    uint64_t last = 0;
    for (const Rank from : all.sources[static_cast<size_t>(r)])
      last = std::max(last, begins[static_cast<size_t>(from)]);
    if (made.is_blocking) {
      call(r, s, begins[static_cast<size_t>(r)], last).collectives = {id};
      continue;
    }
    Request q;
    q.collective = id;
    call_for(r, q, s, begins[static_cast<size_t>(r)]);
    open_[static_cast<size_t>(r)].push_back(q);
  }
  collectives.push_back(made);
}

// A library that waits for all, or does not: then ordered access waits for lower ranks.
void RandomProgram::file_step() {
  TrueCollective made;
  made.kind = CollectiveKind::kFile;
  made.is_blocking = pick(3) > 0;
  made.in_order = made.is_blocking && pick(2) == 0;
  made.binds = pick(2) == 0;
  std::vector<uint64_t> begins;
  for (Rank r = 0; r < ranks_; ++r) begins.push_back(next_begin(r));
  uint64_t last = made.binds ? *std::max_element(begins.begin(), begins.end()) : 0;
  const size_t id = collectives.size();
  for (Rank r = 0; r < ranks_; ++r) {
    const uint64_t begin = begins[static_cast<size_t>(r)];
    made.entries.push_back({r, count(r), r, Role::kAll});
    ShapeWriter s = begin_shape(!made.is_blocking ? "MPI_File_iwrite_all"
                                : made.in_order   ? "MPI_File_write_ordered"
                                                  : "MPI_File_write_all");
    s.object(file_).none().integer(1).object(program.type);
    if (made.is_blocking) {
      made.leavers.emplace_back(r, count(r));
      call(r, s.none(), begin, last).collectives = {id};
      if (made.in_order) last = std::max(last, begin);
      continue;
    }
    Request q;
    q.collective = id;
    call_for(r, q, s, begin);
    open_[static_cast<size_t>(r)].push_back(q);
  }
  collectives.push_back(made);
}

// The call that begins it, and the one that ends it, may each wait or not.
void RandomProgram::split_step() {
  TrueCollective begun, ended;
  begun.kind = ended.kind = CollectiveKind::kFile;
  std::vector<uint64_t> begins;
  for (Rank r = 0; r < ranks_; ++r) begins.push_back(next_begin(r));
  const uint64_t last = *std::max_element(begins.begin(), begins.end());
  const uint64_t form = pick(3);
  for (Rank r = 0; r < ranks_; ++r) {
    begun.entries.push_back({r, count(r), r, Role::kAll});
    begun.leavers.emplace_back(r, count(r));
    ShapeWriter s = begin_shape("MPI_File_write_all_begin");
    s.object(file_).none().integer(1).object(program.type);
    call(r, s, begins[static_cast<size_t>(r)], form == 0 ? last : 0).collectives = {
        collectives.size()};
  }
  ended.entries = begun.entries;
  collectives.push_back(begun);
  for (Rank r = 0; r < ranks_; ++r) {
    ended.leavers.emplace_back(r, count(r));
    ShapeWriter s = begin_shape("MPI_File_write_all_end");
    call(r, s.object(file_).none().none(), next_begin(r), form == 1 ? last : 0).collectives = {
        collectives.size()};
  }
  collectives.push_back(ended);
}

}  // namespace refrain::analysis::waits
