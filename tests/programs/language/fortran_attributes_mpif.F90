! fortran_attributes.F90 through `include 'mpif.h'`.
#define WITH_MPIF
#include "fortran_attributes.F90"
