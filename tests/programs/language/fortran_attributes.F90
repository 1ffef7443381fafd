! Attributes and error handlers with callbacks in Fortran, which call MPI themselves, and addresses:
! through `use mpi_f08`, and through `include 'mpif.h'` for fortran_attributes_mpif.F90.
! __LINE__ - 1 is the line of the call; 0 where gfortran 12 gives another one (nothing but variables
! as arguments).
#ifdef WITH_MPIF
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#define COMM integer
#define DATATYPE integer
#define WINDOW integer
#define ERRHANDLER integer
#else
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define WINDOW type(MPI_Win)
#define ERRHANDLER type(MPI_Errhandler)
#endif

module callbacks
  implicit none
  integer, save :: copies = 0, deletions = 0, handled = 0
contains
  subroutine comm_copy(old, keyval, extra, value_in, value_out, flag, ierror)
    USE_MPI
    use test_log
    INCLUDE_MPI
    COMM :: old
    integer :: keyval, ierror, n
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    call MPI_Comm_size(old, n, ierror)
    call done('MPI_Comm_size', kv('comm', '@@first')//','//kv('size', n), 0)
    value_out = value_in + extra
    flag = .true.
    copies = copies + 1
    ierror = MPI_SUCCESS
  end subroutine comm_copy

  subroutine comm_delete(c, keyval, value, extra, ierror)
    USE_MPI
    use test_log
    INCLUDE_MPI
    COMM :: c
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    logical :: flag
    call MPI_Initialized(flag, ierror)
    call done('MPI_Initialized', kv('flag', merge(1, 0, flag)), 0)
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine comm_delete

  subroutine type_copy(old, keyval, extra, value_in, value_out, flag, ierror)
    USE_MPI
    use test_log
    INCLUDE_MPI
    DATATYPE :: old
    integer :: keyval, ierror, n
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    call MPI_Type_size(old, n, ierror)
    call done('MPI_Type_size', kv('datatype', '@pair')//','//kv('size', n), 0)
    value_out = value_in + extra
    flag = .true.
    copies = copies + 1
    ierror = MPI_SUCCESS
  end subroutine type_copy

  subroutine type_delete(t, keyval, value, extra, ierror)
    USE_MPI
    INCLUDE_MPI
    DATATYPE :: t
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine type_delete

  subroutine win_delete(w, keyval, value, extra, ierror)
    USE_MPI
    use test_log
    INCLUDE_MPI
    WINDOW :: w
    integer :: keyval, ierror, me
    integer(MPI_ADDRESS_KIND) :: value, extra
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
    call done('MPI_Comm_rank', kv('comm', 'MPI_COMM_WORLD')//','//kv('rank', me), 0)
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine win_delete

  subroutine handler(c, code)
    USE_MPI
    use test_log
    INCLUDE_MPI
    COMM :: c
    integer :: code, error_class, ierror
    call MPI_Error_class(code, error_class, ierror)
    call done('MPI_Error_class', kv('errorcode', code)//','// &
              kv('errorclass', trim(merge('MPI_ERR_TAG ', 'MPI_ERR_RANK', handled == 0))), 0)
    handled = handled + 1
  end subroutine handler
end module callbacks

program fortran_attributes
  USE_MPI
  use test_log
  use callbacks
  implicit none
  INCLUDE_MPI
  integer :: rank, nranks, ierr, rc, key, i
  integer :: numbers(8)
  integer(MPI_ADDRESS_KIND) :: value, extra, bytes
  COMM :: one, two
  DATATYPE :: pair, twin
  WINDOW :: win
  ERRHANDLER :: own
  logical :: flag

  call MPI_Init(ierr)
  call done('MPI_Init', '', 0)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call done('MPI_Comm_rank', kv('comm', 'MPI_COMM_WORLD')//','//kv('rank', rank), __LINE__ - 1)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  call done('MPI_Comm_size', kv('comm', 'MPI_COMM_WORLD')//','//kv('size', nranks), __LINE__ - 1)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
  call done('MPI_Comm_get_attr', kv('comm', 'MPI_COMM_WORLD')//','//kv('comm_keyval', 'MPI_TAG_UB')//','// &
            kv('flag', merge(1, 0, flag)), __LINE__ - 2)
  if (.not. flag .or. value < 32767) stop 3

  ! Communicators: an attribute that is copied to the duplicate, through a callback and without one.
  call MPI_Comm_dup(MPI_COMM_WORLD, one, ierr)
  call done('MPI_Comm_dup', kv('comm', 'MPI_COMM_WORLD')//','//kv('newcomm', '@@first'), __LINE__ - 1)
  do i = 1, 2
    extra = 5
    if (i == 1) then
      call MPI_Comm_create_keyval(comm_copy, comm_delete, key, extra, ierr)
    else
      call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, ierr)
    end if
    call done('MPI_Comm_create_keyval', kv('comm_keyval', '@key'), 0)
    call MPI_Comm_get_attr(one, key, value, flag, ierr)
    call done('MPI_Comm_get_attr', kv('comm', '@@first')//','//kv('comm_keyval', '@key')//','//kv('flag', 0), 0)
    if (flag) stop 4
    value = 1000 + rank
    call MPI_Comm_set_attr(one, key, value, ierr)
    call done('MPI_Comm_set_attr', kv('comm', '@@first')//','//kv('comm_keyval', '@key'), 0)
    call MPI_Comm_dup(one, two, ierr)
    call done('MPI_Comm_dup', kv('comm', '@@first')//','//kv('newcomm', '@@second'), 0)
    call MPI_Comm_get_attr(two, key, value, flag, ierr)
    call done('MPI_Comm_get_attr', kv('comm', '@@second')//','//kv('comm_keyval', '@key')//','//kv('flag', 1), 0)
    if (.not. flag .or. value /= 1000 + rank + merge(extra, 0_MPI_ADDRESS_KIND, i == 1)) stop 5
    call MPI_Comm_delete_attr(one, key, ierr)
    call done('MPI_Comm_delete_attr', kv('comm', '@@first')//','//kv('comm_keyval', '@key'), 0)
    call MPI_Comm_free(two, ierr)
    call done('MPI_Comm_free', kv('comm', '@@second'), 0, '"freed":["@@second"]')
    call MPI_Comm_free_keyval(key, ierr)
    call done('MPI_Comm_free_keyval', kv('comm_keyval', '@key'), 0, '"freed":["@key"]')
    if (key /= MPI_KEYVAL_INVALID .or. copies /= 1 .or. deletions /= 2) stop 6
  end do

  ! Datatypes.
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
  call done('MPI_Type_contiguous', kv('count', 2)//','//kv('oldtype', 'MPI_INTEGER')//','//kv('newtype', '@pair'), &
            __LINE__ - 2)
  call MPI_Type_create_keyval(type_copy, type_delete, key, extra, ierr)
  call done('MPI_Type_create_keyval', kv('type_keyval', '@key'), 0)
  value = 7
  call MPI_Type_set_attr(pair, key, value, ierr)
  call done('MPI_Type_set_attr', kv('datatype', '@pair')//','//kv('type_keyval', '@key'), 0)
  call MPI_Type_dup(pair, twin, ierr)
  call done('MPI_Type_dup', kv('oldtype', '@pair')//','//kv('newtype', '@twin'), 0)
  call MPI_Type_get_attr(twin, key, value, flag, ierr)
  call done('MPI_Type_get_attr', kv('datatype', '@twin')//','//kv('type_keyval', '@key')//','//kv('flag', 1), 0)
  if (.not. flag .or. value /= 12 .or. copies /= 2) stop 7
  call MPI_Type_delete_attr(twin, key, ierr)
  call done('MPI_Type_delete_attr', kv('datatype', '@twin')//','//kv('type_keyval', '@key'), 0)
  call MPI_Type_free(twin, ierr)
  call done('MPI_Type_free', kv('datatype', '@twin'), 0, '"freed":["@twin"]')
  call MPI_Type_free(pair, ierr)
  call done('MPI_Type_free', kv('datatype', '@pair'), 0, '"freed":["@pair"]')
  call MPI_Type_free_keyval(key, ierr)
  call done('MPI_Type_free_keyval', kv('type_keyval', '@key'), 0, '"freed":["@key"]')
  if (deletions /= 4) stop 8

  ! Windows.
  bytes = 32
  numbers = rank
  call MPI_Win_create(numbers, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call done('MPI_Win_create', kv('size', 32)//','//kv('disp_unit', 4)//','//kv('info', 'MPI_INFO_NULL')//','// &
            kv('comm', 'MPI_COMM_WORLD')//','//kv('win', '@win'), __LINE__ - 2)
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_delete, key, extra, ierr)
  call done('MPI_Win_create_keyval', kv('win_keyval', '@key'), 0)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
  call done('MPI_Win_get_attr', kv('win', '@win')//','//kv('win_keyval', 'MPI_WIN_SIZE')//','//kv('flag', 1), 0)
  if (.not. flag .or. value /= 32) stop 9
  value = rank
  call MPI_Win_set_attr(win, key, value, ierr)
  call done('MPI_Win_set_attr', kv('win', '@win')//','//kv('win_keyval', '@key'), 0)
  call MPI_Win_get_attr(win, key, value, flag, ierr)
  call done('MPI_Win_get_attr', kv('win', '@win')//','//kv('win_keyval', '@key')//','//kv('flag', 1), 0)
  if (.not. flag .or. value /= rank) stop 10
  call MPI_Win_free(win, ierr)
  call done('MPI_Win_free', kv('win', '@win'), 0, '"freed":["@win"]')
  call MPI_Win_free_keyval(key, ierr)
  call done('MPI_Win_free_keyval', kv('win_keyval', '@key'), 0, '"freed":["@key"]')
  if (deletions /= 5) stop 11

  ! A handler of errors.
  call MPI_Comm_create_errhandler(handler, own, ierr)
  call done('MPI_Comm_create_errhandler', kv('errhandler', '@own'), 0)
  call MPI_Comm_set_errhandler(one, own, ierr)
  call done('MPI_Comm_set_errhandler', kv('comm', '@@first')//','//kv('errhandler', '@own'), 0)
  call MPI_Comm_call_errhandler(one, MPI_ERR_TAG, ierr)
  call done('MPI_Comm_call_errhandler', kv('comm', '@@first')//','//kv('errorcode', MPI_ERR_TAG), 0)
  if (handled /= 1) stop 12
  call MPI_Send(rank, 1, MPI_INTEGER, nranks + 3, 1, one, rc)
  call done('MPI_Send', kv('count', 1)//','//kv('datatype', 'MPI_INTEGER')//','//kv('dest', nranks + 3)//','// &
            kv('comm', '@@first'), __LINE__ - 2, '"rc":'//text_of(rc))
  if (handled /= 2 .or. rc == MPI_SUCCESS) stop 13
  call MPI_Errhandler_free(own, ierr)
  call done('MPI_Errhandler_free', kv('errhandler', '@own'), 0, '"freed":["@own"]')
  call MPI_Comm_free(one, ierr)
  call done('MPI_Comm_free', kv('comm', '@@first'), 0, '"freed":["@@first"]')

  call addresses()
  call MPI_Finalize(ierr)
  call done('MPI_Finalize', '', 0)
  call finish()
  write(*, '(a,i0,a,i0)') 'Fortran rank ', rank, ' of ', nranks
contains
  subroutine addresses()
#ifdef WITH_MPIF
    ! Not every mpif.h declares the functions.
    integer(MPI_ADDRESS_KIND), external :: MPI_Aint_add, MPI_Aint_diff
#endif
    integer(MPI_ADDRESS_KIND) :: first, last, span
    call MPI_Get_address(numbers(1), first, ierr)
    call done('MPI_Get_address', '', 0)
    call MPI_Get_address(numbers(8), last, ierr)
    call done('MPI_Get_address', '', 0)
    span = MPI_Aint_diff(last, first)
    call done('MPI_Aint_diff', '', __LINE__ - 1)
    value = MPI_Aint_add(first, span)
    call done('MPI_Aint_add', kv('disp', 28), __LINE__ - 1)
    if (span /= 28 .or. value /= last) stop 14
  end subroutine addresses

  function text_of(v) result(text)
    integer, intent(in) :: v
    character(len=:), allocatable :: text
    character(len=16) :: number
    write(number, '(i0)') v
    text = trim(number)
  end function text_of
end program fortran_attributes
