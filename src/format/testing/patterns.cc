#include "format/testing/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "format/testing/call_ids.h"
#include "mpi/call_table.h"

namespace refrain::format::testing {

namespace {

using Dims = std::vector<int64_t>;

// A rank at work: its mesh, and call sites one behind the other.
struct Mesh {
  Mesh(uint64_t rank, const Dims& d)
      : r(rank, rank_count(d)),
        dims(d),
        me(static_cast<int64_t>(rank)),
        size(static_cast<int64_t>(rank_count(d))) {
    coords.resize(dims.size());
    int64_t rest = me;
    for (size_t i = dims.size(); i-- > 0; rest /= dims[i]) coords[i] = rest % dims[i];
  }

  int64_t at(const Dims& c) const {
    int64_t rank = 0;
    for (size_t i = 0; i < dims.size(); ++i) rank = rank * dims[i] + c[i];
    return rank;
  }
  // -1 beyond the border.
  int64_t neighbour(size_t dimension, int64_t step, bool periodic) const {
    Dims c = coords;
    c[dimension] += step;
    if (periodic) c[dimension] = (c[dimension] + dims[dimension]) % dims[dimension];
    return c[dimension] < 0 || c[dimension] >= dims[dimension] ? -1 : at(c);
  }

  uint32_t site() { return r.site(where += 0x2b); }
  uint32_t real() { return r.datatype("MPI_DOUBLE", 8); }

  void begin() {
    r.call(Sig(kInit, site()).buffer(BufferClass::kStack, 1, 0).buffer(BufferClass::kStack, 2, 0));
    r.call(Sig(kCommRank, site()).object(r.world()).integer(me));
    r.call(Sig(kCommSize, site()).object(r.world()).integer(size));
  }
  uint32_t cartesian(bool periodic) {
    base::RunList all;
    all.append_run(0, 1, static_cast<uint64_t>(size));
    const uint32_t cart = r.comm(1, all);
    const auto n = static_cast<int64_t>(dims.size());
    r.call(Sig(kCartCreate, site())
               .object(r.world())
               .integer(n)
               .ints(dims)
               .ints(Dims(dims.size(), periodic ? 1 : 0))
               .integer(0)
               .object(cart));
    r.call(Sig(kCartCoords, site()).object(cart).integer(me).integer(n).ints(coords));
    for (size_t d = 0; d < dims.size(); ++d)
      r.call(Sig(kCartShift, site())
                 .object(cart)
                 .integer(static_cast<int64_t>(d))
                 .integer(1)
                 .peer(neighbour(d, -1, periodic))
                 .peer(neighbour(d, 1, periodic)));
    return cart;
  }
  RankRecord end() {
    r.call(Sig(kFinalize, site()));
    return r.finish();
  }

