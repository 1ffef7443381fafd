#include "analysis/diff/tree.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "format/source_site.h"

namespace refrain::analysis::diff {
namespace {

constexpr size_t kMostSignatures = 16;  // of a row that become tokens

uint64_t token_of(CallId call, const Words* words) {
  uint64_t hash = (call + 1) * 0x9e3779b97f4a7c15u;
  const auto take = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    hash ^= hash >> 31;
  };
  if (words != nullptr)
    for (const std::string& word : *words) take(word);
  return (hash ^ (hash >> 32)) * 0x94d049bb133111ebu;
}

Tokens tokens_of(const CallRow& row) {
  Tokens out;
  out.add(token_of(row.call, nullptr));
  for (size_t i = 0; i < std::min(kMostSignatures, row.signatures.size()); ++i)
    out.add(token_of(row.call, &row.signatures[i].words));
  return out;
}

std::string last_part(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

void describe(TreeNode& node, const Trace& trace, reader::Symbols& symbols) {
  const auto site = trace.site(node.site);
  if (!site) return;
  node.module = last_part(site->module);
  // Lines move when the file is changed, and nothing says that it was.
  if (!format::is_source(site->build_id)) node.build_id = site->build_id;
  node.offset = site->offset;
  const reader::SourcePlace& place = symbols.find(*site);
  node.function = place.function;
  node.file = last_part(place.file);
  node.line = place.line;
}

}  // namespace

void Tokens::add(uint64_t token) {
  const auto at = std::lower_bound(smallest_.begin(), smallest_.end(), token);
  if (at != smallest_.end() && *at == token) return;
  smallest_.insert(at, token);
  if (smallest_.size() > kMostTokens) smallest_.pop_back();
}

void Tokens::add(const Tokens& other) {
  for (const uint64_t token : other.smallest_) add(token);
}

double Tokens::likeness(const Tokens& other) const {
  std::vector<uint64_t> all;
  std::set_union(smallest_.begin(), smallest_.end(), other.smallest_.begin(), other.smallest_.end(),
                 std::back_inserter(all));
  if (all.size() > kMostTokens) all.resize(kMostTokens);
  const auto both = std::count_if(all.begin(), all.end(), [&](uint64_t token) {
    return std::binary_search(smallest_.begin(), smallest_.end(), token) &&
           std::binary_search(other.smallest_.begin(), other.smallest_.end(), token);
  });
  return all.empty() ? 0 : static_cast<double>(both) / static_cast<double>(all.size());
}

std::vector<TreeNode> tree_of(const Trace& trace, const Summary& summary,
                              reader::Symbols& symbols) {
  std::vector<TreeNode> nodes(1);
  std::map<std::pair<uint32_t, DefinitionId>, uint32_t> children;
  for (uint32_t r = 0; r < summary.rows.size(); ++r) {
    const CallRow& row = summary.rows[r];
    const Tokens tokens = tokens_of(row);
    std::vector<DefinitionId> sites = trace.call_path(row.path);
    if (sites.size() > kMostSteps) sites.resize(kMostSteps);
    uint32_t node = 0;
    nodes[0].tokens.add(tokens);
    for (auto site = sites.rbegin(); site != sites.rend(); ++site) {
      const auto [at, is_new] =
          children.try_emplace({node, *site}, static_cast<uint32_t>(nodes.size()));
      if (is_new) {
        nodes[node].children.push_back(at->second);
        nodes.emplace_back().site = *site;
        describe(nodes.back(), trace, symbols);
      }
      node = at->second;
      nodes[node].tokens.add(tokens);
    }
    nodes[node].calls[row.call].push_back(r);
  }
  for (TreeNode& node : nodes)
    std::stable_sort(node.children.begin(), node.children.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(nodes[a].module, nodes[a].offset) <
             std::tie(nodes[b].module, nodes[b].offset);
    });
  return nodes;
}

}  // namespace refrain::analysis::diff
