! A Fortran program of the standard ABI of MPI 5: what a Fortran layer over the ABI comes down to. Handles are
! addresses whose values the standard fixes, and calls go to the C functions.
! __LINE__ - 1 is the line of the call: the trace must name this file and that line.
module mpi_abi
  use iso_c_binding
  implicit none
  integer(c_intptr_t), parameter :: MPI_COMM_WORLD = int(z'101', c_intptr_t)
  integer(c_intptr_t), parameter :: MPI_INT = int(z'209', c_intptr_t)
  integer(c_intptr_t), parameter :: MPI_SUM = int(z'21', c_intptr_t)
  integer(c_intptr_t), parameter :: MPI_STATUS_IGNORE = 0
  interface
    integer(c_int) function MPI_Init(argc, argv) bind(C, name='MPI_Init')
      import
      type(c_ptr), value :: argc, argv
    end function
    integer(c_int) function MPI_Comm_rank(comm, rank) bind(C, name='MPI_Comm_rank')
      import
      integer(c_intptr_t), value :: comm
      integer(c_int) :: rank
    end function
    integer(c_int) function MPI_Comm_size(comm, size) bind(C, name='MPI_Comm_size')
      import
      integer(c_intptr_t), value :: comm
      integer(c_int) :: size
    end function
    integer(c_int) function MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
                                         recvtype, source, recvtag, comm, status) bind(C, name='MPI_Sendrecv')
      import
      integer(c_int) :: sendbuf(*), recvbuf(*)
      integer(c_int), value :: sendcount, dest, sendtag, recvcount, source, recvtag
      integer(c_intptr_t), value :: sendtype, recvtype, comm, status
    end function
    integer(c_int) function MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm) bind(C, name='MPI_Allreduce')
      import
      integer(c_int) :: sendbuf, recvbuf
      integer(c_int), value :: count
      integer(c_intptr_t), value :: datatype, op, comm
    end function
    integer(c_int) function MPI_Comm_dup(comm, newcomm) bind(C, name='MPI_Comm_dup')
      import
      integer(c_intptr_t), value :: comm
      integer(c_intptr_t) :: newcomm
    end function
    integer(c_int) function MPI_Comm_free(comm) bind(C, name='MPI_Comm_free')
      import
      integer(c_intptr_t) :: comm
    end function
    integer(c_int) function MPI_Finalize() bind(C, name='MPI_Finalize')
      import
    end function
  end interface
end module mpi_abi

program fortran_abi
  use mpi_abi
  use test_log
  implicit none
  integer(c_int) :: rank, nranks, rc, to, from, total, i
  integer(c_int) :: outgoing(4), incoming(4)
  integer(c_intptr_t) :: twin

  rc = MPI_Init(c_null_ptr, c_null_ptr)
  call done('MPI_Init', '', __LINE__ - 1)
  rc = MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call done('MPI_Comm_rank', kv('comm', 'MPI_COMM_WORLD')//','//kv('rank', rank), __LINE__ - 1)
  rc = MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call done('MPI_Comm_size', kv('comm', 'MPI_COMM_WORLD')//','//kv('size', nranks), __LINE__ - 1)
  rc = MPI_Comm_dup(MPI_COMM_WORLD, twin)
  call done('MPI_Comm_dup', kv('comm', 'MPI_COMM_WORLD')//','//kv('newcomm', '@@twin'), __LINE__ - 1)
  to = mod(rank + 1, nranks)
  from = mod(rank + nranks - 1, nranks)
  do i = 1, 3
    outgoing = rank * 10 + i
    rc = MPI_Sendrecv(outgoing, 4, MPI_INT, to, i, incoming, 4, MPI_INT, from, i, twin, MPI_STATUS_IGNORE)
    call done('MPI_Sendrecv', kv('sendcount', 4)//','//kv('sendtype', 'MPI_INT')//','//kv('dest', to)//','// &
              kv('sendtag', i)//','//kv('recvcount', 4)//','//kv('recvtype', 'MPI_INT')//','// &
              kv('source', from)//','//kv('recvtag', i)//','//kv('comm', '@@twin')//','// &
              kv('status', 'MPI_STATUS_IGNORE'), __LINE__ - 4)
    if (incoming(4) /= from * 10 + i) stop 3
  end do
  rc = MPI_Allreduce(rank, total, 1, MPI_INT, MPI_SUM, twin)
  call done('MPI_Allreduce', kv('count', 1)//','//kv('datatype', 'MPI_INT')//','//kv('op', 'MPI_SUM')//','// &
            kv('comm', '@@twin'), __LINE__ - 2)
  if (total /= nranks * (nranks - 1) / 2) stop 4
  rc = MPI_Comm_free(twin)
  call done('MPI_Comm_free', kv('comm', '@@twin'), __LINE__ - 1, '"freed":["@@twin"]')
  rc = MPI_Finalize()
  call done('MPI_Finalize', '', __LINE__ - 1)
  call finish()
  write(*, '(a,i0,a,i0,a)') 'rank ', rank, ' of ', nranks, ' done'
end program fortran_abi
