// The two ends of a NATS JetStream broker between hosts: an outlet for who feeds (job_feed.h), an
// inlet for who receives (remote_jobs.h). By libnats; without it both say that this build has none
// (ErrorCode::kUnsupported).
//
// Messages are stored in the stream kStreamName, which is made where there is none, on disk and
// refusing what is too much. Who may connect, TLS, limits, replicas are the broker's. An outlet
// waits for the broker's word that a message is stored; an inlet gets all that is stored, in order,
// and from its first message on when it is opened again.
//
// Connections that are lost are made again by themselves. Not thread safe.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "online/remote/job_feed.h"
#include "online/remote/remote_jobs.h"

namespace refrain::online {

inline constexpr const char* kStreamName = "REFRAIN";

struct BrokerOptions {
  std::string url;         // nats://HOST:4222, or tls://
  std::string token_file;  // empty: none; else a file that only this user can read
  std::string creds_file;  // of a NATS account
  std::string ca_file;     // of the authority that signed the broker's certificate
};

bool broker_is_built();
// Whether it is one of a broker.
inline bool is_broker_url(const std::string& url) {
  return url.starts_with("nats://") || url.starts_with("tls://");
}
base::Result<std::unique_ptr<Outlet>> open_outlet(const BrokerOptions& options);
base::Result<std::unique_ptr<Inlet>> open_inlet(const BrokerOptions& options);

}  // namespace refrain::online
