// Encoder: turns the parameters of one call into the inline signature of
// format/signatures/signature.h.
//
// Laws: no lock, no system call, no allocation once its buffer has grown and all that it meets is
// known; what is new goes into shared tables under Process::Guard. One per location; a wrapper
// calls exactly one method per parameter, in the table's order, after the MPI call has returned.
// Methods named new_* are called only on success.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/signatures/signature.h"
#include "mpi/call_table.h"
#include "mpi/constant_ids.h"
#include "mpi_runtime/comm_facts.h"
#include "mpi_runtime/constants_table.h"
#include "mpi_runtime/handle_map.h"
#include "tracer/code/addresses.h"
#include "tracer/requests/requests.h"

namespace refrain::tracer {

struct Location;
struct CallMemo;
struct CommInfo;

using Kind = format::DefinitionKind;
using Tag = format::FieldTag;

// A parameter's symbolic form, kept from before the call where the call may free or change the
// handle.
struct Captured {
  enum class What : uint8_t { kNone, kConst, kDefinition };
  What what = What::kNone;
  uint32_t index = 0;  // constant id or definition index
  uint64_t key = 0;    // the handle itself
};

// How a call fills its status.
enum class StatusHow : uint8_t {
  kUndefined,  // source and tag mean nothing (file operations)
  kMessage,    // source and tag of a message
};

class Encoder {
 public:
  // Arrays up to this length are stored element by element, so that their form does not depend on
  // the values: coordinates or neighbours then differ between ranks in values only, and merge.
  // Longer ones are stored as runs.
  static constexpr int64_t kShortArray = 16;

  explicit Encoder(Location& location) : location_(location) {}

  // site: definition index, UINT32_MAX unknown.
  // describes_types: the call has succeeded and came through a Fortran layer. MPICH's makes a type
  // for an array section of mpi_f08, in no call that is seen, and frees it when the call is over.
  void start(mpi::CallId call, uint32_t site, bool describes_types = false);
  // Whether the call has such a type, whose handle may be another one's next time, unnoticed.
  bool has_described() const { return has_described_; }
  std::string_view bytes() const { return {buffer_.data(), used_}; }

  // -- scalars --
  // Counts, sizes, logicals, displacements.
  void integer(int64_t v) {
    tag_byte(Tag::kInt);
    varint(base::zigzag(v));
  }
  void rank(int64_t v);          // MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT, MPI_UNDEFINED by name
  void tag(int64_t v);           // MPI_ANY_TAG, MPI_UNDEFINED by name
  void undefined_or(int64_t v);  // MPI_UNDEFINED by name
  void named(int domain, int64_t v);     // a value of an enumeration, else the integer
  void bits(int domain, int64_t v);      // a set of mode bits
  void none() { tag_byte(Tag::kNone); }  // undefined or not significant
  void constant(uint32_t id) {           // a named constant by its id
    tag_byte(Tag::kConst);
    varint(id);
  }
  void string(const char* s);  // NUL-terminated; nullptr gives none
  void string_n(const char* s, int64_t n);
  void opaque(const void* p, int64_t n);
  void buffer(const void* p);
  void pointer(const void* p) { buffer(p); }
  void function(const void* p);
  void changed(int64_t now, int64_t before);  // inout integer
  void error(int rc, int of_class);           // kResult for an error code, with its class
  void result();                              // the next field is the function's return value

  // -- handles --
  template <class H>
  void handle(Kind kind, H h, bool significant = true) {
    // Lookups never ask MPI, so a meaningless handle does no harm.
    const Captured known = lookup(kind, handle_key(h));
    if (kind == Kind::kDatatype && known.what == Captured::What::kNone && significant &&
        describes_types_) [[unlikely]]
      return captured(describe_datatype(handle_key(h)));
    captured(known);
  }
  void captured(const Captured& c);
  template <class H>
  void new_handle(Kind kind, H h) {
    captured(learn(kind, handle_key(h)));
  }
  // Handles that a call has made. What MPI has to be asked of them is asked here.
  template <class C>
  void new_comm(C parent, C comm) {
    define_comm(handle_key(parent), handle_key(comm), false);
  }
  // MPI_Comm_idup: the same group as the parent, so nothing has to be asked of the new
  // communicator.
  template <class C, class R>
  void new_comm_pending(C parent, C* comm, R*) {
    define_comm(handle_key(parent), handle_key(*comm), true);
  }
  // A communicator of MPICH whose ranks are the threads that each member of `parent` gave.
  template <class C>
  void new_threadcomm(C parent, int threads, C comm) {
    define_threadcomm(handle_key(parent), threads, handle_key(comm));
  }
  template <class D>
  void new_datatype(D type) {
    define_new_datatype(handle_key(type));
  }
  template <class C, class W>
  void new_win(C comm, W win) {
    define_new(Kind::kWin, handle_key(comm), handle_key(win));
  }
  template <class C, class F>
  void new_file(C comm, F file) {
    define_new(Kind::kFile, handle_key(comm), handle_key(file));
  }

