#include "cli/options/window_options.h"

#include "cli/options/values.h"

namespace refrain::cli {

void add_window(Command& verb, analysis::Window& window) {
  verb.add_option("--from-ns", window.from_ns,
                  "Only what happens from this time on, in ns as `dump` shows it, or as in 20ms. A "
                  "call that lies "
                  "partly in the window counts with that part of its time; how often, bytes and "
                  "messages count where the call begins. Needs times of single calls")
      ->transform(time_with_unit())
      ->type_name("TIME");
  verb.add_option("--to-ns", window.to_ns, "Only what happens before this time")
      ->transform(time_with_unit())
      ->type_name("TIME")
      ->default_str("the end");
}

}  // namespace refrain::cli
