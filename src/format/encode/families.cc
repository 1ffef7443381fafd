// Definitions and signatures: families, column by column.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/wide.h"
#include "format/encode/columns.h"
#include "format/encode/section_writers.h"
#include "format/signatures/file_forms.h"
#include "format/signatures/walk.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

template <class Value>
void fill_column(const Family& f, Value value, std::vector<int64_t>& column) {
  column.clear();
  for (uint32_t i = 0; i < f.members; ++i) column.push_back(value(f.first + i));
}
template <class Value>
std::vector<int64_t> column_of(const Family& f, Value value) {
  std::vector<int64_t> column;
  column.reserve(f.members);
  fill_column(f, value, column);
  return column;
}

// The families of consecutive signatures, and the forms of the first of each.
std::vector<FileSignature> find_families(const SignatureTable& all, std::vector<Family>& families) {
  std::vector<FileSignature> first;
  // Where every call is a new one, nearly all are alike.
  for (uint32_t i = 0, end = 0; i < all.size(); i = end) {
    end = static_cast<uint32_t>(all.alike_until(i));
    FileSignature form = file_signature(all, i);
    if (i > 0 && form.like(first.back())) {
      families.back().members += end - i;
      continue;
    }
    families.push_back(Family{i, end - i, false});
    first.push_back(std::move(form));
  }
  return first;
}

// The numbers in the shapes of a family: those of each member in turn.
std::vector<int64_t> shape_numbers(const TraceData& trace, const Family& f, size_t each) {
  std::vector<int64_t> all;
  if (each == 0) return all;
  all.reserve(each * f.members);
  for (uint32_t i = 0; i < f.members; ++i) {
    const FileShape shape = strip_shape(trace.signatures[f.first + i].shape);
    all.insert(all.end(), shape.counts.begin(), shape.counts.end());
    all.insert(all.end(), shape.requests.begin(), shape.requests.end());
  }
  return all;
}

// The slots of one signature family.
class SlotWriter {
 public:
  SlotWriter(const TraceData& trace, ColumnWriter& column) : trace_(trace), column_(column) {}

  void write(const Family& f, const FileSignature& form, Regularity& r) {
    const SignatureTable& all = trace_.signatures;
    const ShapeStructure& structure = all.structure(f.first);
    const std::vector<bool> is_constant = all.constant_columns(f.first, f.members);
    for (size_t k = 0; k < form.codes.size(); ++k) {
      const auto operand = [&](size_t o) { return all.column(f.first, f.members, k, o); };
      const auto write = [&](size_t o, bool is_index, int64_t* before) {
        if (is_constant[all.operand_at(f.first, k) + o])
          return column_.constant(all.operand(f.first, k, o), f.members, is_index, before);
        return is_index ? column_.index(operand(o), before) : column_.number(operand(o), before);
      };
      const bool is_table = form.codes[k] == ExprCode::kTable;
      const bool is_definition = structure.slots[k] == SlotNature::kDefinition;
      if (k == 0 && is_definition && !is_table) {
        r.see_site(write(0, true, &last_site_));
        continue;
      }
      const size_t n = operand_count(form.codes[k]);
      for (size_t o = 0; o < n; ++o) {
        int64_t& before =
            before_[operand_key(structure.call_id, form.codes.size(), k, is_definition)];
        if (is_table || is_definition) {
          r.see(write(o, true, is_definition ? &before : nullptr));
        } else if (form.codes[k] == ExprCode::kConst) {
          r.see(write(o, false, &before));
        } else {
          r.see(column_.distinct(operand(o)));
        }
      }
    }
  }

 private:
  const TraceData& trace_;
  ColumnWriter& column_;
  int64_t last_site_ = 0;
  std::unordered_map<uint64_t, int64_t> before_;
};

}  // namespace