  SyntheticRank r;
  Dims dims, coords;
  int64_t me, size;
  int64_t where = 0x1200;
};

Sig message(uint32_t call, uint32_t site, int64_t offset, int64_t count, uint32_t type,
            int64_t peer, int64_t tag, uint32_t comm) {
  return Sig(call, site)
      .buffer(BufferClass::kHeap, 3, offset)
      .integer(count)
      .object(type)
      .peer(peer)
      .integer(tag)
      .object(comm);
}

// Every neighbour in every dimension; at a border MPI_PROC_NULL, or no call at all.
RankRecord halo(uint64_t rank, const Dims& dims, uint64_t iterations, bool periodic, bool skip) {
  Mesh m(rank, dims);
  m.begin();
  const uint32_t cart = m.cartesian(periodic), type = m.real();
  const size_t sides = 2 * dims.size();
  std::vector<uint32_t> sites;
  for (size_t i = 0; i < 2 * sides; ++i) sites.push_back(m.site());
  const uint32_t wait = m.site(), reduce = m.site();
  for (uint64_t i = 0; i < iterations; ++i) {
    std::vector<uint32_t> requests;
    for (size_t p = 0; p < 2 * sides; ++p) {
      const size_t side = p < sides ? p : p - sides;
      const int64_t peer = m.neighbour(side / 2, side % 2 == 0 ? -1 : 1, periodic);
      if (peer < 0 && skip) continue;
      const auto tag = static_cast<int64_t>(p < sides ? side : side ^ 1);
      requests.push_back(
          m.r.call(message(p < sides ? kIrecv : kIsend, sites[p], static_cast<int64_t>(side) * 2064,
                           258, type, peer, tag, cart)
                       .new_request(0)));
    }
    Sig all(kWaitall, wait);
    all.integer(static_cast<int64_t>(requests.size())).array(requests.size());
    for (const uint32_t q : requests) all.times(1).request(q);
    m.r.call(all.constant("MPI_STATUSES_IGNORE"));
    if (i % 10 == 9)
      m.r.call(Sig(kAllreduce, reduce).buffer(BufferClass::kStack, 3, 0).integer(1).object(cart));
  }
  return m.end();
}

// Waves from the first corner to the last: receive from below, send upwards, in every dimension.
RankRecord sweep(uint64_t rank, const Dims& dims, uint64_t iterations, bool skip) {
  Mesh m(rank, dims);
  m.begin();
  const uint32_t cart = m.cartesian(false), type = m.real();
  std::vector<uint32_t> sites;
  for (size_t i = 0; i < 2 * dims.size(); ++i) sites.push_back(m.site());
  for (uint64_t i = 0; i < iterations; ++i) {
    for (size_t p = 0; p < 2 * dims.size(); ++p) {
      const size_t d = p % dims.size();
      const bool is_receive = p < dims.size();
      const int64_t peer = m.neighbour(d, is_receive ? -1 : 1, false);
      if (peer < 0 && skip) continue;
      m.r.call(message(is_receive ? kRecv : kSend, sites[p], 0, 500, type, peer,
                       static_cast<int64_t>(d), cart));
    }
  }
  return m.end();
}

RankRecord doubling(uint64_t rank, const Dims& dims, uint64_t iterations) {
  Mesh m(rank, dims);
  m.begin();
  const uint32_t type = m.real(), site = m.site();
  for (uint64_t i = 0; i < iterations; ++i) {
    for (int64_t bit = 1; bit < m.size; bit *= 2)
      m.r.call(message(kSendrecv, site, 0, 16, type, m.me ^ bit, 7, m.r.world()));
  }
  return m.end();
}

// Partner on the other side of the diagonal; the diagonal itself talks to itself.
RankRecord transpose(uint64_t rank, const Dims& dims, uint64_t iterations) {
  Mesh m(rank, dims);
  m.begin();
  const uint32_t type = m.real(), site = m.site();
  const int64_t partner = m.coords[1] * dims[0] + m.coords[0];
  for (uint64_t i = 0; i < iterations; ++i)
    m.r.call(message(kSendrecv, site, 0, 1024, type, partner, 3, m.r.world()));
  return m.end();
}

RankRecord ring(uint64_t rank, const Dims& dims, uint64_t iterations) {
  Mesh m(rank, dims);
  m.begin();
  const uint32_t type = m.real(), to = m.site(), from = m.site();
  for (uint64_t i = 0; i < iterations; ++i) {
    m.r.call(message(kSend, to, 0, 64, type, (m.me + 1) % m.size, 5, m.r.world()));
    m.r.call(message(kRecv, from, 0, 64, type, (m.me + m.size - 1) % m.size, 5, m.r.world()));
  }
  return m.end();
}

// A root that goes around; `iterations` times, or once for each rank when that is 0.
RankRecord rotating_root(uint64_t rank, const Dims& dims, uint64_t iterations) {
  Mesh m(rank, dims);
  m.begin();
  const uint32_t type = m.real(), site = m.site();
  const auto n = iterations == 0 ? m.size : static_cast<int64_t>(iterations);
  for (int64_t i = 0; i < n; ++i)
    m.r.call(Sig(kBcast, site)
                 .buffer(BufferClass::kHeap, 3, 0)
                 .integer(8)
                 .object(type)
                 .integer(i % m.size)
                 .object(m.r.world()));
  return m.end();
}

// An all-to-all by hand: in step k with the ranks that are k away, without blocking.
RankRecord pairwise(uint64_t rank, const Dims& dims, uint64_t iterations) {
  Mesh m(rank, dims);
  m.begin();
  const uint32_t type = m.real(), get = m.site(), put = m.site(), wait = m.site();
  for (uint64_t i = 0; i < iterations; ++i) {
    for (int64_t k = 1; k < m.size; ++k) {
      const uint32_t q =
          m.r.call(message(kIrecv, get, 0, 32, type, (m.me + m.size - k) % m.size, 1, m.r.world())
                       .new_request(0));
      m.r.call(message(kSend, put, 0, 32, type, (m.me + k) % m.size, 1, m.r.world()));
      m.r.call(Sig(kWait, wait).request(q).constant("MPI_STATUS_IGNORE"));
    }
  }
  return m.end();
}

// Counts and displacements as an all-to-all has them, each by another law.
RankRecord alltoallv(uint64_t rank, const Dims& dims, uint64_t iterations) {
  Mesh m(rank, dims);
  m.begin();
  const uint32_t type = m.real(), site = m.site(), second = m.site(), third = m.site();
  Dims cyclic, sums, constant, multiples, of_me, to_me;
  int64_t sum = 0;
  for (int64_t j = 0; j < m.size; ++j) {
    cyclic.push_back((m.me + j) % 4 + 1);
    sums.push_back(sum);
    sum += cyclic.back();
    constant.push_back(12);
    multiples.push_back(12 * j);
    of_me.push_back(j * m.me);
    to_me.push_back(m.me + j * m.size);
  }
  const auto call = [&](uint32_t where, const Dims& a, const Dims& b, const Dims& c,
                        const Dims& d) {
    m.r.call(Sig(kAlltoallv, where)
                 .buffer(BufferClass::kHeap, 1, 0)
                 .int_runs(a)
                 .int_runs(b)
                 .object(type)
                 .buffer(BufferClass::kHeap, 2, 0)
                 .int_runs(c)
                 .int_runs(d)
                 .object(type)
                 .object(m.r.world()));
  };
  for (uint64_t i = 0; i < iterations; ++i) {
    call(site, cyclic, sums, cyclic, sums);
    call(second, constant, multiples, constant, of_me);
    call(third, constant, to_me, of_me, multiples);
  }
  return m.end();
}

// Communicators of rows and columns, and everything that may follow the rank: colours, keys, tags,
// counts, displacements, a datatype that is a part of the mesh.
RankRecord rows_and_columns(uint64_t rank, const Dims& dims, uint64_t iterations) {
  Mesh m(rank, dims);
  m.begin();
  const int64_t rows = dims[0], columns = dims[1], row = m.coords[0], column = m.coords[1];
  base::RunList in_row, in_column, alone;
  in_row.append_run(row * columns, 1, static_cast<uint64_t>(columns));
  in_column.append_run(column, columns, static_cast<uint64_t>(rows));
  alone.append(m.me);
  const uint32_t row_comm = m.r.comm(1, in_row), column_comm = m.r.comm(2, in_column);
  const uint32_t self = m.r.comm(3, alone);
  const uint32_t world = m.r.world(), type = m.real();
  m.r.call(Sig(kCommSplit, m.site()).object(world).integer(row).integer(column).object(row_comm));
  m.r.call(
      Sig(kCommSplit, m.site()).object(world).integer(column).integer(row).object(column_comm));
  m.r.call(Sig(kCommSplit, m.site()).object(world).integer(m.me).integer(-m.me).object(self));
  DatatypeDefinition part;
  part.id = 1;
  part.size_bytes = 800;
  part.extent_bytes = 800 * m.size;
  part.combiner = mpi::constant_id("MPI_COMBINER_SUBARRAY");
  for (const int64_t v : {int64_t{2}, rows * 10, columns * 10, int64_t{10}, int64_t{10}, row * 10,
                          column * 10, int64_t{56}})
    part.integers.append(v);
  const uint32_t view = m.r.define(DefinitionKind::kDatatype, write_datatype(part), {type});
  m.r.call(Sig(kTypeSubarray, m.site()).ints({row * 10, column * 10}).object(type).object(view));
  const uint32_t a = m.site(), b = m.site(), c = m.site(), d = m.site();
  for (uint64_t i = 0; i < iterations; ++i) {
    m.r.call(message(kSendrecv, a, 0, 9, type, (column + 1) % columns, m.me, row_comm));
    m.r.call(message(kSend, b, 8 * m.me, 9, type, (row + 1) % rows, 1000 + column, column_comm));
    m.r.call(Sig(kBcast, c).integer(5).object(type).integer(row % 2).object(row_comm));
    m.r.call(Sig(kWrite, d).integer(m.me * 800).object(view).object(self));
  }
  return m.end();
}

}  // namespace

uint64_t rank_count(const std::vector<int64_t>& dims) {
  uint64_t n = 1;
  for (const int64_t d : dims) n *= static_cast<uint64_t>(d);
  return n;
}

const std::vector<Pattern>& patterns() {
  const auto halo_of = [](bool periodic, bool skip) {
    return [=](uint64_t r, const Dims& d, uint64_t n) { return halo(r, d, n, periodic, skip); };
  };
  const auto sweep_of = [](bool skip) {
    return [=](uint64_t r, const Dims& d, uint64_t n) { return sweep(r, d, n, skip); };
  };
  static const std::vector<Pattern> all = {
      {"halo 2D", 2, halo_of(false, false)},
      {"halo 2D periodic", 2, halo_of(true, false)},
      {"halo 2D without calls at borders", 2, halo_of(false, true)},
      {"halo 3D", 3, halo_of(false, false)},
      {"halo 3D periodic", 3, halo_of(true, false)},
      {"halo 3D without calls at borders", 3, halo_of(false, true)},
      {"sweep 2D", 2, sweep_of(false)},
      {"sweep 2D without calls at borders", 2, sweep_of(true)},
      {"sweep 3D", 3, sweep_of(false)},
      {"recursive doubling", 1, doubling},
      {"transpose", 2, transpose},
      {"ring", 1, ring},
      {"rotating root", 1, rotating_root},
      {"pairwise exchange", 1, pairwise},
      {"all-to-all-v", 1, alltoallv},
      {"rows and columns", 2, rows_and_columns},
  };
  return all;
}

const Pattern& pattern(std::string_view name) {
  const auto it = std::find_if(patterns().begin(), patterns().end(),
                               [&](const Pattern& p) { return p.name == name; });
  EXPECT_NE(it, patterns().end()) << name;
  return *it;
}

RankRecord irregular(uint64_t rank, uint64_t world_size) {
  constexpr uint64_t kKinds = 1000, kCalls = 60, kForms = 24;
  uint64_t mixed = (rank + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  std::mt19937_64 random(mixed % kKinds);  // all of one kind do the same
  SyntheticRank r(rank, world_size);
  for (uint64_t i = 0; i < kCalls; ++i) {
    const uint64_t form = random() % kForms;
    const auto away = static_cast<int64_t>(1 + random() % 9);
    const auto to = (static_cast<int64_t>(rank) + away) % static_cast<int64_t>(world_size);
    r.call(message(kSend, r.site(static_cast<int64_t>(0x1200 + form * 0x1d)), 0,
                   static_cast<int64_t>(random() % 4), r.datatype("MPI_DOUBLE", 8), to,
                   static_cast<int64_t>(form), r.world()));
  }
  return r.finish();
}

}  // namespace refrain::format::testing
