// Writes the traces that the tests of the report look at.
//
//   report_trace halo ROWS COLUMNS ITERATIONS exact|none OUT.rfn
//     a halo exchange on a torus: 4 Irecv, 4 Isend, a Waitall an iteration
//   report_trace exchange RANKS OUT.rfn
//     every rank with every other one, by MPI_Sendrecv: as many channels as pairs
//   report_trace workers RANKS MESSAGES exact|none OUT.rfn
//     all others send to rank 0, in no order; it posts a receive from anybody, and waits for it
//   report_trace scan RANKS CALLS HOLES OUT.rfn
//     MPI_Scan on all ranks, which enter the higher ones first; every HOLES-th rank leaves the last
//     one out, none where HOLES is 0
//   report_trace tags RANKS TAGS OUT.rfn
//     every rank sends to the next one: one tag after the other, in two sizes
//   report_trace hostile OUT.rfn
//     names that want to be markup, script, shell or TeX; nothing of it may come to life
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "format/encode/encode.h"
#include "reader/test_trace.h"

namespace {

using namespace refrain;
using format::RankExpr;
using reader::fixed;
using reader::ShapeWriter;
using reader::TraceBuilder;
using Times = std::vector<std::pair<uint64_t, uint64_t>>;

// One step along a dimension of a torus.
RankExpr step(int64_t stride, int64_t extent, int64_t by) {
  return RankExpr{RankExpr::Kind::kCart, stride, extent, by};
}

class Halo {
 public:
  // `name`: of the grid and a region, where there is one.
  Halo(int64_t rows, int64_t columns, int iterations, const std::string& module,
       const std::string& name)
      : rows_(rows), columns_(columns), builder_(static_cast<uint64_t>(rows * columns)) {
    const uint32_t world = builder_.world();
    std::vector<int64_t> members;
    for (int64_t r = 0; r < rows * columns; ++r) members.push_back(r);
    grid_ = builder_.comm(1, members);
    type_ = builder_.predefined_type("MPI_DOUBLE", 8);
    site_ = builder_.site(module, "", 0x100);
    ShapeWriter cart = call("MPI_Cart_create"), end = call("MPI_Finalize");
    cart.object(world).integer(2);
    numbers(cart, {rows_, columns_});
    numbers(cart, {1, 1});
    cart.integer(0).object(grid_);
    std::vector<uint32_t> calls = {builder_.signature(call("MPI_Init").none().none()),
                                   builder_.signature(cart)};
    if (!name.empty()) add_names(name, calls);
    const std::vector<uint32_t> round = round_of_calls();
    for (int i = 0; i < iterations; ++i) calls.insert(calls.end(), round.begin(), round.end());
    calls.push_back(builder_.signature(end));
    calls_ = calls;
    builder_.group(members, calls);
  }

  // Some ranks are slower than others, in a way that a picture shows.
  void run(bool with_times) {
    std::mt19937_64 random(1);
    for (int64_t rank = 0; rank < rows_ * columns_; ++rank) {
      uint64_t now = 0, in_mpi = 0;
      Times times;
      for (const uint32_t id : calls_) {
        const uint64_t begin = now + 100 + random() % 50 + (id == wait_ ? slow(rank) : 0);
        const uint64_t end = begin + (id == wait_ ? 4000 + random() % 2000 : 150 + random() % 100);
        count(id, end - begin);
        in_mpi += end - begin;
        times.emplace_back(begin, end);
        now = end;
      }
      builder_.data().totals[static_cast<size_t>(rank)] = {in_mpi, now - in_mpi, {}};
      builder_.data().meta.duration_ns = std::max(builder_.data().meta.duration_ns, now);
      if (with_times) builder_.times(static_cast<uint64_t>(rank), times);
    }
  }
  format::TraceData& data() { return builder_.data(); }