  // -- requests and statuses --
  // `variable`: where the program has the handle, if that is known.
  template <class R>
  void request(R r, const void* variable = nullptr) {
    request_by_key(handle_key(r), variable);
  }
  // The request that the call with this terminal, or whatever left_out.h has instead, made.
  void request_of(uint32_t terminal);
  template <class R>
  void new_request(R* request, const RequestTraits& traits) {
    make_request(handle_key(*request), request, traits);
  }
  template <class S>
  void status(const S* s, StatusHow how) {
    if (is_status_ignored(s)) return constant(mpi::kConst_MPI_STATUS_IGNORE);
    if (s == nullptr || how == StatusHow::kUndefined) return none();
    tag_byte(Tag::kStatus);
    message(s->MPI_SOURCE, s->MPI_TAG);
  }
  // The two fields of a message's source and tag.
  void message(int source, int tag);

  // -- arrays: nullptr gives none, a named constant address its name --
  template <class T>
  void int_array(const T* v, int64_t n) {
    if (!array_address(v)) return;
    if (n <= kShortArray) {
      begin_array(n);
      for (int64_t i = 0; i < n; ++i) varint(1), integer(static_cast<int64_t>(v[i]));
      return;
    }
    begin_runs(n);
    for (int64_t i = 0; i < n; ++i) add_to_runs(static_cast<int64_t>(v[i]));
    end_runs();
  }
  void rank_array(const int* v, int64_t n);
  void index_array(const int* v, int64_t n);
  void named_array(int domain, const int* v, int64_t n);
  template <class H>
  void handle_array(Kind kind, const H* v, int64_t n) {
    if (!array_address(v)) return;
    begin_array(n);
    for (int64_t i = 0; i < n; ++i) {
      begin_element();
      handle(kind, v[i]);
      end_element();
    }
    end_array();
  }
  template <class R>
  void request_array(const R* v, int64_t n) {
    if (!array_address(v)) return;
    begin_array(n);
    for (int64_t i = 0; i < n; ++i) {
      begin_element();
      request(v[i], &v[i]);
      end_element();
    }
    end_array();
  }
  void string_array(char* const* v, int64_t n);
  void string_array2(char** const* v, int64_t n);
  void range_array(const int (*v)[3], int64_t n);

  // -- facts about communicators that array lengths and significance depend on --
  template <class C>
  int64_t comm_size(C comm) {
    return size_of_comm(handle_key(comm));
  }
  template <class C>
  int64_t indegree(C comm) {
    return degrees(handle_key(comm)).in;
  }
  template <class C>
  int64_t outdegree(C comm) {
    return degrees(handle_key(comm)).out;
  }
  template <class C>
  int64_t ndims(C comm) {
    return dimensions(handle_key(comm));
  }
  template <class C>
  bool is_root(C comm, int root) {
    return is_root_of(handle_key(comm), root);
  }

  // What is known of it; it lives for ever. Null: nothing.
  template <class C>
  const CommInfo* comm_info(C comm) {
    return known_comm(handle_key(comm));
  }

