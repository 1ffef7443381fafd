// refrain calibrate: parameters of a network for `refrain simulate`. Under a launcher, its
// processes become refrain-calibrate-<mpi> (src/replay/calibrate), which measures; rank 0 waits for
// its own, and fits. With files of samples it only fits.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/temporaries.h"
#include "cli/launch/companion.h"
#include "cli/launch/find_mpi.h"
#include "cli/launch/refuse.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/encode/encode.h"
#include "report/models/calibrate_report.h"
#include "sim/calibrate/fit.h"
#include "sim/calibrate/fit_self.h"
#include "sim/machine/machine_text.h"

namespace refrain::cli {
namespace {

struct CalibrateArguments {
  std::vector<std::string> samples;
  MpiChoice mpi;
  std::string output, plot, raw, name, distance = "auto", format = "text";
  std::string most_bytes = "4194304";
  uint64_t repeats = 40;
  bool force = false;
};

constexpr const char* kCalibrateExamples =
    "Examples:\n"
    "  mpiexec -n 2 refrain calibrate -o m.toml --plot m.svg     measure, and write a machine "
    "file\n"
    "  mpiexec -n 2 refrain calibrate -o m.toml --raw core.jsonl keep what was measured\n"
    "  refrain calibrate core.jsonl switch.jsonl -o m.toml       a file of both distances\n"
    "  refrain calibrate 1.jsonl 2.jsonl 3.jsonl -o m.toml       three starts together\n"
    "  refrain simulate run.rfn --machine m.toml";

base::Status check_free(const CalibrateArguments& options) {
  return may_write_all({options.output, options.plot, options.raw}, options.force, options.samples);
}

// What was measured at a distance, and the first file of it.
struct MeasuredDistance {
  sim::Samples samples;
  std::string file;
};

// One for each distance, in the order of the files; files of one distance are several starts.
base::Result<std::vector<MeasuredDistance>> read_all(const std::vector<std::string>& files) {
  std::vector<MeasuredDistance> out;
  for (const std::string& file : files) {
    auto samples = sim::read_samples(file);
    if (!samples.ok()) return samples.error();
    const auto known = std::find_if(out.begin(), out.end(), [&](const MeasuredDistance& one) {
      return one.samples.distance == samples->distance;
    });
    if (known == out.end())
      out.push_back({std::move(*samples), file});
    else if (const auto joined = sim::join(known->samples, std::move(*samples), file); !joined.ok())
      return joined.error();
  }
  return out;
}

// Fits the samples of each distance, and writes the machine file.
int fit(const CalibrateArguments& options, const std::vector<std::string>& files) {
  const auto measured = read_all(files);
  if (!measured.ok()) return report(measured.error());
  sim::Machine machine;
  std::vector<report::CalibratedDistance> found;
  std::vector<sim::Distance> distances;
  std::optional<sim::FittedSelf> self;
  std::string measured_on;
  for (const auto& [samples, file] : *measured) {
    auto fitted = sim::fit_protocol(samples, {});
    if (!fitted.ok()) return report(base::Error{fitted.error().code, fitted.error().message, file});
    machine.distances[static_cast<size_t>(samples.distance)] = fitted->protocol;
    distances.push_back(samples.distance);
    if (!self) self = sim::fit_self(samples, {});  // the same at each distance
    found.push_back({samples.distance, std::move(*fitted), samples.cores_taken, samples.starts});
    if (measured_on.empty() && !samples.hosts.empty())
      measured_on = samples.hosts[0] + ", " + samples.mpi;
  }
  if (self) machine.self = self->protocol;
  machine.name = options.name.empty() ? measured_on : options.name;
  std::string origin = "Measured by refrain calibrate on " +
                       (measured_on.empty() ? std::string("a machine") : measured_on) + ".";
  for (const report::CalibratedDistance& one : found)
    for (const std::string& warning : report::calibrate_warnings(one)) {
      std::fprintf(stderr, "refrain: %s\n", warning.c_str());
      origin += " Warning: " + warning + ".";
    }
  const auto write = [](const std::string& path, const std::string& text, const char* what) {
    return path.empty() ? base::Status(base::Done{})
                        : format::write_file_atomically(path, text, what);
  };
  if (const auto done =
          write(options.output, sim::machine_text(machine, distances, origin), "the machine file");
      !done.ok())
    return report(done.error());
  if (const auto done = write(options.plot, report::calibrate_svg(found), "the picture");
      !done.ok())
    return report(done.error());
  return print(options.format == "json" ? report::calibrate_json(found, self)
                                        : report::calibrate_text(found, self));
}

// Rank 0: its own process measures, this one waits for it and fits.
int measure_and_fit(const CalibrateArguments& options, const std::string& mpi,
                    const std::string& raw, const Words& words) {
  std::unique_ptr<base::Temporary> guard;
  if (options.raw.empty()) guard = std::make_unique<base::Temporary>(raw);
  const pid_t child = fork();
  if (child < 0)
    return report(base::fail(std::string("cannot start another process: ") + std::strerror(errno)));
  if (child == 0) _exit(report(become_companion("refrain-calibrate", mpi, options.mpi, words)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  int out = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  if (!WIFEXITED(status))
    report(base::fail("the measuring process was ended by signal " +
                      std::to_string(WTERMSIG(status))));
  if (out == 0) out = fit(options, {raw});
  if (options.raw.empty()) unlink(raw.c_str());
  return out;
}

int run(const CalibrateArguments& options) {
  const Launcher launcher =
      find_launcher([](const char* name) -> const char* { return std::getenv(name); });
  const auto refuse = [&](const base::Error& error) { return cli::refuse(error, launcher); };
  // On all ranks: MPICH's launcher waits for a rank whose partner ended before MPI_Init.
  if (const auto status = check_free(options); !status.ok()) return refuse(status.error());
  if (!options.mpi.is_simulated() && !options.samples.empty()) {
    if (!options.raw.empty())
      return refuse(base::usage("--raw keeps what is measured; with samples nothing is"));
    return launcher.rank == 0 ? fit(options, options.samples) : 0;
  }
  const std::string mpi = options.mpi.name(launcher);
  if (mpi.empty())
    return refuse(
        base::usage("no launcher of an MPI has started this: write mpiexec -n 2 refrain calibrate "
                    "-o m.toml, or name a file of samples"));
  const std::string raw = options.raw.empty()
                              ? options.output + "." + std::to_string(getpid()) + ".samples"
                              : options.raw;
  const Words words = {raw, options.most_bytes, std::to_string(options.repeats), options.distance};
  if (launcher.rank == 0) return measure_and_fit(options, mpi, raw, words);
  return refuse(become_companion("refrain-calibrate", mpi, options.mpi, words));
}

}  // namespace

void add_calibrate(Command& app, int& exit_status) {
  auto options = std::make_shared<CalibrateArguments>();
  Command* verb = app.add_subcommand(
      "calibrate",
      "Measure a network for refrain simulate: mpiexec -n 2 refrain calibrate -o m.toml");
  verb->add_option(
      "samples", options->samples,
      "Files of samples (--raw): fit them, and measure nothing. Those of one distance are several "
      "starts of the same ranks, which differ in where their memory lies");
  verb->add_option("-o,--output", options->output, "Write this machine file (TOML)")->required();
  verb->add_option("--plot", options->plot,
                   "Write a picture of what was measured and fitted (SVG)");
  verb->add_option("--raw", options->raw, "Write all samples to this file (JSON lines)");
  verb->add_option("--name", options->name, "Name of the machine [host and MPI]");
  verb->add_option("--distance", options->distance,
                   "How far the two ranks are from each other: core (of one node), node (of one "
                   "switch), switch; auto: core on one host, else switch")
      ->check(one_of({"auto", "core", "node", "switch"}))
      ->capture_default_str();
  verb->add_option("--max-bytes", options->most_bytes, "Size of the largest messages")
      ->transform(bytes_with_unit(1024, 1 << 30))
      ->type_name("BYTES")
      ->capture_default_str();
  verb->add_option("--repeats", options->repeats,
                   "How often small messages are measured in each of up to 5 rounds")
      ->check(whole_number(2, 100000))
      ->capture_default_str();
  options->mpi.add_to(*verb);
  verb->add_format(options->format, {"text", "json"});
  verb->add_flag("--force", options->force, "Overwrite files");
  verb->footer(kCalibrateExamples);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
