#include "report/page/index_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "report/profile/profile_rows.h"
#include "text/numbers.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;

namespace {

constexpr size_t kMostRows = 64;    // of a run's picture
constexpr size_t kMostBins = 1024;  // the same
constexpr int kChapterVersion = 1;  // of what index_chapter() makes

// Waiting by the name of the function that waited; empty without times.
std::map<std::string, int64_t> waits_by_function(const PageData& data) {
  std::map<std::string, int64_t> out;
  if (data.json["waits"].is_null()) return out;
  const Json& names = data.json["waits"]["calls"];
  const auto& calls = data.columns.numbers("waits.call");
  const auto& ns = data.columns.numbers("waits.ns");
  for (size_t i = 0; i < ns.size(); ++i)
    out[names[static_cast<size_t>(calls[i])].get<std::string>()] += ns[i];
  return out;
}

// A table of times with fewer rows and bins: the mean share, and the class that has most of it.
class SmallTable {
 public:
  SmallTable(const PageData& data, size_t rows, size_t bins)
      : share_(data.columns.raw("table.share")),
        classes_(data.columns.raw("table.class")),
        rows_(rows),
        bins_(bins),
        row_step_((rows + kMostRows - 1) / kMostRows),
        bin_step_((bins + kMostBins - 1) / kMostBins) {}

  size_t rows() const { return rows_ == 0 ? 0 : (rows_ + row_step_ - 1) / row_step_; }
  size_t bins() const { return bins_ == 0 ? 0 : (bins_ + bin_step_ - 1) / bin_step_; }
  size_t row_step() const { return row_step_; }
  size_t bin_step() const { return bin_step_; }

  void write(std::string& share, std::string& classes) const {
    for (size_t row = 0; row < rows(); ++row)
      for (size_t bin = 0; bin < bins(); ++bin) put(row, bin, share, classes);
  }

 private:
  void put(size_t row, size_t bin, std::string& share, std::string& classes) const {
    std::array<uint64_t, 256> sums{};
    uint64_t all = 0, cells = 0;
    for (size_t r = row * row_step_; r < std::min((row + 1) * row_step_, rows_); ++r)
      for (size_t b = bin * bin_step_; b < std::min((bin + 1) * bin_step_, bins_); ++b, ++cells) {
        const auto part = static_cast<uint8_t>(share_[r * bins_ + b]);
        sums[static_cast<uint8_t>(classes_[r * bins_ + b])] += part;
        all += part;
      }
    share += static_cast<char>(all / std::max<uint64_t>(cells, 1));
    classes += static_cast<char>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  }

  const std::string& share_;
  const std::string& classes_;
  size_t rows_, bins_, row_step_, bin_step_;
};

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// The run's picture: its times by row and bin, and its waiting, for a scale that all runs share.
Json timeline_of(const PageData& data, Json& columns) {
  const Json& t = data.json["timeline"];
  const auto& ranks = data.columns.numbers("row.rank");
  const size_t bins = t["bins"].get<size_t>();
  const SmallTable table(data, bins == 0 ? 0 : ranks.size(), bins);
  std::string share, classes;
  table.write(share, classes);
  std::vector<int64_t> first;  // rank of each row, or the first of its ranks
  for (size_t row = 0; row < table.rows(); ++row) first.push_back(ranks[row * table.row_step()]);
  columns["share"] = Json::binary(bytes_of(share));
  columns["class"] = Json::binary(bytes_of(classes));
  columns["waits"] = Json::binary(bytes_of(data.columns.raw("waits.share")));
  columns["rank"] = first;
  const uint64_t length = t["end_ns"].get<uint64_t>() - t["begin_ns"].get<uint64_t>();
  return {{"length_ns", length},
          {"rows", table.rows()},
          {"bins", table.bins()},
          {"bin_ns",
           bins == 0 ? 0.0
                     : static_cast<double>(length * table.bin_step()) / static_cast<double>(bins)},
          {"threads_a_row", table.row_step()},
          {"wait_rows", data.json["messages"]["wait_rows"]},
          {"wait_columns", data.json["messages"]["wait_columns"]}};
}

}  // namespace

