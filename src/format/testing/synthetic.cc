#include "format/testing/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "format/merge/merge.h"
#include "format/signatures/slot_evaluator.h"
#include "format/signatures/walk.h"
#include "format/testing/call_ids.h"
#include "grammar/builder.h"
#include "mpi/call_table.h"

namespace refrain::format::testing {

Sig& Sig::constant(const char* name) {
  const uint32_t id = mpi::constant_id(name);
  EXPECT_NE(id, 0u) << name;
  tag(FieldTag::kConst).put_varint(id);
  return *this;
}

Sig& Sig::buffer(BufferClass kind, int64_t id, int64_t offset, int64_t device) {
  base::ByteWriter& out = tag(FieldTag::kBuffer);
  out.put_u8(static_cast<uint8_t>(kind));
  out.put_zigzag(id);
  out.put_zigzag(offset);
  if (kind == BufferClass::kDevice) out.put_zigzag(device);
  return *this;
}

Sig& Sig::ints(const std::vector<int64_t>& values) {
  array(values.size());
  for (const int64_t v : values) times(1).integer(v);
  return *this;
}

Sig& Sig::int_runs(const std::vector<int64_t>& values) {
  tag(FieldTag::kIntRuns).put_varint(values.size());
  for (size_t i = 0; i < values.size();) {
    // Differences wrap, as the format's do.
    const auto value = [&](size_t k) { return static_cast<uint64_t>(values[k]); };
    const uint64_t step = i + 1 < values.size() ? value(i + 1) - value(i) : 0;
    size_t n = 1;
    while (i + n < values.size() && value(i + n) == value(i) + step * n) ++n;
    out_.put_varint(n);
    out_.put_zigzag(values[i]);
    out_.put_zigzag(n == 1 ? 0 : static_cast<int64_t>(step));
    i += n;
  }
  return *this;
}

SyntheticRank::SyntheticRank(uint64_t rank, uint64_t) {
  record_.rank = rank;
  record_.host = std::string("node").append(std::to_string(rank / 64));
  record_.text = {{"program", "/home/user/src/halo/halo2d"},
                  {"command", "./halo2d 500"},
                  {"mpi", "MPICH"},
                  {"mpi_version", "4.0.2"},
                  {"recorder", "refrain 0.1.0"},
                  {"timing", "stats"},
                  {"started", "2026-11-21T03:22:02Z"},
                  {"working_directory", "/home/user/src/halo"}};
}
SyntheticRank::~SyntheticRank() = default;

uint32_t SyntheticRank::define(DefinitionKind kind, std::string payload,
                               std::vector<uint32_t> refs) {
  std::string key(1, static_cast<char>(kind));
  for (const uint32_t r : refs) key += std::to_string(r) + ",";
  key += '|';
  key += payload;
  const auto next = static_cast<uint32_t>(record_.definitions.size());
  const auto [it, is_new] = definition_index_.try_emplace(key, next);
  if (is_new) record_.definitions.push_back(Definition{kind, std::move(payload), std::move(refs)});
  return it->second;
}

uint32_t SyntheticRank::site(int64_t offset) {
  base::ByteWriter module, payload;
  module.put_string("/home/user/src/halo/halo2d");
  module.put_string("9f2c4be0d1a53c77e6b1f0a94d12c85b3e7710aa");
  const uint32_t m = define(DefinitionKind::kModule, module.take());
  payload.put_zigzag(offset);
  return define(DefinitionKind::kSite, payload.take(), {m});
}

uint32_t SyntheticRank::world() {
  CommDefinition c;
  c.constant = mpi::constant_id("MPI_COMM_WORLD");
  return define(DefinitionKind::kComm, write_comm(c));
}

uint32_t SyntheticRank::comm(int64_t id, const base::RunList& members) {
  CommDefinition c;
  c.id = id;
  c.has_members = true;
  c.local = members;
  return define(DefinitionKind::kComm, write_comm(c));
}

uint32_t SyntheticRank::datatype(const char* name, int64_t size_bytes) {
  DatatypeDefinition d;
  d.constant = mpi::constant_id(name);
  d.size_bytes = d.extent_bytes = size_bytes;
  return define(DefinitionKind::kDatatype, write_datatype(d));
}

uint32_t SyntheticRank::call(const Sig& sig) {
  const auto next = static_cast<uint32_t>(record_.signatures.size());
  const auto [it, is_new] = signature_index_.try_emplace(sig.bytes(), next);
  if (is_new) {
    record_.signatures.push_back(sig.bytes());
    record_.durations.emplace_back();
  }
  sequence_.push_back(it->second);
  return it->second;
}

RankRecord SyntheticRank::finish() {
  grammar::Builder builder;
  std::mt19937_64 random(record_.rank * 7919 + 1);
  // A few hundred nanoseconds to some microseconds with a tail, as calls take.
  std::lognormal_distribution<double> ns(6.5, 1.1);
  for (const uint32_t t : sequence_) {
    builder.append(t);
    DurationStats& d = record_.durations[t];
    const auto v = static_cast<uint64_t>(ns(random)) + 1;
    d.min_ns = d.count == 0 ? v : std::min(d.min_ns, v);
    d.max_ns = std::max(d.max_ns, v);
    ++d.count;
    d.sum_ns += static_cast<double>(v);
    d.histogram.add(Histogram::bucket_of(v), 1);
    record_.totals.in_mpi_ns += v;
  }
  record_.totals.outside_ns = 900'000'000 + random() % 100'000'000;
  record_.duration_ns = record_.totals.in_mpi_ns + record_.totals.outside_ns;
  record_.threads.push_back(RankRecord::Thread{0, builder.finish()});
  return std::move(record_);
}

namespace {

int64_t neighbour(int64_t c, int64_t step, int64_t extent, bool periodic) {
  const int64_t n = c + step;
  if (n >= 0 && n < extent) return n;
  return periodic ? (n + extent) % extent : -1;
}

// Call sites one behind the other.
struct Sites {
  SyntheticRank& rank;
  int64_t where = 0x1200;
  uint32_t next() { return rank.site(where += 0x2b); }
};

// What comes before a halo exchange; the communicator of the mesh.
uint32_t set_up_mesh(SyntheticRank& r, Sites& sites, uint64_t world_size,
                     const std::vector<int64_t>& dims, const std::vector<int64_t>& coords,
                     const std::vector<int64_t>& peers, bool periodic) {
  const auto me = static_cast<int64_t>(r.rank());
  const auto dimension_count = static_cast<int64_t>(dims.size());
  r.call(
      Sig(kInit, sites.next()).buffer(BufferClass::kStack, 1, 0).buffer(BufferClass::kStack, 2, 0));
  r.call(Sig(kCommRank, sites.next()).object(r.world()).integer(me));
  r.call(Sig(kCommSize, sites.next()).object(r.world()).integer(static_cast<int64_t>(world_size)));
  base::RunList all;
  all.append_run(0, 1, world_size);
  const uint32_t cart = r.comm(1, all);
  const std::vector<int64_t> periods(dims.size(), periodic ? 1 : 0);
  r.call(Sig(kCartCreate, sites.next())
             .object(r.world())
             .integer(dimension_count)
             .ints(dims)
             .ints(periods)
             .integer(0)
             .object(cart));
  r.call(Sig(kCommRank, sites.next()).object(cart).integer(me));
  r.call(Sig(kCartCoords, sites.next())
             .object(cart)
             .integer(me)
             .integer(dimension_count)
             .ints(coords));
  for (size_t d = 0; d < dims.size(); ++d)
    r.call(Sig(kCartShift, sites.next())
               .object(cart)
               .integer(static_cast<int64_t>(d))
               .integer(1)
               .peer(peers[2 * d])
               .peer(peers[2 * d + 1]));
  return cart;
}

// The calls of a halo exchange: `peers` are the neighbours in the order of the exchange.
void exchange(SyntheticRank& r, uint64_t world_size, const std::vector<int64_t>& dims,
              const std::vector<int64_t>& coords, const std::vector<int64_t>& peers, bool periodic,
              uint64_t iterations) {
  Sites sites{r};
  const uint32_t cart = set_up_mesh(r, sites, world_size, dims, coords, peers, periodic);
  const uint32_t type = r.datatype("MPI_DOUBLE", 8);
  std::vector<uint32_t> receive_site, send_site;
  for (size_t p = 0; p < peers.size(); ++p) receive_site.push_back(sites.next());
  for (size_t p = 0; p < peers.size(); ++p) send_site.push_back(sites.next());
  const uint32_t wait_site = sites.next(), reduce_site = sites.next(), stop_site = sites.next();
  for (uint64_t i = 0; i < iterations; ++i) {
    std::vector<uint32_t> requests;
    for (size_t p = 0; p < peers.size(); ++p)
      requests.push_back(r.call(Sig(kIrecv, receive_site[p])
                                    .buffer(BufferClass::kHeap, 3, static_cast<int64_t>(p) * 2064)
                                    .integer(258)
                                    .object(type)
                                    .peer(peers[p])
                                    .integer(static_cast<int64_t>(p))
                                    .object(cart)
                                    .new_request(0)));
    for (size_t p = 0; p < peers.size(); ++p)
      requests.push_back(r.call(Sig(kIsend, send_site[p])
                                    .buffer(BufferClass::kHeap, 4, static_cast<int64_t>(p) * 2064)
                                    .integer(258)
                                    .object(type)
                                    .peer(peers[p])
                                    .integer(static_cast<int64_t>(p ^ 1))
                                    .object(cart)
                                    .new_request(0)));
    Sig wait(kWaitall, wait_site);
    wait.integer(static_cast<int64_t>(requests.size())).array(requests.size());
    for (const uint32_t q : requests) wait.times(1).request(q);
    wait.constant("MPI_STATUSES_IGNORE");
    r.call(wait);
    if (i % 10 == 9)
      r.call(Sig(kAllreduce, reduce_site)
                 .buffer(BufferClass::kStack, 3, 0)
                 .buffer(BufferClass::kStack, 4, 0)
                 .integer(1)
                 .object(type)
                 .constant("MPI_SUM")
                 .object(cart));
  }
  r.call(Sig(kCommFree, stop_site).object(cart));
  r.call(Sig(kFinalize, sites.next()));
}

}  // namespace

RankRecord halo_2d(uint64_t rank, uint64_t columns, uint64_t rows, bool periodic,
                   uint64_t iterations) {
  SyntheticRank r(rank, columns * rows);
  const auto w = static_cast<int64_t>(columns), h = static_cast<int64_t>(rows);
  const int64_t y = static_cast<int64_t>(rank) / w, x = static_cast<int64_t>(rank) % w;
  const auto at = [&](int64_t ny, int64_t nx) { return ny < 0 || nx < 0 ? -1 : ny * w + nx; };
  exchange(r, columns * rows, {h, w}, {y, x},
           {at(neighbour(y, -1, h, periodic), x), at(neighbour(y, 1, h, periodic), x),
            at(y, neighbour(x, -1, w, periodic)), at(y, neighbour(x, 1, w, periodic))},
           periodic, iterations);
  return r.finish();
}

RankRecord halo_3d(uint64_t rank, uint64_t edge, uint64_t iterations) {
  SyntheticRank r(rank, edge * edge * edge);
  const auto n = static_cast<int64_t>(edge);
  const auto me = static_cast<int64_t>(rank);
  const int64_t c[3] = {me / (n * n), me / n % n, me % n};
  std::vector<int64_t> peers;
  for (int d = 0; d < 3; ++d) {
    for (const int64_t step : {-1, 1}) {
      int64_t p[3] = {c[0], c[1], c[2]};
      p[d] = neighbour(p[d], step, n, true);
      peers.push_back((p[0] * n + p[1]) * n + p[2]);
    }
  }
  exchange(r, edge * edge * edge, {n, n, n}, {c[0], c[1], c[2]}, peers, true, iterations);
  return r.finish();
}

TraceData merge_all(const std::vector<RankRecord>& ranks, uint64_t seed) {
  std::vector<PartialTrace> parts;
  for (const RankRecord& r : ranks) {
    auto one = leaf(r, ranks.size());
    EXPECT_TRUE(one.ok()) << one.error().to_string();
    if (!one.ok()) return {};
    parts.push_back(std::move(*one));
  }
  std::mt19937_64 random(seed);
  size_t at = 0;
  while (parts.size() > 1) {
    if (seed != 0) at = random() % (parts.size() - 1);
    const std::string message = serialise(parts[at + 1]);
    auto right = parse(message);
    EXPECT_TRUE(right.ok());
    if (!right.ok()) return {};
    const auto at_once = merge_bytes(parts[at], message);
    auto both = merge(std::move(parts[at]), std::move(*right));
    EXPECT_TRUE(both.ok() && at_once.ok());
    if (!both.ok() || !at_once.ok()) return {};
    EXPECT_EQ(serialise(*at_once), serialise(*both));
    parts[at] = std::move(*both);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    if (++at + 1 >= parts.size()) at = 0;
  }
  auto trace = finish(std::move(parts[0]));
  EXPECT_TRUE(trace.ok());
  return trace.ok() ? std::move(*trace) : TraceData{};
}

}  // namespace refrain::format::testing
