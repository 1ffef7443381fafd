// A SignatureList as the bytes that ranks send to each other: signatures one by one, or, if there
// are very many, those of one shape column by column. A column of equal numbers is one number;
// other columns are words as in memory, because copying takes a twentieth of the instructions of
// coding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/codes/row_differences.h"
#include "format/limits.h"
#include "format/merge/signature_list.h"
#include "format/signatures/shape_table.h"
#include "grammar/grammar.h"

namespace refrain::format {

enum class ListForm : uint8_t { kEach, kPlain, kSettled };
constexpr size_t kManySignatures = 256;

// `n` signatures of one shape, with so many slots each, whose numbers are those from `first` on.
inline void put_run(base::ByteWriter& out, const SignatureList& all, size_t first, size_t n,
                    size_t slots) {
  const PagedArray<uint32_t>& words = all.numbers().words();
  const RowDifferences differences = differences_of(words, first, n, slots);
  std::vector<uint32_t> column;
  for (size_t k = 0; k < slots; ++k) {
    const bool differs = differences.differs(k);
    out.put_u8(differs ? 1 : 0);
    column.resize(differs ? n : 1);
    for (size_t t = 0; t < column.size(); ++t) column[t] = words[first + t * slots + k];
    out.put_bytes(column.data(), column.size() * sizeof column[0]);
  }
}

inline void put_all(base::ByteWriter& out, const SignatureList& all) {
  for (size_t t = 0, first = 0; t < all.size();) {
    const size_t begin = t, slots = all.slots(t);
    const uint32_t shape = all.shape(t);
    while (t < all.size() && all.shape(t) == shape) ++t;
    out.put_varint(shape);
    out.put_varint(t - begin);
    put_run(out, all, first, t - begin, slots);
    first += (t - begin) * slots;
  }
  const PagedArray<int64_t>& wide = all.numbers().wide();
  out.put_varint(wide.size());
  wide.for_each_page([&](const int64_t* page, size_t n) { out.put_bytes(page, n * sizeof *page); });
}

inline void put_each(base::ByteWriter& out, const SignatureList& all) {
  constexpr size_t kMostVarintBytes = 10;
  std::vector<uint8_t> bytes;
  for (size_t t = 0; t < all.size(); ++t) {
    const size_t slots = all.slots(t);
    // A number for each slot says all.
    const bool is_short = !all.has_states() || all.is_settled(t);
    if (is_short) {
      bytes.resize(kMostVarintBytes * (slots + 1));
      uint8_t* at = base::write_varint(bytes.data(), uint64_t{all.shape(t)} << 1 | 1);
      for (size_t k = 0; k < slots; ++k) at = base::write_varint(at, base::zigzag(all.value(t, k)));
      out.put_bytes(bytes.data(), static_cast<size_t>(at - bytes.data()));
      continue;
    }
    out.put_varint(uint64_t{all.shape(t)} << 1);
    for (size_t k = 0; k < slots; ++k) {
      const SlotState s = all.state(t, k);
      out.put_u8(s.alive);
      if (s.alive == 0) {
        all.write_values(t, k, out);
        continue;
      }
      out.put_zigzag(s.first);
      if ((s.alive & SlotState::kSlopeFixed) != 0) out.put_zigzag(s.slope);
    }
  }
}

inline void put(base::ByteWriter& out, const SignatureList& all) {
  const ListForm form = !all.is_simple() || all.size() < kManySignatures ? ListForm::kEach
                        : all.has_states()                               ? ListForm::kSettled
                                                                         : ListForm::kPlain;
  out.put_varint(all.size());
  out.put_u8(static_cast<uint8_t>(form));
  form == ListForm::kEach ? put_each(out, all) : put_all(out, all);
  all.durations().write(out);
  out.put_u8(all.gaps().empty() ? 0 : 1);
  all.gaps().write(out);
}

inline void put(base::ByteWriter& out, const std::vector<grammar::Grammar>& grammars) {
  out.put_varint(grammars.size());
  for (const grammar::Grammar& g : grammars) grammar::write(g, out);
}

// Reads what put_all() wrote. Total: a damaged message must not take the traced program down.
class ListReader {
 public:
  ListReader(base::ByteReader& in, const ShapeTable& shapes, uint64_t definitions)
      : in_(in), shapes_(shapes), definitions_(definitions) {}

  // `n` signatures, without their durations.
  bool read(ListForm form, uint64_t n, SignatureList& all) {
    while (all.size() < n)
      if (!run(n, all)) return false;
    const uint64_t wide = in_.count(UINT32_MAX);
    if (!in_.ok() || wide > in_.remaining() / sizeof(int64_t)) return false;
    all.numbers().wide().append_bytes(in_.bytes(wide * sizeof(int64_t)).data(), wide);
    if (form == ListForm::kSettled) all.settle_all();
    return all.numbers().is_whole();
  }

 private:
  // Where the words of a slot are, and how far from each other.
  struct Column {
    const char* at;
    size_t step;
  };