  // -- used by CallScope and hand-written wrappers --
  Captured lookup(Kind kind, uint64_t key);
  Captured learn(Kind kind, uint64_t key);
  void release(Kind kind, const Captured& c);
  // MPI gives out a group, error handler or datatype that is there once more, with the same handle:
  // the program frees it as often.
  void add_reference(Kind kind, const Captured& c);
  bool has_further_reference(Kind kind, const Captured& c) const;
  // Arrays of anything: begin, (begin_element, one field, end_element)*, end. Equal neighbours are
  // stored once.
  void begin_array(int64_t n);
  void begin_element() { element_ = used_; }
  void end_element();
  void end_array();
  void tag_byte(Tag t) { byte(static_cast<uint8_t>(t)); }
  void byte(uint8_t b) {
    room(1)[0] = static_cast<char>(b);
    ++used_;
  }
  // Room for `most` bytes, for one who writes them himself and then says where they end.
  char* begin_bytes(size_t most) { return room(most); }
  void end_bytes(const char* end) { used_ = static_cast<size_t>(end - buffer_.data()); }
  // Nearly all values take one byte.
  void varint(uint64_t v) {
    if (v < 0x80) [[likely]]
      return byte(static_cast<uint8_t>(v));
    long_varint(v);
  }
  // With several threads: the object is being freed; lookup_new() does not find it.
  void set_ending(Kind kind, const Captured& c, bool ending);
  // Of a handle that a call has made: known already if it is another name of a live object.
  Captured lookup_new(Kind kind, uint64_t key);
  // Registers the pending request of this call; called once the terminal is known.
  void call_has_terminal(uint32_t terminal);
  // The request that this call made, for the next time.
  void memorise_request(CallMemo& memo);
  // The call being encoded is left out: it stays out of the tables of what was recorded.
  void leave_out(bool filtered);
  // Instead of call_has_terminal().
  void call_is_left_out();
  // The same for a call that waits for its turn (held_calls.h), the lock being held: its
  // signature's index in Process::left_out. The request that it made, or null.
  const RequestEntry* call_is_held(uint32_t signature);
  // Whether a filter has left out the call that made the request.
  template <class R>
  bool is_filtered_request(R request) {
    return is_filtered_key(handle_key(request));
  }

 private:
  char* room(size_t n) {
    if (used_ + n > buffer_.size()) [[unlikely]]
      grow(n);
    return buffer_.data() + used_;
  }
  void grow(size_t n);
  void long_varint(uint64_t v);
  // False when the address was a constant or NULL and has been written as such.
  bool array_address(const void* p);
  bool special(int domain, int64_t v);
  void begin_runs(int64_t n);
  void add_to_runs(int64_t v);
  void end_runs();
  void flush_run();
  void by_name(uint32_t id, int64_t v);
  // By keys of handles.
  void define_comm(uint64_t parent, uint64_t comm, bool same_group_known);
  void define_threadcomm(uint64_t parent, int threads, uint64_t comm);
  void define_new_datatype(uint64_t type);
  Captured describe_datatype(uint64_t type);
  void define_new(Kind kind, uint64_t comm, uint64_t object);
  void request_by_key(uint64_t request, const void* variable);
  void make_request(uint64_t request, const void* variable, const RequestTraits& traits);
  void prepare_request(uint64_t request, const void* variable, const RequestTraits& traits);
  bool is_filtered_key(uint64_t request);
  int64_t size_of_comm(uint64_t comm);
  int64_t dimensions(uint64_t comm);
  bool is_root_of(uint64_t comm, int root);
  CommDegrees degrees(uint64_t comm);
  // Lives for ever; nullptr when the communicator is not known.
  CommInfo* known_comm(uint64_t comm);
  uint32_t request_pool();

  Location& location_;
  std::vector<char> buffer_;
  size_t used_ = 0;
  mpi::CallId call_ = 0;
  bool describes_types_ = false, has_described_ = false;

  // The array being written: where its current run of equal elements stands.
  size_t element_ = 0, run_begin_ = 0, run_size_ = 0;
  uint64_t run_count_ = 0;
  // Handles seen lately; good as long as nothing was made or freed since (Process::handle_changes).
  struct KnownHandle {
    uint64_t key = 0;
    uint64_t changes = UINT64_MAX;
    Captured captured;
    Kind kind{};
  };
  static constexpr size_t kKnownHandles = 16;
  KnownHandle known_[kKnownHandles];
  Captured look_up(Kind kind, uint64_t key);
  // The integer runs being written.
  int64_t run_start_ = 0, run_step_ = 0;

  // Stack buffers by first use.
  std::vector<uintptr_t> stack_buffers_;
  AddressMap::Hint last_buffer_;

  RequestEntry pending_;
  bool has_pending_ = false;   // the call being encoded makes a request
  bool made_request_ = false;  // the last one did
  uint32_t left_out_ = 0;      // bits of left_out.h
};

}  // namespace refrain::tracer
