#include "cli/live/plugins.h"

#include <filesystem>

#include "format/encode/encode.h"
#include "online/show/state_json.h"

namespace refrain::cli {

namespace {

namespace fs = std::filesystem;
constexpr size_t kTop = 100;  // functions of a job

bool is_over(const online::JobNow& job) {
  return job.state == online::JobState::kFinished || job.state == online::JobState::kDied;
}

}  // namespace

Result<std::unique_ptr<LivePlugins>> LivePlugins::start(const online::PluginOptions& options,
                                                        const std::string& output) {
  auto plugins = std::unique_ptr<LivePlugins>(new LivePlugins(output));
  if (options.paths.empty()) return plugins;
  std::error_code error;
  const std::string program = fs::read_symlink("/proc/self/exe", error).string();
  auto host = online::PluginHost::start(options, program);
  if (!host.ok()) return host.error();
  plugins->host_ = std::move(*host);
  return plugins;
}

void LivePlugins::pass_over(const std::vector<online::JobNow>& jobs) {
  for (const online::JobNow& job : jobs) {
    known_.insert(job.name);
    ended_.insert(job.name);
  }
}

void LivePlugins::look(std::vector<online::JobNow>& jobs) {
  if (host_ == nullptr) return;
  for (const base::Error& error : host_->poll()) report(error);
  std::set<std::string> seen;
  for (online::JobNow& job : jobs) {
    seen.insert(job.name);
    if (!is_over(job)) {
      host_->look(job.name, online::job_text(job, kTop));
    } else if (!job.trace_file.empty() && ended_.insert(job.name).second) {
      host_->ended(job.name, job.trace_file);
    }
    job.answers = host_->answers(job.name);
    if (is_over(job)) write(job.name);
  }
  for (const std::string& name : known_)
    if (!seen.contains(name)) {
      host_->forget(name);
      ended_.erase(name);
      written_.erase(name);
    }
  known_ = std::move(seen);
}

void LivePlugins::end(const std::string& job, const std::string& trace) {
  if (host_ == nullptr) return;
  host_->ended(job, trace);
  for (const base::Error& error : host_->finish()) report(error);
  write(job);
}

void LivePlugins::finish(const std::vector<online::JobNow>& jobs) {
  if (host_ == nullptr) return;
  for (const base::Error& error : host_->finish()) report(error);
  for (const online::JobNow& job : jobs)
    if (is_over(job)) write(job.name);
}

// What a plug-in says may come after the job has ended.
void LivePlugins::write(const std::string& job) {
  const auto answers = host_->answers(job);
  const std::string text = online::answers_text(answers);
  const std::string stem = fs::path(job).stem().string();
  std::error_code error;
  if (answers.empty() || written_[job] == text || !fs::is_directory(output_ + "/" + stem, error))
    return;
  written_[job] = text;
  const Status done =
      format::write_file_atomically(output_ + "/" + stem + "/plugins.json", text + "\n", "answers");
  if (!done.ok()) report(done.error());
}

std::vector<online::PluginNow> LivePlugins::now() const {
  return host_ == nullptr ? std::vector<online::PluginNow>() : host_->now();
}

}  // namespace refrain::cli
