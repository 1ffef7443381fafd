// SignatureTable: the signatures of a trace. A program may have millions that differ in one number,
// so a shape and the form of an expression are stored once; each signature has only its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/codes/paged_array.h"
#include "format/layout.h"
#include "format/signatures/rank_expr.h"
#include "format/signatures/shape_table.h"

namespace refrain::format {

// A call signature as it stands in the file, in split form. kRequest fields refer to signatures
// with a smaller index. slots[i] belongs to the i-th SLOT of the shape (site first).
struct StoredSignature {
  std::string shape;  // begins with varint call_id
  std::vector<RankExpr> slots;
};

class SignatureTable {
 public:
  // An iterator over what has operator[].
  template <class List>
  struct At {
    List list;
    size_t i;
    auto operator*() const { return list[i]; }
    At& operator++() {
      ++i;
      return *this;
    }
    bool operator!=(const At& o) const { return i != o.i; }
  };
  // The expressions of one signature.
  class Slots {
   public:
    Slots(const SignatureTable& table, size_t signature) : table_(&table), signature_(signature) {}
    size_t size() const { return table_->codes(signature_).size(); }
    bool empty() const { return size() == 0; }
    RankExpr operator[](size_t k) const { return table_->expr(signature_, k); }
    auto begin() const { return SignatureTable::At<Slots>{*this, 0}; }
    auto end() const { return SignatureTable::At<Slots>{*this, size()}; }

   private:
    const SignatureTable* table_;
    size_t signature_;
  };
  // Good until the table changes.
  struct View {
    std::string_view shape;
    Slots slots;
  };
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  View operator[](size_t i) const { return {shapes_[entries_[i].shape], Slots(*this, i)}; }
  auto begin() const { return At<const SignatureTable&>{*this, 0}; }
  auto end() const { return At<const SignatureTable&>{*this, size()}; }
  StoredSignature get(size_t i) const;

  const ShapeTable& shapes() const { return shapes_; }
  uint32_t shape(size_t i) const { return entries_[i].shape; }
  const ShapeStructure& structure(size_t i) const { return shapes_.structure(entries_[i].shape); }
  std::span<const uint32_t> requests(size_t i) const { return shapes_.requests(entries_[i].shape); }
  // Signatures of one form have expressions of the same codes.
  uint32_t form(size_t i) const { return entries_[i].form; }
  const std::vector<ExprCode>& codes(size_t i) const { return forms_[entries_[i].form].codes; }
  // Until which one all from `i` on have the shape and the form of that one.
  size_t alike_until(size_t i) const;
  bool has_table(size_t i) const { return forms_[entries_[i].form].has_table; }
  // Whether all its expressions are constants.
  bool is_constant(size_t i) const { return forms_[entries_[i].form].is_constant; }
  RankExpr expr(size_t i, size_t k) const;
  // In the order of the file.
  int64_t operand(size_t i, size_t k, size_t o = 0) const {
    const Entry& e = entries_[i];
    return numbers_[e.begin + forms_[e.form].at[k] + o];
  }

  // operand() of `members` signatures of one form from `first` on.
  std::vector<int64_t> column(size_t first, size_t members, size_t k, size_t o) const;
  // Whether column() has one number only, for each number of the first of them: those that have no
  // byte for it may have as well.
  std::vector<bool> constant_columns(size_t first, size_t members) const;
  // The slots of definitions that are not such a column; all expressions are constants.
  std::vector<uint32_t> definitions_that_differ(size_t first, size_t members) const;
  // Where the first operand of a slot is among those of its signature.
  size_t operand_at(size_t i, size_t k) const { return forms_[entries_[i].form].at[k]; }
  // All numbers of a signature as words (format/codes/paged_array.h), or null.
  const uint32_t* words(size_t i) const {
    const Entry& e = entries_[i];
    return numbers_.words().in_a_row(e.begin, forms_[e.form].operands);
  }

  void push_back(const StoredSignature& s) { append(add_shape(s.shape), s.slots); }
  void set(size_t i, const StoredSignature& s);
  uint32_t add_shape(std::string_view shape) { return shapes_.add(shape); }
  void append(uint32_t shape, std::span<const RankExpr> exprs);
  void set_exprs(size_t i, std::span<const RankExpr> exprs);
  // All operands are 0.
  void set_codes(size_t i, std::span<const ExprCode> codes);
  void set_operand(size_t i, size_t k, size_t o, int64_t v) {
    const Entry& e = entries_[i];
    numbers_.set(e.begin + forms_[e.form].at[k] + o, v);
  }
  // order: the old indices in the new order. Requests are those of the new order afterwards.
  void permute(const std::vector<uint32_t>& order);
  // All of them at once: shapes, values of the slots of all signatures one behind the other, and
  // the shape of each. Every expression is a constant.
  void take_constants(ShapeTable shapes, const PagedArray<uint32_t>& shape_of, NumberArray values);
  void clear() { *this = SignatureTable(); }

 private:
  struct Form {
    std::vector<ExprCode> codes;
    std::vector<uint32_t> at;  // of the first operand of each slot
    uint32_t operands = 0;
    bool has_table = false, is_constant = true;
  };
  struct Entry {
    uint32_t shape, form, begin;  // begin: its first number
  };
  uint32_t form_of(std::span<const ExprCode> codes);
  template <class Visit>
  void each_piece(size_t first, size_t members, Visit visit) const;

  ShapeTable shapes_;
  std::vector<Form> forms_;
  std::map<std::vector<ExprCode>, uint32_t> form_index_;
  uint32_t last_form_ = 0;
  PagedArray<Entry> entries_;
  NumberArray numbers_;
  std::vector<ExprCode> scratch_;
};

}  // namespace refrain::format
