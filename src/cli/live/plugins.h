// The plug-ins of `live serve` and `live analyze` (online/plugins/plugin_host.h), look by look.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/output/common.h"
#include "online/job_now.h"
#include "online/plugins/plugin_host.h"

namespace refrain::cli {

class LivePlugins {
 public:
  // Without paths there are none, and no process is started. `output`: the folder of what jobs
  // leave; OUT/NAME/plugins.json has the last answers of a job.
  static Result<std::unique_ptr<LivePlugins>> start(const online::PluginOptions& options,
                                                    const std::string& output);

  // Jobs that had ended before we were started: plug-ins have had their turn with them.
  void pass_over(const std::vector<online::JobNow>& jobs);
  // Gives them the jobs, and these what they have answered so far. Says on stderr which plug-ins
  // became disabled.
  void look(std::vector<online::JobNow>& jobs);
  // A job has ended, and its trace is there. Waits for what they answer, for no more than their
  // time.
  void end(const std::string& job, const std::string& trace);
  // Behind the last look: what they answer to jobs that have ended. Waits as end() does.
  void finish(const std::vector<online::JobNow>& jobs);
  std::vector<online::PluginNow> now() const;

 private:
  explicit LivePlugins(std::string output) : output_(std::move(output)) {}
  void write(const std::string& job);

  const std::string output_;
  std::unique_ptr<online::PluginHost> host_;  // null: none
  std::set<std::string> known_, ended_;       // jobs
  std::map<std::string, std::string> written_;
};

}  // namespace refrain::cli
