// A page of jobs in a browser, by cpp-httplib: on loopback only, for who has the token.
//
//   /?token=T      sets a cookie that scripts cannot read, and leads to /
//   /              the page
//   /events        server-sent events: an object of state_json.h for each look
//   /look.json     the same, the newest one
//   /state.json    of it what programs can rely on
//   /metrics       for Prometheus (Authorization: Bearer T)
//   /job/N/profile.json, /job/N/matrix.json, /job/N/run.rfn    of job N as it was at the last look:
//                  what `refrain profile` and `matrix` say, and a trace
//   /job/N/topology.json?cells=64, /job/N/maps.json?call=MPI_Send    see maps_json.h
//
// A request without the token gets 401, one whose Host is not this server 403 (a page of another
// site cannot reach it by a name of its own that leads here). An open stream of events holds a
// thread: beyond `viewers` of them 503, and the page asks for /look.json instead.
//
// Threads: publish() by one thread; requests are served by threads of the service.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "online/job_now.h"

namespace refrain::online {

struct ServiceOptions {
  uint16_t port = 0;      // 0: any that is free
  std::string token;      // empty: a random one
  uint32_t viewers = 32;  // open streams of events
};

class Service {
 public:
  // Whether this build has a server.
  static bool is_built();
  // Fails where the port is taken (ErrorCode::kUsage), or this build has no server.
  static base::Result<std::unique_ptr<Service>> start(const ServiceOptions& options);
  virtual ~Service() = default;  // ends all streams and threads

  // With the token: for the person who started it.
  virtual std::string address() const = 0;
  // What is served from now on; `json` is of state_json().
  virtual void publish(std::vector<JobNow> jobs, std::string json) = 0;
};

}  // namespace refrain::online