Json index_entry(const PageData& data, const std::string& file) {
  const Json& info = data.json["info"];
  const Json& profile = data.json["profile"];
  const std::map<std::string, int64_t> waits = waits_by_function(data);
  const bool has_waits = !data.json["waits"].is_null();
  const auto waiting = [&](const std::string& call) {
    const auto known = waits.find(call);
    return known == waits.end() ? int64_t{0} : known->second;
  };
  Json functions = Json::array();
  for (const Json& row : profile["functions"])
    functions.push_back({{"call", row["call"]},
                         {"count", row["count"]},
                         {"time_ns", row["time_ns"]},
                         {"waiting_ns", has_waits ? Json(waiting(row["call"])) : Json()},
                         {"bytes", row["bytes"]}});
  return {{"file", file},
          {"trace", data.json["trace"]},
          {"program", info["program"]},
          {"command", info["command"]},
          {"mpi", info["mpi"]},
          {"started", info.value("started", Json())},
          {"ranks", info["ranks"]},
          {"calls", info["calls"]},
          {"duration_ns", info["duration_ns"]},
          {"in_mpi_ns", info["in_mpi_ns"]},
          {"outside_ns", info["outside_ns"]},
          {"complete", info["complete"]},
          {"losses", info["losses"]},
          {"messages", data.json["matrix"]["messages"]},
          {"bytes", data.json["matrix"]["bytes"]},
          {"verdict", data.json["verdict"]},
          {"functions", std::move(functions)}};
}

Json index_chapter(const PageData& data, const std::string& file) {
  Json columns = Json::object();
  Json entry = index_entry(data, file);
  entry["timeline"] = timeline_of(data, columns);
  entry["classes"] = data.json["timeline"]["classes"];
  return {
      {"chapter", kChapterVersion}, {"entry", std::move(entry)}, {"columns", std::move(columns)}};
}

std::string chapter_bytes(const Json& chapter) {
  std::string out;
  Json::to_cbor(chapter, out);
  return out;
}

Json chapter_of_bytes(const std::string& bytes) { return Json::from_cbor(bytes, true, false); }

void IndexPage::add(const PageData& data, const std::string& file) {
  add_chapter(index_chapter(data, file));
}

bool IndexPage::add_chapter(const Json& chapter) {
  if (!chapter.is_object() || chapter.value("chapter", Json()) != Json(kChapterVersion) ||
      !chapter.contains("entry") || !chapter["entry"].is_object() ||
      !chapter["entry"].contains("file") || !chapter.contains("columns"))
    return false;
  const Json& columns = chapter["columns"];
  for (const char* name : {"share", "class", "waits"})
    if (!columns.contains(name) || !columns[name].is_binary()) return false;
  if (!columns.contains("rank") || !columns["rank"].is_array()) return false;
  std::vector<int64_t> ranks;
  for (const Json& rank : columns["rank"]) {
    if (!rank.is_number_integer()) return false;
    ranks.push_back(rank.get<int64_t>());
  }
  const std::string prefix = "run" + std::to_string(count_++);
  for (const char* name : {"share", "class", "waits"}) {
    const auto& bytes = columns[name].get_binary();
    data_.columns.put_bytes(prefix + "." + name, std::string(bytes.begin(), bytes.end()));
  }
  data_.columns.put(prefix + ".rank", std::move(ranks));
  data_.json["traces"].push_back(chapter["entry"]);
  return true;
}

// Call paths are apart by chance each for itself: their noise adds up in squares.
void IndexPage::add_noise(const analysis::diff::Diff& from_first) {
  std::map<std::string, double> squares;
  for (const analysis::diff::CallChange& call : from_first.calls)
    squares[call_name(call.call)] += call.time_noise_ns * call.time_noise_ns;
  // Of runs on different numbers of ranks the difference is that of a rank in the mean.
  Json noise = Json::object();
  for (const auto& [name, square] : squares) noise[name] = text::rounded(std::sqrt(square));
  data_.json["traces"].back()["noise_ns"] = std::move(noise);
  data_.json["traces"].back()["noise_is_of_a_rank"] = !from_first.same_ranks;
}

PageData IndexPage::take() {
  data_.json["kind"] = "index";
  return std::move(data_);
}

std::vector<std::string> page_names(const std::vector<std::string>& traces) {
  std::set<std::string> used = {"index.html"};
  std::vector<std::string> out;
  for (const std::string& trace : traces) {
    const std::string stem = std::filesystem::path(trace).stem().string();
    std::string name = stem + ".html";
    for (int n = 2; !used.insert(name).second; ++n) name = fmt::format("{}-{}.html", stem, n);
    out.push_back(name);
  }
  return out;
}

}  // namespace refrain::report
