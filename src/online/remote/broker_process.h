// A broker of our own for `live serve --listen`: the distribution's nats-server, on loopback.
//
//   OUT/nats.conf   made where there is none, mode 0600; who edits it (limits, TLS, a cluster)
//   keeps
//                   his text. Listens on 127.0.0.1 only
//   OUT/nats.token  what feeds need (`live feed --token`), mode 0600
//   OUT/nats/       what it stores; OUT/nats.log
//
// The broker ends with the thread that made this object, however that ends; started again it has
// what it stored. Not thread safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace refrain::online {

class BrokerProcess {
 public:
  // Returns when it takes connections. Fails with ErrorCode::kUsage where the port is taken, and
  // with ErrorCode::kUnsupported where there is no nats-server.
  static base::Result<std::unique_ptr<BrokerProcess>> start(const std::string& folder,
                                                            uint16_t port);
  ~BrokerProcess();
  BrokerProcess(const BrokerProcess&) = delete;
  BrokerProcess& operator=(const BrokerProcess&) = delete;

  // Starts it again where it has ended by itself, every five seconds at most: the line says so.
  // Else empty. To be called now and then.
  std::string revive();

  const std::string& url() const { return url_; }
  const std::string& token_file() const { return token_file_; }

 private:
  BrokerProcess() = default;
  base::Status launch();

  pid_t process_ = -1;
  std::chrono::steady_clock::time_point launched_;
  std::string server_, config_, log_, url_, token_file_;
  uint16_t port_ = 0;
};

}  // namespace refrain::online