 private:
  ShapeWriter call(std::string_view name) {
    ShapeWriter out(name);
    out.object(site_);
    return out;
  }
  static void numbers(ShapeWriter& out, const std::vector<int64_t>& values) {
    out.array(values.size());
    for (const int64_t v : values) out.repeat(1).integer(v);
  }
  void add_names(const std::string& name, std::vector<uint32_t>& calls) {
    ShapeWriter comm = call("MPI_Comm_set_name"), begin = call("refrain_region_begin");
    comm.object(grid_).string(format::FieldTag::kString, name);
    begin.string(format::FieldTag::kString, name);
    for (ShapeWriter* shape : {&comm, &begin}) calls.push_back(builder_.signature(*shape));
  }
  std::vector<uint32_t> round_of_calls() {
    const RankExpr partners[4] = {step(columns_, rows_, -1), step(columns_, rows_, 1),
                                  step(1, columns_, -1), step(1, columns_, 1)};
    std::vector<uint32_t> out;
    for (int i = 0; i < 8; ++i) {
      const bool is_receive = i < 4;
      const int side = i % 4;
      out.push_back(builder_.signature(call(is_receive ? "MPI_Irecv" : "MPI_Isend")
                                           .heap(side, 0)
                                           .integer(128)
                                           .object(type_)
                                           .integer(partners[side])
                                           .integer(is_receive ? side ^ 1 : side)
                                           .object(grid_)
                                           .new_request(0)));
    }
    ShapeWriter wait = call("MPI_Waitall");
    wait.integer(8).array(8);
    for (const uint32_t id : out) wait.repeat(1).request(id);
    wait.none();
    wait_ = builder_.signature(wait);
    out.push_back(wait_);
    return out;
  }
  uint64_t slow(int64_t rank) const { return rank % columns_ == 2 ? 3000 : 500; }
  void count(uint32_t id, uint64_t ns) {
    format::DurationStats& stats = builder_.data().durations[id];
    stats.min_ns = stats.sum_ns == 0 ? ns : std::min(stats.min_ns, ns);
    stats.max_ns = std::max(stats.max_ns, ns);
    stats.sum_ns += static_cast<double>(ns);
    size_t bucket = 0;
    while (ns >> (bucket + 1) != 0) ++bucket;
    stats.histogram.add(bucket, 1);
  }

