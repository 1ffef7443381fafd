#include "tracer/wrap/world.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "mpi_runtime/live_partitions.h"
#include "mpi_runtime/queries.h"
#include "options/environment.h"
#include "real_functions.h"
#include "tracer/startup/doorbell.h"
#include "tracer/startup/launch.h"
#include "tracer/state/complain.h"
#include "tracer/state/live_world.h"
#include "tracer/wrap/stand_between.h"
#include "world_hand.h"

namespace refrain::tracer {

WorldHandles g_world;
RealFunctions g_whole;
thread_local uintptr_t g_callback_frame = 0;

namespace {

using mpi_runtime::LivePartitions;
using options::RecordOption;

constexpr int kUsage = 2;

LivePartitions& partitions() {
  static auto* const one = new LivePartitions;
  return *one;
}

const char* base_of(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// It becomes the name of a file.
std::string own_name() {
  std::string name = options::text_of(RecordOption::kLiveName);
  if (name.empty()) name = base_of(options::text_of(options::Variable::kProgram));
  for (char& c : name) {
    const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!is_good) c = '_';
  }
  if (name.empty() || name[0] == '.') name.insert(0, 1, '_');
  return name;
}

// Ranks that take no part would never answer.
void end_if_some_are_missing(int rank, int size) {
  using Are = RecordedRanks::Are;
  const RecordedRanks found = look_for_recorded(rank, size, LaunchBoard::kLive);
  if (found.are != Are::kSome && found.are != Are::kWithoutUs) return;
  const bool is_first = found.are == Are::kWithoutUs || found.ranks.front() == rank;
  if (is_first) say("%s", kNotAllLive);
  wait_to_abort(is_first);
  REFRAIN_REAL(PMPI_Abort)(MPI_COMM_WORLD, kUsage);
}

// Where a new communicator has no predefined attributes (Open MPI), copies of the world have them
// all the same: what we set on it is copied as those would be.
void mark_copies() {
  void* value = nullptr;
  int flag = 0;
  REFRAIN_REAL(PMPI_Comm_get_attr)(g_world.comm, MPI_TAG_UB, &value, &flag);
  if (flag != 0) return;
  g_world.has_copy_key =
      REFRAIN_REAL(PMPI_Comm_create_keyval)(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN,
                                            &g_world.copy_key, nullptr) == MPI_SUCCESS &&
      REFRAIN_REAL(PMPI_Comm_set_attr)(g_world.comm, g_world.copy_key, nullptr) == MPI_SUCCESS;
}

void tell_analysers(int tag) {
  const LivePartitions& all = partitions();
  if (all.rank != all.mine.front()) return;
  for (const int analyser : all.analysers)
    g_whole.PMPI_Send(nullptr, 0, MPI_BYTE, analyser, tag, MPI_COMM_WORLD);
  ring(live_world().folder);
}

void tell_that_it_is_ending() { tell_analysers(mpi_runtime::kProgramIsEndingTag); }

// Attributes that the program has set on MPI_COMM_WORLD are deleted here, as they would be by MPI.
void leave_world() {
  tell_analysers(mpi_runtime::kProgramEndsTag);
  MPI_Comm comm = g_world.comm;
  REFRAIN_REAL(PMPI_Comm_free)(&comm);
  g_world.is_on = false;
  g_world.comm = MPI_COMM_WORLD;
}

int self_attribute_goes(MPI_Comm, int, void*, void*) {
  leave_world();
  return MPI_SUCCESS;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF in the reverse order: this one, which comes
// before the recorder's and the program's, last.
bool call_at_the_end() {
  int key = MPI_KEYVAL_INVALID;
  if (REFRAIN_REAL(PMPI_Comm_create_keyval)(MPI_COMM_NULL_COPY_FN, self_attribute_goes, &key,
                                            nullptr) != MPI_SUCCESS)
    return false;
  const int rc = REFRAIN_REAL(PMPI_Comm_set_attr)(MPI_COMM_SELF, key, nullptr);
  REFRAIN_REAL(PMPI_Comm_free_keyval)(&key);
  return rc == MPI_SUCCESS;
}

// All ranks of the job split together; the analysers stay among themselves.
bool make_world(const LivePartitions& all) {
  if (REFRAIN_REAL(PMPI_Comm_split)(MPI_COMM_WORLD, all.mine.front(), all.rank, &g_world.comm) !=
          MPI_SUCCESS ||
      REFRAIN_REAL(PMPI_Comm_set_name)(g_world.comm, "MPI_COMM_WORLD") != MPI_SUCCESS)
    return false;
  mark_copies();
  return call_at_the_end();
}

void complain_alone(const LivePartitions& all, const char* what) {
  if (all.mine.empty() || all.rank == all.mine.front()) say("%s", what);
}

// Of a library whose MPI_Init the program has called.
int inner_init(int* argc, char*** argv) {
  const int rc = g_whole.PMPI_Init(argc, argv);
  if (rc == MPI_SUCCESS) enter_world();
  return rc;
}

int inner_init_thread(int* argc, char*** argv, int required, int* provided) {
  const int rc = g_whole.PMPI_Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS) enter_world();
  return rc;
}

}  // namespace

void enter_world_in_inner_init() {
  if (!options::is_given(RecordOption::kLive)) return;
  RealFunctions& real = mpi_runtime::g_real;
  if (real.PMPI_Init != inner_init)
    stand_between(&real.PMPI_Init, &g_whole.PMPI_Init, inner_init, "PMPI_Init");
  if (real.PMPI_Init_thread != inner_init_thread)
    stand_between(&real.PMPI_Init_thread, &g_whole.PMPI_Init_thread, inner_init_thread,
                  "PMPI_Init_thread");
}

void enter_world() {
  static bool has_entered = false;
  if (!options::is_given(RecordOption::kLive) || std::exchange(has_entered, true) || has_parent())
    return;
  int rank = 0, size = 0;
  REFRAIN_REAL(PMPI_Comm_rank)(MPI_COMM_WORLD, &rank);
  REFRAIN_REAL(PMPI_Comm_size)(MPI_COMM_WORLD, &size);
  if (size > 1) end_if_some_are_missing(rank, size);
  const std::string name = own_name();
  LivePartitions& all = partitions();
  if (!agree_on_partitions({false, name, {}}, &all))
    return complain_alone(all, "the ranks of the job cannot find their analyser: it sees nothing");
  if (!all.are_coupled())
    return complain_alone(all,
                          "no analyser in the job: recording goes on without one (it is a program "
                          "of the same launch: ... : -n 1 refrain live analyze -o live)");
  if (!make_world(all)) {
    say("rank %d cannot make a world without the analyser: the job ends", rank);
    REFRAIN_REAL(PMPI_Abort)(MPI_COMM_WORLD, 1);
  }
  g_world.appnum = all.appnum;
  g_world.is_on = true;
  live_world().name = name;
  live_world().folder = all.folder;
  live_world().is_ending = tell_that_it_is_ending;
  live_world().is_on = true;
  install_world_0();
  install_world_1();
}

// ---- functions of the whole world that are neither attributes nor handlers ----

namespace world_by_hand {

namespace {

[[maybe_unused]] constexpr const char* kWorldSet = "mpi://WORLD";

// MPICH names communicators in error texts by their handles; that of MPI_COMM_WORLD by its name.
void name_world_in(char* text, int* length) {
  if constexpr (sizeof(MPI_Comm) == sizeof(int)) {
    char handle[32];
    unsigned number = 0;
    std::memcpy(&number, &g_world.comm, sizeof number);
    std::snprintf(handle, sizeof handle, "comm=0x%x", number);
    std::string all = text;
    const std::string name = "MPI_COMM_WORLD";
    for (size_t at = all.find(handle); at != std::string::npos;
         at = all.find(handle, at + name.size()))
      all.replace(at, std::strlen(handle), name);
    if (all.size() >= MPI_MAX_ERROR_STRING) all.resize(MPI_MAX_ERROR_STRING - 1);
    std::memcpy(text, all.c_str(), all.size() + 1);
    *length = static_cast<int>(all.size());
  }
}

// What an MPI_T object is bound to is known by its handle; one that is MPI_COMM_WORLD's is.
void* object_in_world(void* object) {
  if (object == nullptr) return nullptr;
  MPI_Comm comm;
  std::memcpy(&comm, object, sizeof comm);
  return comm == MPI_COMM_WORLD ? static_cast<void*>(&g_world.comm) : object;
}

}  // namespace

int MPI_Error_string(decltype(RealFunctions::MPI_Error_string) real, int errorcode, char* string,
                     int* resultlen) {
  const int rc = real(errorcode, string, resultlen);
  if (rc == MPI_SUCCESS && g_world.is_on) name_world_in(string, resultlen);
  return rc;
}

#ifdef REFRAIN_HAS_MPI_T_cvar_handle_alloc
int MPI_T_cvar_handle_alloc(decltype(RealFunctions::MPI_T_cvar_handle_alloc) real, int cvar_index,
                            void* obj_handle, MPI_T_cvar_handle* handle, int* count) {
  return real(cvar_index, object_in_world(obj_handle), handle, count);
}

int MPI_T_pvar_handle_alloc(decltype(RealFunctions::MPI_T_pvar_handle_alloc) real,
                            MPI_T_pvar_session session, int pvar_index, void* obj_handle,
                            MPI_T_pvar_handle* handle, int* count) {
  return real(session, pvar_index, object_in_world(obj_handle), handle, count);
}
#endif

#ifdef REFRAIN_HAS_MPI_T_event_handle_alloc
int MPI_T_event_handle_alloc(decltype(RealFunctions::MPI_T_event_handle_alloc) real,
                             int event_index, void* obj_handle, MPI_Info info,
                             MPI_T_event_registration* event_registration) {
  return real(event_index, object_in_world(obj_handle), info, event_registration);
}
#endif

#ifdef REFRAIN_HAS_MPI_Group_from_session_pset
int MPI_Group_from_session_pset(decltype(RealFunctions::MPI_Group_from_session_pset) real,
                                MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  const int rc = real(session, pset_name, newgroup);
  if (rc != MPI_SUCCESS || !g_world.is_on || strcasecmp(pset_name, kWorldSet) != 0) return rc;
  const LivePartitions& all = partitions();
  MPI_Group whole = *newgroup;
  const int made = REFRAIN_REAL(PMPI_Group_incl)(whole, static_cast<int>(all.mine.size()),
                                                 all.mine.data(), newgroup);
  REFRAIN_REAL(PMPI_Group_free)(&whole);
  return made;
}

int MPI_Session_get_pset_info(decltype(RealFunctions::MPI_Session_get_pset_info) real,
                              MPI_Session session, const char* pset_name, MPI_Info* info) {
  const int rc = real(session, pset_name, info);
  if (rc != MPI_SUCCESS || !g_world.is_on || strcasecmp(pset_name, kWorldSet) != 0) return rc;
  const std::string size = std::to_string(partitions().mine.size());
  return REFRAIN_REAL(PMPI_Info_set)(*info, "mpi_size", size.c_str());
}
#endif

}  // namespace world_by_hand

}  // namespace refrain::tracer
