#include "proxy/symbolic.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "reader/internal.h"

namespace refrain::proxy {
namespace {

// Objects with larger numbers are counted anew, so that their variables stand close together.
constexpr int64_t kFewObjects = 64;

// Which slots stand in lists, and which parameters have lists.
class FindLists : public format::Visitor {
 public:
  void open(format::FieldTag tag) override {
    if (depth_++ == 0) {
      ++field_;
      in_list.push_back(false);
    }
    if (tag == format::FieldTag::kIntList) {
      ++lists_;
      in_list.back() = true;
    }
  }
  void close(format::FieldTag tag) override {
    --depth_;
    if (tag == format::FieldTag::kIntList) --lists_;
  }
  int64_t slot(format::SlotNature, int64_t value, size_t, size_t) override {
    is_list_slot.push_back(lists_ > 0);
    return value;
  }
  std::vector<bool> is_list_slot, in_list;  // in_list: by field, the call site first

 private:
  int depth_ = 0, lists_ = 0, field_ = -1;
};

}  // namespace

Symbolic::Symbolic(const Trace& trace)
    : trace_(trace), data_(reader::data_of(trace)), evaluator_(data_) {}

const SymbolicCall& Symbolic::call(SignatureId signature, format::RankPosition who) {
  const auto [known, is_new] = calls_.try_emplace(signature);
  SymbolicCall& call = known->second;
  if (!is_new) return call;
  const auto stored = data_.signatures[signature];
  FindLists lists;
  format::walk_signature(stored.shape, format::Form::kSplit, lists);
  std::vector<int64_t> values = evaluator_.values(signature, who);
  // A list only has to be one: whoever wants it asks for that of a rank.
  for (size_t i = 0; i < values.size(); ++i)
    if (i >= lists.is_list_slot.size() || !lists.is_list_slot[i])
      values[i] = static_cast<int64_t>(i);
  if (auto fields = format::parse_fields(stored.shape, values)) call.fields = std::move(*fields);
  const auto id = static_cast<CallId>(call.fields.call_id);
  call.info = mpi::find_call(id);
  call.meaning = &mpi::meaning_of(id);
  for (size_t i = 1; i < lists.in_list.size(); ++i) call.has_list.push_back(lists.in_list[i]);
  call.has_list.resize(call.fields.parameters.size());
  return call;
}

format::RankExpr Symbolic::expression(SignatureId signature, uint32_t slot) const {
  return data_.signatures.expr(signature, slot);
}

int64_t Symbolic::value(SignatureId signature, uint32_t slot, format::RankPosition who) {
  return value_of(expression(signature, slot), signature, who);
}

int64_t Symbolic::value_of(const format::RankExpr& expression, SignatureId signature,
                           format::RankPosition who) {
  format::CommPlace place;
  if (expression.kind != format::RankExpr::Kind::kConst &&
      expression.kind != format::RankExpr::Kind::kTable)
    place = evaluator_.context_of(signature, who).place;
  return format::evaluate(expression, place, who.position, data_.tables);
}

format::Field Symbolic::field_of(SignatureId signature, size_t parameter,
                                 format::RankPosition who) {
  auto fields =
      format::parse_fields(data_.signatures[signature].shape, evaluator_.values(signature, who));
  if (!fields || parameter >= fields->parameters.size()) return {};
  return std::move(fields->parameters[parameter]);
}

int64_t Symbolic::object_number(int64_t definition) {
  if (definition < 0 || definition >= trace_.definition_count()) return -1;
  std::string name = trace_.object_name(static_cast<DefinitionId>(definition));
  const size_t at = name.rfind('#');
  if (at == std::string::npos) return -1;
  int64_t number = -1;
  std::from_chars(name.data() + at + 1, name.data() + name.size(), number);
  const auto owner = owners_.find({thread_, name});
  if (owner != owners_.end() && owner->second != 0)
    name += fmt::format(" of thread {}", owner->second);
  else if (number < kFewObjects)
    return number;
  return known_.try_emplace(name, kFewObjects + static_cast<int64_t>(known_.size())).first->second;
}

}  // namespace refrain::proxy
