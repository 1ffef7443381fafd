#include "sim/calibrate/samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text_file.h"

namespace refrain::sim {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostCells = 1 << 16, kMostSamples = 1 << 22;
constexpr double kMostSampleNs = 1e15;
constexpr std::string_view kNames[] = {"pingpong", "send",    "receive", "late",
                                       "burst",    "delayed", "probed",  "taken",
                                       "exchange", "overlap", "self",    "self_late"};
static_assert(std::size(kNames) == kSampleTests);

// Fails with the text of what is wrong, without a place.
base::Result<uint64_t> whole(const Json& line, const char* key, bool needed) {
  const auto found = line.find(key);
  if (found == line.end()) {
    if (!needed) return uint64_t{0};
    return base::usage(std::string("'") + key + "' is missing");
  }
  if (!found->is_number_unsigned())
    return base::usage(std::string("'") + key + "' has to be a whole number");
  return found->get<uint64_t>();
}

// The text under a key; empty where there is none.
std::string text(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

base::Status read_header(const Json& line, Samples& out) {
  const auto version = whole(line, "refrain_samples", true);
  if (!version.ok() || *version != 1)
    return base::usage("no samples of refrain calibrate: the first line has \"refrain_samples\":1");
  const std::string distance = text(line, "distance");
  bool is_known = false;
  for (size_t i = 0; i < kDistances; ++i) {
    if (distance != name_of(static_cast<Distance>(i))) continue;
    out.distance = static_cast<Distance>(i);
    is_known = true;
  }
  if (!is_known) return base::usage("'distance' has to be core, node or switch");
  out.mpi = text(line, "mpi");
  if (const auto hosts = line.find("hosts"); hosts != line.end() && hosts->is_array())
    for (const Json& host : *hosts)
      if (host.is_string()) out.hosts.push_back(host.get<std::string>());
  return base::Done{};
}

base::Status read_cores(const Json& line, Samples& out) {
  const auto taken = line.find("cores_taken"), seconds = line.find("seconds");
  if (!taken->is_array() || taken->size() != 2 || seconds == line.end() || !seconds->is_number())
    return base::usage("'cores_taken' has to be two whole numbers, with 'seconds'");
  out.cores_taken.seconds = seconds->get<double>();
  for (const Json& one : *taken) {
    constexpr uint64_t kMost = uint64_t{1} << 50;
    if (!one.is_number_unsigned() || one.get<uint64_t>() > kMost)
      return base::usage("'cores_taken' has to be two whole numbers, with 'seconds'");
    out.cores_taken.count += one.get<uint64_t>();
  }
  return base::Done{};
}

// What was read so far: samples, and the cell of each test, size, count and delay.
struct Read {
  size_t samples = 0;
  std::map<std::tuple<SampleTest, uint64_t, uint64_t, uint64_t>, size_t> cells;
};

base::Status read_cell(const Json& line, Read& read, Samples& out) {
  SampleCell cell;
  const std::string test = text(line, "test");
  size_t i = 0;
  while (i < kSampleTests && kNames[i] != test) ++i;
  if (i == kSampleTests) return base::usage("no such test: '" + test + "'");
  cell.test = static_cast<SampleTest>(i);
  const auto bytes = whole(line, "bytes", true);
  const bool is_row = cell.test == SampleTest::kExchange || cell.test == SampleTest::kSelf ||
                      cell.test == SampleTest::kSelfLate;
  const bool counts = cell.test == SampleTest::kBurst || is_row;
  const auto count = whole(line, "count", counts);
  const bool delays = cell.test == SampleTest::kDelayed || cell.test == SampleTest::kProbed;
  const auto delay = whole(line, "delay_ns", delays);
  if (!bytes.ok()) return bytes.error();
  if (!count.ok()) return count.error();
  if (!delay.ok()) return delay.error();
  if (is_row && *count == 0) return base::usage("'count' has to be 1 or more");
  cell.bytes = *bytes;
  cell.count = *count;
  cell.delay_ns = *delay;
  const auto ns = line.find("ns");
  if (ns == line.end() || !ns->is_array() || ns->empty())
    return base::usage("'ns' has to be an array of times");
  read.samples += ns->size();
  if (read.samples > kMostSamples || out.cells.size() >= kMostCells)
    return base::usage("too many samples");
  for (const Json& one : *ns) {
    if (!one.is_number()) return base::usage("'ns' has to be an array of times");
    const auto value = one.get<double>();
    if (!std::isfinite(value) || value < 0 || value > kMostSampleNs)
      return base::usage("a time in 'ns' is not one");
    cell.ns.push_back(value);
  }
  cell.lines = {cell.ns.size()};
  const auto [known, is_new] =
      read.cells.try_emplace({cell.test, cell.bytes, cell.count, cell.delay_ns}, out.cells.size());
  if (is_new) {
    out.cells.push_back(std::move(cell));
  } else {
    std::vector<double>& all = out.cells[known->second].ns;
    all.insert(all.end(), cell.ns.begin(), cell.ns.end());
    out.cells[known->second].lines.push_back(cell.ns.size());
  }
  return base::Done{};
}

}  // namespace

std::string_view name_of(SampleTest test) { return kNames[static_cast<size_t>(test)]; }

base::Result<Samples> parse_samples(std::string_view text, const std::string& name) {
  Samples out;
  Read read;
  size_t number = 0;
  while (!text.empty()) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    ++number;
    const std::string at = name + ":" + std::to_string(number);
    if (row.empty()) continue;
    const Json line = Json::parse(row, nullptr, false);
    if (!line.is_object()) return base::usage("a line that is no JSON object", at);
    const base::Status status = number == 1                    ? read_header(line, out)
                                : line.contains("cores_taken") ? read_cores(line, out)
                                                               : read_cell(line, read, out);
    if (!status.ok()) return base::usage(status.error().message, at);
  }
  if (out.cells.empty()) return base::usage("no samples of refrain calibrate in it", name);
  return out;
}

base::Status join(Samples& to, Samples more, const std::string& name) {
  if (more.distance != to.distance)
    return base::usage("has another distance than the files before it", name);
  if (more.mpi != to.mpi)
    return base::usage("was measured with another MPI than the file before it of this distance",
                       name);
  for (SampleCell& cell : more.cells) {
    cell.start = to.starts;
    const auto same = std::find_if(to.cells.begin(), to.cells.end(), [&](const SampleCell& known) {
      return known.test == cell.test && known.bytes == cell.bytes && known.count == cell.count &&
             known.delay_ns == cell.delay_ns;
    });
    if (same == to.cells.end())
      to.cells.push_back(std::move(cell));
    else
      same->other_starts.push_back(std::move(cell));
  }
  to.cores_taken.count += more.cores_taken.count;
  to.cores_taken.seconds += more.cores_taken.seconds;
  ++to.starts;
  return base::Done{};
}

base::Result<Samples> read_samples(const std::string& path) {
  constexpr size_t kMostBytes = size_t{256} << 20;
  const auto text = base::read_text_file(path, "file of samples", kMostBytes);
  if (!text.ok()) return text.error();
  return parse_samples(*text, path);
}

}  // namespace refrain::sim
