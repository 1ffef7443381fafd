#include "online/remote/broker.h"

namespace refrain::online {

namespace {

base::Error none() {
  return base::unsupported(
      "this build has no libnats (Debian: libnats-dev), which other hosts need");
}

}  // namespace

bool broker_is_built() { return false; }
base::Result<std::unique_ptr<Outlet>> open_outlet(const BrokerOptions&) { return none(); }
base::Result<std::unique_ptr<Inlet>> open_inlet(const BrokerOptions&) { return none(); }

}  // namespace refrain::online
