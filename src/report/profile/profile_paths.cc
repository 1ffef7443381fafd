#include "report/profile/profile_paths.h"

#include <algorithm>

#include "text/display.h"

namespace refrain::report {

namespace {

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

// Unites the children that are not shown.
void leave_out(PathNode& node) {
  auto others = std::make_unique<PathNode>();
  others->is_others = true;
  for (const auto& c : node.children) {
    if (c->shown) {
      leave_out(*c);
      continue;
    }
    add_totals(others->totals, c->totals);
    others->paths += c->paths;
  }
  std::erase_if(node.children, [](const auto& c) { return !c->shown; });
  if (others->paths > 0) node.children.push_back(std::move(others));
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
  return site.function.empty() ? site.site : text::shown_name(site.function) + " " + site.site;
}

PathNode path_tree(const ProfileView& view, size_t top, size_t* left_out) {
  PathNode root;
  const auto& paths = view.profile.paths;  // by time
  const size_t shown = top == 0 ? paths.size() : std::min(top, paths.size());
  *left_out = paths.size() - shown;
  const auto put = [&](PathNode& node, size_t i) {
    add_totals(node.totals, paths[i].totals);
    node.shown = i < shown || (node.paths > 0 && node.shown);
    ++node.paths;
  };
  for (size_t i = 0; i < paths.size(); ++i) {
    PathNode* node = &root;
    put(root, i);
    for (const ProfileRow& site : path_sites(view, paths[i].site)) {
      node = &child(*node, site);
      put(*node, i);
    }
    ProfileRow call;
    call.call = call_name(paths[i].call);
    put(child(*node, call), i);
  }
  sort_by_time(root);
  leave_out(root);
  return root;
}

}  // namespace refrain::report
