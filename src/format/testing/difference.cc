#include "format/signatures/slot_evaluator.h"
#include "format/signatures/walk.h"
#include "format/testing/synthetic.h"
#include "grammar/terminal_cursor.h"

namespace refrain::format::testing {

namespace {

// A definition with everything that it refers to, so that indices do not matter.
std::string render(const std::vector<Definition>& all, int64_t index) {
  if (index < 0 || static_cast<uint64_t>(index) >= all.size()) return "?";
  const Definition& d = all[static_cast<size_t>(index)];
  std::string s = std::to_string(static_cast<int>(d.kind)) + "(" + d.payload;
  for (const uint32_t r : d.refs) s.append(";").append(render(all, r));
  return s + ")";
}

}  // namespace

namespace {

std::vector<uint32_t> sequence_of(const grammar::Grammar& g) {
  std::vector<uint32_t> out;
  for (grammar::TerminalCursor cursor(g); !cursor.at_end();) out.push_back(cursor.next());
  return out;
}

// Everything that a field says, arrays of numbers element by element.
void render(const Field& f, const std::vector<Definition>& definitions, std::string& out) {
  const bool is_object = f.tag == FieldTag::kObject || f.tag == FieldTag::kFunction;
  out += std::to_string(static_cast<int>(f.tag)) + ":";
  if (is_object) {
    out += render(definitions, static_cast<int64_t>(f.number));
  } else {
    out += std::to_string(f.number) + "," + std::to_string(f.value) + "," +
           std::to_string(static_cast<int>(f.buffer_class)) + "," + std::to_string(f.offset_bytes);
  }
  out.append(",").append(f.text).append("{");
  for (const Field& child : f.children) {
    out += std::to_string(child.repeat) + "x";
    render(child, definitions, out);
  }
  for (const IntRun& run : f.runs) {
    for (uint64_t i = 0; i < run.count; ++i)
      out += std::to_string(run.start + run.step * static_cast<int64_t>(i)) + " ";
  }
  for (const auto& range : f.ranges)
    for (const int64_t v : range) out += std::to_string(v) + " ";
  for (const uint32_t c : f.constants) out += std::to_string(c) + " ";
  out += "}";
}

std::string render(const std::optional<CallFields>& call,
                   const std::vector<Definition>& definitions) {
  if (!call) return "not a call";
  std::string out = std::to_string(call->call_id) + " ";
  render(call->site, definitions, out);
  for (const Field& f : call->parameters) render(f, definitions, out);
  if (call->result) render(*call->result, definitions, out);
  return out;
}

// Who of the rank's signatures is which of the trace, by what they say; empty strings are equal.
std::string compare_signature(const TraceData& trace, const Group& group, SlotEvaluator& evaluator,
                              const RankRecord& rank, size_t t, uint64_t position) {
  const auto own = split_signature(rank.signatures[t]);
  if (!own) return "does not parse";
  const auto shape = renumber_requests(own->shape, group.signatures);
  if (!shape) return "has an unknown request";
  const uint32_t s = group.signatures[t];
  const auto& values = evaluator.values(s, {rank.rank, position});
  const std::string theirs =
      render(parse_fields(trace.signatures[s].shape, values), trace.definitions);
  const std::string ours = render(parse_fields(*shape, own->values), rank.definitions);
  if (theirs == ours) return {};
  return std::string("is ").append(theirs).append(" instead of ").append(ours);
}

}  // namespace

std::string difference(const TraceData& trace, const RankRecord& rank) {
  const Group* group = nullptr;
  int64_t position = -1;
  for (const Group& g : trace.groups) {
    position = g.place_of(static_cast<int64_t>(rank.rank));
    if (position >= 0) {
      group = &g;
      break;
    }
  }
  if (group == nullptr) return "in no group";
  if (group->signatures.size() != rank.signatures.size()) return "number of signatures";
  if (group->locations.size() != rank.threads.size()) return "number of threads";
  for (size_t t = 0; t < rank.threads.size(); ++t) {
    if (group->locations[t].thread != rank.threads[t].thread ||
        sequence_of(trace.grammars[group->locations[t].grammar]) !=
            sequence_of(rank.threads[t].grammar))
      return std::string("calls of thread ").append(std::to_string(t));
  }
  SlotEvaluator evaluator(trace);
  for (size_t t = 0; t < rank.signatures.size(); ++t) {
    const std::string wrong =
        compare_signature(trace, *group, evaluator, rank, t, static_cast<uint64_t>(position));
    if (!wrong.empty())
      return std::string("signature ").append(std::to_string(t)).append(" ").append(wrong);
  }
  return {};
}

}  // namespace refrain::format::testing
