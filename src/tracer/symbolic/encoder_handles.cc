// Encoder's part for handles: predefined ones by name, others by symbolic id.
#include <new>

#include "mpi/call_ids.h"
#include "mpi/constant_ids.h"
#include "mpi_runtime/constants_table.h"
#include "tracer/filter/control.h"
#include "tracer/requests/left_out.h"
#include "tracer/requests/request_lanes.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/symbolic/encoder.h"
#include "tracer/symbolic/objects.h"

namespace refrain::tracer {

void Encoder::captured(const Captured& c) {
  switch (c.what) {
    case Captured::What::kNone: return none();
    case Captured::What::kConst: return constant(c.index);
    case Captured::What::kDefinition: tag_byte(Tag::kObject); varint(c.index);
  }
}

Captured Encoder::lookup(Kind kind, uint64_t key) {
  // A program uses few handles over and over: this table of the thread answers without a lock. Any
  // change of any handle makes all of its answers void, which is rare.
  KnownHandle& known = known_[(key >> 3 ^ key ^ static_cast<uint64_t>(kind)) % kKnownHandles];
  const uint64_t changes = location_.process->handle_changes.load(std::memory_order_relaxed);
  if (known.key == key && known.kind == kind && known.changes == changes) return known.captured;
  const Captured found = look_up(kind, key);
  known = KnownHandle{key, changes, found, kind};
  return found;
}

[[gnu::noinline]] Captured Encoder::look_up(Kind kind, uint64_t key) {
  const uint32_t known = location_.process->definition_of(kind, key);
  if (known != HandleMap::kMissing) return {Captured::What::kDefinition, known, key};
  // In this order: a communicator that has a definition may be MPI_COMM_WORLD, whose definition
  // says more than its name.
  const uint32_t constant = handle_constant(kind, key);
  if (constant == 0) return {Captured::What::kNone, 0, key};
  // Predefined communicators and datatypes have definitions too: a reader needs sizes and members.
  if (kind == Kind::kDatatype && constant != mpi::kConst_MPI_DATATYPE_NULL) {
    const uint32_t def = define_predefined_datatype(*location_.process, key, constant);
    if (def != HandleMap::kMissing) return {Captured::What::kDefinition, def, key};
  }
  return {Captured::What::kConst, constant, key};
}

Captured Encoder::learn(Kind kind, uint64_t key) {
  const Captured known = lookup_new(kind, key);
  if (known.what != Captured::What::kNone) {
    add_reference(kind, known);
    return known;
  }
  Process& p = *location_.process;
  Process::Guard guard(p);
  base::ByteWriter payload;
  payload.put_zigzag(p.ids[static_cast<int>(kind)].take());
  const uint32_t def = p.define(kind, payload.view());
  p.remember(kind, key, def);
  return {Captured::What::kDefinition, def, key};
}

void Encoder::add_reference(Kind kind, const Captured& c) {
  if (kind != Kind::kGroup && kind != Kind::kErrhandler && kind != Kind::kDatatype) return;
  if (c.what != Captured::What::kDefinition) return;
  Process& p = *location_.process;
  Process::Guard guard(p);
  base::ByteReader payload(p.definition(c.index).payload);
  if (payload.zigzag() < 0) return;  // predefined, and never freed
  const uint32_t had = p.further_references.find(kind, c.key);
  p.further_references.put(kind, c.key, had == HandleMap::kMissing ? 1 : had + 1);
}

// Lock held.
bool Encoder::has_further_reference(Kind kind, const Captured& c) const {
  const Process& p = *location_.process;
  return p.further_references.find(kind, c.key) != HandleMap::kMissing &&
         p.handles.find(kind, c.key) == c.index;
}

void Encoder::set_ending(Kind kind, const Captured& c, bool ending) {
  Process& p = *location_.process;
  if (!p.threaded || c.what != Captured::What::kDefinition) return;
  Process::Guard guard(p);
  // From here until release() the MPI library may give the same value to another thread, for a new
  // object.
  if (ending && has_further_reference(kind, c)) return;
  if (ending) return p.ending.push_back({kind, c.key, c.index});
  for (auto& e : p.ending)
    if (e.kind == kind && e.key == c.key && e.def == c.index) {
      e = p.ending.back();
      return p.ending.pop_back();
    }
}

Captured Encoder::lookup_new(Kind kind, uint64_t key) {
  const Captured known = lookup(kind, key);
  Process& p = *location_.process;
  // With one thread nothing can be made while it frees something.
  if (!p.threaded || known.what != Captured::What::kDefinition) return known;
  Process::Guard guard(p);
  for (const auto& e : p.ending)
    if (e.kind == kind && e.key == key && e.def == known.index)
      return {Captured::What::kNone, 0, key};
  return known;
}

void Encoder::release(Kind kind, const Captured& c) {
  if (c.what != Captured::What::kDefinition) return;
  Process& p = *location_.process;
  {
    Process::Guard guard(p);
    if (has_further_reference(kind, c)) {
      const uint32_t had = p.further_references.find(kind, c.key);
      if (had > 1) return p.further_references.put(kind, c.key, had - 1);
      return p.further_references.erase(kind, c.key);
    }
    // Another thread may have been given the same handle value in the meantime: then it is not
    // ours.
    if (p.handles.find(kind, c.key) == c.index) p.forget(kind, c.key);
  }
  // Not before: who is given the value in between would take our object for its own.
  set_ending(kind, c, false);
  Process::Guard guard(p);
  // Filters by window and file know it by its handle, too (filter/control.h).
  forget_object(kind, c.key);
  // Ids of communicators are agreed on; all others are this rank's own.
  if (kind == Kind::kComm) return release_comm(p, c.index);
  base::ByteReader payload(p.definition(c.index).payload);
  const int64_t id = payload.zigzag();
  if (id >= 0) p.ids[static_cast<int>(kind)].give_back(static_cast<uint32_t>(id));
}

// A window or file.
void Encoder::define_new(Kind kind, uint64_t comm, uint64_t object) {
  // Calls on an object whose creation a filter leaves out are left out as well: there would be
  // nothing for them to refer to.
  if (is_filtered(left_out_)) leave_object_out(kind, object);
  const Captured known = lookup_new(kind, object);
  if (known.what != Captured::What::kNone) return captured(known);
  captured(define_with_comm(*location_.process, kind, object, comm));
}

// -- requests --

void Encoder::request_by_key(uint64_t key, const void* variable) {
  if (is_null_request(key)) return constant(mpi::kConst_MPI_REQUEST_NULL);
  RequestLane& lane = *location_.requests;
  uint32_t terminal = RequestTable::kNone;
  bool sure = false;
  {
    OwnLane own(lane);
    const uint32_t entry = own->find(key, variable);
    if (entry != RequestTable::kNone) {
      terminal = own->at(entry).terminal;
      // The same handle may be several requests (an MPI may use one for all that are complete at
      // once): then the variable in which the program has it decides.
      sure = own->at(entry).variable == variable || !lane.all.is_shared_handle(key);
    }
  }
  if (!sure && lane.has_neighbours) {
    AllLanes all(lane);
    const RequestEntry* const entry = all.find(key, variable);
    if (entry != nullptr) terminal = entry->terminal;
  }
  terminal != RequestTable::kNone ? request_of(terminal) : none();
}

void Encoder::prepare_request(uint64_t key, const void* variable, const RequestTraits& traits) {
  const mpi::CallId call = call_;
  // It becomes an entry of the table when the call has its terminal: the entry names the call that
  // made it.
  pending_ = RequestEntry{};
  pending_.key = key;
  pending_.variable = variable;
  pending_.traits = traits;
  pending_.traits.wildcard =
      traits.is_receive && (is_wildcard(traits.source, traits.tag) ||
                            call == mpi::kMPI_Imrecv);  // the message says, not the call
  pending_.traits.generalized = call == mpi::kMPI_Grequest_start ||
                                call == mpi::kMPIX_Grequest_start ||
                                call == mpi::kMPIX_Grequest_class_allocate;
  pending_.active = !traits.persistent;
}

void Encoder::make_request(uint64_t key, const void* variable, const RequestTraits& traits) {
  if (is_null_request(key)) return constant(mpi::kConst_MPI_REQUEST_NULL);
  RequestLane& lane = *location_.requests;
  prepare_request(key, variable, traits);
  {
    // Nobody forgets the pool between these two.
    const Process::Guard guard(*location_.process, location_.process->is_bounded());
    // A request has the lowest free number among those of its pool, that is of calls with the same
    // signature so far. So the requests of a loop have the same numbers each time round, and its
    // calls the same signatures.
    pending_.pool = request_pool();
    OwnLane own(lane);
    pending_.position = own->take_position(pending_.pool);
  }
  has_pending_ = true;
  tag_byte(Tag::kNewRequest);
  varint(lane.all.number_of(lane, pending_.position));
}

void Encoder::memorise_request(CallMemo& memo) {
  if (!made_request_) return;
  OwnLane own(*location_.requests);
  // So that a repeated call can make its request without being encoded
  // (CallScope::repeats_request).
  if (memo.request == nullptr)
    memo.request = own->keep(pending_);
  else if (!own->keep_again(*memo.request, pending_))
    memo.call = 0;  // no memory then
}

// The pool of the signature so far. In a loop the grammar knows which call this is.
uint32_t Encoder::request_pool() {
  Process& p = *location_.process;
  const uint64_t guess = location_.grammar.expected();
  if (guess < location_.pool_of_terminal.size()) {
    const uint32_t pool = location_.pool_of_terminal[guess];
    // A guess, so it is compared.
    if (p.request_pools.is(pool, bytes())) return pool;
  }
  if (p.is_bounded()) return p.request_pools.find_or_make(bytes());
  return p.intern(p.request_pools.names(), bytes());
}

void Encoder::call_has_terminal(uint32_t terminal) {
  made_request_ = has_pending_;
  if (!has_pending_) return;
  has_pending_ = false;
  if (terminal >= location_.pool_of_terminal.size())
    location_.pool_of_terminal.resize(terminal + 1, RequestPools::kNone);
  location_.pool_of_terminal[terminal] = pending_.pool;
  pending_.terminal = location_.first_terminal + terminal;
  add_request(*location_.requests, pending_);
}

}  // namespace refrain::tracer
