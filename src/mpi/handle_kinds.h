// Which parameters are handles of MPI objects.
#pragma once

#include "mpi/call_table.h"

namespace refrain::mpi {

// Whether a parameter of this kind names an object that the MPI keeps: who makes a recorded call
// again has to put a handle of its own in place of the recorded one. Keyvals are handles, too,
// though ints in every MPI. Statuses are none: their memory is the caller's.
constexpr bool is_handle(ParamKind kind) {
  switch (kind) {
    case ParamKind::kComm:
    case ParamKind::kDatatype:
    case ParamKind::kGroup:
    case ParamKind::kWin:
    case ParamKind::kFile:
    case ParamKind::kOp:
    case ParamKind::kErrhandler:
    case ParamKind::kInfo:
    case ParamKind::kMessage:
    case ParamKind::kSession:
    case ParamKind::kKeyval:
    case ParamKind::kToolHandle:
    case ParamKind::kStream:
    case ParamKind::kRequest: return true;
    default: return false;
  }
}

}  // namespace refrain::mpi
