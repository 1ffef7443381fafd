// What jobs leave when they have ended, beside their traces: the answers of verbs as JSON, by their
// own code, and a report with a chapter for each job.
//
//   OUT/NAME/{profile,matrix,waits}.json, OUT/NAME.html    of OUT/NAME.rfn
//   OUT/index.html                                         leads to the chapters
//
// Without exact times of calls a job has no waits.json; a build without pages writes none of them.
// Not thread safe.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "report/page/index_page.h"

namespace refrain::online {

class EndedJobs {
 public:
  explicit EndedJobs(std::string output) : output_(std::move(output)) {}

  // A job of which the trace is there. Files of earlier are replaced.
  base::Status add(const std::string& name);

 private:
  const std::string output_;
  report::IndexPage index_;
};

}  // namespace refrain::online
