// Makes one grammar for the concatenation of the sequences of several grammars.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "grammar/grammar.h"

namespace refrain::grammar {

// The sequences that were added, in that order; rules that several have are there once. The result
// is valid when their lengths together fit; it is not always the smallest grammar, nor numbered
// like one that Builder made. O(symbols) in all, times a logarithm. Copyable; one thread at a time.
class Concatenation {
 public:
  void add(const Grammar& g);
  Grammar finish() const;

 private:
  using Key = std::vector<uint64_t>;
  using Body = std::vector<Symbol>;
  static Key key_of(const Body& body);
  void put(const Body& body, Grammar& g) const;

  Body start_;
  // Rules by their bodies, children before parents.
  std::map<Key, uint32_t> known_;
  std::vector<Body> bodies_;
};

}  // namespace refrain::grammar
