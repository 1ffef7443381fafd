! The Fortran side of log.h: one JSON line per MPI call in $REFRAIN_TEST_LOG.<rank>.
module test_log
  implicit none
  private
  public :: done, kv, finish, status_of
  interface kv
    module procedure kv_integer, kv_string, kv_array
  end interface
  integer, save :: unit = -1
  logical, save :: tried = .false.
contains
  ! The call `name` has returned; `args` is what kv() made, joined by commas; line 0 is unknown.
  subroutine done(name, args, line, extra)
    character(len=*), intent(in) :: name, args
    integer, intent(in) :: line
    character(len=*), intent(in), optional :: extra
    character(len=:), allocatable :: text
    character(len=1024) :: base, rank
    character(len=16) :: number
    integer :: state
    if (.not. tried) then
      tried = .true.
      call get_environment_variable('REFRAIN_TEST_LOG', base, status=state)
      if (state == 0) then
        call get_environment_variable('PMI_RANK', rank, status=state)
        if (state /= 0) call get_environment_variable('OMPI_COMM_WORLD_RANK', rank, status=state)
        if (state /= 0) rank = '0'
        unit = 77
        open(unit=unit, file=trim(base)//'.'//trim(rank), status='replace', recl=65536)
      end if
    end if
    if (unit < 0) return
    text = '{"call":"'//name//'","args":{'//args//'}'
    if (line > 0) then
      write(number, '(i0)') line
      text = text//',"line":'//trim(number)
    end if
    if (present(extra)) text = text//','//extra
    write(unit, '(a)') text//'}'
    flush(unit)
  end subroutine done

  subroutine finish()
    if (unit >= 0) close(unit)
  end subroutine finish

  function kv_integer(key, v) result(text)
    character(len=*), intent(in) :: key
    integer, intent(in) :: v
    character(len=:), allocatable :: text
    character(len=16) :: number
    write(number, '(i0)') v
    text = '"'//key//'":'//trim(number)
  end function kv_integer

  function kv_string(key, v) result(text)
    character(len=*), intent(in) :: key, v
    character(len=:), allocatable :: text
    text = '"'//key//'":"'//v//'"'
  end function kv_string

  function kv_array(key, v) result(text)
    character(len=*), intent(in) :: key
    integer, intent(in) :: v(:)
    character(len=:), allocatable :: text
    character(len=16) :: number
    integer :: i
    text = '"'//key//'":['
    do i = 1, size(v)
      write(number, '(i0)') v(i)
      if (i > 1) text = text//','
      text = text//trim(number)
    end do
    text = text//']'
  end function kv_array

  function status_of(key, source, tag) result(text)
    character(len=*), intent(in) :: key
    integer, intent(in) :: source, tag
    character(len=:), allocatable :: text
    text = '"'//key//'":{'//kv_integer('source', source)//','//kv_integer('tag', tag)//'}'
  end function status_of
end module test_log
