#include "report/profile_paths.h"

#include <algorithm>

#include "mpi/call_table.h"

namespace refrain::report {

namespace {

void add(analysis::CallTotals& into, const analysis::CallTotals& from) {
  into.min_ns = into.calls == 0 ? from.min_ns : std::min(into.min_ns, from.min_ns);
  into.max_ns = std::max(into.max_ns, from.max_ns);
  into.calls += from.calls;
  into.failed += from.failed;
  into.time_ns += from.time_ns;
  into.bytes += from.bytes;
  into.messages += from.messages;
  into.unsized += from.unsized;
}

PathNode& child(PathNode& node, const ProfileRow& row) {
  for (const auto& c : node.children)
    if (c->call == row.call && c->site == row.site && c->function == row.function &&
        c->file == row.file)
      return *c;
  node.children.push_back(std::make_unique<PathNode>());
  PathNode& made = *node.children.back();
  made.call = row.call;
  made.site = row.site;
  made.function = row.function;
  made.file = row.file;
  made.module_changed = row.module_changed;
  return made;
}

void sort_by_time(PathNode& node) {
  std::stable_sort(node.children.begin(), node.children.end(), [](const auto& a, const auto& b) {
    return a->totals.time_ns > b->totals.time_ns;
  });
  for (const auto& c : node.children) sort_by_time(*c);
}

}  // namespace

std::vector<ProfileRow> path_sites(const ProfileView& view, DefinitionId path) {
  std::vector<DefinitionId> sites = view.trace.call_path(path);
  if (sites.empty()) sites.push_back(kNoDefinition);
  std::reverse(sites.begin(), sites.end());
  std::vector<ProfileRow> out(sites.size());
  for (size_t i = 0; i < sites.size(); ++i) name_site(view, sites[i], out[i]);
  return out;
}

std::string path_label(const ProfileRow& site) {
  return site.function.empty() ? site.site : site.function + " " + site.site;
}

PathNode path_tree(const ProfileView& view, size_t top, size_t* left_out) {
  PathNode root;
  const auto& paths = view.profile.paths;  // by time
  const size_t shown = top == 0 ? paths.size() : std::min(top, paths.size());
  *left_out = paths.size() - shown;
  for (size_t i = 0; i < shown; ++i) {
    PathNode* node = &root;
    add(root.totals, paths[i].totals);
    for (const ProfileRow& site : path_sites(view, paths[i].site)) {
      node = &child(*node, site);
      add(node->totals, paths[i].totals);
    }
    ProfileRow call;
    call.call = call_name(paths[i].call);
    add(child(*node, call).totals, paths[i].totals);
  }
  sort_by_time(root);
  return root;
}

}  // namespace refrain::report
