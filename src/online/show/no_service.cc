#include "online/show/service.h"

namespace refrain::online {

bool Service::is_built() { return false; }

base::Result<std::unique_ptr<Service>> Service::start(const ServiceOptions&) {
  return base::unsupported(
      "this build has no web server: install cpp-httplib (libcpp-httplib-dev) and build anew, or "
      "use "
      "`--format json`");
}

}  // namespace refrain::online
