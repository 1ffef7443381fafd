// What a rank expression is about is the communicator that the call works on: of the call itself,
// or, where it only names requests, of the call that made the first of them, and so on back. Chains
// of requests may be long, so each signature keeps what was found for the rank that was asked for
// last.

#include "format/signatures/slot_evaluator.h"

namespace refrain::format {

SlotEvaluator::SlotEvaluator(const TraceData& trace)
    : trace_(trace), places_(trace.definitions, trace.meta.ranks) {}

SlotEvaluator::Known& SlotEvaluator::known(uint32_t signature) {
  const auto [at, is_new] = known_.try_emplace(signature);
  if (is_new) at->second.structure = &trace_.signatures.structure(signature);
  return at->second;
}

std::optional<Context> SlotEvaluator::own_context(uint32_t signature,
                                                  const ShapeStructure& structure,
                                                  RankPosition who) {
  const SignatureTable::Slots slots = trace_.signatures[signature].slots;
  for (const uint32_t s : structure.object_slots) {
    if (s >= slots.size()) break;
    // Definition slots are constants or tables: they do not need a place themselves.
    const int64_t definition = evaluate(slots[s], CommPlace{}, who.position, trace_.tables);
    if (const auto place = places_.in(definition, who.rank)) return Context{*place, definition};
  }
  return std::nullopt;
}

Context SlotEvaluator::context_of(uint32_t signature, RankPosition who) {
  if (round_ == 0 || !(who == who_)) {
    who_ = who;
    if (++round_ == 0) {  // all numbers of rounds are used up
      for (auto& [id, one] : known_) one.round = 0;
      round_ = 1;
    }
  }
  Context context{places_.world(who.rank), -1};
  chain_.clear();
  // Each step goes to a smaller index, so this ends.
  while (signature < trace_.signatures.size()) {
    Known& at = known(signature);
    if (at.round == round_) {
      context = at.context;
      break;
    }
    chain_.push_back(&at);
    if (const auto own = own_context(signature, *at.structure, who)) {
      context = *own;
      break;
    }
    const std::span<const uint32_t> requests = trace_.signatures.requests(signature);
    if (requests.empty() || requests[0] >= signature) break;
    signature = requests[0];
  }
  for (Known* const one : chain_) {
    one->context = context;
    one->round = round_;
  }
  return context;
}

const std::vector<int64_t>& SlotEvaluator::values(uint32_t signature, RankPosition who) {
  values_.clear();
  if (signature >= trace_.signatures.size()) return values_;
  const CommPlace place = context_of(signature, who).place;
  for (const RankExpr& e : trace_.signatures[signature].slots)
    values_.push_back(evaluate(e, place, who.position, trace_.tables));
  return values_;
}

}  // namespace refrain::format
