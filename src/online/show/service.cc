#include "online/show/service.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "analysis/matrix.h"
#include "analysis/profile/profile.h"
#include "analysis/topology.h"
#include "format/encode/encode.h"
#include "format/spool/job_files.h"
#include "online/own_files.h"
#include "online/page_text.inc"
#include "online/show/maps_json.h"
#include "online/show/state_json.h"
#include "reader/internal.h"
#include "reader/symbols.h"
#include "report/matrix_report.h"
#include "report/profile/profile_report.h"

namespace refrain::online {

namespace {

constexpr const char* kCookie = "refrain_token";
// Nothing from elsewhere, and no script but the page's own.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
// How long a silent stream stays silent: then a comment tells whether the viewer is still there.
constexpr auto kSilence = std::chrono::seconds(5);

// Takes as long for a token that is nearly right as for one that is not.
bool is_equal(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

// The value of our cookie; empty: there is none.
std::string cookie_of(const httplib::Request& request) {
  const std::string all = request.get_header_value("Cookie");
  const std::string name = std::string(kCookie) + "=";
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(';', at), all.size());
    const size_t begin = all.find_first_not_of(' ', at);
    if (begin < end && all.compare(begin, name.size(), name) == 0)
      return all.substr(begin + name.size(), end - begin - name.size());
    at = end + 1;
  }
  return {};
}

// What is served: replaced as a whole.
struct Published {
  uint64_t number = 0;
  std::vector<JobNow> jobs;
  std::string json = "{\"look\":0,\"time_ns\":0,\"jobs\":[]}", summary = "{\"jobs\":[]}";
};

class HttpService final : public Service {
 public:
  explicit HttpService(const ServiceOptions& options)
      : token_(options.token.empty() ? random_word() : options.token), viewers_(options.viewers) {
    // Threads for the streams, and some for all else.
    server_.new_task_queue = [n = options.viewers] { return new httplib::ThreadPool(n + 4); };
    server_.set_payload_max_length(4096);
    // By default the library lets two servers share a port, and requests go to either.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_keep_alive_max_count(1000);
    add_routes();
  }

  ~HttpService() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  bool bind(uint16_t port) {
    if (port == 0) {
      const int found = server_.bind_to_any_port("127.0.0.1");
      if (found <= 0) return false;
      port_ = static_cast<uint16_t>(found);
    } else {
      if (!server_.bind_to_port("127.0.0.1", port)) return false;
      port_ = port;
    }
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    return true;
  }

  std::string address() const override {
    return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_);
  }

