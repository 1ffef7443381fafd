/* A program with an MPI linked into it, as far as anybody can see from its file. */
int MPI_Init(int* argc, char*** argv);
int MPI_Init(int* argc, char*** argv) { return argc == 0 && argv != 0; }
int main(int argc, char** argv) { return MPI_Init(&argc, &argv); }
