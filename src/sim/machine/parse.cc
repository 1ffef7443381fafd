// The machine file. tomlplusplus reads TOML; what its keys mean is checked here.
#include "base/text_file.h"
#include "sim/collectives/collective.h"
#include "sim/machine/machine.h"
#include "sim/machine/toml_reader.h"

namespace refrain::sim {
namespace {

using Reader = TomlReader;

constexpr double kMostNs = 1e12;      // a thousand seconds
constexpr double kMostPerByte = 1e6;  // 1 kB/s
constexpr double kMostBandwidth = 1e18;

void add_range(Reader& in, const toml::table& row, const SizeRange& range,
               std::vector<SizeRange>& to) {
  if (!to.empty() && to.back().up_to >= range.up_to)
    in.fail(row, "the ranges of a distance ascend by up_to, and the last one has none");
  to.push_back(range);
}

void read_range(Reader& in, const toml::table& row, std::vector<SizeRange>& out) {
  in.only(row, {"up_to", "L", "o_send", "o_recv", "g", "G", "cpu_per_byte", "handshake", "crossing",
                "crossing_per_byte"});
  SizeRange range;
  range.up_to = in.whole(row, "up_to", UINT64_MAX, 0, INT64_MAX);
  range.latency = in.parameter(row, "L", kMostNs, true);
  range.send = in.parameter(row, "o_send", kMostNs, true);
  range.receive = in.parameter(row, "o_recv", kMostNs, true);
  range.gap = in.parameter(row, "g", kMostNs, true);
  range.gap_per_byte = in.parameter(row, "G", kMostPerByte, true);
  range.cpu_per_byte = in.parameter(row, "cpu_per_byte", kMostPerByte, false);
  range.handshake =
      row.contains("handshake") ? in.parameter(row, "handshake", kMostNs, false) : range.latency;
  range.crossing = in.parameter(row, "crossing", kMostNs, false);
  range.crossing_per_byte = in.parameter(row, "crossing_per_byte", kMostPerByte, false);
  add_range(in, row, range, out);
}

void check_ranges(Reader& in, const toml::table& table, const Protocol& read) {
  if (!read.ranges.empty() && read.ranges.back().up_to != UINT64_MAX)
    in.fail(table, "the last range of a distance has no up_to: it is for all larger messages");
}

Protocol read_distance(Reader& in, const toml::table& table) {
  in.only(table, {"eager_limit", "acknowledged_above", "overlap", "unexpected_copy",
                  "unexpected_copy_per_byte", "range"});
  Protocol out;
  out.eager_limit = in.whole(table, "eager_limit", 0, 0, INT64_MAX, true);
  out.acknowledged_above = in.whole(table, "acknowledged_above", UINT64_MAX, 0, INT64_MAX);
  out.overlap = in.parameter(table, "overlap", 1, false);
  out.unexpected_copy = in.parameter(table, "unexpected_copy", kMostNs, false);
  out.unexpected_copy_per_byte =
      in.parameter(table, "unexpected_copy_per_byte", kMostPerByte, false);
  in.rows(table, "range", true, [&](const toml::table& row) { read_range(in, row, out.ranges); });
  check_ranges(in, table, out);
  return out;
}

// A distance that is left out has the parameters of the next one that is there.
void read_distances(Reader& in, const toml::table& root, Machine& out) {
  const toml::table* const all = in.table(root, "distance", true);
  if (all == nullptr) return;
  in.only(*all, {"core", "node", "switch"});
  std::array<const toml::table*, kDistances> tables{};
  for (size_t i = 0; i < kDistances; ++i)
    tables[i] = in.table(*all, name_of(static_cast<Distance>(i)));
  const toml::table* last = nullptr;
  for (const toml::table* one : tables) last = one != nullptr ? one : last;
  if (last == nullptr) return in.fail(*all, "one of core, node and switch is needed here");
  for (size_t i = kDistances; i-- > 0;) {
    if (tables[i] != nullptr) last = tables[i];
    out.distances[i] = read_distance(in, *last);
  }
}

// Nothing but the processor has to do with a copy.
void read_self(Reader& in, const toml::table& root, Machine& out) {
  const toml::table* const table = in.table(root, "self");
  if (table == nullptr) return;
  in.only(*table, {"unexpected_copy", "unexpected_copy_per_byte", "range"});
  Protocol& self = out.self.emplace();
  self.unexpected_copy = in.parameter(*table, "unexpected_copy", kMostNs, false);
  self.unexpected_copy_per_byte =
      in.parameter(*table, "unexpected_copy_per_byte", kMostPerByte, false);
  in.rows(*table, "range", true, [&](const toml::table& row) {
    in.only(row, {"up_to", "o_send", "o_recv", "cpu_per_byte"});
    SizeRange range;
    range.up_to = in.whole(row, "up_to", UINT64_MAX, 0, INT64_MAX);
    range.send = in.parameter(row, "o_send", kMostNs, true);
    range.receive = in.parameter(row, "o_recv", kMostNs, true);
    range.cpu_per_byte = in.parameter(row, "cpu_per_byte", kMostPerByte, false);
    add_range(in, row, range, self.ranges);
  });
  check_ranges(in, *table, self);
}

void read_links(Reader& in, const toml::table& table, Topology& out) {
  const auto bandwidth = [&](std::string_view key) {
    return in.parameter(table, key, kMostBandwidth, false, 0, true);
  };
  out.link_bandwidth = bandwidth("link_bandwidth");
  out.node_bandwidth = bandwidth("node_bandwidth");
  out.global_bandwidth = bandwidth("global_bandwidth");
  out.core_bandwidth = bandwidth("core_bandwidth");
  out.hop_latency = in.parameter(table, "hop_latency", kMostNs, false);
  out.header = in.whole(table, "header", 0, 0, 1 << 20);
  out.shares_by_hops = in.word(table, "sharing", {"equal", "by_hops"}) == 1;
  const bool has_other =
      out.node_bandwidth.value + out.global_bandwidth.value + out.core_bandwidth.value > 0;
  if (has_other && !out.has_links())
    in.fail(table, "'link_bandwidth' is missing here: other bandwidths need it");
}

void read_topology(Reader& in, const toml::table& root, Topology& out) {
  const toml::table* const table = in.table(root, "topology");
  if (table == nullptr) return;
  in.only(*table, {"kind", "nodes", "cores", "down", "up", "parallel", "dimensions", "groups",
                   "routers", "nodes_per_router", "link_bandwidth", "node_bandwidth",
                   "global_bandwidth", "core_bandwidth", "hop_latency", "header", "sharing"});
  out.kind = static_cast<Topology::Kind>(
      in.word(*table, "kind", {"crossbar", "fat_tree", "torus", "dragonfly"}, true));
  out.cores = in.whole(*table, "cores", 1, 1, kMostNodes);
  switch (out.kind) {
    case Topology::Kind::kCrossbar: out.nodes = in.whole(*table, "nodes", 0, 1, kMostNodes); break;
    case Topology::Kind::kFatTree:
      out.down = in.wholes(*table, "down", 1, 8, true);
      out.up = in.wholes(*table, "up", 1, 8, true);
      out.parallel = in.wholes(*table, "parallel", 1, 8, false);
      if (out.parallel.empty()) out.parallel.assign(out.down.size(), 1);
      if (out.up.size() != out.down.size() || out.parallel.size() != out.down.size())
        in.fail(*table, "'down', 'up' and 'parallel' have one number for each level");
      break;
    case Topology::Kind::kTorus: out.down = in.wholes(*table, "dimensions", 1, 8, true); break;
    case Topology::Kind::kDragonfly:
      out.down = {in.whole(*table, "groups", 1, 1, 1 << 16, true),
                  in.whole(*table, "routers", 1, 1, 1 << 16, true),
                  in.whole(*table, "nodes_per_router", 1, 1, 1 << 16, true)};
  }
  read_links(in, *table, out);
  if (!in.error() && out.kind != Topology::Kind::kCrossbar && nodes_of(out) > kMostNodes)
    in.fail(*table, "the topology has more than 16777216 nodes");
}

void read_mapping(Reader& in, const toml::table& root, Machine& out) {
  out.mapping.line = out.mapping.column = 1;
  const toml::node* const at =
      root.contains("mapping") ? root.get("mapping") : root.get("topology");
  if (at != nullptr) {
    out.mapping.line = static_cast<int>(at->source().begin.line);
    out.mapping.column = static_cast<int>(at->source().begin.column);
  }
  const toml::table* const table = in.table(root, "mapping");
  if (table == nullptr) return;
  in.only(*table, {"order", "nodes"});
  out.mapping.kind =
      static_cast<Mapping::Kind>(in.word(*table, "order", {"block", "round_robin", "list"}, true));
  if (out.mapping.kind != Mapping::Kind::kList) return;
  const toml::array* const nodes = in.array(*table, "nodes", true);
  if (nodes == nullptr) return;
  const uint64_t count = std::min(nodes_of(out.topology), kMostNodes);
  for (const toml::node& node : *nodes)
    out.mapping.nodes.push_back(in.whole(node, "nodes", 0, count - 1));
}

void check_rule(Reader& in, const toml::table& row, const CollectiveRule& rule) {
  if (in.error()) return;
  bool is_known = false;
  for (unsigned what = 0; what <= static_cast<unsigned>(Collective::kScan); ++what) {
    if (name_of(static_cast<Collective>(what)) != rule.call) continue;
    is_known = true;
    if (find_algorithm(rule.algorithm, static_cast<Collective>(what)) != nullptr) continue;
    std::string names;
    for (const Algorithm& one : algorithms())
      if (one.is_for(static_cast<Collective>(what)))
        names += (names.empty() ? "" : ", ") + std::string(one.name);
    in.fail(*row.get("algorithm"), "the algorithms of " + rule.call + " are " + names);
  }
  if (!is_known)
    in.fail(*row.get("call"),
            "'call' has to be one of the blocking collectives of docs/simulate.md");
}

void read_collectives(Reader& in, const toml::table& root, CollectiveTable& out) {
  const toml::table* const table = in.table(root, "collectives");
  if (table == nullptr) return;
  in.only(*table, {"preset", "reduce_per_byte", "new_communicator", "rule"});
  constexpr std::string_view kPresets[] = {"mpich", "openmpi"};
  out.preset = kPresets[in.word(*table, "preset", {"mpich", "openmpi"})];
  out.reduce_per_byte = in.number(*table, "reduce_per_byte", 0, kMostPerByte);
  constexpr std::string_view kMakers[] = {"allgather", "allreduce", "bcast"};
  out.new_communicator =
      kMakers[in.word(*table, "new_communicator", {"allgather", "allreduce", "bcast"})];
  in.rows(*table, "rule", false, [&](const toml::table& row) {
    in.only(row, {"call", "algorithm", "up_to", "least_ranks", "most_ranks", "segment"});
    CollectiveRule rule;
    rule.call = in.text(row, "call", "", true);
    rule.algorithm = in.text(row, "algorithm", "", true);
    rule.up_to = in.whole(row, "up_to", UINT64_MAX, 0, INT64_MAX);
    rule.least_ranks = in.whole(row, "least_ranks", 0, 0, INT64_MAX);
    rule.most_ranks = in.whole(row, "most_ranks", UINT64_MAX, 0, INT64_MAX);
    rule.segment = in.whole(row, "segment", 0, 1, INT64_MAX);
    check_rule(in, row, rule);
    out.rules.push_back(std::move(rule));
  });
}

void read_rest(Reader& in, const toml::table& root, Machine& out) {
  in.rows(root, "node_kind", false, [&](const toml::table& row) {
    in.only(row, {"first", "count", "speed"});
    NodeKind kind;
    kind.first = in.whole(row, "first", 0, 0, kMostNodes, true);
    kind.count = in.whole(row, "count", 1, 1, kMostNodes, true);
    kind.speed = in.number(row, "speed", 1, 1e6, true, true);
    out.node_kinds.push_back(kind);
  });
  const toml::table* const files = in.table(root, "files");
  if (files == nullptr) return;
  in.only(*files, {"open", "latency", "bandwidth", "servers"});
  out.files.open_ns = in.number(*files, "open", 0, kMostNs);
  out.files.latency_ns = in.number(*files, "latency", 0, kMostNs);
  out.files.bandwidth = in.number(*files, "bandwidth", 0, kMostBandwidth, true, true);
  out.files.servers = in.whole(*files, "servers", 1, 1, kMostNodes);
}

}  // namespace

base::Result<Machine> parse_machine(std::string_view text, std::string name) {
  const toml::parse_result parsed = toml::parse(text, name);
  Reader in(name);
  if (!parsed)
    return base::usage("not TOML: " + one_line(std::string(parsed.error().description())),
                       in.place(parsed.error().source().begin));
  const toml::table& root = parsed.table();
  Machine out;
  out.file = name;
  in.only(root, {"version", "name", "distance", "self", "topology", "mapping", "node_kind",
                 "collectives", "files"});
  (void)in.whole(root, "version", 1, 1, 1, true);
  out.name = in.text(root, "name", "");
  read_distances(in, root, out);
  read_self(in, root, out);
  read_topology(in, root, out.topology);
  if (!in.error()) read_mapping(in, root, out);
  read_collectives(in, root, out.collectives);
  read_rest(in, root, out);
  if (in.error()) return *in.error();
  return out;
}

base::Result<Machine> read_machine(const std::string& path) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  const auto text = base::read_text_file(path, "machine file", kMostBytes);
  if (!text.ok()) return text.error();
  return parse_machine(*text, path);
}

}  // namespace refrain::sim