  int64_t rows_, columns_;
  TraceBuilder builder_;
  uint32_t grid_ = 0, type_ = 0, site_ = 0, wait_ = UINT32_MAX;
  std::vector<uint32_t> calls_;
};

const std::string kTex =
    "]*\\\\[9cm] }\\end{document}\\immediate\\write18{touch pwned}\\input{/etc/passwd} ^^5cinput "
    "%$&#_{}~^"
    "\"|?`!` caf\xc3\xa9 \xe2\x82\xac \xff\x01\n\\openout1=pwned \\csname input\\endcsname";

format::TraceData exchange(int64_t ranks) {
  TraceBuilder builder(static_cast<uint64_t>(ranks));
  const uint32_t world = builder.world(), type = builder.predefined_type("MPI_DOUBLE", 8);
  std::vector<uint32_t> calls;
  std::vector<int64_t> members;
  for (int64_t r = 0; r < ranks; ++r) members.push_back(r);
  for (int64_t by = 1; by < ranks; ++by) {
    ShapeWriter call("MPI_Sendrecv");
    call.none().none().integer(16).object(type).integer(reader::me_plus_mod_size(by)).integer(0);
    call.none().integer(16).object(type).integer(reader::me_plus_mod_size(ranks - by)).integer(0);
    calls.push_back(builder.signature(call.object(world).none()));
  }
  builder.group(members, calls);
  return builder.data();
}

format::TraceData workers(int64_t ranks, int64_t messages, bool with_times) {
  TraceBuilder builder(static_cast<uint64_t>(ranks));
  const uint32_t world = builder.world(), type = builder.predefined_type("MPI_DOUBLE", 8);
  ShapeWriter post("MPI_Irecv"), send("MPI_Send");
  post.none().heap(0, 0).integer(16).object(type).constant("MPI_ANY_SOURCE").integer(5);
  const uint32_t posting = builder.signature(post.object(world).new_request(0));
  send.none().heap(0, 0).integer(16).object(type).integer(0).integer(5);
  const uint32_t sending = builder.signature(send.object(world));
  std::vector<uint32_t> waiting(static_cast<size_t>(ranks));
  for (int64_t r = 1; r < ranks; ++r) {
    ShapeWriter wait("MPI_Wait");
    wait.none().request(posting).tag(format::FieldTag::kStatus).integer(r).integer(5);
    waiting[static_cast<size_t>(r)] = builder.signature(wait);
  }
  std::mt19937_64 random(2);
  std::vector<std::vector<uint32_t>> calls(static_cast<size_t>(ranks));
  std::vector<Times> times(calls.size());
  uint64_t now = 0;
  for (int64_t i = 0; i < messages; ++i) {
    const size_t from = 1 + random() % static_cast<uint64_t>(ranks - 1);
    const uint64_t late = random() % 500;
    calls[0].insert(calls[0].end(), {posting, waiting[from]});
    times[0].insert(times[0].end(), {{now, now + 50}, {now + 100, now + 300 + late}});
    calls[from].push_back(sending);
    times[from].emplace_back(now + 150 + late, now + 160 + late);
    now += 400 + late;
  }
  for (size_t r = 0; r < calls.size(); ++r) {
    builder.group({static_cast<int64_t>(r)}, calls[r]);
    if (with_times) builder.times(r, times[r]);
  }
  builder.data().meta.duration_ns = now;
  return builder.data();
}

format::TraceData scan(int64_t ranks, int64_t count, int64_t holes) {
  TraceBuilder builder(static_cast<uint64_t>(ranks));
  const uint32_t world = builder.world(), type = builder.predefined_type("MPI_DOUBLE", 8);
  ShapeWriter call("MPI_Scan");
  call.none().heap(0, 0).heap(1, 0).integer(16).object(type).constant("MPI_SUM").object(world);
  const uint32_t id = builder.signature(call);
  std::vector<int64_t> whole, cut;
  for (int64_t r = 0; r < ranks; ++r) (holes > 0 && r % holes == 0 ? cut : whole).push_back(r);
  const auto most = static_cast<uint64_t>(ranks);
  for (const auto* members : {&whole, &cut}) {
    const int64_t calls = members == &cut ? count - 1 : count;
    if (members->empty()) continue;
    builder.group(*members, std::vector<uint32_t>(static_cast<size_t>(calls), id));
    for (const int64_t r : *members) {
      Times times;
      for (uint64_t i = 0; i < static_cast<uint64_t>(calls); ++i) {
        const uint64_t begin = 4 * i * most + most - static_cast<uint64_t>(r);
        times.emplace_back(begin, (4 * i + 2) * most + static_cast<uint64_t>(r));
      }
      builder.times(static_cast<uint64_t>(r), times);
    }
  }
  builder.data().meta.duration_ns = 4 * most * static_cast<uint64_t>(count);
  return builder.data();
}

format::TraceData tags(int64_t ranks, int64_t count) {
  TraceBuilder builder(static_cast<uint64_t>(ranks));
  const uint32_t world = builder.world(), type = builder.predefined_type("MPI_DOUBLE", 8);
  std::vector<uint32_t> calls;
  std::vector<int64_t> members;
  for (int64_t r = 0; r < ranks; ++r) members.push_back(r);
  for (int64_t i = 0; i < 2 * count; ++i) {
    ShapeWriter call("MPI_Sendrecv");
    call.none().none().integer(1 + i % 2).object(type);
    call.integer(reader::me_plus_mod_size(1)).integer(i / 2);
    call.none().integer(16).object(type).integer(reader::me_plus_mod_size(ranks - 1));
    call.integer(i / 2).object(world).none();
    calls.push_back(builder.signature(call));
  }
  builder.group(members, calls);
  return builder.data();
}

const std::string kMarkup = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";
// What is markup, shell, SQL, a formula, or another line of some format of `refrain convert`.
const std::string kName = "=cmd()|'" + kMarkup +
                          "\n}\nrank 9 {\n0 init\r\n9,\"x\",,\tLEVEL CPU SIZE 7\n"
                          "$(reboot)`reboot`');DROP TABLE calls;--\x1b[31m\xff]]>&amp;";

format::TraceData& hostile(Halo& halo) {
  format::TraceData& data = halo.data();
  data.meta.text["program"] = "/bin/" + kMarkup + "$(reboot)`reboot`'\";";
  data.meta.text["command"] = kMarkup + " &amp; <!-- \\u003c ${x} \x01\x7f";
  data.meta.text["<b>key</b>"] = kMarkup;
  data.meta.text["\\input{key}"] = kTex;
  data.meta.hosts = {kMarkup + "\nLEVEL THREAD SIZE 9"};
  data.meta.complete = false;
  data.losses.push_back({"spool_full", 17, 1, kMarkup});
  return data;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  const bool is_exchange = kind == "exchange" && argc == 4, is_tags = kind == "tags" && argc == 5;
  const bool is_workers = kind == "workers" && argc == 6, is_scan = kind == "scan" && argc == 6;
  if (!(kind == "halo" && argc == 7) && !(kind == "hostile" && argc == 3) && !is_exchange &&
      !is_workers && !is_tags && !is_scan)
    return 2;
  const bool is_halo = kind == "halo";
  Halo halo(is_halo ? std::atoll(argv[2]) : 2, is_halo ? std::atoll(argv[3]) : 4,
            is_halo ? std::atoi(argv[4]) : 20, is_halo ? "/no/such/halo" : "/no/such/" + kTex,
            is_halo ? "" : kName);
  halo.run(!is_halo || std::string(argv[5]) == "exact");
  if (!is_halo) hostile(halo);
  const auto bytes =
      format::encode(is_exchange ? exchange(std::atoll(argv[2]))
                     : is_tags   ? tags(std::atoll(argv[2]), std::atoll(argv[3]))
                     : is_scan ? scan(std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]))
                     : is_workers ? workers(std::atoll(argv[2]), std::atoll(argv[3]),
                                            std::string(argv[4]) == "exact")
                                  : halo.data());
  if (!bytes.ok()) return std::fprintf(stderr, "%s\n", bytes.error().to_string().c_str()), 1;
  const auto written = format::write_file_atomically(argv[argc - 1], *bytes);
  return written.ok() ? 0 : 1;
}
