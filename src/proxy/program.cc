#include "proxy/program.h"

#include <fmt/format.h>

#include <algorithm>

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
        calls_.statement(kind, kind.signature(terminal), requests_->of(family, k),
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

// Whether a session is there before MPI_Init, or without it.
bool Program::begins_with_sessions() const {
  for (const Family& family : families_)
    for (const Kind& kind : family.kinds) {
      bool is_first = false;
      RankReader reader(trace_, kind.first_rank());
      (void)reader.for_each_call(0, [&](const Call& call) {
        is_first = call.signature->call == mpi::kMPI_Session_init;
        return !is_first && call.signature->call != mpi::kMPI_Init &&
               call.signature->call != mpi::kMPI_Init_thread;
      });
      if (is_first) return true;
    }
  return false;
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
  const bool is_thread = families_[family].thread() > 0;
  if (rule == 0 && !is_thread) found = "run";
  if (rule == 0 && is_thread) found = found.empty() ? "thread_start" : "thread_" + found;
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
  symbolic_.set_thread(family.thread());
  const bool is_up_at_begin = has_sessions_first_ || family.thread() > 0;
  bool has_init = is_up_at_begin;
  const size_t main_loop = has_main_loop_ ? main_loop_of(family.grammar()) : SIZE_MAX;
  for (size_t r = grammar.rule_count(); r-- > 0;) {
    std::string body;
    bool is_up = r != 0 || is_up_at_begin;
    double own_calls = 0;
    for (uint32_t s = grammar.rule_begin(r); s < grammar.rule_end[r]; ++s) {
      const grammar::Symbol& symbol = grammar.symbols[s];
      std::vector<uint64_t> counts;
      for (const Kind& kind : family.kinds) counts.push_back(kind.grammar->symbols[s].count);
      std::string text = symbol_text(number, symbol, counts, s == main_loop && r == 0, is_up, 2);
      if (r == 0) text = threads_.before(number, s, 2) + text + threads_.behind(number, s, 2);
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
    if (known != by_text_.end() && (r != 0 || family.thread() > 0)) {
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
          fmt::format("rank {} uses {}, and no recorded call that can be made again makes it: a "
                      "filter left that out, or MPI made it itself, as MPICH does for array "
                      "sections of mpi_f08. `refrain replay` makes such objects",
                      kind.first_rank(), object),
          trace_.name());
  pools_.used.clear();
  pools_.made.clear();
  return base::Done{};
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
  has_main_loop_ = has_one_main_loop();
  has_sessions_first_ = begins_with_sessions();
  if (has_sessions_first_) calls_.set_sessions_first();
  requests_.emplace(symbolic_, families_);
  auto skipped = skipped_of(symbolic_, families_, options_.skip);
  if (!skipped.ok()) return skipped.error();
  skipped_ = std::move(*skipped);
  calls_.set_skipped(&skipped_);
  grid_ = Grid::find(symbolic_, families_, !simple_kinds());
  if (grid_) {
    tables_.set_grid(&*grid_,
                     grid_->sides().size() > 1 && grid_->kinds(kind_of_rank()).has_value());
    calls_.set_grid(&*grid_);
  }
  calls_.set_handed(&requests_->handed());
  calls_.set_threads(families_.back().thread() != 0, have_epochs_in_threads(symbolic_, families_));
  if (const Status good = threads_.look(); !good.ok()) return good.error();
  std::string opening;
  for (size_t f = 0; f < families_.size(); ++f) {
    std::string own;
    const bool has_init = write_family(f, own);
    if (f == 0) opening = own;
    if (families_[f].thread() == 0 && own != opening)
      return base::unsupported("ranks do different things before MPI_Init", trace_.name());
    if (!has_init)
      return base::unsupported("the trace has no MPI_Init to begin with", trace_.name());
    if (!calls_.problems().empty()) break;
    // What a thread uses may be what another one makes.
    if (families_.back().thread() == 0)
      if (const Status good = check_objects(families_[f].kinds[0]); !good.ok()) return good.error();
    if (families_[f].thread() == 0) out.kinds += families_[f].kinds.size();
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
  out.skipped = skipped_.named, out.other_ends = skipped_.other_ends;
  out.not_held = calls_.not_held();
  out.left_out = calls_.left_out();
  out.compute = texts_.compute;
  return out;
}

}  // namespace refrain::proxy
