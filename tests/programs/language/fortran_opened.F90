! A library in Fortran that in_library.c opens: the program itself has no Fortran layer of MPI.
! __LINE__ - 1 is the line of the call: the trace must name this file and that line.
function run_in_library(argc, argv) bind(c, name='run_in_library') result(status)
  use iso_c_binding
  use test_log
  implicit none
  include "mpif.h"
  integer(c_int), value :: argc
  type(c_ptr), value :: argv
  integer(c_int) :: status
  integer :: rank, nranks, total, ierr

  call MPI_Init(ierr)
  call done('MPI_Init', '', __LINE__ - 1)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call done('MPI_Comm_rank', kv('comm', 'MPI_COMM_WORLD')//','//kv('rank', rank), __LINE__ - 1)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  call done('MPI_Comm_size', kv('comm', 'MPI_COMM_WORLD')//','//kv('size', nranks), __LINE__ - 1)
  call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call done('MPI_Allreduce', kv('count', 1)//','//kv('op', 'MPI_SUM'), __LINE__ - 1)
  call MPI_Finalize(ierr)
  call done('MPI_Finalize', '', __LINE__ - 1)
  call finish()
  status = merge(0, 1, total == nranks * (nranks + 1) / 2)
end function run_in_library
