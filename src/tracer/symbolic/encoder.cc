// A call's parameters become bytes here, in the order of the C binding, each with a tag in front.
// The same call with the same parameters must give the same bytes on every rank and in every run,
// as the bytes are compared, not their meaning: no address, no handle, and one way only to write a
// value. docs/format.md describes the tags.

#include "tracer/symbolic/encoder.h"

#include <cstring>

#include "mpi/constant_ids.h"
#include "mpi_runtime/constants_table.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/symbolic/buffers.h"

namespace refrain::tracer {

namespace {
using base::write_varint;
constexpr size_t kMaxVarint = 10;
}  // namespace

// Doubles, so that a long array costs few copies. The buffer stays for the next call. Apart, or
// each method that writes a byte would save the registers that this needs.
[[gnu::noinline]] void Encoder::grow(size_t n) { buffer_.resize((used_ + n) * 2 + 256); }

void Encoder::long_varint(uint64_t v) {
  auto* p = reinterpret_cast<uint8_t*>(room(kMaxVarint));
  // Lengths and tags mostly take two or three bytes.
  constexpr uint64_t kTwoBytes = uint64_t{1} << 14, kThreeBytes = uint64_t{1} << 21;
  if (v >= 0x80 && v < kThreeBytes) {
    const bool is_longer = v >= kTwoBytes;
    p[0] = static_cast<uint8_t>(v | 0x80);
    p[1] = static_cast<uint8_t>((v >> 7 & 0x7f) | (is_longer ? 0x80 : 0));
    p[2] = static_cast<uint8_t>(v >> 14);
    used_ += is_longer ? 3 : 2;
    return;
  }
  used_ += static_cast<size_t>(write_varint(p, v) - p);
}

void Encoder::start(mpi::CallId call, uint32_t site, bool describes_types) {
  used_ = 0;
  call_ = call;
  has_pending_ = false;
  describes_types_ = describes_types;
  has_described_ = false;
  left_out_ = 0;
  varint(call);
  if (site == UINT32_MAX) return none();
  tag_byte(Tag::kObject);
  varint(site);
}

// -- scalars --
//
// A constant is written by its number in spec/mpi/constants, never by its value: MPI_ANY_SOURCE is
// -2 in one MPI and -1 in another one.

// Ranks from 0 on are ranks; all named ones (MPI_PROC_NULL, MPI_ROOT) are negative in every MPI.
void Encoder::rank(int64_t v) {
  if (v >= 0) return integer(v);
  by_name(constant_of_rank(v), v);
}

void Encoder::tag(int64_t v) { by_name(constant_of_tag(v), v); }

void Encoder::undefined_or(int64_t v) { by_name(constant_of_undefined(v), v); }

void Encoder::by_name(uint32_t id, int64_t v) { id != 0 ? constant(id) : integer(v); }

void Encoder::named(int domain, int64_t v) {
  const uint32_t id = constant_of(domain, v);
  if (id != 0) return constant(id);
  integer(v);
}

void Encoder::bits(int domain, int64_t v) {
  uint32_t ids[64];
  int64_t rest = v;
  const int n = constants_in(domain, &rest, ids, 64);
  if (n == 0) return integer(v);  // 0, or nothing that has a name
  tag_byte(Tag::kBits);
  varint(static_cast<uint64_t>(rest));
  varint(static_cast<uint64_t>(n));
  for (int i = 0; i < n; ++i) varint(ids[i]);
}

void Encoder::string(const char* s) {
  if (s == nullptr) return none();
  string_n(s, static_cast<int64_t>(std::strlen(s)));
}

void Encoder::string_n(const char* s, int64_t n) {
  if (s == nullptr || n < 0) return none();
  tag_byte(Tag::kString);
  varint(static_cast<uint64_t>(n));
  std::memcpy(room(static_cast<size_t>(n)), s, static_cast<size_t>(n));
  used_ += static_cast<size_t>(n);
}

void Encoder::opaque(const void* p, int64_t n) {
  if (p == nullptr || n < 0) return none();
  tag_byte(Tag::kBytes);
  varint(static_cast<uint64_t>(n));
  std::memcpy(room(static_cast<size_t>(n)), p, static_cast<size_t>(n));
  used_ += static_cast<size_t>(n);
}

// Which memory, and where in it: an id for the block and the bytes from its begin, as addresses
// differ from rank to rank. The stack is asked first, as that takes two comparisons.
void Encoder::buffer(const void* p) {
  const uint32_t named = buffer_constant(p);
  if (named != 0) return constant(named);
  const auto a = reinterpret_cast<uintptr_t>(p);
  BufferName name{format::BufferClass::kHeap};
  if (location_.stack.holds(a)) {
    // Ids by first use. A recursion that communicates at every depth would make one for each frame;
    // past the limit they share the id -1, which still says "stack".
    constexpr size_t kMaxStackIds = 1024;
    auto& known = stack_buffers_;
    name.where = format::BufferClass::kStack;
    size_t i = 0;
    while (i < known.size() && known[i] != a) ++i;
    if (i == known.size() && i < kMaxStackIds) known.push_back(a);
    name.id = i < kMaxStackIds ? static_cast<int64_t>(i) : -1;
  } else if (!heap_name(a, &name)) {
    const Segment* s = location_.process->code.known_segment(a, last_buffer_);
    if (s != nullptr) {
      name.where = format::BufferClass::kData;
      name.id = s->data_id;
      name.offset = static_cast<int64_t>(a - s->begin);
    }
  }
  tag_byte(Tag::kBuffer);
  byte(static_cast<uint8_t>(name.where));
  varint(base::zigzag(name.id));
  varint(base::zigzag(name.offset));
  if (name.where == format::BufferClass::kDevice) varint(base::zigzag(name.device));
}

void Encoder::function(const void* p) {
  const uint32_t named = function_constant(p);
  if (named != 0) return constant(named);
  const uint32_t def = location_.process->define_site(reinterpret_cast<uintptr_t>(p));
  if (def == UINT32_MAX) return none();
  tag_byte(Tag::kFunction);
  varint(def);
}

// An inout parameter: its value at exit, and the one at entry only where that was another.
void Encoder::changed(int64_t now, int64_t before) {
  if (now != before) tag_byte(Tag::kChanged);
  integer(now);
  if (now != before) integer(before);
}

void Encoder::error(int rc, int of_class) {
  // The code itself and the class it belongs to: codes differ between MPIs and from run to run.
  tag_byte(Tag::kResult);
  tag_byte(Tag::kArray);
  varint(2);
  varint(1);
  integer(rc);
  varint(1);
  named(mpi::domain::kErrorClass, of_class);
}

void Encoder::result() { tag_byte(Tag::kResult); }

void Encoder::message(int source, int tag_value) {
  rank(source);
  tag(tag_value);
}

// -- arrays --
//
// Equal elements behind each other are one run: its length, and the element once. So the signature
// of a call with 4096 equal counts is as short as with two, and as quick to compare.

// False: the address itself is the value (MPI_IN_PLACE, MPI_STATUSES_IGNORE, null), and nothing may
// be read behind it.
bool Encoder::array_address(const void* p) {
  const uint32_t named = array_constant(p);
  if (named != 0) return constant(named), false;
  if (p == nullptr) return none(), false;
  return true;
}

void Encoder::begin_array(int64_t n) {
  tag_byte(Tag::kArray);
  varint(n < 0 ? 0 : static_cast<uint64_t>(n));
  run_count_ = 0;
}

// The element was written behind the run. If it equals the run's element it is taken back, else the
// run is closed and it becomes the next one. Elements are compared as bytes: that is what equal
// means in a signature.
void Encoder::end_element() {
  const size_t size = used_ - element_;
  if (run_count_ > 0 && size == run_size_ &&
      std::memcmp(buffer_.data() + run_begin_, buffer_.data() + element_, size) == 0) {
    used_ = element_;
    ++run_count_;
    return;
  }
  if (run_count_ > 0) {
    end_array();  // closes the run; moves the new element up by the bytes of its count
    element_ = used_ - size;
  }
  run_begin_ = element_;
  run_size_ = size;
  run_count_ = 1;
}

// The length of a run is known after its element has been written, and stands in front of it: the
// element moves up.
void Encoder::end_array() {
  if (run_count_ == 0) return;
  uint8_t count[kMaxVarint];
  const auto n = static_cast<size_t>(write_varint(count, run_count_) - count);
  room(n);
  char* at = buffer_.data() + run_begin_;
  std::memmove(at + n, at, used_ - run_begin_);
  std::memcpy(at, count, n);
  used_ += n;
  run_count_ = 0;
}

// Plain integers: runs of a start, a step and a length, so that 0, 8, 16, ... is one. Unsigned
// arithmetic, as the difference of two numbers of the program may overflow.
void Encoder::begin_runs(int64_t n) {
  tag_byte(Tag::kIntRuns);
  varint(n < 0 ? 0 : static_cast<uint64_t>(n));
  run_count_ = 0;
}

void Encoder::add_to_runs(int64_t v) {
  const auto step =
      static_cast<int64_t>(static_cast<uint64_t>(v) - static_cast<uint64_t>(run_start_));
  if (run_count_ == 0) {
    run_start_ = v, run_step_ = 0, run_count_ = 1;
  } else if (run_count_ == 1) {
    run_step_ = step, run_count_ = 2;
  } else if (static_cast<uint64_t>(step) == static_cast<uint64_t>(run_step_) * run_count_) {
    ++run_count_;
  } else {
    flush_run();
    run_start_ = v, run_step_ = 0, run_count_ = 1;
  }
}

void Encoder::flush_run() {
  varint(run_count_);
  varint(base::zigzag(run_start_));
  varint(base::zigzag(run_step_));
}

void Encoder::end_runs() {
  if (run_count_ > 0) flush_run();
  run_count_ = 0;
}

// Mostly there are no named ranks in it, and then it is a list of integers, which has steps.
void Encoder::rank_array(const int* v, int64_t n) {
  if (!array_address(v)) return;
  bool plain = true;
  for (int64_t i = 0; i < n && plain; ++i) plain = v[i] >= 0;
  if (plain) return int_array(v, n);
  begin_array(n);
  for (int64_t i = 0; i < n; ++i) {
    if (n <= kShortArray) {
      varint(1), rank(v[i]);
      continue;
    }
    begin_element();
    rank(v[i]);
    end_element();
  }
  end_array();
}

void Encoder::index_array(const int* v, int64_t n) { rank_array(v, n); }

void Encoder::named_array(int domain, const int* v, int64_t n) {
  if (!array_address(v)) return;
  begin_array(n);
  for (int64_t i = 0; i < n; ++i) {
    begin_element();
    named(domain, v[i]);
    end_element();
  }
  end_array();
}

// n < 0: up to a null pointer, as argv has it. A null pointer ends it in any case.
void Encoder::string_array(char* const* v, int64_t n) {
  if (!array_address(v)) return;
  int64_t count = 0;
  while ((n < 0 || count < n) && v[count] != nullptr) ++count;
  tag_byte(Tag::kArray);
  varint(static_cast<uint64_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    varint(1);
    string(v[i]);
  }
}

void Encoder::string_array2(char** const* v, int64_t n) {
  if (!array_address(v)) return;
  tag_byte(Tag::kArray);
  varint(n < 0 ? 0 : static_cast<uint64_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    varint(1);
    string_array(v[i], -1);
  }
}

void Encoder::range_array(const int (*v)[3], int64_t n) {
  if (!array_address(v)) return;
  tag_byte(Tag::kPairArray);
  varint(n < 0 ? 0 : static_cast<uint64_t>(n));
  for (int64_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) varint(base::zigzag(v[i][k]));
}

}  // namespace refrain::tracer
