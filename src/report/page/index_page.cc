#include "report/page/index_page.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

namespace refrain::report {

using Json = nlohmann::ordered_json;

Json index_entry(const PageData& data, const std::string& file) {
  const Json& info = data.json["info"];
  const Json& profile = data.json["profile"];
  Json functions = Json::array();
  for (const Json& row : profile["functions"])
    functions.push_back({{"call", row["call"]},
                         {"count", row["count"]},
                         {"time_ns", row["time_ns"]},
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

PageData index_data(const std::vector<Json>& entries) {
  PageData out;
  out.json["kind"] = "index";
  out.json["traces"] = entries;
  return out;
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