  void publish(std::vector<JobNow> jobs, std::string json) override {
    auto next = std::make_shared<Published>();
    next->jobs = std::move(jobs);
    next->json = std::move(json);
    next->summary = summary_json(next->jobs);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      next->number = now_->number + 1;
      now_ = std::move(next);
    }
    changed_.notify_all();
  }

 private:
  using Now = std::shared_ptr<const Published>;

  Now now() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return now_;
  }

  // The next look after number `seen`; the same one again after kSilence, null when all is over.
  Now next(uint64_t seen) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kSilence, [&] { return is_over_ || now_->number != seen; });
    return is_over_ ? nullptr : now_;
  }

  bool is_for_us(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    return host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_);
  }

  bool has_token(const httplib::Request& request) const {
    return is_equal(cookie_of(request), token_) ||
           is_equal(request.get_header_value("Authorization"), "Bearer " + token_);
  }

  // Every request comes through here first.
  httplib::Server::HandlerResponse admit(const httplib::Request& request,
                                         httplib::Response& response) {
    using Response = httplib::Server::HandlerResponse;
    response.set_header("Content-Security-Policy", kPolicy);
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cache-Control", "no-store");
    if (!is_for_us(request)) return refuse(response, 403, "this server has another name");
    if (request.path == "/" && request.has_param("token") &&
        is_equal(request.get_param_value("token"), token_)) {
      response.set_header("Set-Cookie",
                          fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", kCookie, token_));
      response.set_redirect("/");
      return Response::Handled;
    }
    if (!has_token(request))
      return refuse(response, 401, "open the address that `refrain live` printed");
    return Response::Unhandled;
  }

  static httplib::Server::HandlerResponse refuse(httplib::Response& response, int status,
                                                 const char* why) {
    response.status = status;
    response.set_content(std::string(why) + "\n", "text/plain; charset=utf-8");
    return httplib::Server::HandlerResponse::Handled;
  }

  void add_routes() {
    server_.set_pre_routing_handler(
        [this](const auto& request, auto& response) { return admit(request, response); });
    const auto text = [this](const char* path, const char* content, const char* type) {
      server_.Get(path, [content, type](const httplib::Request&, httplib::Response& response) {
        response.set_content(content, type);
      });
    };
    text("/", kPageHtml, "text/html; charset=utf-8");
    text("/live.js", kPageJs, "text/javascript; charset=utf-8");
    text("/live.css", kPageCss, "text/css; charset=utf-8");
    // Browsers ask for it by themselves.
    server_.Get("/favicon.ico", [](const httplib::Request&, httplib::Response& response) {
      response.status = 204;
    });
    server_.Get("/state.json", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(now()->summary, "application/json");
    });
    server_.Get("/look.json", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(now()->json, "application/json");
    });
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(metrics_text(now()->jobs), "text/plain; version=0.0.4; charset=utf-8");
    });
    server_.Get("/events", [this](const httplib::Request& request, httplib::Response& response) {
      events(request, response);
    });
    server_.Get(R"(/job/(\d{1,9})/(profile\.json|matrix\.json|topology\.json|maps\.json|run\.rfn))",
                [this](const httplib::Request& request, httplib::Response& response) {
                  job(request, response);
                });
  }

  // A viewer that comes back says which look it saw last; each one is the whole state, so it gets
  // the newest, at once when it has not seen that.
  void events(const httplib::Request& request, httplib::Response& response) {
    if (streams_.fetch_add(1) >= viewers_) {
      --streams_;
      response.set_header("Retry-After", "5");
      refuse(response, 503, "too many viewers: ask for /look.json");
      return;
    }
    uint64_t seen = 0;
    const std::string last = request.get_header_value("Last-Event-ID");
    std::from_chars(last.data(), last.data() + last.size(), seen);
    auto position = std::make_shared<uint64_t>(seen);
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, position](size_t, httplib::DataSink& sink) {
          const Now now = next(*position);
          if (now == nullptr) {
            sink.done();
            return true;
          }
          std::string event = ": nothing new\n\n";
          if (now->number != *position)
            event = fmt::format("id: {}\ndata: {}\n\n", now->number, now->json);
          *position = now->number;
          return sink.write(event.data(), event.size());
        },
        [this](bool) { --streams_; });
  }

  void job(const httplib::Request& request, httplib::Response& response) {
    const Now now = this->now();
    const std::string digits = request.matches[1], what = request.matches[2];
    size_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const JobNow* const job = number < now->jobs.size() ? &now->jobs[number] : nullptr;
    if (job != nullptr && what == "maps.json") return maps(*job, request, response);
    if (job == nullptr || (!job->trace && job->trace_file.empty())) {
      refuse(response, 404, "no such job, or nothing is known of it yet");
      return;
    }
    const auto trace = job->trace ? base::Result<Trace>(*job->trace) : Trace::open(job->trace_file);
    if (!trace.ok()) {
      refuse(response, 500, "the trace cannot be read");
      return;
    }
    answer(*trace, what, request, response);
  }

  // Of a job that has ended, the file that it left.
  static void maps(const JobNow& job, const httplib::Request& request,
                   httplib::Response& response) {
    constexpr uint64_t kMostBytes = uint64_t{64} << 20;
    constexpr std::string_view kEnding = ".rfn";
    if (job.maps != nullptr) {
      response.set_content(maps_json(*job.maps, request.get_param_value("call")),
                           "application/json");
      return;
    }
    const std::string& file = job.trace_file;
    if (file.ends_with(kEnding)) {
      const auto bytes = format::spool::read_file(
          file.substr(0, file.size() - kEnding.size()) + "/maps.json", kMostBytes);
      if (bytes.ok()) return response.set_content(*bytes, "application/json");
    }
    refuse(response, 404, "no such job, or nothing is known of it yet");
  }

  static void answer(const Trace& trace, const std::string& what, const httplib::Request& request,
                     httplib::Response& response) {
    if (what == "profile.json") {
      const analysis::Profile profile = analysis::profile(trace);
      reader::Symbols symbols;
      response.set_content(report::profile_json({trace, profile, symbols}), "application/json");
    } else if (what == "matrix.json") {
      const auto matrix = analysis::matrix(trace, analysis::MatrixKind::kP2p);
      response.set_content(report::matrix_json(matrix, {}, &trace), "application/json");
    } else if (what == "topology.json") {
      const std::string text = request.get_param_value("cells");
      Rank cells = 0;
      std::from_chars(text.data(), text.data() + text.size(), cells);
      response.set_content(topology_json(analysis::topology(trace), trace.rank_count(),
                                         cells > 0 ? cells : trace.rank_count()),
                           "application/json");
    } else {
      const auto bytes = format::encode(reader::data_of(trace));
      if (!bytes.ok()) {
        refuse(response, 500, "the trace cannot be written");
        return;
      }
      response.set_content(*bytes, "application/octet-stream");
    }
  }

  const std::string token_;
  const uint32_t viewers_;
  uint16_t port_ = 0;
  httplib::Server server_;
  std::thread thread_;
  std::atomic<uint32_t> streams_ = 0;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  bool is_over_ = false;
  Now now_ = std::make_shared<Published>();
};

}  // namespace

bool Service::is_built() { return true; }

base::Result<std::unique_ptr<Service>> Service::start(const ServiceOptions& options) {
  auto service = std::make_unique<HttpService>(options);
  if (!service->bind(options.port))
    return base::usage(
        fmt::format("port {} is taken: choose another one, or 0 for any", options.port));
  return std::unique_ptr<Service>(std::move(service));
}

}  // namespace refrain::online
