#include "proxy/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mpi/call_ids.h"
#include "proxy/literals.h"
#include "proxy/refused.h"
#include "reader/internal.h"

namespace refrain::proxy {
namespace {

// Work below this is not said at each call: it is less than what asking for the time takes.
constexpr double kLeastWorkNs = 50;

}  // namespace

Program::Program(const Trace& trace, const Options& options)
    : trace_(trace),
      options_(options),
      symbolic_(trace),
      tables_(symbolic_),
      calls_(trace, options, symbolic_, tables_, pools_),
      paths_(trace, symbols_) {}

// Terminal -> variable. Those that a call completes together stand in a row, as they did.
std::map<uint32_t, int> Program::request_variables(const Family& family) {
  const Kind& kind = family.kinds[0];
  std::map<SignatureId, uint32_t> makers;
  for (uint32_t t = 0; t < family.terminals(); ++t)
    for (const Kind& one : family.kinds)
      for (const format::Field& f :
           symbolic_.call(one.signature(t), one.position(one.first_rank())).fields.parameters)
        if (f.tag == format::FieldTag::kNewRequest) makers[kind.signature(t)] = t;
  std::map<uint32_t, int> out;
  const auto number = [&](uint32_t terminal) {
    out.try_emplace(terminal, static_cast<int>(out.size()));
  };
  for (uint32_t t = 0; t < family.terminals(); ++t)
    for (const format::Field& f :
         symbolic_.call(kind.signature(t), kind.position(kind.first_rank())).fields.parameters) {
      if (f.tag != format::FieldTag::kArray) continue;
      for (const format::Field& child : f.children) {
        const bool has_changed =
            child.tag == format::FieldTag::kChanged && child.children.size() == 2;
        const format::Field& one = has_changed ? child.children[1] : child;
        if (one.tag != format::FieldTag::kRequest) continue;
        const auto maker = makers.find(SignatureId(one.number));
        if (maker != makers.end()) number(maker->second);
      }
    }
  for (const auto& [signature, terminal] : makers) number(terminal);
  most_requests_ = std::max(most_requests_, static_cast<int>(out.size()));
  return out;
}

std::string Program::site_comment(const Kind& kind, SignatureId signature) {
  const DefinitionId path = calls_.decoded(kind, signature).site;
  if (path == kNoDefinition || !options_.resolve) return {};
  const auto& steps = paths_.steps(path);
  return steps.back().site == "unknown" ? "" : in_comment(steps.back().site);
}

std::string Program::call_lines(size_t family, uint32_t terminal, bool with_work, size_t indent) {
  const Family& all = families_[family];
  std::vector<Statement> statements;
  for (size_t k = 0; k < all.kinds.size(); ++k) {
    const Kind& kind = all.kinds[k];
    const auto taken = recorded_[family].taken.find(terminal);
    const Signature& decoded = calls_.decoded(kind, kind.signature(terminal));
    const std::string site = site_comment(kind, kind.signature(terminal));
    tables_.set_call(std::string(decoded.name) + (site.empty() ? "" : " at " + site));
    statements.push_back(
        calls_.statement(kind, kind.signature(terminal), requests_[family][k],
                         taken == recorded_[family].taken.end() ? "" : taken->second));
    if (statements.back().comment.empty()) statements.back().comment = site;
  }
  for (Statement& s : statements)
    if (!s.function.empty()) s.comment = statements.front().comment;
  std::string out;
  const double gap = recorded_[family].gap_ns[terminal];
  if (gap >= kLeastWorkNs && with_work)
    out += fmt::format("{}work({:.0f});\n", std::string(indent, ' '), gap);
  const std::string call = merged_statement(all.kinds, statements, tables_, indent);
  tables_.set_call({});
  return out + call;
}

std::string Program::symbol_text(size_t family, const grammar::Symbol& symbol,
                                 const std::vector<uint64_t>& counts, bool is_main_loop,
                                 bool with_work, size_t indent) {
  const std::string room(indent, ' ');
  const bool is_loop = std::any_of(counts.begin(), counts.end(), [](uint64_t n) { return n != 1; });
  const size_t inside = indent + (is_loop ? 2 : 0);
  const std::string body = symbol.is_rule
                               ? std::string(inside, ' ') + rule_names_[family][symbol.id] + "();\n"
                               : call_lines(family, symbol.id, with_work, inside);
  if (!is_loop) return body;
  std::string times = merged_number(families_[family].kinds, counts);
  if (is_main_loop) times = "iterations(" + times + ")";
  const bool is_one_line =
      std::count(body.begin(), body.end(), '\n') == 1 && body.find("//") == std::string::npos;
  const std::string head = fmt::format("{}for (long long i = 0; i < {}; ++i)", room, times);
  if (is_one_line && head.size() + body.size() - inside < 100)
    return head + " " + body.substr(inside);
  return head + " {\n" + body + room + "}\n";
}

std::vector<DefinitionId> Program::sites_of(size_t family, uint32_t rule) {
  const grammar::Grammar& grammar = families_[family].grammar();
  std::set<uint32_t> seen_rules, terminals;
  std::vector<uint32_t> open{rule};
  while (!open.empty()) {
    const uint32_t r = open.back();
    open.pop_back();
    for (uint32_t s = grammar.rule_begin(r); s < grammar.rule_end[r]; ++s) {
      const grammar::Symbol& symbol = grammar.symbols[s];
      if (!symbol.is_rule)
        terminals.insert(symbol.id);
      else if (seen_rules.insert(symbol.id).second)
        open.push_back(symbol.id);
    }
  }
  std::vector<DefinitionId> out;
  const Kind& kind = families_[family].kinds[0];
  for (const uint32_t t : terminals) out.push_back(calls_.decoded(kind, kind.signature(t)).site);
  return out;
}

// The innermost function that all calls of a rule have in common.
std::string Program::name_of(size_t family, uint32_t rule) {
  std::string found;
  std::vector<std::string> common;
  bool is_first = true;
  for (const DefinitionId site : sites_of(family, rule)) {
    if (site == kNoDefinition) continue;
    std::vector<std::string> names;
    for (const text::PathStep& step : paths_.steps(site)) names.push_back(step.function);
    if (is_first) common = names;
    is_first = false;
    size_t n = 0;
    while (n < common.size() && n < names.size() && common[n] == names[n]) ++n;
    common.resize(n);
  }
  for (size_t i = common.size(); i-- > 0 && found.empty();) found = identifier(common[i]);
  if (rule == 0) found = "run";
  if (found.empty()) found = "part";
  const int times = ++names_[found];
  if (times == 1) return found;
  std::string out = fmt::format("{}_{}", found, times);
  ++names_[out];
  return out;
}

bool Program::write_family(size_t number, std::string& opening) {
  const Family& family = families_[number];
  const grammar::Grammar& grammar = family.grammar();
  std::vector<std::string>& names = rule_names_[number];
  names.resize(grammar.rule_count());
  bool has_init = false;
  const size_t main_loop = has_main_loop_ ? main_loop_of(family.grammar()) : SIZE_MAX;
  for (size_t r = grammar.rule_count(); r-- > 0;) {
    std::string body;
    bool is_up = r != 0;
    double own_calls = 0;
    for (uint32_t s = grammar.rule_begin(r); s < grammar.rule_end[r]; ++s) {
      const grammar::Symbol& symbol = grammar.symbols[s];
      std::vector<uint64_t> counts;
      for (const Kind& kind : family.kinds) counts.push_back(kind.grammar->symbols[s].count);
      const std::string text =
          symbol_text(number, symbol, counts, s == main_loop && r == 0, is_up, 2);
      if (is_up && !symbol.is_rule)
        for (const uint64_t n : counts)
          own_calls += static_cast<double>(n) / static_cast<double>(counts.size());
      if (!is_up)
        opening += text;
      else
        body += text;
      if (!symbol.is_rule && !is_up) {
        const Signature& call =
            calls_.decoded(family.kinds[0], family.kinds[0].signature(symbol.id));
        is_up = has_init = call.call == mpi::kMPI_Init || call.call == mpi::kMPI_Init_thread;
      }
    }
    const double own_work = own_calls * recorded_[number].any_gap_ns;
    if (own_work >= kLeastWorkNs) body = fmt::format("  work({:.0f});\n", own_work) + body;
    const auto known = by_text_.find(body);
    if (known != by_text_.end() && r != 0) {
      names[r] = known->second;
      continue;
    }
    names[r] = name_of(number, static_cast<uint32_t>(r));
    by_text_[body] = names[r];
    functions_.push_back({names[r], body});
  }
  return has_init;
}

Status Program::check_objects(const Kind& kind) {
  for (const std::string& object : pools_.used)
    if (!pools_.made.contains(object))
      return base::unsupported(
          fmt::format("rank {} uses {}, and no call that can be made again makes it",
                      kind.first_rank(), object),
          trace_.name());
  pools_.used.clear();
  pools_.made.clear();
  return base::Done{};
}

// Which kind this rank is: an expression where it can be one.
std::string Program::kinds_text() {
  std::vector<const Kind*> all;
  for (const Family& family : families_)
    for (const Kind& kind : family.kinds) all.push_back(&kind);
  if (all.size() == 1) return {};
  const int64_t last = trace_.rank_count() - 1;
  const Kind *first_kind = nullptr, *last_kind = nullptr, *rest = nullptr;
  bool is_simple = all.size() <= 3;
  for (const Kind* kind : all) {
    const bool is_one = kind->ranks() == 1;
    if (is_one && kind->first_rank() == 0 && first_kind == nullptr)
      first_kind = kind;
    else if (is_one && kind->first_rank() == last && last > 1 && last_kind == nullptr)
      last_kind = kind;
    else if (rest == nullptr)
      rest = kind;
    else
      is_simple = false;
  }
  if (is_simple && rest != nullptr) {
    std::string out;
    if (first_kind != nullptr) out += fmt::format("rank == 0 ? {} : ", first_kind->number);
    if (last_kind != nullptr) out += fmt::format("rank == size - 1 ? {} : ", last_kind->number);
    return out + fmt::format("{}", rest->number);
  }
  std::vector<int64_t> by_rank(static_cast<size_t>(trace_.rank_count()));
  for (const Kind* kind : all)
    kind->for_each_rank([&](Rank r) { by_rank[static_cast<size_t>(r)] = kind->number; });
  tables_.set_call("which ranks do what");
  const std::string table = tables_.add(by_rank, "a list of ranks");
  tables_.set_call({});
  return table + "[rank]";
}

std::string Program::variables() const {
  struct Type {
    std::string_view pool, type;
  };
  constexpr Type kTypes[] = {{"comms", "Comm"},           {"windows", "Window"},
                             {"files", "File"},           {"types", "MPI_Datatype"},
                             {"groups", "MPI_Group"},     {"ops", "MPI_Op"},
                             {"infos", "MPI_Info"},       {"errhandlers", "MPI_Errhandler"},
                             {"messages", "MPI_Message"}, {"keyvals", "int"}};
  std::string out;
  for (const Type& one : kTypes)
    if (const auto size = pools_.size.find(std::string(one.pool)); size != pools_.size.end())
      out += fmt::format("{} {}[{}];\n", one.type, one.pool, size->second);
  if (most_requests_ > 0) out += fmt::format("MPI_Request request[{}];\n", most_requests_);
  return out;
}

std::string Program::assembled(const std::string& opening, Outcome& out) {
  const std::string kinds = kinds_text();
  std::string functions;
  for (const Function& f : functions_)
    functions += fmt::format("\nvoid {}() {{\n{}}}\n", f.name, f.text);
  std::string shares;
  double most = 0, least = 1;
  for (const double s : texts_.share) most = std::max(most, s), least = std::min(least, s);
  if (most > 1.02 || least < 0.98) {
    std::vector<int64_t> by_rank;
    for (const double s : texts_.share)
      by_rank.push_back(static_cast<int64_t>(std::lround(s * 1000)));
    tables_.set_call("work of each rank, in thousandths");
    shares = fmt::format("  if (size == {}) work_share = {}[rank] / 1000.0;\n", trace_.rank_count(),
                         tables_.add(by_rank, ""));
    tables_.set_call({});
  }
  std::string text =
      "// Makes the calls of a recorded program again. Made by `refrain proxy`; yours to change.\n";
  text += "#include \"refrain_proxy.h\"\n\nusing namespace proxy;\n\nnamespace {\n\n";
  text += variables();
  for (const std::string& table : tables_.texts()) text += table + "\n";
  for (const std::string& taken : texts_.taken) text += taken + "\n";
  text += functions + "\n}  // namespace\n\nint main(int argc, char** argv) {\n";
  text += "  read_options(argc, argv);\n";
  if (!has_main_loop_) text += "  no_main_loop();\n";
  if (most_requests_ > 0)
    text += "  std::fill(std::begin(request), std::end(request), MPI_REQUEST_NULL);\n";
  text += opening;
  std::string needs;
  constexpr size_t kMostNeeds = 12;
  for (size_t i = 0; i < tables_.needs().size() && i < kMostNeeds; ++i)
    needs += (needs.empty() ? "" : ", ") + quoted(tables_.needs()[i]);
  text += wrapped(fmt::format("check_ranks({}, {{{}}});", trace_.rank_count(), needs), 2) + shares;
  if (!kinds.empty()) text += "  kind = " + kinds + ";\n";
  for (size_t f = 0; f < families_.size(); ++f) {
    if (families_.size() > 1) {
      std::string numbers;
      for (const Kind& kind : families_[f].kinds)
        numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", kind.number);
      text += fmt::format("  if (is_kind({{{}}})) ", numbers);
    } else {
      text += "  ";
    }
    text += rule_names_[f][0] + "();\n";
  }
  text += "}\n";
  out.tables = tables_.texts().size() + texts_.taken.size();
  out.needs = tables_.needs();
  return text;
}

// Whether all ranks run through a main loop equally often: one number can stand for all.
bool Program::has_one_main_loop() const {
  uint64_t times = 0;
  for (const Family& family : families_) {
    const size_t loop = main_loop_of(family.grammar());
    if (loop == SIZE_MAX) return false;
    for (const Kind& kind : family.kinds) {
      const uint64_t own = kind.grammar->symbols[loop].count;
      if (times != 0 && own != times) return false;
      times = own;
    }
  }
  return true;
}

Result<Outcome> Program::write() {
  Outcome out;
  auto families = families_of(trace_);
  if (!families.ok()) return families.error();
  families_ = std::move(*families);
  auto recorded = recorded_of(symbolic_, families_, texts_);
  if (!recorded.ok()) return recorded.error();
  recorded_ = std::move(*recorded);
  rule_names_.resize(families_.size());
  requests_.resize(families_.size());
  has_main_loop_ = has_one_main_loop();
  std::string opening;
  for (size_t f = 0; f < families_.size(); ++f) {
    const std::map<uint32_t, int> variables = request_variables(families_[f]);
    for (const Kind& kind : families_[f].kinds) {
      std::map<SignatureId, int>& of_kind = requests_[f].emplace_back();
      for (const auto& [terminal, variable] : variables)
        of_kind[kind.signature(terminal)] = variable;
    }
    std::string own;
    const bool has_init = write_family(f, own);
    if (f == 0) opening = own;
    if (own != opening)
      return base::unsupported("ranks do different things before MPI_Init", trace_.name());
    if (!has_init)
      return base::unsupported("the trace has no MPI_Init to begin with", trace_.name());
    if (!calls_.problems().empty()) break;
    if (const Status good = check_objects(families_[f].kinds[0]); !good.ok()) return good.error();
    out.kinds += families_[f].kinds.size();
    out.rules += families_[f].grammar().rule_count();
  }
  if (!calls_.problems().empty()) {
    const auto& [function, why] = *calls_.problems().begin();
    return base::unsupported(fmt::format("{} cannot be made again: {}; --skip {} leaves it out",
                                         function, why, function),
                             trace_.name());
  }
  out.program = assembled(opening, out);
  out.lines = static_cast<uint64_t>(std::count(out.program.begin(), out.program.end(), '\n'));
  out.functions = functions_.size();
  out.families = families_.size();
  out.signatures = trace_.signature_count();
  out.calls = trace_.call_count();
  out.not_held = calls_.not_held();
  out.compute = texts_.compute;
  return out;
}

}  // namespace refrain::proxy
