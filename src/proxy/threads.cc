#include "proxy/threads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace refrain::proxy {
namespace {

using format::Field;
using format::FieldTag;
using mpi::Direction;

// visit(definition) for each object in a field.
template <class Visit>
void for_each_object(Symbolic& symbolic, const Kind& kind, SignatureId signature,
                     const Field& field, Visit visit) {
  if (field.tag == FieldTag::kObject)
    visit(symbolic.value(signature, static_cast<uint32_t>(field.number),
                         kind.position(kind.first_rank())));
  for (const Field& child : field.children)
    for_each_object(symbolic, kind, signature, child, visit);
}

// Where the start has a rule, and how often it is run through.
struct Span {
  uint32_t first = UINT32_MAX, last = 0;
  uint64_t times = 0;
  void add(const Span& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    times += other.times;
  }
};

// Of each terminal.
std::map<uint32_t, Span> spans_of(const grammar::Grammar& grammar) {
  std::map<uint32_t, Span> out;
  std::vector<Span> rules(grammar.rule_count());
  for (uint32_t r = 0; r < grammar.rule_count(); ++r)
    for (uint32_t s = grammar.rule_begin(r); s < grammar.rule_end[r]; ++s) {
      const grammar::Symbol& symbol = grammar.symbols[s];
      const Span here = r == 0 ? Span{s, s, symbol.count}
                               : Span{rules[r].first, rules[r].last, rules[r].times * symbol.count};
      if (symbol.is_rule)
        rules[symbol.id].add(here);  // a rule with a higher number
      else
        out[symbol.id].add(here);
    }
  return out;
}

// Predefined objects have no number.
bool is_made_by_a_call(const std::string& name) { return name.find('#') != std::string::npos; }

std::string as_word(const std::string& object) {
  std::string out = object;
  for (char& c : out)
    if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')) c = '_';
  return out;
}

}  // namespace

std::map<std::string, Threads::Use> Threads::uses_of(const Kind& kind) {
  std::map<std::string, Use> out;
  for (const auto& [terminal, span] : spans_of(*kind.grammar)) {
    const SignatureId signature = kind.signature(terminal);
    const SymbolicCall& call = symbolic_.call(signature, kind.position(kind.first_rank()));
    if (call.info == nullptr) continue;
    const auto& fields = call.fields.parameters;
    for (size_t i = 0; i < fields.size() && i < call.info->params.size(); ++i) {
      const Direction direction = call.info->params[i].direction;
      for_each_object(symbolic_, kind, signature, fields[i], [&](int64_t definition) {
        if (definition < 0 || definition >= symbolic_.trace().definition_count()) return;
        Use& use = out[symbolic_.trace().object_name(static_cast<DefinitionId>(definition))];
        use.first = std::min(use.first, span.first);
        use.last = std::max(use.last, span.last);
        use.is_collective |= call.meaning->does_any(mpi::kDoesCollective) &&
                             symbolic_.trace().communicator(static_cast<DefinitionId>(definition),
                                                            kind.first_rank());
        if (direction == Direction::kOut) {
          use.made += span.times;
          use.first_make = std::min(use.first_make, span.first);
        }
        if (direction == Direction::kInOut && call.meaning->does_any(mpi::kDoesFree))
          use.first_free = std::min(use.first_free, span.first);
      });
    }
  }
  return out;
}

void Threads::await(const Thread& thread, uint32_t symbol, const std::string& signal,
                    size_t times) {
  signals_.insert(signal);
  const Kind& kind = families_[thread.family].kinds[thread.kind];
  lines_[thread.family][{symbol, false}][fmt::format("{}.await({});", signal, times)].insert(
      kind.number);
}

void Threads::give(const Thread& thread, uint32_t symbol, const std::string& signal) {
  signals_.insert(signal);
  const Kind& kind = families_[thread.family].kinds[thread.kind];
  lines_[thread.family][{symbol, true}][signal + ".give();"].insert(kind.number);
}

// Threads other than the first that make collective calls on one communicator did so one behind the
// other: two at a time are not allowed. Threads are numbered by their first calls.
void Threads::take_turns(const std::string& object, const std::vector<const Thread*>& users) {
  size_t collective = 0;
  for (const Thread* t : users)
    collective += t->number > 0 && t->uses.at(object).is_collective ? 1 : 0;
  if (collective < 2) return;
  const std::string turn = "turn_" + as_word(object);
  size_t before = 0;
  for (const Thread* t : users) {
    if (t->number == 0) continue;
    const Use& use = t->uses.at(object);
    if (before > 0) await(*t, use.first, turn, before);
    give(*t, use.last, turn);
    ++before;
  }
}

base::Status Threads::share(const std::string& object, const std::vector<Thread>& threads) {
  std::vector<const Thread*> users, makers;
  for (const Thread& t : threads) {
    const auto use = t.uses.find(object);
    if (use == t.uses.end()) continue;
    users.push_back(&t);
    if (use->second.made > 0) makers.push_back(&t);
  }
  if (users.size() < 2) return base::Done{};
  if (makers.size() < 2) take_turns(object, users);
  if (!is_made_by_a_call(object) || makers.empty()) return base::Done{};
  for (const Thread* t : makers)
    if (makers.size() > 1) symbolic_.set_owner(t->number, object, t->number);
  if (makers.size() == users.size()) return base::Done{};  // each has one of its own
  const Thread& maker = *makers.front();
  if (makers.size() > 1 || maker.uses.at(object).made > 1)
    return base::unsupported(
        fmt::format("{} is made several times by threads, and the trace does not say which one "
                    "another thread uses",
                    object),
        symbolic_.trace().name());
  const std::string made = "made_" + as_word(object), left = "left_" + as_word(object);
  give(maker, maker.uses.at(object).first_make, made);
  const Thread* freeing = nullptr;
  for (const Thread* t : users) {
    if (t != &maker) await(*t, t->uses.at(object).first, made, 1);
    if (t->uses.at(object).first_free != UINT32_MAX) freeing = t;
  }
  if (freeing == nullptr) return base::Done{};
  for (const Thread* t : users)
    if (t != freeing) give(*t, t->uses.at(object).last, left);
  await(*freeing, freeing->uses.at(object).first_free, left, users.size() - 1);
  return base::Done{};
}

base::Status Threads::look() {
  lines_.resize(families_.size());
  std::map<uint32_t, std::vector<Thread>> by_group;
  for (size_t f = 0; f < families_.size(); ++f)
    for (size_t k = 0; k < families_[f].kinds.size(); ++k)
      by_group[families_[f].kinds[k].number].push_back({f, k, families_[f].thread(), {}});
  for (auto& [group, threads] : by_group) {
    if (threads.size() < 2) continue;
    std::set<std::string> objects;
    for (Thread& t : threads) {
      t.uses = uses_of(families_[t.family].kinds[t.kind]);
      for (const auto& [name, use] : t.uses) objects.insert(name);
    }
    for (const std::string& object : objects)
      if (const base::Status good = share(object, threads); !good.ok()) return good;
  }
  return base::Done{};
}

std::string Threads::lines(size_t family, Place place, size_t indent) const {
  const auto found = lines_[family].find(place);
  if (found == lines_[family].end()) return {};
  std::string out;
  for (const auto& [line, kinds] : found->second) {
    out += std::string(indent, ' ');
    if (kinds.size() < families_[family].kinds.size())
      out += fmt::format("if (is_kind({{{}}})) ", fmt::join(kinds, ", "));
    out += line + "\n";
  }
  return out;
}

}  // namespace refrain::proxy
