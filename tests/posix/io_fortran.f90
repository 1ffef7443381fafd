! Writes and reads files as Fortran does, and says on the way how large they are.
program io_fortran
  use mpi
  implicit none
  integer :: rank, error, i, number
  real(8) :: values(100), back(100)
  character(len=600) :: folder, path
  character(len=20) :: suffix
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_environment_variable('REFRAIN_TEST_DIR', folder)
  write (suffix, '(a,i0)') '/fortran.', rank
  path = trim(folder)//trim(suffix)
  open (unit=11, file=path, form='formatted', status='replace')
  do i = 1, 200
    write (11, '(i6,1x,f10.4)') i, 0.5d0*i
  end do
  close (11)
  open (unit=11, file=path, form='formatted', status='old')
  do i = 1, 200
    read (11, *) number
    if (number /= i) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end do
  close (11)
  values = [(dble(i), i=1, 100)]
  open (unit=12, file=trim(path)//'.raw', form='unformatted', access='stream', status='replace')
  write (12) values
  close (12)
  open (unit=12, file=trim(path)//'.raw', form='unformatted', access='stream', status='old')
  read (12) back
  close (12)
  if (any(back /= values)) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  call MPI_Finalize(error)
end program io_fortran
