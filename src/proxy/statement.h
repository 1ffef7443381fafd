// Calls as text, kind by kind, and what becomes of them when kinds of ranks share a function.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/signatures/rank_expr.h"
#include "proxy/families.h"
#include "proxy/grid.h"
#include "proxy/symbolic.h"

namespace refrain::proxy {

// A parameter as one kind of ranks passes it.
struct Argument {
  std::string text;
  bool is_simple = true;  // may stand behind a `?`
  // Of a number that follows from an expression: `before`, the number, `behind` make the text.
  // Kinds may then share an expression or a table.
  bool is_number = false, is_object = false;
  bool is_rank = false;            // of a number: in `me`
  std::string before, behind, me;  // me: text of the communicator that the expression is about
  SignatureId signature;
  uint32_t slot = 0;
  format::RankExpr expression;

  Argument() = default;
  Argument(std::string words) : text(std::move(words)) {}  // NOLINT: a text is an argument
  Argument(const char* words) : text(words) {}             // NOLINT: the same
};

// One call: what goes before it, the call, and what comes behind it.
struct Statement {
  std::vector<std::string> before;
  std::string function;  // empty: no call
  std::vector<Argument> arguments;
  std::vector<std::string> behind;
  std::string comment;
};

// Tables by rank that the program needs, and why it needs the recorded number of ranks.
class Tables {
 public:
  explicit Tables(Symbolic& symbolic) : symbolic_(symbolic) {}

  // The grid that ranks stand in; outlives this. `says_kinds`: ranks are of a kind by their places
  // in it.
  void set_grid(const Grid* grid, bool says_kinds) {
    grid_ = grid;
    grid_says_kinds_ = says_kinds;
  }
  // The number that an argument is for the ranks of its kind, as an expression in C++. A table that
  // no other has becomes a table of the program.
  std::string number(const Kind& kind, const Argument& argument);
  // One text for all kinds: they have `arguments` in their order. Empty where none does for all.
  std::string merged(const std::vector<Kind>& kinds, const std::vector<Argument>& arguments);
  // A table with these values of ranks.
  std::string add(const std::vector<int64_t>& by_rank, const std::string& why);

  const std::vector<std::string>& texts() const { return texts_; }  // their definitions
  void need(const std::string& why);
  const std::vector<std::string>& needs() const { return needs_; }
  void set_call(std::string name) { call_ = std::move(name); }  // that the next ones are of

 private:
  int64_t value(const Kind& kind, const Argument& argument, Rank rank);
  void need_for(const Argument& argument);
  std::string in_grid(const std::vector<Kind>& kinds, const std::vector<Argument>& arguments);
  bool does_for_all(const std::vector<Kind>& kinds, const std::vector<const Argument*>& numbers,
                    const Argument& candidate);
  std::string table_of(const std::vector<Kind>& kinds, const std::vector<const Argument*>& numbers);

  Symbolic& symbolic_;
  std::vector<std::string> texts_, bodies_, needs_;
  std::string call_;
  const Grid* grid_ = nullptr;
  bool grid_says_kinds_ = false;
};

// `me + 1` and the like; `size` stands for that of the communicator.
std::string expression_text(const format::RankExpr& expression, const std::string& me,
                            const std::string& size);

// The lines of a call for all kinds of a family, `indent` columns in.
std::string merged_statement(const std::vector<Kind>& kinds,
                             const std::vector<Statement>& statements, Tables& tables,
                             size_t indent);
// A number that may differ from kind to kind, such as how often a loop runs.
std::string merged_number(const std::vector<Kind>& kinds, const std::vector<uint64_t>& numbers);

}  // namespace refrain::proxy
