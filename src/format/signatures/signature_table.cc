#include "format/signatures/signature_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "format/codes/order_run.h"
#include "format/codes/row_differences.h"

namespace refrain::format {

namespace {

// In the order of the file.
std::array<int64_t, 4> operands_of(const RankExpr& e, ExprCode code) {
  switch (code) {
    case ExprCode::kMePlus: return {e.b};
    case ExprCode::kAffine: return {e.a, e.b};
    case ExprCode::kCart: return {e.a, e.b, e.d};
    case ExprCode::kDigit: return {e.a, e.b, e.c, e.d};
    default: return {e.a};
  }
}

}  // namespace

RankExpr SignatureTable::expr(size_t i, size_t k) const {
  const int64_t first = operand(i, k);
  switch (codes(i)[k]) {
    case ExprCode::kConst: return {RankExpr::Kind::kConst, first};
    case ExprCode::kMePlus: return {RankExpr::Kind::kAffine, 1, first};
    case ExprCode::kAffine: return {RankExpr::Kind::kAffine, first, operand(i, k, 1)};
    case ExprCode::kMod: return {RankExpr::Kind::kMod, first};
    case ExprCode::kXor: return {RankExpr::Kind::kXor, first};
    case ExprCode::kCart: return {RankExpr::Kind::kCart, first, operand(i, k, 1), operand(i, k, 2)};
    case ExprCode::kTable: return {RankExpr::Kind::kTable, first};
    case ExprCode::kDigit:
      return {RankExpr::Kind::kDigit, first, operand(i, k, 1), operand(i, k, 3), operand(i, k, 2)};
  }
  return {};
}

size_t SignatureTable::alike_until(size_t i) const {
  const Entry first = entries_[i++];
  while (i < size()) {
    const size_t n = std::min(size() - i, PagedArray<Entry>::row_from(i));
    const Entry* const row = entries_.in_a_row(i, n);
    for (size_t k = 0; k < n; ++k)
      if (row[k].shape != first.shape || row[k].form != first.form) return i + k;
    i += n;
  }
  return i;
}

// visit(their words, how many have theirs behind each other) of signatures of one form, piece by
// piece. Null: of one signature, whose words do not stand in a row.
template <class Visit>
void SignatureTable::each_piece(size_t first, size_t members, Visit visit) const {
  const size_t n = forms_[entries_[first].form].operands;
  for (size_t end = first + members; first < end && n > 0;) {
    const uint32_t begin = entries_[first].begin;
    const uint32_t* const words = numbers_.words().in_a_row(begin, n);
    const size_t most = std::min({end - first, PagedArray<uint32_t>::row_from(begin) / n,
                                  PagedArray<Entry>::row_from(first)});
    const Entry* const row = &entries_[first];
    size_t rows = 1;
    for (uint32_t next = begin + static_cast<uint32_t>(n); rows < most && row[rows].begin == next;
         ++rows)
      next += static_cast<uint32_t>(n);
    visit(words, rows);
    first += rows;
  }
}

std::vector<int64_t> SignatureTable::column(size_t first, size_t members, size_t k,
                                            size_t o) const {
  std::vector<int64_t> column(members);
  const Form& form = forms_[entries_[first].form];
  const size_t at = form.at[k] + o, n = form.operands;
  size_t i = 0;
  each_piece(first, members, [&](const uint32_t* rows, size_t count) {
    if (rows == nullptr) {
      column[i] = numbers_[entries_[first + i].begin + at];
      ++i;
      return;
    }
    for (const uint32_t* word = rows + at; count > 0; --count, word += n)
      column[i++] = numbers_.of_word(*word);
  });
  return column;
}

std::vector<bool> SignatureTable::constant_columns(size_t first, size_t members) const {
  const size_t n = forms_[entries_[first].form].operands;
  std::vector<bool> all(n, false);
  const uint32_t* const words_of_first = words(first);
  if (words_of_first == nullptr) return all;
  RowDifferences differences(words_of_first, n);
  std::vector<uint32_t> gathered(n);
  size_t i = first;
  each_piece(first, members, [&](const uint32_t* rows, size_t count) {
    const uint32_t begin = entries_[i].begin;
    for (size_t k = 0; rows == nullptr && k < n; ++k) gathered[k] = numbers_.words()[begin + k];
    differences.add(rows != nullptr ? rows : gathered.data(), count);
    i += count;
  });
  for (size_t k = 0; k < n; ++k) all[k] = !differences.differs(k);
  return all;
}

std::vector<uint32_t> SignatureTable::definitions_that_differ(size_t first, size_t members) const {
  const std::vector<uint32_t>& slots = structure(first).definition_slots;
  const uint32_t* const words_of_first = words(first);
  if (words_of_first == nullptr) return slots;
  const size_t n = forms_[entries_[first].form].operands;
  std::vector<bool> differs(slots.size(), false);
  size_t i = first;
  each_piece(first, members, [&](const uint32_t* rows, size_t count) {
    const uint32_t begin = entries_[i].begin;
    i += count;
    for (size_t s = 0; s < slots.size(); ++s) {
      const uint32_t k = slots[s], same = words_of_first[k];
      if (differs[s]) continue;
      if (rows == nullptr) {
        differs[s] = numbers_.words()[begin + k] != same;
        continue;
      }
      size_t row = 0;
      while (row < count && rows[row * n + k] == same) ++row;
      differs[s] = row < count;
    }
  });
  std::vector<uint32_t> found;
  for (size_t s = 0; s < slots.size(); ++s)
    if (differs[s]) found.push_back(slots[s]);
  return found;
}

StoredSignature SignatureTable::get(size_t i) const {
  StoredSignature s{std::string((*this)[i].shape), {}};
  for (const RankExpr& e : (*this)[i].slots) s.slots.push_back(e);
  return s;
}

uint32_t SignatureTable::form_of(std::span<const ExprCode> codes) {
  if (last_form_ < forms_.size() && std::ranges::equal(forms_[last_form_].codes, codes))
    return last_form_;
  Form form;
  form.codes.assign(codes.begin(), codes.end());
  const auto next = static_cast<uint32_t>(forms_.size());
  const auto [it, is_new] = form_index_.try_emplace(form.codes, next);
  last_form_ = it->second;
  if (!is_new) return last_form_;
  for (const ExprCode code : codes) {
    form.at.push_back(form.operands);
    form.operands += operand_count(code);
    form.has_table = form.has_table || code == ExprCode::kTable;
    form.is_constant = form.is_constant && code == ExprCode::kConst;
  }
  forms_.push_back(std::move(form));
  return last_form_;
}

void SignatureTable::append(uint32_t shape, std::span<const RankExpr> exprs) {
  scratch_.clear();
  for (const RankExpr& e : exprs) scratch_.push_back(rank_expr_code(e));
  entries_.push_back({shape, form_of(scratch_), static_cast<uint32_t>(numbers_.size())});
  for (size_t k = 0; k < exprs.size(); ++k) {
    const auto operands = operands_of(exprs[k], scratch_[k]);
    for (size_t o = 0; o < operand_count(scratch_[k]); ++o) numbers_.push_back(operands[o]);
  }
}

// Numbers that are as many as before stay where they are.
void SignatureTable::set_codes(size_t i, std::span<const ExprCode> codes) {
  Entry& e = entries_[i];
  const uint32_t form = form_of(codes), had = forms_[e.form].operands;
  e.form = form;
  const uint32_t n = forms_[form].operands;
  if (n > had) {
    e.begin = static_cast<uint32_t>(numbers_.size());
    for (uint32_t k = 0; k < n; ++k) numbers_.push_back(0);
  } else {
    for (uint32_t k = 0; k < n; ++k) numbers_.set(e.begin + k, 0);
  }
}

void SignatureTable::set_exprs(size_t i, std::span<const RankExpr> exprs) {
  scratch_.clear();
  for (const RankExpr& e : exprs) scratch_.push_back(rank_expr_code(e));
  set_codes(i, scratch_);
  for (size_t k = 0; k < exprs.size(); ++k) {
    const auto operands = operands_of(exprs[k], scratch_[k]);
    for (size_t o = 0; o < operand_count(scratch_[k]); ++o) set_operand(i, k, o, operands[o]);
  }
}

void SignatureTable::set(size_t i, const StoredSignature& s) {
  entries_[i].shape = add_shape(s.shape);
  set_exprs(i, s.slots);
}

void SignatureTable::permute(const std::vector<uint32_t>& order) {
  size_t same = 0;
  while (same < order.size() && order[same] == same) ++same;
  if (same == order.size()) return;
  if (const OrderRun run = longest_run(order); run.is_most_of(order)) {
    permute_around(run, order, entries_);
  } else {
    PagedArray<Entry> entries;
    for (const uint32_t i : order) entries.push_back(entries_[i]);
    entries_ = std::move(entries);
  }
  if (!shapes_.has_requests()) return;
  std::vector<uint32_t> map(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) map[order[i]] = i;
  shapes_.renumber_requests(map);
}

void SignatureTable::take_constants(ShapeTable shapes, const PagedArray<uint32_t>& shape_of,
                                    NumberArray values) {
  shapes_ = std::move(shapes);
  numbers_ = std::move(values);
  std::vector<uint32_t> form_of_shape(shapes_.size(), UINT32_MAX);
  uint32_t begin = 0;
  for (size_t i = 0; i < shape_of.size(); ++i) {
    uint32_t& form = form_of_shape[shape_of[i]];
    const size_t slots = shapes_.structure(shape_of[i]).slots.size();
    if (form == UINT32_MAX) {
      scratch_.assign(slots, ExprCode::kConst);
      form = form_of(scratch_);
    }
    entries_.push_back({shape_of[i], form, begin});
    begin += static_cast<uint32_t>(slots);
  }
}

}  // namespace refrain::format
