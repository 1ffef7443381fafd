#include "mpi_runtime/testing/fake_mpi.h"

#include <algorithm>

#include "mpi_runtime/agreement.h"
#include "mpi_runtime/built_with.h"
#include "mpi_runtime/clocks/clock_rounds.h"
#include "mpi_runtime/constants_table.h"
#include "mpi_runtime/rank_exchange.h"
#include "mpi_runtime/recorder_comm.h"
#include "mpi_runtime/window_memory.h"

namespace refrain::mpi_runtime {

namespace fake {

Mpi& mpi() {
  static Mpi one;
  return one;
}

void enter_comm(uint64_t comm, const std::vector<int>& ranks) {
  CommFacts facts;
  facts.size = static_cast<int>(ranks.size());
  for (const int rank : ranks) facts.local.append(rank);
  const auto mine = std::find(ranks.begin(), ranks.end(), mpi().rank);
  facts.rank = mine == ranks.end() ? -1 : static_cast<int>(mine - ranks.begin());
  mpi().comms[comm] = facts;
}

void start(int rank, int size) {
  mpi() = Mpi();
  mpi().rank = rank;
  mpi().size = size;
  std::vector<int> all;
  for (int i = 0; i < size; ++i) all.push_back(i);
  enter_comm(kWorld, all);
  enter_comm(kSelf, {rank});
  mpi().shapes[kInt] = {4, 0, 4};
}

}  // namespace fake

// ---- constants_table.h ----

uint32_t constant_of(int, int64_t) { return 0; }
int constants_in(int, int64_t*, uint32_t*, int) { return 0; }
uint32_t handle_constant(format::DefinitionKind kind, uint64_t key) {
  if (kind == format::DefinitionKind::kComm && key == fake::kNull)
    return refrain::mpi::kConst_MPI_COMM_NULL;
  if (kind == format::DefinitionKind::kDatatype && key == fake::kInt)
    return refrain::mpi::kConst_MPI_INT;
  return 0;
}
uint32_t buffer_constant(const void* p) { return p == nullptr ? refrain::mpi::kConst_NULL : 0; }
uint32_t array_constant(const void*) { return 0; }
uint32_t function_constant(const void*) { return 0; }

uint32_t constant_of_undefined(int64_t value) {
  return value == fake::kUndefined ? refrain::mpi::kConst_MPI_UNDEFINED : 0;
}
uint32_t constant_of_rank(int64_t value) {
  if (value == fake::kProcNull) return refrain::mpi::kConst_MPI_PROC_NULL;
  if (value == fake::kAnySource) return refrain::mpi::kConst_MPI_ANY_SOURCE;
  if (value == fake::kRoot) return refrain::mpi::kConst_MPI_ROOT;
  return constant_of_undefined(value);
}
uint32_t constant_of_tag(int64_t value) {
  return value == fake::kAnyTag ? refrain::mpi::kConst_MPI_ANY_TAG : constant_of_undefined(value);
}
bool is_status_ignored(const void* status) { return status == nullptr; }
bool is_null_request(uint64_t request) { return request == fake::kNull; }
bool is_null_comm(uint64_t comm) { return comm == fake::kNull; }
bool is_null_datatype(uint64_t type) { return type == fake::kNull; }
uint64_t comm_world_key() { return fake::kWorld; }
uint64_t comm_self_key() { return fake::kSelf; }
bool is_wildcard(int source, int tag) { return source == fake::kAnySource || tag == fake::kAnyTag; }
bool is_root_constant(int root) { return root == fake::kRoot; }

// ---- comm_facts.h, agreement.h, datatype_contents.h ----

CommFacts facts_of(uint64_t comm, const WorldGroup&) { return fake::mpi().comms[comm]; }
std::string name_of_comm(uint64_t comm) { return fake::mpi().names[comm]; }
CommDegrees degrees_of(uint64_t, int) { return {2, 3}; }
int64_t dimensions_of(uint64_t) { return 1; }
int rank_now(uint64_t, int otherwise) { return otherwise; }
std::vector<int> gather_from_all(uint64_t, int mine, int size) {
  return std::vector<int>(static_cast<size_t>(size), mine);
}

Agreement::Agreement(uint64_t comm, const CommFacts& facts)
    : comm_(comm), inter_(facts.inter), alone_(facts.size == 1), leads_(facts.rank == 0) {}
Agreement::Agreement(uint64_t comm, const CommFacts& facts, const Insiders&)
    : Agreement(comm, facts) {}
Agreement::~Agreement() = default;
void Agreement::reduce(uint64_t*, int, By) const { ++fake::mpi().agreements; }

TypeShape shape_of(uint64_t type) { return fake::mpi().shapes[type]; }
bool may_be_datatype(uint64_t type) { return fake::mpi().shapes.count(type) != 0; }
bool contents_of(uint64_t type, TypeContents& out) {
  out = fake::mpi().contents[type];
  return true;
}
void give_back(uint64_t type) { fake::mpi().given_back.push_back(type); }

// ---- built_with.h ----

const char* const kBuiltWithName = "fake";
const char* const kBuiltWithVersion = "1";
const char* own_word() { return "fake"; }
std::string library_version() { return "fake 1"; }
bool is_built_with_this() { return true; }
std::string line_on_other_mpi() { return ""; }
bool is_first_rank() { return fake::mpi().rank == 0; }

// ---- clocks: there is one ----

void ClockSync::start(const RankComm&, int, bool) {}
ClockReading ClockSync::measure(const Clock& clock) { return read(clock, 0); }
void ClockSync::stop() {}
ClockReading ClockSync::read(const Clock& clock, int64_t offset) {
  const uint64_t ticks = clock.ticks();
  return {ticks, static_cast<int64_t>(clock.to_ns(ticks)) + offset};
}
bool ClockRounds::is_over() { return true; }
ClockRounds::Outcome ClockRounds::call_counted(const Clock&, const ClockSync&, ClockReading*) {
  return Outcome::kNothing;
}
void ClockRounds::drain(const ClockSync&) {}

// ---- rank_exchange.h, recorder_comm.h: nobody else is there ----

int rank_in(const RankComm&) { return 0; }
int size_of(const RankComm&) { return 1; }
bool greatest_of_all(const RankComm&, uint64_t*, int) { return true; }
bool as_rank_0_says(const RankComm&, uint64_t*) { return true; }
bool wait_for_all(const RankComm&) { return true; }
bool send_patiently(const RankComm&, const void*, int, int, int) { return false; }
bool receive_patiently(const RankComm&, void*, int, int, int) { return false; }
bool send_bytes(const RankComm&, std::string_view, int, int) { return false; }
bool receive_bytes(const RankComm&, std::string&, int, int, bool (*)(size_t)) { return false; }
bool receive_message(const RankComm&, Message&, int, int, bool (*)(size_t)) { return false; }
bool make_comm_of_all(RankComm*, uint64_t*, int) { return true; }
bool make_comm_of(const std::vector<int>&, RankComm*, uint64_t*, int) { return true; }
void set_null(RankComm*) {}
void be_ready_to_abort() {}
void abort_world() {}

bool gather_words(const RankComm&, const uint64_t* words, int count, uint64_t* all) {
  std::copy_n(words, count, all);
  return true;
}

void for_each_piece_of_window(uint64_t, const std::function<void(const void*, int64_t)>&) {}

}  // namespace refrain::mpi_runtime
