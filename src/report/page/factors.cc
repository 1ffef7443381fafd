// The efficiencies of the POP Centre of Excellence with captions that say what was measured.

#include "report/page/factors.h"

#include <fmt/format.h>

#include "text/numbers.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;

namespace {

std::string time_of(const Json& efficiency, const char* key) {
  return text::duration_text(efficiency[key].get<uint64_t>());
}

std::string rest_of(const Json& efficiency, const char* key) {
  return text::percent_text(1 - efficiency[key].get<double>(), 1);
}

std::string caption(const Json& e, const std::string& key) {
  if (key == "parallel")
    return fmt::format(
        "load balance x communication efficiency: a rank computes {} of {} on average",
        time_of(e, "useful_mean_ns"), time_of(e, "runtime_ns"));
  if (key == "load_balance")
    return fmt::format("a rank computes {} on average, the busiest rank {}",
                       time_of(e, "useful_mean_ns"), time_of(e, "useful_max_ns"));
  if (key == "communication")
    return fmt::format("{} of the busiest rank's time is spent in MPI: it computes {} of {}",
                       rest_of(e, key.c_str()), time_of(e, "useful_max_ns"),
                       time_of(e, "runtime_ns"));
  if (key == "serialisation")
    return fmt::format(
        "on an ideal network the busiest rank would wait for others in {} of the time: it computes "
        "{} of {}",
        rest_of(e, key.c_str()), time_of(e, "useful_max_ns"), time_of(e, "ideal_ns"));
  return fmt::format(
      "{} of the time is spent in the network and the MPI library: on an ideal network it would "
      "be {} instead of {}",
      rest_of(e, key.c_str()), time_of(e, "ideal_ns"), time_of(e, "runtime_ns"));
}

}  // namespace

Json factors(const Json& efficiency) {
  struct Title {
    const char *key, *text;
  };
  constexpr Title kTitles[] = {{"parallel", "Parallel efficiency"},
                               {"load_balance", "Load balance"},
                               {"communication", "Communication efficiency"},
                               {"serialisation", "Serialisation efficiency"},
                               {"transfer", "Transfer efficiency"}};
  Json out = Json::array();
  if (!efficiency.is_object()) return out;
  for (const Title& title : kTitles)
    if (!efficiency[title.key].is_null())
      out.push_back({{"name", title.key},
                     {"title", title.text},
                     {"value", efficiency[title.key]},
                     {"caption", caption(efficiency, title.key)}});
  return out;
}

}  // namespace refrain::report
