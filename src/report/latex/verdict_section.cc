// What to know first: how much of the time was lost, and with what; and what is missing.

#include <fmt/format.h>

#include <algorithm>

#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostLosses = 20;

std::string factors(const Json& verdict) {
  TexTable table({{"", 34}, {"", 0}, {"", 110}});
  table.row({"Time in MPI", share(verdict["mpi_share"]), "of the time of all ranks"});
  if (!verdict["waiting_share"].is_null())
    table.row({"Waiting", share(verdict["waiting_share"]), "of the time of all ranks"});
  for (const Json& f : verdict["factors"])
    table.row({words(text(f["title"])), "\\textbf{" + share(f["value"]) + "}",
               words(text(f["caption"]))});
  return table.text();
}

std::string cause(const Json& wait) {
  if (!wait.contains("cause")) return "";
  const Json& cause = wait["cause"];
  const std::string from = text(cause["from"]), to = text(cause["to"]);
  const bool is_known = cause["rank"].is_number_unsigned() || cause["rank"].get<int64_t>() >= 0;
  std::string out = "Most of this kind of waiting goes back to ";
  out += is_known ? "rank " + count(cause["rank"]) : "ranks not known";
  if (!from.empty() && from == to)
    out += ", in " + code(from);
  else if (!from.empty() && !to.empty())
    out += ", between " + code(from) + " and " + code(to);
  else if (!from.empty() || !to.empty())
    out += ", " + code(from + to);
  return out + " (" + duration(cause["ns"]) + "). ";
}

// The command that shows a call.
std::string shown_by(const Json& call, const std::string& trace) {
  if (!call.is_object()) return "";
  return "The longest, " + duration(call["ns"]) + ": " +
         code(fmt::format("refrain dump --rank {} --thread {} --from {} --first 1 {}",
                          whole(call["rank"]), whole(call["thread"]), whole(call["seq"]), trace));
}

std::string top_waits(const Json& top, const std::string& trace) {
  std::string out = "\\begin{enumerate}\n";
  for (const Json& wait : top)
    out += "\\item \\textbf{" + words(text(wait["title"])) + " in} " + code(text(wait["call"])) +
           ": " + duration(wait["ns"]) + ", " + share(wait["share"]) + " of all time, " +
           counted(wait["count"], "wait") + ". Most on rank " + count(wait["rank"]) + " (" +
           duration(wait["rank_ns"]) + "). Call path: " + code(text(wait["path"]), 300) + ". " +
           cause(wait) + shown_by(wait["example"], trace) + "\n";
  return out + "\\end{enumerate}\n";
}

std::string top_paths(const Json& top) {
  std::string out = "\\begin{enumerate}\n";
  for (const Json& row : top)
    out += "\\item " + code(text(row["call"])) + ": " + duration(row["ns"]) + ", " +
           share(row["share"]) + " of all time, " + counted(row["count"], "call") +
           ". Call path: " + code(text(row["path"]), 300) + ".\n";
  return out + "\\end{enumerate}\n";
}

}  // namespace

void put_warning(const Json& info, std::string& out) {
  const Json& losses = info["losses"];
  const bool is_complete = info["complete"].get<bool>();
  if (is_complete && losses.empty()) return;
  std::string lines;
  for (size_t i = 0; i < std::min(losses.size(), kMostLosses); ++i) {
    const Json& loss = losses[i];
    std::string reason = text(loss["reason"]);
    std::replace(reason.begin(), reason.end(), '_', ' ');
    lines += "\\\\ \\textbullet{} " + code(reason);
    if (loss.contains("calls")) lines += ", " + counted(loss["calls"], "call");
    if (loss.contains("rank")) lines += ", rank " + count(loss["rank"]);
    if (loss.contains("detail")) lines += ": " + code(text(loss["detail"]));
  }
  if (losses.size() > kMostLosses)
    lines += "\\\\ \\textbullet{} and " + count(losses.size() - kMostLosses) + " more";
  out += std::string("\\rfwarning{\\textbf{") +
         (is_complete ? "Something was lost or left out."
                      : "This trace is incomplete: what follows is what there is.") +
         "}" + lines + "}\n";
}

void put_verdict(const PageData& data, std::string& out) {
  const Json& info = data.json["info"];
  const Json& verdict = data.json["verdict"];
  const Json& top = verdict["top"];
  out += section("Verdict",
                 "Parallel efficiency below 80\\,\\% is worth a look; the factor that is lowest "
                 "says where to look first.");
  out += counted(info["ranks"], "rank") + ", " + counted(info["calls"], "call") + ", " +
         duration(info["duration_ns"]) + " from " + code("MPI_Init") + " to " +
         code("MPI_Finalize") + ".\n\n";
  out += factors(verdict);
  if (verdict["efficiency"].is_object() && text(verdict["efficiency"]["source"]) == "totals")
    out +=
        "Factors from the ranks' totals in and outside of MPI; with times of single calls "
        "communication splits into serialisation and transfer.\n\n";
  const bool are_waits = verdict["top_are_waits"].get<bool>();
  out +=
      are_waits ? "\\subsection*{What was waited for most}\n" : "\\subsection*{Most time in MPI}\n";
  if (!are_waits)
    out += "Who waited for whom needs times of single calls: " +
           code(text(data.json["no_waits"]), 400) + ". Where the time in MPI went is known:\n\n";
  if (top.empty())
    out += "Nothing.\n";
  else
    out += are_waits ? top_waits(top, text(data.json["trace"])) : top_paths(top);
}

}  // namespace refrain::report::latex
