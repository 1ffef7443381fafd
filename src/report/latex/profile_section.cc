// Where the time and the bytes went: by function, by call site, and as a tree of call paths.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"
#include "text/display.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostDepth = 12;  // of indentation

// What the rows behind the first ones add up to.
struct Others {
  double count = 0, ns = 0, bytes = 0, mpi_share = 0, run_share = 0, max_ns = 0;
};

Others others_of(const Json& rows, size_t most) {
  Others out;
  for (size_t i = most; i < rows.size(); ++i) {
    out.count += real(rows[i]["count"]);
    out.ns += real(rows[i]["time_ns"]);
    out.bytes += real(rows[i]["bytes"]);
    out.mpi_share += real(rows[i]["mpi_share"]);
    out.run_share += real(rows[i]["run_share"]);
    out.max_ns = std::max(out.max_ns, real(rows[i]["max_ns"]));
  }
  return out;
}

void put_functions(const Json& rows, size_t most, std::string& out) {
  TexTable table({{"function", 42},
                  {"", 12},
                  {"calls", 0},
                  {"time", 0},
                  {"of MPI", 0},
                  {"of run", 0},
                  {"mean", 0},
                  {"max", 0},
                  {"bytes", 0}});
  table.first(most, rows.size(), "functions", [&](size_t i) {
    const Json& r = rows[i];
    table.row({code(text(r["call"])), bar(real(r["mpi_share"])), count(r["count"]),
               duration(r["time_ns"]), share(r["mpi_share"]), share(r["run_share"]),
               duration(r["mean_ns"]), duration(r["max_ns"]), bytes(r["bytes"])});
  });
  if (rows.size() > most) {
    const Others o = others_of(rows, most);
    table.row({"others", bar(o.mpi_share), count(o.count), duration(o.ns), share(o.mpi_share),
               share(o.run_share), duration(o.count > 0 ? o.ns / o.count : 0), duration(o.max_ns),
               bytes(o.bytes)});
  }
  out += "\\subsection*{By function}\n" + table.text();
}

void put_sites(const Json& rows, size_t most, std::string& out) {
  TexTable table({{"site", 46},
                  {"function", 38},
                  {"calls", 0},
                  {"time", 0},
                  {"of MPI", 0},
                  {"mean", 0},
                  {"max", 0},
                  {"bytes", 0}});
  table.first(most, rows.size(), "call sites", [&](size_t i) {
    const Json& r = rows[i];
    std::string site = r["site"].is_null() ? "unknown" : code(text(r["site"]), 60);
    if (!r["in_function"].is_null())
      site += " in " + code(text::shown_name(text(r["in_function"])), 60);
    table.row({site, code(text(r["call"])), count(r["count"]), duration(r["time_ns"]),
               share(r["mpi_share"]), duration(r["mean_ns"]), duration(r["max_ns"]),
               bytes(r["bytes"])});
  });
  if (rows.size() > most) {
    const Others o = others_of(rows, most);
    table.row({"others", "", count(o.count), duration(o.ns), share(o.mpi_share),
               duration(o.count > 0 ? o.ns / o.count : 0), duration(o.max_ns), bytes(o.bytes)});
  }
  out += "\\subsection*{By call site}\n" + table.text();
}

struct Node {
  std::string label;  // LaTeX
  double ns = 0, calls = 0;
  std::map<std::string, std::unique_ptr<Node>> children;
};

std::unique_ptr<Node> tree_of(const Json& paths) {
  auto root = std::make_unique<Node>();
  for (const Json& row : paths) {
    Node* node = root.get();
    const auto enter = [&](const std::string& key, const std::string& label) {
      std::unique_ptr<Node>& child = node->children[key];
      if (!child) child = std::make_unique<Node>(Node{label, 0, 0, {}});
      node = child.get();
      node->ns += real(row["time_ns"]);
      node->calls += real(row["count"]);
    };
    for (const Json& place : row["path"]) {
      const std::string site = place["site"].is_null() ? "unknown" : text(place["site"]);
      const std::string in = text::shown_name(text(place["in_function"]));
      const std::string label = in.empty() ? site : in + " " + site;
      enter("at " + label, code(label, 80));
    }
    enter("call " + text(row["call"]), "\\textbf{" + code(text(row["call"])) + "}");
  }
  return root;
}

// Depth first, what takes longest before the rest; the number of rows that did not fit.
size_t put_nodes(const Node& node, size_t depth, double all, size_t& left, TexTable& table) {
  std::vector<const Node*> children;
  for (const auto& [key, child] : node.children) children.push_back(child.get());
  std::stable_sort(children.begin(), children.end(),
                   [](const Node* a, const Node* b) { return a->ns > b->ns; });
  size_t left_out = 0;
  for (const Node* child : children) {
    if (left == 0) {
      ++left_out;
    } else {
      --left;
      table.row({fmt::format("\\hspace*{{{}mm}}", 3 * std::min(depth, kMostDepth)) + child->label,
                 bar(all > 0 ? child->ns / all : 0), duration(child->ns),
                 share(all > 0 ? child->ns / all : 0), count(child->calls)});
    }
    left_out += put_nodes(*child, depth + 1, all, left, table);
  }
  return left_out;
}

void put_tree(const Json& profile, size_t most, std::string& out) {
  TexTable table({{"call path", 104}, {"", 12}, {"time", 0}, {"of MPI", 0}, {"calls", 0}});
  size_t left = most;
  const size_t left_out =
      put_nodes(*tree_of(profile["call_paths"]), 0, real(profile["all"]["time_ns"]), left, table);
  table.more(left_out, "steps");
  out += "\\subsection*{By call path}\n" + table.text();
}

}  // namespace

void put_profile(const PageData& data, std::string& out, const Detail& detail) {
  const Json& profile = data.json["profile"];
  out += section("Profile",
                 "Look at the first rows: a function whose maximum is far above its mean waits for "
                 "somebody; many calls with few bytes each could be one call.");
  if (profile["functions"].empty()) {
    out += "No calls.\n";
    return;
  }
  put_functions(profile["functions"], detail.profile_rows, out);
  if (!detail.has_sites) return;
  put_sites(profile["sites"], detail.profile_rows, out);
  put_tree(profile, detail.tree_rows, out);
  out += "The calls behind a row: " + code("refrain dump " + text(data.json["trace"])) +
         ", whose lines have the call site before the function.\n";
}

}  // namespace refrain::report::latex
