// Group algebra and its arrays.
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  MPI_Group w, a, b, c;
  int n, me, result;
  DO(MPI_Comm_group(MPI_COMM_WORLD, &w), "comm:C group:G+", MPI_COMM_WORLD, w);
  DO(MPI_Group_size(w, &n), "group:G size:i", w, size);
  DO(MPI_Group_rank(w, &me), "group:G rank:r", w, rank);
  const int first[1] = {0};
  DO(MPI_Group_incl(w, 1, first, &a), "group:G n:i ranks:V newgroup:G+", w, 1, 1, first, a);
  DO(MPI_Group_excl(w, 1, first, &b), "group:G n:i ranks:V newgroup:G+", w, 1, 1, first, b);
  DO(MPI_Group_rank(b, &me), "group:G rank:r", b, rank == 0 ? MPI_UNDEFINED : rank - 1);
  DO(MPI_Group_union(a, b, &c), "group1:G group2:G newgroup:G+", a, b, c);
  DO(MPI_Group_compare(w, c, &result), "group1:G group2:G result:s", w, c, "MPI_IDENT");
  L_Group_free(&c);
  DO(MPI_Group_intersection(a, b, &c), "group1:G group2:G newgroup:G+", a, b, c);
  DO(MPI_Group_size(c, &n), "group:G size:i", c, 0);
  if (c != MPI_GROUP_EMPTY) L_Group_free(&c);
  DO(MPI_Group_difference(w, a, &c), "group1:G group2:G newgroup:G+", w, a, c);
  L_Group_free(&c);
  int ranges[1][3] = {{0, size - 1, 2}};
  DO(MPI_Group_range_incl(w, 1, ranges, &c), "group:G n:i newgroup:G+", w, 1, c);
  L_Group_free(&c);
  DO(MPI_Group_range_excl(w, 1, ranges, &c), "group:G n:i newgroup:G+", w, 1, c);
  int in[2] = {0, size - 1}, out[2];
  DO(MPI_Group_translate_ranks(w, 2, in, b, out), "group1:G n:i ranks1:k group2:G ranks2:k", w, 2,
     2, in, b, 2, out);
  EXPECT(out[0] == MPI_UNDEFINED);
  if (c != MPI_GROUP_EMPTY) L_Group_free(&c);
  L_Group_free(&b);
  L_Group_free(&a);
  L_Group_free(&w);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
