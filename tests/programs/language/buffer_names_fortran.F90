! Fortran: what `allocate` makes is a block of its own.
program buffer_names_fortran
  use mpi_f08
  use test_log
  implicit none
  integer :: rank, nranks, ierr, i
  integer, allocatable :: one(:), two(:), grid(:, :)

  call MPI_Init(ierr)
  call done('MPI_Init', '', 0)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call done('MPI_Comm_rank', kv('comm', 'MPI_COMM_WORLD')//','//kv('rank', rank), 0)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  call done('MPI_Comm_size', kv('comm', 'MPI_COMM_WORLD')//','//kv('size', nranks), 0)
  allocate(one(100), two(20000))
  do i = 1, 3
    call MPI_Bcast(two(11), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call done('MPI_Bcast', kv('buffer', 'heap#0+40'), 0)
    call MPI_Bcast(one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call done('MPI_Bcast', kv('buffer', 'heap#1'), 0)
  end do
  deallocate(two)
  allocate(grid(50, 40))
  call MPI_Bcast(grid(1, 3), 50, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call done('MPI_Bcast', kv('buffer', 'heap#0+400'), 0)
  deallocate(grid, one)
  call MPI_Finalize(ierr)
  call done('MPI_Finalize', '', 0)
  call finish()
  print '(a, i0, a, i0, a)', 'rank ', rank, ' of ', nranks, ' done'
end program buffer_names_fortran
