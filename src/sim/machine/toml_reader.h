// TomlReader: values of a TOML document, each of which is checked; keeps the first error, with its
// line and column.
//
// Threads: one. Errors: error(), a usage error; what is read after it means nothing.
#pragma once

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/machine/machine_text.h"

namespace refrain::sim {

inline constexpr uint64_t kMostRows = 4096;  // of any array of tables
inline constexpr uint64_t kMostNodes = 1 << 24;

class TomlReader {
 public:
  explicit TomlReader(std::string file) : file_(std::move(file)) {}

  const std::optional<base::Error>& error() const { return error_; }

  void fail(const toml::node& at, const std::string& what) {
    if (error_) return;
    error_ = base::usage(what, place(at.source().begin));
  }
  std::string place(const toml::source_position& at) const {
    return file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  }

  void only(const toml::table& table, std::initializer_list<std::string_view> keys) {
    for (const auto& [key, value] : table) {
      bool is_known = false;
      for (const std::string_view one : keys) is_known = is_known || one == key.str();
      if (is_known || error_) continue;
      error_ = base::usage("unknown key '" + one_line(std::string(key.str())) +
                               "'; docs/simulate.md lists the "
                               "keys of a machine file",
                           place(key.source().begin));
    }
  }

  const toml::table* table(const toml::table& of, std::string_view key, bool needed = false) {
    return get<toml::table>(of, key, "a table", needed);
  }
  const toml::array* array(const toml::table& of, std::string_view key, bool needed = false) {
    const auto* found = get<toml::array>(of, key, "an array", needed);
    if (found != nullptr && found->size() > kMostNodes) fail(*found, "too many entries");
    return found;
  }
  // Of tables.
  template <class Visit>
  void rows(const toml::table& of, std::string_view key, bool needed, const Visit& visit) {
    const toml::array* const all = array(of, key, needed);
    if (all == nullptr) return;
    if (all->empty() || all->size() > kMostRows) fail(*all, bad(key, "1 to 4096 tables"));
    for (const toml::node& row : *all) {
      if (error_) return;
      if (const toml::table* const table = row.as_table())
        visit(*table);
      else
        fail(row, bad(key, "an array of tables"));
    }
  }

  double number(const toml::table& of, std::string_view key, double otherwise, double most,
                bool needed = false, bool above_0 = false) {
    const toml::node* const node = find(of, key, needed);
    return node == nullptr ? otherwise : number(*node, key, most, above_0);
  }
  uint64_t whole(const toml::table& of, std::string_view key, uint64_t otherwise, uint64_t least,
                 uint64_t most, bool needed = false) {
    const toml::node* const node = find(of, key, needed);
    return node == nullptr ? otherwise : whole(*node, key, least, most);
  }
  uint64_t whole(const toml::node& node, std::string_view key, uint64_t least, uint64_t most) {
    const auto value = node.is_integer() ? node.value<int64_t>() : std::nullopt;
    if (value && *value >= 0 && static_cast<uint64_t>(*value) >= least &&
        static_cast<uint64_t>(*value) <= most)
      return static_cast<uint64_t>(*value);
    fail(node, bad(key, "a whole number from " + std::to_string(least) + " to " +
                            std::to_string(std::min<uint64_t>(most, INT64_MAX))));
    return least;
  }
  std::vector<uint64_t> wholes(const toml::table& of, std::string_view key, size_t least_count,
                               size_t most_count, bool needed) {
    std::vector<uint64_t> out;
    const toml::array* const all = array(of, key, needed);
    if (all == nullptr) return out;
    if (all->size() < least_count || all->size() > most_count)
      fail(*all, bad(key, "an array of " + std::to_string(least_count) + " to " +
                              std::to_string(most_count) + " numbers"));
    for (const toml::node& one : *all) out.push_back(whole(one, key, 1, kMostNodes));
    return out;
  }
  std::string text(const toml::table& of, std::string_view key, std::string otherwise,
                   bool needed = false) {
    const toml::node* const node = find(of, key, needed);
    if (node == nullptr) return otherwise;
    if (const auto value = node->value_exact<std::string>()) return *value;
    fail(*node, bad(key, "a text"));
    return otherwise;
  }
  size_t word(const toml::table& of, std::string_view key,
              std::initializer_list<std::string_view> words, bool needed = false) {
    const toml::node* const node = find(of, key, needed);
    if (node == nullptr) return 0;
    const auto value = node->value_exact<std::string>();
    std::string list;
    size_t i = 0;
    for (const std::string_view one : words) {
      if (value && *value == one) return i;
      list += (i++ == 0 ? "" : ", ") + std::string(one);
    }
    fail(*node, bad(key, "one of " + list));
    return 0;
  }
  // A number, or { value, low, high }.
  Parameter parameter(const toml::table& of, std::string_view key, double most, bool needed,
                      double otherwise = 0, bool above_0 = false) {
    const toml::node* const node = find(of, key, needed);
    if (node == nullptr) return {otherwise, otherwise, otherwise};
    const toml::table* const three = node->as_table();
    if (three == nullptr) {
      const double value = number(*node, key, most, above_0);
      return {value, value, value};
    }
    only(*three, {"value", "low", "high"});
    Parameter out;
    out.value = number(*three, "value", 0, most, true, above_0);
    out.low = number(*three, "low", out.value, most, false, above_0);
    out.high = number(*three, "high", out.value, most, false, above_0);
    if (!(out.low <= out.value && out.value <= out.high))
      fail(*node, bad(key, "an interval with low <= value <= high"));
    return out;
  }
  static std::string bad(std::string_view key, const std::string& wanted) {
    return "'" + std::string(key) + "' has to be " + wanted;
  }
  const toml::node* find(const toml::table& of, std::string_view key, bool needed) {
    const toml::node* const node = of.get(key);
    if (node == nullptr && needed) fail(of, "'" + std::string(key) + "' is missing here");
    return node;
  }

 private:
  double number(const toml::node& node, std::string_view key, double most, bool above_0) {
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (value && std::isfinite(*value) && *value >= 0 && *value <= most && (!above_0 || *value > 0))
      return *value;
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", most);
    fail(node, bad(key, std::string("a number ") + (above_0 ? "above 0, and" : "from 0 and") +
                            " not above " + limit));
    return 0;
  }
  template <class Node>
  const Node* get(const toml::table& of, std::string_view key, const std::string& what,
                  bool needed) {
    const toml::node* const node = find(of, key, needed);
    if (node == nullptr) return nullptr;
    if (const Node* const right = node->as<Node>()) return right;
    fail(*node, bad(key, what));
    return nullptr;
  }

  std::string file_;
  std::optional<base::Error> error_;
};

}  // namespace refrain::sim
