// Calls of POSIX and stdio functions.

#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostPosixRows = 80;  // all functions that are known

// "1 to 9 (rank 3)"
std::string least_to_most(const Json& s, std::string (*how)(const Json&)) {
  if (s["min"] == s["max"]) return how(s["max"]);
  return how(s["min"]) + " to " + how(s["max"]) + " (rank " + count(s["max_rank"]) + ")";
}

}  // namespace

void put_posix(const PageData& data, std::string& out) {
  if (!data.json.contains("posix")) return;
  const Json& rows = data.json["posix"];
  out += section("Files: POSIX and stdio functions",
                 "Look for very many small reads and writes, for calls that fail, and for one rank "
                 "that does what others wait for.");
  if (rows.empty()) {
    out += "The program called none of them.\n";
    return;
  }
  TexTable table({{"function", 28},
                  {"calls", 0},
                  {"errors", 0},
                  {"bytes", 0},
                  {"time", 0},
                  {"mean", 0},
                  {"longest", 0},
                  {"ranks", 0},
                  {"calls of a rank", 36}});
  table.first(kMostPosixRows, rows.size(), "functions", [&](size_t i) {
    const Json& r = rows[i];
    const double calls = real(r["calls"]);
    table.row({code(text(r["function"])), count(r["calls"]), count(r["errors"]), bytes(r["bytes"]),
               duration(r["time_ns"]), duration(calls > 0 ? real(r["time_ns"]) / calls : 0),
               duration(r["max_ns"]), count(r["ranks"]),
               least_to_most(r["calls_of_a_rank"], count)});
  });
  out += table.text();
}

}  // namespace refrain::report::latex
