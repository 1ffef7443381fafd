! Receives in Fortran whose contents come from elsewhere, and the clock. What each rank prints depends on all of it, so a
! rank that runs alone prints the same if it has been given the same.
! -DUSE_MPIF, -DUSE_MPI or -DUSE_F08: the binding. Sections of arrays are passed as they are where the binding can.
program fortran
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if defined(USE_MPIF)
  include 'mpif.h'
#endif
#if defined(USE_F08)
  type(MPI_Status) :: one, some(2)
  type(MPI_Request) :: requests(2)
#define SOURCE_OF(status) status%MPI_SOURCE
#define EVERY_STATUS some
#else
  integer :: one(MPI_STATUS_SIZE), some(MPI_STATUS_SIZE, 2), requests(2)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define EVERY_STATUS some
#endif
  integer :: rank, nranks, ierr, to, from, i, count, total
#if defined(USE_F08)
  type(MPI_Comm) :: grid, row
  type(MPI_Datatype) :: types(8)
#else
  integer :: grid, row, types(8)
#endif
  integer :: matrix(8, 6), line(8), tall(100), place(2), each(8), places(8)
  double precision :: began, took, sums(3), parts(3)
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  to = mod(rank + 1, nranks)
  from = mod(rank + nranks - 1, nranks)
  began = MPI_Wtime()

  line = [(100 * rank + i, i = 1, 8)]
  call MPI_Irecv(matrix(:, 2), 8, MPI_INTEGER, from, 1, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(line, 8, MPI_INTEGER, to, 1, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, EVERY_STATUS, ierr)
  print '(a,i0,a,8(1x,i0))', 'rank ', rank, ' received', matrix(:, 2)

  ! A message that is shorter than its buffer.
  if (rank == 0) then
    call MPI_Recv(tall, 100, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, one, ierr)
    call MPI_Get_count(one, MPI_INTEGER, count, ierr)
    print '(a,i0,a,i0,a,8(1x,i0))', 'rank 0 has ', count, ' from ', SOURCE_OF(one), ':', tall(1:count)
  else if (rank == 1) then
    call MPI_Send(line, 5, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, ierr)
  end if

#if defined(USE_F08)
  matrix = 0
  if (MPI_SUBARRAYS_SUPPORTED) then
    call MPI_Irecv(matrix(2, 1:6:2), 3, MPI_INTEGER, from, 2, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(line(8:1:-3), 3, MPI_INTEGER, to, 2, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  else
    call MPI_Sendrecv(line(1:8:3), 3, MPI_INTEGER, to, 2, matrix(2, 1:6:2), 3, MPI_INTEGER, from, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end if
  print '(a,i0,a,6(1x,i0),a,i0)', 'rank ', rank, ' section', matrix(2, :), ' of ', sum(matrix)
  ! Sections of several shapes in one call, whose types have the same handle.
  do i = 1, 6
    count = 1 + mod(i, 2)
    call MPI_Sendrecv(matrix(1:4 * count:4, 1:3:2), 2 * count, MPI_INTEGER, to, 4, tall(1:4 * count:2), 2 * count, &
                      MPI_INTEGER, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end do
#endif

  parts = [(0.1d0 * rank + i, i = 1, 3)]
  call MPI_Allreduce(parts, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_PROD, MPI_COMM_WORLD, ierr)
  print '(a,i0,a,3(1x,es23.15),1x,i0)', 'rank ', rank, ' sums', sums, total

  ! Where the program gives arrays for a grid, Fortran layers of MPIs ask how long they are.
  call MPI_Cart_create(MPI_COMM_WORLD, 2, [nranks, 1], [.true., .false.], .false., grid, ierr)
  call MPI_Cart_sub(grid, [.true., .false.], row, ierr)
  call MPI_Cart_rank(grid, [to, 0], place(1), ierr)
  call MPI_Cart_rank(row, [from], place(2), ierr)
  print '(a,i0,a,2(1x,i0))', 'rank ', rank, ' between', place
  call MPI_Comm_free(row, ierr)
  call MPI_Comm_free(grid, ierr)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [from], MPI_UNWEIGHTED, 1, [to], MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., grid, ierr)
  call MPI_Neighbor_alltoallw(line, [2], [0_MPI_ADDRESS_KIND], [MPI_INTEGER], tall, [2], [0_MPI_ADDRESS_KIND], &
                              [MPI_INTEGER], grid, ierr)
  print '(a,i0,a,2(1x,i0))', 'rank ', rank, ' beside', tall(1:2)
  call MPI_Comm_free(grid, ierr)

  ! The datatypes of all ranks, as many as the communicator has; Open MPI's Fortran layer does not ask.
  each = 1
  places = [(4 * i, i = 0, 7)]
  types = MPI_INTEGER
  call MPI_Alltoallw(line, each, places, types, tall, each, places, types, MPI_COMM_WORLD, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, merge(0, 1, rank < 2), -rank, grid, ierr)
  call MPI_Ialltoallw(line, each, places, types, tall(4), each, places, types, grid, requests(1), ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  print '(a,i0,a,5(1x,i0))', 'rank ', rank, ' all to all', tall(1:3), tall(4:5 - rank / 2)
  call MPI_Alltoallw(MPI_IN_PLACE, each, places, types, tall, each, places, types, grid, ierr)
  print '(a,i0,a,2(1x,i0))', 'rank ', rank, ' in place', tall(1:2 - rank / 2)
  call MPI_Comm_free(grid, ierr)

  call MPI_Irecv(tall, 4, MPI_INTEGER, from, 3, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send(line, 4, MPI_INTEGER, to, 3, MPI_COMM_WORLD, ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, one, ierr)
  end do
  took = MPI_Wtime() - began
  print '(a,i0,a,4(1x,i0),a,i0,a,es23.15)', 'rank ', rank, ' tested', tall(1:4), ' from ', SOURCE_OF(one), ' after', took
  call MPI_Finalize(ierr)
end program fortran
