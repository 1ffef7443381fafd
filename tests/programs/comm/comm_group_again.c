// Several references to one group: MPI gives out the group that is there, and each reference is
// freed.
#include "calls.h"

static MPI_Group of_world(MPI_Group known) {
  MPI_Group group;
  DO(MPI_Comm_group(MPI_COMM_WORLD, &group), group == known ? "comm:C group:G" : "comm:C group:G+",
     MPI_COMM_WORLD, group);
  return group;
}

// `other`: a reference that the program keeps.
static void release(MPI_Group* group, MPI_Group other) {
  if (*group == other)
    DO(MPI_Group_free(group), "group:G", other);
  else
    L_Group_free(group);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  for (int i = 0; i < 3; ++i) {
    int n, me;
    MPI_Group first = of_world(MPI_GROUP_NULL), again = of_world(first);
    release(&first, again);
    DO(MPI_Group_size(again, &n), "group:G size:i", again, size);
    MPI_Group third = of_world(again);
    release(&again, third);
    DO(MPI_Group_rank(third, &me), "group:G rank:r", third, rank);
    L_Group_free(&third);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
