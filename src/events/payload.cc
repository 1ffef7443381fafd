#include "events/payload.h"

#include <algorithm>
#include <limits>

namespace refrain::events {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

uint64_t not_negative(int64_t v) { return v < 0 ? 0 : static_cast<uint64_t>(v); }

// start + (start + step) + ..., `count` of them, all at least 0.
uint64_t rising_series(uint64_t start, uint64_t step, uint64_t count) {
  const uint64_t pairs =
      count % 2 == 0 ? multiply(count / 2, count - 1) : multiply(count, (count - 1) / 2);
  return add(multiply(start, count), multiply(step, pairs));
}

// The same for any sign; counts that would be negative are 0. count > 0.
uint64_t series(int64_t start, int64_t step, uint64_t count) {
  if (step == 0) return multiply(not_negative(start), count);
  int64_t last = 0;
  const bool fits = count - 1 <= uint64_t{1} << 62 &&
                    !__builtin_mul_overflow(step, static_cast<int64_t>(count - 1), &last) &&
                    !__builtin_add_overflow(start, last, &last);
  if (!fits || last < 0 || start < 0) return 0;  // no program passes that: a damaged trace
  return step > 0
             ? rising_series(static_cast<uint64_t>(start), static_cast<uint64_t>(step), count)
             : rising_series(static_cast<uint64_t>(last), ~static_cast<uint64_t>(step) + 1, count);
}

// Walks the runs of an array, a part of a run at a time.
class Runs {
 public:
  explicit Runs(const Value& array) : array_(array) {}
  bool at_end() const { return run_ >= array_.items.size(); }
  const Value& run() const { return array_.items[run_]; }
  uint64_t left() const { return run().repeat - used_; }
  int64_t number() const {
    return static_cast<int64_t>(static_cast<uint64_t>(run().number) +
                                used_ * static_cast<uint64_t>(run().step));
  }
  void skip(uint64_t n) {
    used_ += n;
    if (used_ >= run().repeat) ++run_, used_ = 0;
  }

 private:
  const Value& array_;
  size_t run_ = 0;
  uint64_t used_ = 0;
};

}  // namespace

const Value& argument(const Signature& call, std::string_view name) {
  static const Value kNothing;
  const Value* value = call.find(name);
  return value == nullptr ? kNothing : value->at_entry();
}

const Value& argument(const Signature& call, int position) {
  static const Value kNothing;
  if (position < 0 || static_cast<size_t>(position) >= call.args.size()) return kNothing;
  return call.args[static_cast<size_t>(position)].value.at_entry();
}

bool is_root(const Value& root, const Communicator& comm) {
  return comm.is_inter ? root.name() == "MPI_ROOT"
                       : root.is_integer() && comm.me >= 0 && root.number == comm.me;
}

uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kMost : out;
}

uint64_t add(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? kMost : out;
}

uint64_t sum_of_counts(const Value& counts) {
  if (!counts.is_array()) return not_negative(counts.integer_or(0));
  uint64_t sum = 0;
  for (const Value& run : counts.items)
    if (run.is_integer() && run.repeat > 0)
      sum = add(sum, series(run.number, run.step, run.repeat));
  return sum;
}

std::optional<uint64_t> element_bytes(const Trace& trace, const Value& type) {
  if (!type.is_object()) return std::nullopt;
  const auto datatype = trace.datatype(type.id);
  if (!datatype || datatype->size_bytes < 0) return std::nullopt;
  return static_cast<uint64_t>(datatype->size_bytes);
}

std::optional<uint64_t> sum_of_products(const Trace& trace, const Value& counts,
                                        const Value& types) {
  if (!counts.is_array() || !types.is_array()) return std::nullopt;
  uint64_t sum = 0;
  Runs count(counts), type(types);
  while (!count.at_end() && !type.at_end()) {
    const uint64_t n = std::min(count.left(), type.left());
    if (n == 0) return std::nullopt;  // an empty run: no array that a reader gives out
    const uint64_t elements =
        count.run().is_integer() ? series(count.number(), count.run().step, n) : 0;
    const auto size = element_bytes(trace, type.run());
    if (!size && elements > 0) return std::nullopt;
    sum = add(sum, multiply(elements, size.value_or(0)));
    count.skip(n);
    type.skip(n);
  }
  return sum;
}

}  // namespace refrain::events
