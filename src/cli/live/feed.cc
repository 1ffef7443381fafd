#include "cli/live/feed.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "cli/live/signals.h"
#include "cli/options/values.h"
#include "online/remote/job_feed.h"

namespace refrain::cli {

void BrokerWords::add_to(Command& verb) {
  verb.add_option(
          "--token", options.token_file,
          "With feed and serve --from: a file with the broker's token, readable by you alone")
      ->type_name("FILE");
  verb.add_option("--creds", options.creds_file,
                  "With feed and serve --from: credentials of a NATS account")
      ->type_name("FILE");
  verb.add_option("--ca", options.ca_file,
                  "With feed and serve: the authority behind the broker's certificate; "
                  "turns TLS on, as tls:// does")
      ->type_name("FILE");
  verb.add_option(
          "--listen", listen,
          "With serve: start a broker on this port of 127.0.0.1, which keeps what it stores "
          "in the folder of -o")
      ->check(whole_number(1, 65535))
      ->type_name("PORT");
  verb.add_option(
          "--job-bytes", most_job_bytes,
          "With serve --from and --listen: bytes that a job may send; what comes behind them "
          "is a loss [1G]")
      ->transform(bytes_with_unit(4096, uint64_t{1} << 40))
      ->type_name("SIZE");
}

int live_feed(const FeedOptions& options) {
  auto outlet = online::open_outlet(options.broker);
  if (!outlet.ok()) return report(outlet.error());
  auto feed = online::JobFeed::open(options.folder, **outlet);
  if (!feed.ok()) return report(feed.error());
  stop_on_signals();
  // The jobs need the cores more than who looks at them.
  (void)!nice(10);
  std::string trouble;
  while (!is_told_to_stop()) {
    auto lines = (*feed)->look();
    const std::string now = lines.ok() ? std::string() : lines.error().to_string();
    if (now != trouble && !now.empty()) report(lines.error());
    if (now != trouble && now.empty()) std::fprintf(stderr, "refrain: messages are taken again\n");
    trouble = now;
    if (lines.ok())
      for (const std::string& line : *lines)
        if (const int status = print(line + "\n"); status != 0) return status;
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_s));
  }
  return 0;
}

}  // namespace refrain::cli
