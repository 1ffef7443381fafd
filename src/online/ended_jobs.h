// What jobs leave when they have ended, beside their traces: the answers of verbs as JSON, by their
// own code, a report with a chapter for each job, and the part of the calls that is to be kept.
//
//   OUT/NAME/{profile,matrix,waits,topology}.json, OUT/NAME.html    of OUT/NAME.rfn
//   OUT/NAME.TARGET                   the kept part (keep.h)
//   OUT/NAME/chapter.cbor             what the index shows of the job: written last
//   OUT/NAME/chapter.tex              its chapter of the document
//   OUT/index.html                    leads to the chapters of all jobs, whoever left them
//   OUT/report.tex                    the newest chapters, as a LaTeX document
//
// Without exact times of calls a job has no waits.json; a build without pages writes none of them.
// Keeps nothing in memory. Not thread safe.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "online/keep.h"
#include "refrain/trace.h"
#include "report/latex/detail.h"

namespace refrain::online {

// What an ended job leaves beside its trace.
struct LeaveOptions {
  Keep keep;
  report::Verbosity verbosity = report::Verbosity::kNormal;  // of report.tex
};

class EndedJobs {
 public:
  EndedJobs(std::string output, LeaveOptions leave)
      : output_(std::move(output)), keep_(std::move(leave.keep)), verbosity_(leave.verbosity) {}

  std::string trace_of(const std::string& name) const { return output_ + "/" + name + ".rfn"; }
  // Whether all of a job is there, and no older than its trace.
  bool is_current(const std::string& name) const;
  // A job by its trace, trace_of(name). Files of earlier are replaced; the index is not.
  base::Status add(const std::string& name, const Trace& trace);
  // The part that is to be kept, if any is; before add(). Whether it can be kept changes nothing
  // for the rest.
  base::Status keep(const std::string& name, const Trace& trace) const;
  base::Status write_index() const;

 private:
  const std::string output_;
  const Keep keep_;
  const report::Verbosity verbosity_;
};

}  // namespace refrain::online
