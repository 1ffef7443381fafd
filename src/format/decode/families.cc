// Definitions, signatures and their durations: the mirror image of encode/families.cc.
//
// Things of one structure are a family. The structure stands in the file once, and each of its
// numbers as a column of all members, in which neighbours are alike. The members of a small family
// may be very many, so each family's cost in memory is taken from what the file's size justifies
// (Decoding::spend) before anything is made.
#include <unordered_map>

#include "format/decode/column_reader.h"
#include "format/decode/section_readers.h"
#include "format/signatures/file_forms.h"
#include "format/signatures/walk.h"

namespace refrain::format {

namespace {

// -- definitions --

struct DefinitionFamily {
  DefinitionKind kind{};
  uint64_t members = 0, refs = 0, numbers = 0;
  std::string_view structure;
};

// All heads come before all columns: what is alike stands together.
std::vector<DefinitionFamily> read_definition_families(FieldReader& in, Decoding& out) {
  const uint64_t n = in.count("definition family count", kMaxDefinitions);
  std::vector<DefinitionFamily> families;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    families.emplace_back();
    families.back().kind = static_cast<DefinitionKind>(in.u8("kind", static_cast<int64_t>(i)));
  }
  uint64_t total = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    DefinitionFamily& f = families[i];
    const auto index = static_cast<int64_t>(i);
    const size_t begin = in.position();
    f.members = in.scaled("members of definition family", kMaxDefinitions, index);
    f.refs = in.count("reference count of definition family", kMaxDefinitionRefs, index);
    // A site has its offset and nothing else: it needs no structure.
    f.numbers = 1;
    if (f.kind != DefinitionKind::kSite) {
      f.structure = in.string("structure of definition family", kMaxDefinitionBytes, index);
      f.numbers = in.varint("number count of definition family", index, kMaxDefinitionBytes);
    }
    // Each column has a byte yet to come.
    if (in.ok() && (f.members == 0 || f.refs + f.numbers > in.remaining()))
      return in.fail(kRuleFields, begin, "a family without members or bytes"), families;
    // Counts first, then memory: no vector grows before both are known to be in proportion to the
    // file.
    total += f.members;
    const uint64_t each = definition_cost(f.structure.size(), f.refs, f.numbers);
    if (in.ok() && (total > kMaxDefinitions || !out.spend(f.members, each)))
      return in.fail(kRuleLimits, begin, "too many definitions"), families;
  }
  return families;
}

// Columns first, then each member's payload out of the structure and its numbers. Offsets of sites
// go on from one family to the next, as the sites of a program lie near each other.
void read_family(FieldReader& in, Decoding& out, const DefinitionFamily& f, int64_t index,
                 int64_t& last_offset) {
  std::vector<Definition>& all = out.trace.definitions;
  ColumnReader column(in);
  const size_t first = all.size();
  const size_t begin = in.position();
  all.resize(first + f.members);
  // Set at once, so that a family that fails in the middle leaves whole definitions.
  for (size_t i = 0; i < f.members; ++i) all[first + i].kind = f.kind;
  for (uint64_t k = 0; k < f.refs && in.ok(); ++k) {
    const auto refs = column.index("reference of definition family", index, f.members);
    for (size_t i = 0; i < refs.size(); ++i) {
      // Whether there is such a definition, and of which kind, is a rule over all of them
      // (content.cc).
      if (refs[i] < 0 || refs[i] > UINT32_MAX)
        return in.fail(kRuleDefinitionRefs, begin, "a reference to no definition");
      all[first + i].refs.push_back(static_cast<uint32_t>(refs[i]));
    }
  }
  const bool is_site = f.kind == DefinitionKind::kSite;
  std::vector<std::vector<int64_t>> columns;
  for (uint64_t k = 0; k < f.numbers && in.ok(); ++k)
    columns.push_back(is_site
                          ? column.index("offset of site family", index, f.members, &last_offset)
                          : column.number("number of definition family", index, f.members));
  FilePayload payload{std::string(f.structure), std::vector<int64_t>(columns.size())};
  for (size_t i = 0; i < f.members && in.ok(); ++i) {
    for (size_t k = 0; k < columns.size(); ++k) payload.numbers[k] = columns[k][i];
    if (is_site) {
      base::ByteWriter offset;
      offset.put_zigzag(payload.numbers[0]);
      all[first + i].payload = offset.take();
      continue;
    }
    // A structure is a payload with gaps for its numbers (file_forms.h): the numbers of a family
    // differ, the rest does not.
    auto restored = restore_payload(payload);
    if (!restored)
      return in.fail(kRuleDefinitionPayload, begin, "a malformed structure of a definition");
    // Again, because a number may say how long a list is: the size is known only now.
    if (!out.spend(restored->size(), kCostPerPayloadByte))
      return in.fail(kRuleLimits, begin, "lists of definitions with too many runs");
    all[first + i].payload = std::move(*restored);
  }
}

