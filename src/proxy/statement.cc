#include "proxy/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/runs.h"
#include "proxy/literals.h"

namespace refrain::proxy {
namespace {

using format::RankExpr;

// Beyond so many texts for kinds of ranks a table says it in less.
constexpr size_t kMostNumbers = 4;

std::string plus(const std::string& what, int64_t b) {
  if (b == 0) return what;
  return b > 0 ? fmt::format("{} + {}", what, b)
               : fmt::format("{} - {}", what, 0 - static_cast<uint64_t>(b));
}

std::string condition(const std::vector<Kind>& kinds, const std::vector<size_t>& which) {
  std::string out;
  for (const size_t k : which) out += fmt::format("{}{}", out.empty() ? "" : ", ", kinds[k].number);
  return "is_kind({" + out + "})";
}

// Texts, the one of most ranks last, and which kinds have them.
std::vector<std::pair<std::string, std::vector<size_t>>> by_text(
    const std::vector<Kind>& kinds, const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::vector<size_t>>> out;
  std::map<std::string, size_t> known;
  std::map<std::string, uint64_t> ranks;
  for (size_t k = 0; k < texts.size(); ++k) {
    const auto [it, is_new] = known.try_emplace(texts[k], out.size());
    if (is_new) out.push_back({texts[k], {}});
    out[it->second].second.push_back(k);
    ranks[texts[k]] += kinds[k].ranks();
  }
  std::stable_sort(out.begin(), out.end(),
                   [&](const auto& a, const auto& b) { return ranks[a.first] < ranks[b.first]; });
  return out;
}

std::string chain(const std::vector<Kind>& kinds, const std::vector<std::string>& texts) {
  const auto different = by_text(kinds, texts);
  std::string out;
  for (size_t i = 0; i + 1 < different.size(); ++i)
    out += condition(kinds, different[i].second) + " ? " + different[i].first + " : ";
  return out + different.back().first;
}

std::string call_text(const Statement& statement) {
  std::string out = statement.function + "(";
  for (size_t i = 0; i < statement.arguments.size(); ++i)
    out += (i == 0 ? "" : ", ") + statement.arguments[i].text;
  return out + ");";
}

std::string lines_of(const std::vector<std::string>& before, const std::string& call,
                     const std::vector<std::string>& behind, const std::string& comment,
                     size_t indent) {
  std::string out;
  for (const std::string& line : before) out += wrapped(line, indent);
  if (!call.empty()) out += wrapped(call, indent);
  for (const std::string& line : behind) out += wrapped(line, indent);
  if (!comment.empty() && !out.empty()) {
    out.pop_back();
    out += "  // " + comment + "\n";
  } else if (!comment.empty()) {
    out = std::string(indent, ' ') + "// " + comment + "\n";
  }
  return out;
}

}  // namespace

std::string expression_text(const RankExpr& e, const std::string& me, const std::string& size) {
  switch (e.kind) {
    case RankExpr::Kind::kConst: return fmt::format("{}", e.a);
    case RankExpr::Kind::kAffine:
      if (e.a == 0) return fmt::format("{}", e.b);
      return plus(e.a == 1 ? me : fmt::format("{} * {}", e.a, me), e.b);
    case RankExpr::Kind::kMod: return fmt::format("modulo({}, {})", plus(me, e.a), size);
    case RankExpr::Kind::kXor: return fmt::format("{} ^ {}", me, e.a);
    case RankExpr::Kind::kCart: return fmt::format("cart_shift({}, {}, {}, {})", me, e.a, e.b, e.d);
    case RankExpr::Kind::kDigit: {
      std::string out = e.a == 1 ? me : fmt::format("{} / {}", me, e.a);
      out += fmt::format(" % {}", e.b);
      if (e.c != 1) out += fmt::format(" * {}", e.c);
      return plus(out, e.d);
    }
    case RankExpr::Kind::kTable: break;
  }
  return "0";
}

void Tables::need(const std::string& why) {
  const std::string text = call_.empty() ? why : call_ + ": " + why;
  if (std::find(needs_.begin(), needs_.end(), text) == needs_.end()) needs_.push_back(text);
}

std::string Tables::add(const std::vector<int64_t>& by_rank, const std::string& why) {
  base::RunList list;
  for (const int64_t v : by_rank) list.append(v);
  std::string body;
  for (const base::RunList::Run& run : list.runs())
    body +=
        fmt::format("{}{{{}, {}, {}}}", body.empty() ? "" : ", ", run.start, run.step, run.count);
  if (!why.empty()) need(why);
  const auto known = std::find(bodies_.begin(), bodies_.end(), body);
  const size_t number = static_cast<size_t>(known - bodies_.begin());
  if (known == bodies_.end()) {
    bodies_.push_back(body);
    texts_.push_back(fmt::format("Table table_{}{{{}}};  // {}", number, body, in_comment(call_)));
  }
  return fmt::format("table_{}", number);
}

int64_t Tables::value(const Kind& kind, const Argument& argument, Rank rank) {
  const int64_t v = symbolic_.value(argument.signature, argument.slot, kind.position(rank));
  return argument.is_object ? symbolic_.object_number(v) : v;
}

std::string Tables::table_of(const std::vector<Kind>& kinds,
                             const std::vector<const Argument*>& numbers) {
  std::vector<int64_t> by_rank(static_cast<size_t>(symbolic_.trace().rank_count()));
  int64_t first = 0;
  bool is_equal = true, is_first = true;
  for (size_t k = 0; k < kinds.size(); ++k) {
    if (numbers[k] == nullptr) continue;
    kinds[k].for_each_rank([&](Rank rank) {
      const int64_t v = value(kinds[k], *numbers[k], rank);
      by_rank[static_cast<size_t>(rank)] = v;
      if (std::exchange(is_first, false)) first = v;
      is_equal = is_equal && v == first;
    });
  }
  if (is_equal) return fmt::format("{}", first);
  bool is_wide = false;
  for (const int64_t v : by_rank) is_wide = is_wide || v != static_cast<int32_t>(v);
  const std::string name = add(by_rank, "a table by rank");
  return is_wide ? name + ".whole(rank)" : name + "[rank]";
}

bool Tables::does_for_all(const std::vector<Kind>& kinds,
                          const std::vector<const Argument*>& numbers, const Argument& candidate) {
  for (size_t k = 0; k < kinds.size(); ++k) {
    if (numbers[k]->me != candidate.me || numbers[k]->before != candidate.before) return false;
    bool does = true;
    kinds[k].for_each_rank([&](Rank rank) {
      does =
          does && symbolic_.value_of(candidate.expression, numbers[k]->signature,
                                     kinds[k].position(rank)) == value(kinds[k], *numbers[k], rank);
    });
    if (!does) return false;
  }
  return true;
}

// What an expression that is written holds the program to.
void Tables::need_for(const Argument& argument) {
  const RankExpr& e = argument.expression;
  if (e.kind == RankExpr::Kind::kCart) need("a step in a grid");
  if (e.kind == RankExpr::Kind::kXor) need("partners by bits of the rank");
  if (e.kind == RankExpr::Kind::kDigit) need("a row or column of ranks by its length");
  if (!argument.is_rank) return;
  if (e.kind == RankExpr::Kind::kConst && e.a > 0) need("a rank by its number");
  if (e.kind == RankExpr::Kind::kAffine && e.b != 0 && (e.a != 1 || grid_says_kinds_))
    need("a distance that is no step in the grid of ranks");
}

// A neighbour in the grid, for numbers of ranks that are those of the world.
std::string Tables::in_grid(const std::vector<Kind>& kinds,
                            const std::vector<Argument>& arguments) {
  if (grid_ == nullptr) return {};
  bool is_rank = false, is_in_world = true;
  for (const Argument& a : arguments) {
    if (a.is_number ? !a.is_rank : a.text != "MPI_PROC_NULL") return {};
    is_rank = is_rank || a.is_number;
  }
  if (!is_rank) return {};
  std::map<int64_t, int64_t> to;
  for (size_t k = 0; k < kinds.size(); ++k)
    kinds[k].for_each_rank([&](Rank rank) {
      const Argument& a = arguments[k];
      to[rank] = a.is_number ? value(kinds[k], a, rank) : Grid::kNobody;
      if (!a.is_number || a.me.empty()) return;
      const auto place = symbolic_.context(a.signature, kinds[k].position(rank)).place;
      is_in_world = is_in_world && place.me == rank && place.size == symbolic_.trace().rank_count();
    });
  if (!is_in_world) return {};
  const std::string out = grid_->steps_to(to).value_or("");
  if (!out.empty() && !grid_->tells_sides_apart())
    need("a round axis of the grid with so few ranks that both neighbours are one");
  return out;
}

std::string Tables::number(const Kind& kind, const Argument& argument) {
  if (argument.expression.kind == RankExpr::Kind::kTable || argument.is_object)
    return table_of({kind}, {&argument});
  need_for(argument);
  const bool in_world = argument.me.empty();
  return expression_text(argument.expression, in_world ? "rank" : argument.me + ".rank()",
                         in_world ? "size" : argument.me + ".size()");
}

std::string Tables::merged(const std::vector<Kind>& kinds, const std::vector<Argument>& arguments) {
  if (std::string step = in_grid(kinds, arguments); !step.empty()) return step;
  std::vector<std::string> texts;
  std::vector<const Argument*> numbers;
  size_t number_count = 0;
  bool has_table = false, is_simple = true;
  for (const Argument& a : arguments) {
    numbers.push_back(a.is_number ? &a : nullptr);
    number_count += a.is_number ? 1 : 0;
    has_table = has_table || (a.is_number && a.expression.kind == RankExpr::Kind::kTable);
    is_simple = is_simple && a.is_simple;
  }
  if (number_count == arguments.size() && kinds.size() > 1 && !arguments[0].is_object) {
    std::vector<RankExpr> tried;
    for (const Argument& a : arguments) {
      if (a.expression.kind == RankExpr::Kind::kTable ||
          std::find(tried.begin(), tried.end(), a.expression) != tried.end())
        continue;
      tried.push_back(a.expression);
      if (tried.size() > kMostNumbers) break;
      if (does_for_all(kinds, numbers, a)) return a.before + number(kinds[0], a) + a.behind;
    }
  }
  std::string number_text;
  if (has_table && number_count > 1) {
    number_text = table_of(kinds, numbers);
  } else if (number_count > 1) {
    std::vector<std::string> different;
    for (size_t k = 0; k < kinds.size(); ++k) {
      if (!arguments[k].is_number) continue;
      const std::string text = number(kinds[k], arguments[k]);
      if (std::find(different.begin(), different.end(), text) == different.end())
        different.push_back(text);
    }
    if (different.size() > kMostNumbers) number_text = table_of(kinds, numbers);
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    const Argument& a = arguments[k];
    texts.push_back(!a.is_number
                        ? a.text
                        : a.before + (number_text.empty() ? number(kinds[k], a) : number_text) +
                              a.behind);
  }
  if (std::all_of(texts.begin(), texts.end(), [&](const auto& t) { return t == texts[0]; }))
    return texts[0];
  return is_simple ? chain(kinds, texts) : "";
}

std::string merged_statement(const std::vector<Kind>& kinds,
                             const std::vector<Statement>& statements, Tables& tables,
                             size_t indent) {
  const Statement& first = statements.front();
  const bool is_alike = std::all_of(statements.begin(), statements.end(), [&](const Statement& s) {
    return s.before == first.before && s.function == first.function && s.behind == first.behind &&
           s.arguments.size() == first.arguments.size();
  });
  bool is_merged = is_alike;
  Statement one = first;
  for (size_t a = 0; is_merged && a < first.arguments.size(); ++a) {
    std::vector<Argument> all;
    for (const Statement& s : statements) all.push_back(s.arguments[a]);
    one.arguments[a].text = tables.merged(kinds, all);
    is_merged = !one.arguments[a].text.empty();
  }
  if (is_merged)
    return lines_of(one.before, one.function.empty() ? "" : call_text(one), one.behind, one.comment,
                    indent);
  // Each form by itself.
  std::vector<std::string> texts;
  for (size_t k = 0; k < statements.size(); ++k) {
    Statement s = statements[k];
    for (Argument& a : s.arguments) a.text = tables.merged({kinds[k]}, {a});
    texts.push_back(lines_of(s.before, s.function.empty() ? "" : call_text(s), s.behind, s.comment,
                             indent + 2));
  }
  std::string out;
  const auto different = by_text(kinds, texts);
  for (size_t i = 0; i < different.size(); ++i) {
    const bool is_last = i + 1 == different.size();
    out += i == 0 ? std::string(indent, ' ') : " else ";
    if (!is_last || i == 0) out += "if (" + condition(kinds, different[i].second) + ") ";
    out += "{\n" + different[i].first + std::string(indent, ' ') + "}";
  }
  return out + "\n";
}

std::string merged_number(const std::vector<Kind>& kinds, const std::vector<uint64_t>& numbers) {
  std::vector<std::string> texts;
  for (const uint64_t n : numbers) texts.push_back(fmt::format("{}", n));
  const std::string out = chain(kinds, texts);
  return out.find('?') == std::string::npos ? out : "(" + out + ")";
}

}  // namespace refrain::proxy
