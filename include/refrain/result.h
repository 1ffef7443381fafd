// How functions of the library fail: they return a Result, never throw, and never end the program.
//
//   refrain::Result<refrain::Trace> trace = refrain::Trace::open("run.rfn");
//   if (!trace.ok()) return report(trace.error().to_string());   // "run.rfn: not a trace: ..."
//   use(trace->info());
//
// Error::code is also the exit status that the command line gives: 1 failed, 2 usage, 5 a trace
// that is good, but not for this version.
#pragma once

#include "base/result.h"

namespace refrain {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::Status;

}  // namespace refrain
