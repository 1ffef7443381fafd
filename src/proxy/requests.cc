#include "proxy/requests.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "mpi/call_ids.h"

namespace refrain::proxy {
namespace {

using format::Field;
using format::FieldTag;

// visit(maker) for each request that a call is given.
template <class Visit>
void for_each_request(const Field& field, Visit visit) {
  if (field.tag == FieldTag::kRequest) return visit(static_cast<SignatureId>(field.number));
  if (field.tag == FieldTag::kChanged && field.children.size() == 2)
    return for_each_request(field.children[1], visit);
  if (field.tag == FieldTag::kArray)
    for (const Field& child : field.children) for_each_request(child, visit);
}

bool makes_request(const SymbolicCall& call) {
  return std::any_of(call.fields.parameters.begin(), call.fields.parameters.end(),
                     [](const Field& f) { return f.tag == FieldTag::kNewRequest; });
}

}  // namespace

Requests::Requests(Symbolic& symbolic, const std::vector<Family>& families) {
  int begin = 0;  // of this thread's variables
  for (size_t f = 0; f < families.size(); ++f) {
    if (f > 0 && families[f].thread() != families[f - 1].thread()) begin = count_;
    const std::map<uint32_t, int> of_terminal = of_family(symbolic, families[f]);
    std::vector<std::map<SignatureId, int>>& kinds = variables_.emplace_back();
    for (const Kind& kind : families[f].kinds) {
      std::map<SignatureId, int>& of_kind = kinds.emplace_back();
      for (const auto& [terminal, variable] : of_terminal)
        of_kind[kind.signature(terminal)] = begin + variable;
    }
    count_ = std::max(count_, begin + static_cast<int>(of_terminal.size()));
  }
  find_makers(symbolic, families);
  find_starts(symbolic, families);
}

// Terminal -> variable. Those that a call completes together stand in a row, as they did.
std::map<uint32_t, int> Requests::of_family(Symbolic& symbolic, const Family& family) {
  const Kind& kind = family.kinds[0];
  const std::vector<uint32_t> terminals = kind.terminals();
  std::map<SignatureId, uint32_t> makers;
  for (const uint32_t t : terminals)
    for (const Kind& one : family.kinds)
      if (makes_request(symbolic.call(one.signature(t), one.position(one.first_rank()))))
        makers[kind.signature(t)] = t;
  std::map<uint32_t, int> out;
  const auto number = [&](uint32_t terminal) {
    out.try_emplace(terminal, static_cast<int>(out.size()));
  };
  for (const uint32_t t : terminals)
    for (const Field& f :
         symbolic.call(kind.signature(t), kind.position(kind.first_rank())).fields.parameters)
      if (f.tag == FieldTag::kArray)
        for_each_request(f, [&](SignatureId maker) {
          const auto known = makers.find(maker);
          if (known != makers.end()) number(known->second);
        });
  for (const auto& [signature, terminal] : makers) number(terminal);
  return out;
}

void Requests::find_starts(Symbolic& symbolic, const std::vector<Family>& families) {
  for (size_t f = 0; f < families.size(); ++f)
    for (size_t k = 0; k < families[f].kinds.size(); ++k) {
      const Kind& kind = families[f].kinds[k];
      const auto first = handed_.lower_bound({kind.number, 0});
      if (first == handed_.end() || first->first.first != kind.number) continue;
      std::map<int, int64_t> open;  // variable: starts without the calls that wait for one
      std::set<int> polled;         // a test may have found nothing
      const std::vector<uint64_t> counts = kind.counts();
      for (const uint32_t t : kind.terminals()) {
        const SymbolicCall& call =
            symbolic.call(kind.signature(t), kind.position(kind.first_rank()));
        if (call.info == nullptr) continue;
        const bool starts = call.info->id == mpi::kMPI_Start || call.info->id == mpi::kMPI_Startall;
        const bool waits = call.meaning->does_any(mpi::kDoesComplete);
        if (!starts && !waits) continue;
        for (const Field& field : call.fields.parameters)
          for_each_request(field, [&](SignatureId maker) {
            const auto known = variables_[f][k].find(maker);
            if (known == variables_[f][k].end()) return;
            if (call.meaning->how == mpi::How::kPolls) polled.insert(known->second);
            open[known->second] += static_cast<int64_t>(counts[t]) * (starts ? 1 : -1);
          });
      }
      for (const auto& [variable, count] : open)
        if (const auto use = handed_.find({kind.number, variable});
            use != handed_.end() && !polled.contains(variable))
          use->second.is_completed_elsewhere |= use->second.is_persistent && count != 0;
    }
}

// Requests that are completed by a thread that does not make them. Where several threads make such
// one it is that of the nearest thread below, and each thread's is for one other: as when a thread
// leaves a request behind for its successor.
void Requests::find_makers(Symbolic& symbolic, const std::vector<Family>& families) {
  struct Place {
    size_t family, kind;
    uint32_t thread;
  };
  std::map<uint32_t, std::vector<Place>> by_group;  // by thread
  for (size_t f = 0; f < families.size(); ++f)
    for (size_t k = 0; k < families[f].kinds.size(); ++k)
      by_group[families[f].kinds[k].number].push_back({f, k, families[f].thread()});
  for (const auto& [group, places] : by_group) {
    if (places.size() < 2) continue;
    std::map<SignatureId, std::vector<Place>> makers;
    for (const Place& place : places)
      for (const auto& [maker, variable] : variables_[place.family][place.kind])
        makers[maker].push_back(place);
    std::set<std::pair<SignatureId, uint32_t>> is_given;
    // The first thread waits for what the others have left.
    std::vector<Place> order(places.begin() + 1, places.end());
    order.push_back(places.front());
    for (const Place& place : order) {
      const Kind& kind = families[place.family].kinds[place.kind];
      std::set<SignatureId> foreign;
      for (const uint32_t t : kind.terminals())
        for (const Field& f :
             symbolic.call(kind.signature(t), kind.position(kind.first_rank())).fields.parameters)
          for_each_request(f, [&](SignatureId maker) {
            if (!variables_[place.family][place.kind].contains(maker)) foreign.insert(maker);
          });
      for (const SignatureId signature : foreign) {
        const auto known = makers.find(signature);
        if (known == makers.end()) continue;
        const Place* best = nullptr;
        const auto rank_of = [&](const Place& p) {  // less is better
          return std::tuple(is_given.contains({signature, p.thread}), p.thread > place.thread,
                            p.thread > place.thread ? p.thread : place.thread - p.thread);
        };
        for (const Place& p : known->second)
          if (best == nullptr || rank_of(p) < rank_of(*best)) best = &p;
        is_given.insert({signature, best->thread});
        const int variable = variables_[best->family][best->kind][signature];
        variables_[place.family][place.kind][signature] = variable;
        handed_[{group, variable}].is_persistent =
            mpi::meaning_of(symbolic.trace().call_of(signature)).how == mpi::How::kPersistent;
      }
    }
  }
}

}  // namespace refrain::proxy
