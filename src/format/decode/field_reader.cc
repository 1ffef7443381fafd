// After the first error every read gives 0 or nothing, and no further error is noted: a reader of a
// section can read a whole row of fields and look at ok() once, before it uses them. The error that
// is kept names the field where reading went wrong, not where that was noticed. Limits are looked
// at before anything is allocated.

#include "format/decode/field_reader.h"

#include <algorithm>

#include "base/wide.h"
#include "format/layout.h"

#include "format/codes/run_codec.h"

namespace refrain::format {

namespace {
std::string name_of(const char* label, int64_t index) {
  return index < 0 ? std::string(label) : std::string(label) + " " + std::to_string(index);
}
// Text of a file that nobody vouches for: control characters would change the terminal that it is
// shown on.
std::string printable(std::string_view s) {
  constexpr size_t kShown = 60;
  std::string out = "\"";
  for (const char c : s.substr(0, kShown)) out += c >= ' ' && c < 127 ? c : '.';
  return out + (s.size() > kShown ? "...\"" : "\"");
}
}  // namespace

// Enough to recognise a field in a hex editor; whole sections would flood the output.
std::string hex_of(std::string_view bytes) {
  constexpr size_t kShown = 16;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes.substr(0, kShown)) {
    if (!out.empty()) out += ' ';
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return bytes.size() > kShown ? out + " ..." : out;
}

// A line of `refrain dump --bytes`. Offsets count from base_: for a compressed section in its
// decompressed bytes, which are nowhere in the file.
void FieldReader::note(size_t begin, const char* label, int64_t index, const std::string& value) {
  const size_t end = in_.position();
  lines_->push_back(ByteLine{section_, base_ + begin, in_raw_,
                             hex_of(raw_.substr(begin, end - begin)), end - begin,
                             name_of(label, index) + " = " + value});
}

// in_ fails as well, so that its further reads give nothing and loops over them end.
void FieldReader::fail(int rule, size_t begin, const std::string& text) {
  if (!finding_)
    finding_ = Finding{rule, section_, static_cast<int64_t>(base_ + begin), in_raw_, text};
  in_.fail();
}

// The end of every simple field. The text of a line is made only when lines are asked for: opening
// a trace does not pay for it.
template <class T>
T FieldReader::checked(size_t begin, const char* label, int64_t index, T value) {
  if (!in_.ok()) {
    fail(kRuleFields, begin, name_of(label, index) + " is cut short or malformed");
    return T{};
  }
  if (lines_ != nullptr) note(begin, label, index, std::to_string(value));
  return value;
}

uint8_t FieldReader::u8(const char* label, int64_t index) {
  const size_t begin = in_.position();
  return checked(begin, label, index, in_.u8());
}
uint16_t FieldReader::u16(const char* label, int64_t index) {
  const size_t begin = in_.position();
  return checked(begin, label, index, in_.u16());
}
uint32_t FieldReader::u32(const char* label, int64_t index) {
  const size_t begin = in_.position();
  return checked(begin, label, index, in_.u32());
}
uint64_t FieldReader::u64(const char* label, int64_t index) {
  const size_t begin = in_.position();
  return checked(begin, label, index, in_.u64());
}
int64_t FieldReader::zigzag(const char* label, int64_t index) {
  const size_t begin = in_.position();
  return checked(begin, label, index, in_.zigzag());
}

uint64_t FieldReader::varint(const char* label, int64_t index, uint64_t limit) {
  const size_t begin = in_.position();
  const uint64_t v = in_.varint();
  // The value is part of the message: one that is a little too large is a wrong limit, a huge one
  // is a field that is not where the reader takes it to be.
  if (in_.ok() && v > limit) {
    fail(kRuleLimits, begin,
         name_of(label, index) + " is " + std::to_string(v) + ", at most " + std::to_string(limit) +
             " is allowed");
    return 0;
  }
  return checked(begin, label, index, v);
}

// Who reserves memory for n items has seen a file of at least that many bytes.
uint64_t FieldReader::count(const char* label, uint64_t limit, int64_t index) {
  const size_t begin = in_.position();
  const uint64_t n = varint(label, index, limit);
  if (ok() && n > in_.remaining()) {
    fail(kRuleFields, begin, name_of(label, index) + " is more than there are bytes");
    return 0;
  }
  return n;
}

std::string_view FieldReader::bytes(const char* label, uint64_t n, int64_t index) {
  return bytes_from(in_.position(), label, n, index);
}

std::string_view FieldReader::bytes_from(size_t begin, const char* label, uint64_t n,
                                         int64_t index) {
  // A view of the file, no copy: what is kept of it is up to the caller.
  const std::string_view s =
      n <= in_.remaining() ? in_.bytes(static_cast<size_t>(n)) : (in_.fail(), std::string_view());
  if (!in_.ok()) {
    fail(kRuleFields, begin, name_of(label, index) + " is cut short");
  } else if (lines_ != nullptr) {
    note(begin, label, index, printable(s));
  }
  return s;
}

std::string_view FieldReader::string(const char* label, uint64_t limit, int64_t index) {
  const size_t begin = in_.position();
  const uint64_t n = in_.varint();
  if (in_.ok() && n > limit) {
    fail(kRuleLimits, begin, name_of(label, index) + " is too long");
    return {};
  }
  return bytes_from(begin, label, n, index);
}

// Runs stay runs: a list of 2^40 values may take three bytes, and no more memory than that.
// repeated_budget_ bounds what all lists of the section may repeat.
base::RunList FieldReader::runs(const char* label, uint64_t max_values, int64_t index) {
  const size_t begin = in_.position();
  const size_t numbers_begin = number_position();
  base::RunList list = read_runs(in_, numbers_->in_, max_values, repeated_budget_);
  numbers_done(numbers_begin, label, index);
  if (!in_.ok()) {
    fail(kRuleFields, begin, name_of(label, index) + " is malformed or has too many values");
  } else if (lines_ != nullptr) {
    std::string text;
    // A list of a trace with 10^5 unlike ranks would be a line of megabytes.
    const size_t shown = std::min<size_t>(list.runs().size(), 4);
    for (size_t r = 0; r < shown; ++r) {
      const auto& run = list.runs()[r];
      text += (r > 0 ? ", " : "") + std::to_string(run.start);
      if (run.count > 1)
        text += " (" + std::to_string(run.count) + " times, step " + std::to_string(run.step) + ")";
    }
    note(begin, label, index, text + (shown < list.runs().size() ? ", ..." : ""));
  }
  return list;
}

// Numbers are read from their own section, in the order in which the sections that own them are
// read. An error there is one of both: of the numbers, which ended early, and of this field, which
// has none.
void FieldReader::numbers_done(size_t begin, const char* label, int64_t index) {
  if (numbers_->in_.ok()) {
    if (numbers_->lines_ != nullptr && numbers_->position() > begin)
      numbers_->note(begin, label, index, "(" + section_ + ")");
  } else if (ok()) {
    numbers_->fail(kRuleFields, begin, name_of(label, index) + " is cut short or malformed");
    fail(kRuleFields, in_.position(), name_of(label, index) + " has no number");
  }
}
template <class T>
T FieldReader::number_taken(size_t begin, const char* label, int64_t index, T v) {
  if (numbers_->in_.ok() && numbers_->lines_ != nullptr)
    numbers_->note(begin, label, index, std::to_string(v));
  else
    numbers_done(begin, label, index);
  return ok() ? v : 0;
}

uint64_t FieldReader::wide(const char* label, int64_t index, uint64_t limit) {
  const size_t begin = number_position();
  const uint64_t v = base::get_wide(numbers_->in_);
  if (numbers_->in_.ok() && v > limit) {
    fail(kRuleLimits, in_.position(),
         name_of(label, index) + " is " + std::to_string(v) + ", at most " + std::to_string(limit) +
             " is allowed");
    return 0;
  }
  return number_taken(begin, label, index, v);
}
int64_t FieldReader::wide_zigzag(const char* label, int64_t index) {
  const size_t begin = number_position();
  const int64_t v = base::get_wide_zigzag(numbers_->in_);
  return number_taken(begin, label, index, v);
}
uint64_t FieldReader::wide_u64(const char* label, int64_t index) {
  const size_t begin = number_position();
  const uint64_t v = numbers_->in_.u64();
  return number_taken(begin, label, index, v);
}
// A number that is mostly small, or a mark that its value is among the numbers. A value that would
// have fitted may not stand there: each trace has one form in bytes.
uint64_t FieldReader::scaled(const char* label, uint64_t limit, int64_t index, uint64_t from) {
  // `from` itself is the mark.
  const uint64_t v = varint(label, index, std::min(limit, from));
  if (!ok() || v < from) return v;
  const uint64_t all = wide(label, index, limit);
  if (ok() && all < from) fail(kRuleFields, in_.position(), name_of(label, index) + " is small");
  return ok() ? all : 0;
}

void FieldReader::done(size_t begin, const char* label, int64_t index, const std::string& meaning) {
  if (lines_ != nullptr) note(begin, label, index, meaning);
}

// Bytes that no field explains are an error.
void FieldReader::finish() {
  if (ok() && in_.remaining() != 0)
    fail(kRuleFields, in_.position(),
         std::to_string(in_.remaining()) + " bytes after the last field");
}

}  // namespace refrain::format