void write_definitions(Encoding& in, ByteWriter& out) {
  const std::vector<Definition>& all = in.trace.definitions;
  std::vector<FileDefinition> forms;
  forms.reserve(all.size());
  for (const Definition& d : all) forms.push_back(file_definition(d));
  std::vector<Family> families;
  for (uint32_t i = 0; i < forms.size(); ++i) {
    if (i > 0 && forms[i].like(forms[families.back().first])) {
      ++families.back().members;
    } else {
      families.push_back(Family{i, 1, false});
    }
  }
  for (Family& f : families) {
    const FilePayload& p = forms[f.first].payload;
    f.is_plain = !in.spend(
        f.members, definition_cost(p.structure.size(), forms[f.first].refs, p.numbers.size()) +
                       kCostPerPayloadByte * all[f.first].payload.size());
  }
  ColumnWriter column(out, in.numbers);
  out.put_varint(families.size());
  for (const Family& f : families) out.put_u8(static_cast<uint8_t>(forms[f.first].kind));
  for (const Family& f : families) {
    column.scaled(f.members);
    out.put_varint(forms[f.first].refs);
    if (forms[f.first].kind == DefinitionKind::kSite) continue;
    out.put_string(forms[f.first].payload.structure);
    out.put_varint(forms[f.first].payload.numbers.size());
  }
  int64_t last_offset = 0;
  for (const Family& f : families) {
    const FileDefinition& form = forms[f.first];
    column.set_plain(f.is_plain);
    for (size_t k = 0; k < form.refs; ++k)
      column.index(column_of(f, [&](uint32_t i) { return int64_t{all[i].refs[k]}; }));
    const bool is_site = form.kind == DefinitionKind::kSite;
    for (size_t k = 0; k < form.payload.numbers.size(); ++k) {
      const auto values = column_of(f, [&](uint32_t i) { return forms[i].payload.numbers[k]; });
      if (is_site) {
        column.index(values, &last_offset);
      } else {
        column.number(values);
      }
    }
  }
}

void write_signatures(Encoding& in, ByteWriter& out) {
  const std::vector<FileSignature> forms = find_families(in.trace.signatures, in.families);
  ColumnWriter column(out, in.numbers);
  out.put_varint(in.families.size());
  for (size_t i = 0; i < in.families.size(); ++i) {
    Family& f = in.families[i];
    const FileShape& shape = forms[i].shape;
    const size_t numbers = shape.counts.size() + forms[i].requests;
    f.is_plain =
        !in.spend(f.members, signature_cost(shape.bytes.size(), numbers, forms[i].codes.size()));
    column.scaled(f.members);
    out.put_varint(shape.bytes.size());
    out.put_varint(shape.counts.size());
    out.put_varint(forms[i].requests);
  }
  for (const FileSignature& form : forms)
    out.put_bytes(form.shape.bytes.data(), form.shape.bytes.size());
  std::vector<Regularity> regularity(in.families.size());
  int64_t next_request = 0;     // mostly a call completes what calls in a row made
  std::vector<int64_t> values;  // of a column: there may be millions of columns
  for (size_t i = 0; i < in.families.size(); ++i) {
    const Family& f = in.families[i];
    const FileShape& shape = forms[i].shape;
    const size_t counts = shape.counts.size(), each = counts + forms[i].requests;
    const std::vector<int64_t> all = shape_numbers(in.trace, f, each);
    column.set_plain(f.is_plain);
    for (size_t k = 0; k < each; ++k) {
      fill_column(
          f, [&](uint32_t s) { return all[(s - f.first) * each + k]; }, values);
      regularity[i].see(k < counts ? column.number(values) : column.index(values, &next_request));
      if (k >= counts) ++next_request;
    }
  }
  for (const FileSignature& form : forms) {
    for (const ExprCode code : form.codes) out.put_u8(static_cast<uint8_t>(code));
  }
  SlotWriter slots(in.trace, column);
  for (size_t i = 0; i < in.families.size(); ++i) {
    Family& f = in.families[i];
    column.set_plain(f.is_plain);
    slots.write(f, forms[i], regularity[i]);
    f.shares_durations = f.members >= kSharingFamily && regularity[i].shares_durations();
  }
}

}  // namespace refrain::format
