#include "cli/live/page.h"

#include <charconv>
#include <string>
#include <string_view>

#include "online/own_files.h"

namespace refrain::cli {
namespace {

// 0: there was none.
uint16_t last_port(const std::string& address_file) {
  const auto text = online::read_own_file(address_file, 256);
  constexpr std::string_view kBegin = "http://127.0.0.1:";
  uint16_t port = 0;
  if (text.ok() && text->starts_with(kBegin))
    std::from_chars(text->data() + kBegin.size(), text->data() + text->size(), port);
  return port;
}

Result<std::unique_ptr<online::Service>> start(const online::JobFolder& jobs,
                                               std::optional<uint16_t> port, uint32_t viewers) {
  online::ServiceOptions how;
  how.token = jobs.token();
  how.viewers = viewers;
  how.port = port.value_or(last_port(jobs.address_file()));
  auto service = online::Service::start(how);
  if (service.ok() || port || how.port == 0) return service;
  how.port = 0;  // somebody else has it now
  return online::Service::start(how);
}

}  // namespace

Result<std::unique_ptr<online::Service>> open_page(const online::JobFolder& jobs,
                                                   std::optional<uint16_t> port, uint32_t viewers) {
  auto service = start(jobs, port, viewers);
  if (!service.ok()) return service;
  // For this user alone: the address has the token.
  if (const Status good = online::write_own_file(jobs.address_file(), (*service)->address() + "\n");
      !good.ok())
    return good.error();
  return service;
}

}  // namespace refrain::cli
