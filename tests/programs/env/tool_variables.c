// MPI_T: variables of control found by name and written, variables of performance read in all ways,
// categories, enumerations, and how many events there are. What an MPI refuses is an error that
// comes back.
#include "calls.h"

enum { kText = 256, kMost = 16, kBytes = 8192 };

static void control(void) {
  int n = 0, index = -1;
  DO(MPI_T_cvar_get_num(&n), "num_cvar:i", n);
  for (int i = 0, written = 0; i < n && written < 2; ++i) {
    char name[kText], text[1024];
    int name_length = sizeof name, text_length = sizeof text, verbosity, bind, scope, count = 0;
    MPI_Datatype type;
    MPI_T_enum members;
    DO(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &members, text, &text_length,
                           &bind, &scope),
       "cvar_index:i name:s", i, name);
    if (type != MPI_INT || bind != MPI_T_BIND_NO_OBJECT) continue;
    DO(MPI_T_cvar_get_index(name, &index), "name:s cvar_index:i", name, i);
    EXPECT(index == i);
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS) EXPECT(0);
    DID("MPI_T_cvar_handle_alloc", "cvar_index:i count:i", i, count);
    static char value[kBytes];
    if (count == 1) {
      DO(MPI_T_cvar_read(handle, value), "");
      DO(MPI_T_cvar_write(handle, value), "");  // as it is; many cannot be written any more
      ++written;
    }
    DO(MPI_T_cvar_handle_free(&handle), "");
  }
}

// The names of an enumeration's values, where some variable has one.
static void enumerations(void) {
  int n = 0;
  DO(MPI_T_cvar_get_num(&n), "num_cvar:i", n);
  for (int i = 0; i < n; ++i) {
    char name[kText];
    int name_length = sizeof name, verbosity, bind, scope, items = 0, value = 0;
    MPI_Datatype type;
    MPI_T_enum members = MPI_T_ENUM_NULL;
    DO(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &members, NULL, NULL, &bind,
                           &scope),
       "cvar_index:i name:s", i, name);
    if (members == MPI_T_ENUM_NULL) continue;
    name_length = sizeof name;
    DO(MPI_T_enum_get_info(members, &items, name, &name_length), "num:i name:s", items, name);
    for (int k = 0; k < items && k < 3; ++k) {
      name_length = sizeof name;
      DO(MPI_T_enum_get_item(members, k, &value, name, &name_length), "index:i value:i name:s", k,
         value, name);
    }
    return;
  }
}

static void performance(void) {
  int n = 0, index = -1;
  static char value[kBytes];
  MPI_T_pvar_session session;
  DO(MPI_T_pvar_get_num(&n), "num_pvar:i", n);
  DO(MPI_T_pvar_session_create(&session), "");
  for (int i = 0, done = 0; i < n && done < 3; ++i) {
    char name[kText];
    int length = sizeof name, verbosity, pvar_class, bind, readonly, continuous, atomic, count = 0;
    MPI_Datatype type;
    MPI_T_enum members;
    DO(MPI_T_pvar_get_info(i, name, &length, &verbosity, &pvar_class, &type, &members, NULL, NULL,
                           &bind, &readonly, &continuous, &atomic),
       "pvar_index:i name:s readonly:i continuous:i", i, name, readonly, continuous);
    DO(MPI_T_pvar_get_index(name, pvar_class, &index), "name:s pvar_index:i", name, index);
    // Open MPI's counters of a network that is not there: it looks behind a null pointer for them.
    if (bind != MPI_T_BIND_NO_OBJECT || strncmp(name, "mtl_", 4) == 0) continue;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) != MPI_SUCCESS) EXPECT(0);
    DID("MPI_T_pvar_handle_alloc", "pvar_index:i count:i", i, count);
    if (count > 0 && count * 16 < kBytes) {
      DO(MPI_T_pvar_start(session, handle), "");  // an error for a continuous one
      DO(MPI_T_pvar_read(session, handle, value), "");
      DO(MPI_T_pvar_write(session, handle, value), "");  // and here for what can only be read
      DO(MPI_T_pvar_reset(session, handle), "");
      DO(MPI_T_pvar_readreset(session, handle, value), "");
      DO(MPI_T_pvar_stop(session, handle), "");
      ++done;
    }
    DO(MPI_T_pvar_handle_free(session, &handle), "");
  }
  DO(MPI_T_pvar_session_free(&session), "");
}

static void categories(void) {
  int n = 0, stamp = 0, index = -1, list[kMost];
  DO(MPI_T_category_get_num(&n), "num_cat:i", n);
  DO(MPI_T_category_changed(&stamp), "update_number:i", stamp);
  for (int i = 0; i < n && i < 2; ++i) {
    char name[kText];
    int length = sizeof name, cvars = 0, pvars = 0, inner = 0;
    DO(MPI_T_category_get_info(i, name, &length, NULL, NULL, &cvars, &pvars, &inner),
       "cat_index:i name:s num_cvars:i num_pvars:i num_categories:i", i, name, cvars, pvars, inner);
    DO(MPI_T_category_get_index(name, &index), "name:s cat_index:i", name, i);
    for (int k = 0; k < kMost; ++k) list[k] = 0;
    DO(MPI_T_category_get_cvars(i, kMost, list), "cat_index:i len:i", i, kMost);
    DO(MPI_T_category_get_pvars(i, kMost, list), "cat_index:i len:i", i, kMost);
    DO(MPI_T_category_get_categories(i, kMost, list), "cat_index:i len:i", i, kMost);
#if MPI_VERSION >= 4
    int events = 0;
    DO(MPI_T_category_get_num_events(i, &events), "cat_index:i num_events:i", i, events);
    DO(MPI_T_category_get_events(i, kMost, list), "cat_index:i len:i", i, kMost);
#endif
  }
}

static void events(void) {
#if MPI_VERSION >= 4
  int n = 0, sources = 0, index = -1;
  DO(MPI_T_event_get_num(&n), "num_events:i", n);
  DO(MPI_T_source_get_num(&sources), "num_sources:i", sources);
  DO(MPI_T_event_get_index("no such event", &index), "name:s", "no such event");
#endif
}

int main(int argc, char** argv) {
  int rank, size, provided;
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "required:s", "MPI_THREAD_SINGLE");
  control();
  enumerations();
  performance();
  categories();
  events();
  DO(MPI_T_finalize(), "");
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
