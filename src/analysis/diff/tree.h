// The call paths of one run as a tree of call sites, for places.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/diff/summary.h"
#include "reader/symbols.h"

namespace refrain::analysis::diff {

// What tells a subtree: hashes of the functions called in it, and of their parameters. The smallest
// kMostTokens of them: enough to estimate how alike two sets are (A. Broder, 1997), however large.
class Tokens {
 public:
  static constexpr size_t kMostTokens = 32;
  void add(uint64_t token);
  void add(const Tokens& other);
  // Jaccard's coefficient: 1 for equal sets, 0 for sets without a common token.
  double likeness(const Tokens& other) const;
  bool operator==(const Tokens&) const = default;

 private:
  std::vector<uint64_t> smallest_;  // ascending
};

struct TreeNode {
  DefinitionId site = kNoDefinition;
  std::string module, build_id;  // its last part
  int64_t offset = -1;
  std::string function;  // that the site is in; empty: not known
  std::string file;
  int line = 0;
  Tokens tokens;
  std::vector<uint32_t> children;                 // nodes, by module and offset
  std::map<CallId, std::vector<uint32_t>> calls;  // what the site calls: rows of the summary
};

// Node 0 stands for the start of the program. Of a path of more than kMostSteps steps the innermost
// ones are taken.
inline constexpr size_t kMostSteps = 256;
std::vector<TreeNode> tree_of(const Trace& trace, const Summary& summary, reader::Symbols& symbols);

}  // namespace refrain::analysis::diff
