// MPI_T: variables listed and read; before MPI_Init and after MPI_Finalize too, where the MPI can
// do that (Open MPI 4.1 crashes).
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size, provided, cvars, pvars, categories;
#ifdef OPEN_MPI
  const int outside = 0;
#else
  const int outside = 1;
#endif
  if (!outside) log_init(&argc, &argv, &rank, &size);
  DO(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "required:s", "MPI_THREAD_SINGLE");
  DO(MPI_T_cvar_get_num(&cvars), "num_cvar:i", cvars);
  if (outside) log_init(&argc, &argv, &rank, &size);
  DO(MPI_T_pvar_get_num(&pvars), "num_pvar:i", pvars);
  DO(MPI_T_category_get_num(&categories), "num_cat:i", categories);
  for (int i = 0; i < 3 && i < cvars; ++i) {
    char name[256], text[1024];
    int name_length = sizeof name, text_length = sizeof text, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum members;
    DO(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &members, text, &text_length,
                           &bind, &scope),
       "cvar_index:i name:s", i, name);
    MPI_T_cvar_handle handle;
    int count;
    if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS) EXPECT(0);
    DID("MPI_T_cvar_handle_alloc", "cvar_index:i count:i", i, count);
    static char value[8192];
    if (type == MPI_INT && count == 1) DO(MPI_T_cvar_read(handle, value), "");
    DO(MPI_T_cvar_handle_free(&handle), "");
  }
  MPI_T_pvar_session session;
  DO(MPI_T_pvar_session_create(&session), "");
  DO(MPI_T_pvar_session_free(&session), "");
  if (outside) {
    log_finalize();
    MPI_T_finalize();  // not recorded: the trace is written in MPI_Finalize
  } else {
    DO(MPI_T_finalize(), "");
    log_finalize();
  }
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
