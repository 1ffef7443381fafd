! Messages, completions, collectives, communicators and statuses through `use mpi`.
! __LINE__ - 1 is the line of the call: the trace must name this file and that line.
program fortran_mpi
  use mpi
  use test_log
  implicit none
  integer :: rank, nranks, ierr, to, from, i, total, value, new_rank
  integer :: outgoing(4), incoming(4), counts(16), places(16), all(16)
  integer :: twin, half
  integer :: requests(2)
  integer :: pair
  integer :: stat(MPI_STATUS_SIZE)
  integer :: stats(MPI_STATUS_SIZE,2)
  logical :: flag
  character(len=8) :: alias

  call MPI_Init(ierr)
  call done('MPI_Init', '', 0)  ! line 0: gfortran 12 gives calls with nothing
  ! but variables as arguments a wrong line when a module declares the function
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call done('MPI_Comm_rank', kv('comm', 'MPI_COMM_WORLD')//','//kv('rank', rank), __LINE__ - 1)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  call done('MPI_Comm_size', kv('comm', 'MPI_COMM_WORLD')//','//kv('size', nranks), __LINE__ - 1)
  to = mod(rank + 1, nranks)
  from = mod(rank + nranks - 1, nranks)
  do i = 1, 3
    outgoing = rank * 10 + i
    call MPI_Irecv(incoming, 4, MPI_INTEGER, from, i, MPI_COMM_WORLD, requests(1), ierr)
    call done('MPI_Irecv', message(4, 'source', from, i)//','//kv('request', '@in'), __LINE__ - 1)
    call MPI_Isend(outgoing, 4, MPI_INTEGER, to, i, MPI_COMM_WORLD, requests(2), ierr)
    call done('MPI_Isend', message(4, 'dest', to, i)//','//kv('request', '@out'), __LINE__ - 1)
    call MPI_Waitall(2, requests, stats, ierr)
    call done('MPI_Waitall', kv('count', 2)//',"array_of_requests":["@in","@out"],"array_of_statuses":[{'// &
              kv('source', stats(MPI_SOURCE,1))//','//kv('tag', stats(MPI_TAG,1))//'},null]', __LINE__ - 2, &
              '"freed":["@in","@out"]')
    if (stats(MPI_SOURCE,1) /= from .or. incoming(4) /= from * 10 + i) stop 3
  end do

  ! Blocking; even ranks send first. A wildcard receive with a status.
  if (nranks > 1 .and. mod(nranks, 2) == 0) then
    if (mod(rank, 2) == 0) then
      call MPI_Ssend(outgoing, 3, MPI_INTEGER, rank + 1, 20, MPI_COMM_WORLD, ierr)
      call done('MPI_Ssend', message(3, 'dest', rank + 1, 20), __LINE__ - 1)
    else
      call MPI_Recv(incoming, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, stat, ierr)
      call done('MPI_Recv', kv('source', 'MPI_ANY_SOURCE')//','//kv('tag', 'MPI_ANY_TAG')//','// &
                status_of('status', stat(MPI_SOURCE), stat(MPI_TAG)), __LINE__ - 2)
      call MPI_Get_count(stat, MPI_INTEGER, value, ierr)
      call done('MPI_Get_count', kv('datatype', 'MPI_INTEGER')//','//kv('count', value), __LINE__ - 1)
      if (value /= 3 .or. stat(MPI_SOURCE) /= rank - 1) stop 4
    end if
  end if
  call MPI_Sendrecv(outgoing, 1, MPI_INTEGER, to, 21, incoming, 1, MPI_INTEGER, from, 21, MPI_COMM_WORLD, stat, ierr)
  call done('MPI_Sendrecv', kv('dest', to)//','//kv('sendtag', 21)//','//kv('source', from)//','// &
            status_of('status', from, 21), __LINE__ - 2)
  call MPI_Isend(outgoing, 1, MPI_INTEGER, MPI_PROC_NULL, 22, MPI_COMM_WORLD, requests(1), ierr)
  call done('MPI_Isend', kv('dest', 'MPI_PROC_NULL')//','//kv('request', '@null'), __LINE__ - 1)
  call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierr)
  call done('MPI_Test', kv('request', '@null')//','//kv('flag', merge(1, 0, flag)), 0, '"freed":["@null"]')

  ! Collectives.
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call done('MPI_Barrier', kv('comm', 'MPI_COMM_WORLD'), __LINE__ - 1)
  value = rank
  call MPI_Bcast(value, 1, MPI_INTEGER, nranks - 1, MPI_COMM_WORLD, ierr)
  call done('MPI_Bcast', kv('count', 1)//','//kv('datatype', 'MPI_INTEGER')//','//kv('root', nranks - 1), __LINE__ - 1)
  if (value /= nranks - 1) stop 5
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call done('MPI_Allreduce', kv('count', 1)//','//kv('datatype', 'MPI_INTEGER')//','//kv('op', 'MPI_SUM'), __LINE__ - 1)
  if (total /= nranks * (nranks - 1) / 2) stop 6
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  call done('MPI_Allreduce', kv('sendbuf', 'MPI_IN_PLACE')//','//kv('op', 'MPI_MAX'), __LINE__ - 1)
  do i = 1, nranks
    counts(i) = 1
    places(i) = nranks - i
  end do
  call MPI_Allgatherv(rank, 1, MPI_INTEGER, all, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call done('MPI_Allgatherv', kv('sendcount', 1)//','//kv('recvcounts', counts(1:nranks))//','// &
            kv('displs', places(1:nranks)), __LINE__ - 2)
  if (all(nranks) /= 0) stop 7

  ! Communicators and datatypes.
  do i = 1, 2
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr)
    call done('MPI_Comm_dup', kv('comm', 'MPI_COMM_WORLD')//','//kv('newcomm', '@@twin'), __LINE__ - 1)
    call MPI_Comm_split(twin, mod(rank, 2), rank, half, ierr)
    alias = '@@odd'
    if (mod(rank, 2) == 0) alias = '@@even'
    call done('MPI_Comm_split', kv('comm', '@@twin')//','//kv('color', mod(rank, 2))//','//kv('newcomm', trim(alias)), &
              __LINE__ - 4)
    call MPI_Comm_rank(half, new_rank, ierr)
    call done('MPI_Comm_rank', kv('comm', trim(alias))//','//kv('rank', new_rank), 0)
    call MPI_Barrier(half, ierr)
    call done('MPI_Barrier', kv('comm', trim(alias)), 0)
    call MPI_Comm_free(half, ierr)
    call done('MPI_Comm_free', kv('comm', trim(alias)), 0, '"freed":["'//trim(alias)//'"]')
    call MPI_Comm_free(twin, ierr)
    call done('MPI_Comm_free', kv('comm', '@@twin'), 0, '"freed":["@@twin"]')
  end do
  call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair, ierr)
  call done('MPI_Type_contiguous', kv('count', 2)//','//kv('oldtype', 'MPI_DOUBLE_PRECISION')//','// &
            kv('newtype', '@pair'), __LINE__ - 2)
  call MPI_Type_commit(pair, ierr)
  call done('MPI_Type_commit', kv('datatype', '@pair'), 0)
  call MPI_Type_size(pair, value, ierr)
  call done('MPI_Type_size', kv('datatype', '@pair')//','//kv('size', value), 0)
  if (value /= 16) stop 8
  call MPI_Type_free(pair, ierr)
  call done('MPI_Type_free', kv('datatype', '@pair'), 0, '"freed":["@pair"]')
  call MPI_Comm_set_name(MPI_COMM_WORLD, 'the world  ', ierr)
  call done('MPI_Comm_set_name', kv('comm_name', 'the world'), __LINE__ - 1)
  call MPI_Finalize(ierr)
  call done('MPI_Finalize', '', 0)
  call finish()
  write(*, '(a,i0,a,i0)') 'Fortran rank ', rank, ' of ', nranks
contains
  function message(n, peer_name, peer, tag) result(text)
    integer, intent(in) :: n, peer, tag
    character(len=*), intent(in) :: peer_name
    character(len=:), allocatable :: text
    text = kv('count', n)//','//kv('datatype', 'MPI_INTEGER')//','//kv(peer_name, peer)//','//kv('tag', tag)//','// &
           kv('comm', 'MPI_COMM_WORLD')
  end function message
end program fortran_mpi
