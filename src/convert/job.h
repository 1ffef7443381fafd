// Job: data of one conversion that every format needs.
#pragma once

#include "convert/convert.h"
#include "events/by_rank/scope.h"
#include "text/site_names.h"

namespace refrain::convert {

class Job : public events::Scope {
 public:
  Job(const Trace& trace, const Options& options, const Progress& progress, Outcome& out);

  const Options& options;
  Outcome& out;
  text::SiteNames sites;
};

// One function a format; those behind #if need a library that a machine may lack.
Status write_csv(Job& job);
#if REFRAIN_WITH_SQLITE
Status write_sqlite(Job& job);
#endif
#if REFRAIN_WITH_OTF2
Status write_otf2(Job& job);
#endif
#if REFRAIN_WITH_PROTOZERO
Status write_perfetto(Job& job);
#endif
Status write_ti(Job& job);
Status write_paraver(Job& job);
Status write_goal(Job& job);

}  // namespace refrain::convert