// -- signatures --

struct SignatureFamily {
  DecodedFamily at;
  uint64_t bytes = 0, counts = 0, requests = 0;
  std::string_view structure;
  std::vector<SlotNature> slots;
  uint32_t call_id = 0;
  Regularity regularity;
};

std::vector<SignatureFamily> read_signature_families(FieldReader& in) {
  const uint64_t n = in.count("signature family count", kMaxSignatures);
  std::vector<SignatureFamily> families;
  uint64_t total = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    SignatureFamily f;
    const auto index = static_cast<int64_t>(i);
    const size_t begin = in.position();
    // Families have their members one after the other: the number of the first is the sum of those
    // before.
    f.at.first = static_cast<uint32_t>(total);
    f.at.members =
        static_cast<uint32_t>(in.scaled("members of signature family", kMaxSignatures, index));
    f.bytes = in.count("length of shape", kMaxSignatureBytes, index);
    f.counts = in.count("large counts of shape", kMaxSlots, index);
    f.requests = in.count("requests of shape", kMaxSlots, index);
    total += f.at.members;
    if (in.ok() && f.at.members == 0) in.fail(kRuleFields, begin, "a family without members");
    if (total > kMaxSignatures) in.fail(kRuleLimits, begin, "too many signatures");
    families.push_back(std::move(f));
  }
  for (size_t i = 0; i < families.size() && in.ok(); ++i)
    families[i].structure = in.bytes("shape", families[i].bytes, static_cast<int64_t>(i));
  return families;
}

// The shapes of a family's members. They have the same slots, as each slot is a column in
// read_slots().
void read_shapes(FieldReader& in, Decoding& out, SignatureFamily& f, int64_t index,
                 int64_t& next_request) {
  const size_t begin = in.position();
  // The slots' part is taken when they are known.
  if (!out.spend(f.at.members, signature_cost(f.structure.size(), f.counts + f.requests, 0)))
    return in.fail(kRuleLimits, begin, "too many signatures");
  ColumnReader column(in);
  const size_t members = f.at.members;
  std::vector<std::vector<int64_t>> counts;
  std::vector<int64_t> requests;  // column by column
  for (uint64_t k = 0; k < f.counts && in.ok(); ++k) {
    counts.push_back(column.number("count in shape", index, f.at.members));
    f.regularity.see(column.mode());
  }
  for (uint64_t k = 0; k < f.requests && in.ok(); ++k) {
    column.append_index("request of shape", index, members,
                        out.is_compact ? &next_request : nullptr, requests);
    // Requests mostly get numbers in turn, so the next one is expected to be one higher. Wrapping,
    // as a damaged file may have any number.
    next_request = wrapping_add(next_request, 1);
    f.regularity.see(column.mode());
  }
  FileShape shape{std::string(f.structure), {}, {}};
  shape.counts.resize(counts.size());
  shape.requests.resize(requests.size() / members);
  for (uint32_t i = 0; i < f.at.members && in.ok(); ++i) {
    for (size_t k = 0; k < counts.size(); ++k) shape.counts[k] = counts[k][i];
    for (size_t k = 0; k < shape.requests.size(); ++k)
      shape.requests[k] = requests[k * members + i];
    auto restored = restore_shape(shape);
    SignatureTable& all = out.trace.signatures;
    const uint32_t shape_index = restored ? all.add_shape(*restored) : 0;
    const ShapeStructure* const s = restored ? &all.shapes().structure(shape_index) : nullptr;
    // Members of a family have equal slots by definition: what the file says otherwise cannot be a
    // family.
    if (s == nullptr || !s->is_good || (i > 0 && s->slots != f.slots))
      return in.fail(kRuleShape, begin, "shape " + std::to_string(index) + " is not a signature");
    if (i == 0) f.slots = s->slots, f.call_id = s->call_id;
    all.append(shape_index, {});
  }
}