  bool run(uint64_t n, SignatureList& all) {
    const uint64_t shape = in_.varint(), count = in_.varint();
    if (!in_.ok() || shape >= shapes_.size() || count == 0 || count > n - all.size()) return false;
    // The first of a run has the fewest before it.
    for (const uint32_t request : shapes_.requests(shape))
      if (request >= all.size()) return false;
    const std::vector<SlotNature>& slots = shapes_.structure(shape).slots;
    slots_ += count * slots.size();
    if (slots_ > kMaxTotalSlots) return false;
    columns_.clear();
    for (const SlotNature nature : slots)
      if (!column(nature, count)) return false;
    all.push_shapes(count, static_cast<uint32_t>(shape), slots.size());
    fill(count, all.numbers().words());
    return true;
  }
  bool column(SlotNature nature, uint64_t count) {
    const bool differs = in_.u8() != 0;
    const uint64_t n = differs ? count : 1;
    if (n > in_.remaining() / sizeof(uint32_t)) return false;
    const std::string_view bytes = in_.bytes(n * sizeof(uint32_t));
    columns_.push_back({bytes.data(), differs ? sizeof(uint32_t) : 0});
    for (uint64_t i = 0; i < n && nature == SlotNature::kDefinition; ++i) {
      const int64_t v = NumberArray::number_of(word(bytes.data() + i * sizeof(uint32_t)));
      if (v < 0 || static_cast<uint64_t>(v) >= definitions_) return false;
    }
    return true;
  }
  static uint32_t word(const char* at) {
    uint32_t v = 0;
    std::memcpy(&v, at, sizeof v);
    return v;
  }
  void fill(uint64_t count, PagedArray<uint32_t>& to) {
    const size_t slots = columns_.size();
    for (uint64_t rows = 0; slots > 0 && count > 0; count -= rows) {
      uint32_t* const first = to.room_for(slots);
      rows = first == nullptr ? 1 : std::min<uint64_t>(count, to.room_left() / slots);
      for (size_t k = 0; k < slots; ++k) {
        Column& c = columns_[k];
        if (first == nullptr)
          to.push_back(word(c.at));
        else
          put_column(c, rows, first + k, slots);
        c.at += rows * c.step;
      }
      if (first != nullptr) to.added(rows * slots);
    }
  }
  static void put_column(const Column& from, uint64_t rows, uint32_t* to, size_t slots) {
    const uint32_t v = word(from.at);
    for (uint64_t t = 0; t < rows; ++t, to += slots)
      *to = from.step == 0 ? v : word(from.at + t * sizeof v);
  }

  base::ByteReader& in_;
  const ShapeTable& shapes_;
  const uint64_t definitions_;
  uint64_t slots_ = 0;           // of all runs so far
  std::vector<Column> columns_;  // of the run that is being read
};

// Compares what put_all() wrote with a list that is there, without making another one.
class ListMatcher {
 public:
  ListMatcher(base::ByteReader& in, const SignatureList& all) : in_(in), all_(all) {}

  // Reads `n` signatures that are all of the list. False, and nothing was read: they are not.
  bool matches(uint64_t n) {
    if (n != all_.size() || !all_.is_simple()) return false;
    at_ = in_;
    while (next_ < n)
      if (!run(n - next_)) return false;
    if (!wide()) return false;
    in_ = at_;
    return true;
  }

 private:
  bool run(uint64_t most) {
    const uint64_t shape = at_.varint(), count = at_.varint();
    if (!at_.ok() || count == 0 || count > most || !has_shapes(shape, count)) return false;
    const size_t slots = all_.slots(next_), first = all_.first_number(next_);
    const RowDifferences mine = differences_of(all_.numbers().words(), first, count, slots);
    for (size_t k = 0; k < slots; ++k)
      if (!column(first + k, slots, count, mine.differs(k))) return false;
    next_ += count;
    return true;
  }
  bool has_shapes(uint64_t shape, uint64_t count) const {
    uint64_t differ = 0;
    for (size_t t = next_, end = t + count; t < end;) {
      const size_t n = std::min(end - t, PagedArray<uint32_t>::row_from(t));
      const uint32_t* const row = all_.shapes().in_a_row(t, n);
      for (size_t i = 0; i < n; ++i) differ |= row[i] ^ shape;
      t += n;
    }
    return differ == 0;
  }
  // The words at `at`, at + slots and so on, which are not all equal if one `differs`.
  bool column(size_t at, size_t slots, uint64_t count, bool differs) {
    if ((at_.u8() != 0) != differs) return false;
    if (!differs) count = 1;
    if (count > at_.remaining() / sizeof(uint32_t)) return false;
    const char* word = at_.bytes(count * sizeof(uint32_t)).data();
    uint32_t differ = 0, v = 0;
    while (count > 0) {
      const size_t room = PagedArray<uint32_t>::row_from(at);
      const uint64_t rows = std::min<uint64_t>(count, (room + slots - 1) / slots);
      const uint32_t* mine = all_.numbers().words().in_a_row(at, 1);
      for (uint64_t i = 0; i < rows; ++i, mine += slots) {
        std::memcpy(&v, word + i * sizeof v, sizeof v);
        differ |= *mine ^ v;
      }
      word += rows * sizeof v;
      at += rows * slots;
      count -= rows;
    }
    return differ == 0;
  }
  bool wide() {
    const PagedArray<int64_t>& mine = all_.numbers().wide();
    if (at_.count(UINT32_MAX) != mine.size() || mine.size() > at_.remaining() / sizeof(int64_t))
      return false;
    bool good = at_.ok();
    mine.for_each_page([&](const int64_t* page, size_t n) {
      good = good && std::memcmp(at_.bytes(n * sizeof *page).data(), page, n * sizeof *page) == 0;
    });
    return good;
  }

  base::ByteReader& in_;
  base::ByteReader at_;
  const SignatureList& all_;
  uint64_t next_ = 0;
};

}  // namespace refrain::format