// What the slots hold: how a value follows from the rank is told once for the family, its operands
// are a column each. A column may go on from the same slot of an earlier family with the same
// function, which `before` remembers.
void read_slots(FieldReader& in, Decoding& out, SignatureFamily& f, int64_t index,
                std::unordered_map<uint64_t, int64_t>& before, int64_t& last_site) {
  SignatureTable& all = out.trace.signatures;
  ColumnReader column(in);
  for (size_t k = 0; k < f.slots.size() && in.ok(); ++k) {
    // All members have the codes of the first one (read_signatures).
    const ExprCode code = all.codes(f.at.first)[k];
    const bool is_table = code == ExprCode::kTable;
    const bool is_definition = f.slots[k] == SlotNature::kDefinition;
    // The first slot is the call site, by the layout of a signature.
    const bool is_site = k == 0 && is_definition && !is_table;
    const bool compares = is_definition || code == ExprCode::kConst;
    for (size_t o = 0; o < operand_count(code) && in.ok(); ++o) {
      int64_t* compared = nullptr;
      if (is_site) {
        compared = &last_site;
      } else if (compares) {
        // For the same parameter of the same function the value is often the one of the family
        // before.
        compared = &before[operand_key(f.call_id, f.slots.size(), k, is_definition)];
      }
      const auto values = is_table || is_definition
                              ? column.index("operand of family", index, f.at.members, compared)
                              : column.number("operand of family", index, f.at.members, compared);
      if (is_site) {
        f.regularity.see_site(column.mode());
      } else {
        f.regularity.see(column.mode());
      }
      for (size_t i = 0; i < values.size(); ++i) all.set_operand(f.at.first + i, k, o, values[i]);
    }
  }
}

}  // namespace

void read_definitions(FieldReader& in, Decoding& out) {
  const std::vector<DefinitionFamily> families = read_definition_families(in, out);
  int64_t last_offset = 0;
  for (size_t i = 0; i < families.size() && in.ok(); ++i)
    read_family(in, out, families[i], static_cast<int64_t>(i), last_offset);
}

void read_signatures(FieldReader& in, Decoding& out) {
  std::vector<SignatureFamily> families = read_signature_families(in);
  int64_t next_request = 0;
  for (size_t i = 0; i < families.size() && in.ok(); ++i)
    read_shapes(in, out, families[i], static_cast<int64_t>(i), next_request);
  uint64_t slots = 0;
  for (size_t i = 0; i < families.size() && in.ok(); ++i) {
    const SignatureFamily& f = families[i];
    const size_t begin = in.position();
    slots += f.slots.size() * f.at.members;
    // What read_shapes() could not count yet: slots alone.
    const uint64_t each = signature_cost(0, 0, f.slots.size()) - signature_cost(0, 0, 0);
    if (f.slots.size() > in.remaining() || slots > kMaxTotalSlots || !out.spend(f.at.members, each))
      return in.fail(kRuleShape, begin, "shape " + std::to_string(i) + " has too many slots");
    std::vector<ExprCode> form(f.slots.size());
    for (size_t k = 0; k < form.size() && in.ok(); ++k) {
      const uint8_t code = in.u8("expression of family", static_cast<int64_t>(i));
      if (code > static_cast<uint8_t>(ExprCode::kDigit))
        in.fail(kRuleFields, begin, "unknown expression in family " + std::to_string(i));
      form[k] = static_cast<ExprCode>(code);
    }
    for (uint32_t m = 0; m < f.at.members && in.ok(); ++m)
      out.trace.signatures.set_codes(f.at.first + m, form);
  }
  int64_t last_site = 0;
  std::unordered_map<uint64_t, int64_t> before;
  for (size_t i = 0; i < families.size() && in.ok(); ++i) {
    SignatureFamily& f = families[i];
    read_slots(in, out, f, static_cast<int64_t>(i), before, last_site);
    // Not stored: writer and reader see the same modes of columns, and come to the same answer.
    f.at.shares_durations = f.at.members >= kSharingFamily && f.regularity.shares_durations();
    out.families.push_back(f.at);
  }
}

}  // namespace refrain::format
