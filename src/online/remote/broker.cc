#include "online/remote/broker.h"

#include <nats/nats.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "online/own_files.h"
#include "online/wall_clock.h"

namespace refrain::online {

namespace {

constexpr const char* kSubjects = "refrain.*.*";
constexpr const char* kClockSubject = "refrain.clock";
// A message that came twice within this time is stored once.
constexpr int64_t kDuplicatesNs = 600'000'000'000;
constexpr int64_t kHeartbeatNs = 2'000'000'000;
constexpr int64_t kWaitMs = 5000;
constexpr int64_t kNextMs = 50;
constexpr int kRoundTrips = 8;
constexpr int64_t kRoundTripMs = 200;
constexpr int64_t kReconnectMs = 500;
constexpr uint64_t kMostSecretBytes = 4096;

struct Free {
  void operator()(natsOptions* p) const { natsOptions_Destroy(p); }
  void operator()(natsConnection* p) const { natsConnection_Destroy(p); }
  void operator()(natsSubscription* p) const { natsSubscription_Destroy(p); }
  void operator()(natsMsg* p) const { natsMsg_Destroy(p); }
  void operator()(jsCtx* p) const { jsCtx_Destroy(p); }
  void operator()(jsStreamInfo* p) const { jsStreamInfo_Destroy(p); }
  void operator()(jsMsgMetaData* p) const { jsMsgMetaData_Destroy(p); }
  void operator()(natsStatistics* p) const { natsStatistics_Destroy(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

base::Error failed(const std::string& what, natsStatus status) {
  const char* const more = nats_GetLastError(nullptr);
  std::string text = natsStatus_GetText(status);
  if (more != nullptr && *more != 0 && text != more) text += std::string(": ") + more;
  return base::fail(what + " (" + text + ")");
}

// The options of a connection; the URL is known to be one.
natsStatus set_options(natsOptions* how, const BrokerOptions& options, const std::string& token) {
  natsStatus s = natsOptions_SetURL(how, options.url.c_str());
  if (s == NATS_OK) s = natsOptions_SetName(how, "refrain");
  if (s == NATS_OK) s = natsOptions_SetMaxReconnect(how, -1);
  if (s == NATS_OK) s = natsOptions_SetReconnectWait(how, kReconnectMs);
  if (s == NATS_OK) s = natsOptions_SetSendAsap(how, true);
  if (s == NATS_OK && !token.empty()) s = natsOptions_SetToken(how, token.c_str());
  if (s == NATS_OK && !options.creds_file.empty())
    s = natsOptions_SetUserCredentialsFromFiles(how, options.creds_file.c_str(), nullptr);
  if (s == NATS_OK && (options.url.starts_with("tls://") || !options.ca_file.empty()))
    s = natsOptions_SetSecure(how, true);
  if (s == NATS_OK && !options.ca_file.empty())
    s = natsOptions_LoadCATrustedCertificates(how, options.ca_file.c_str());
  return s;
}

// A connection, and the stream in which messages are stored.
class Connection {
 public:
  static base::Result<Connection> open(const BrokerOptions& options) {
    Connection c;
    std::string token;
    if (!options.token_file.empty()) {
      struct stat info {};
      if (stat(options.token_file.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return base::usage("others may read it; `chmod 600` it", options.token_file);
      auto text = read_own_file(options.token_file, kMostSecretBytes);
      if (!text.ok()) return text.error();
      token = text->substr(0, text->find_first_of(" \t\r\n"));
    }
    // The client library says "(null)" of a file that is not there.
    for (const std::string& file : {options.creds_file, options.ca_file})
      if (!file.empty() && access(file.c_str(), R_OK) != 0)
        return base::usage(std::strerror(errno), file);
    natsOptions* how = nullptr;
    natsStatus s = natsOptions_Create(&how);
    const Owned<natsOptions> owned(how);
    if (s == NATS_OK) s = set_options(how, options, token);
    if (s != NATS_OK) return failed("the options are refused", s);
    natsConnection* connection = nullptr;
    s = natsConnection_Connect(&connection, how);
    if (s != NATS_OK)
      return base::fail(failed("no broker that lets us in", s).message, options.url);
    c.connection_.reset(connection);
    jsCtx* context = nullptr;
    s = natsConnection_JetStream(&context, connection, nullptr);
    if (s != NATS_OK) return failed("no JetStream", s);
    c.context_.reset(context);
    if (const base::Status there = c.make_stream(); !there.ok())
      return base::fail(there.error().message, options.url);
    return c;
  }

  natsConnection* get() const { return connection_.get(); }
  jsCtx* context() const { return context_.get(); }

  // The number of the newest message. Fails where there is no stream.
  base::Result<uint64_t> last_number() const {
    jsStreamInfo* info = nullptr;
    const natsStatus s = js_GetStreamInfo(&info, context_.get(), kStreamName, nullptr, nullptr);
    const Owned<jsStreamInfo> owned(info);
    if (s != NATS_OK) return failed("there is no stream", s);
    return info->State.LastSeq;
  }

 private:
  base::Status make_stream() const {
    if (last_number().ok()) return base::Done{};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    const char* subjects[] = {kSubjects};
    config.Name = kStreamName;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Storage = js_FileStorage;
    config.Discard = js_DiscardNew;  // who sends waits: nothing of a job is lost
    config.Duplicates = kDuplicatesNs;
    const natsStatus s = js_AddStream(nullptr, context_.get(), &config, nullptr, nullptr);
    // Somebody else may have made it just now.
    if (s == NATS_OK || last_number().ok()) return base::Done{};
    return failed("JetStream is off there, or its stream cannot be made", s);
  }

  Owned<natsConnection> connection_;
  Owned<jsCtx> context_;
};

class BrokerOutlet : public Outlet {
 public:
  explicit BrokerOutlet(Connection connection) : connection_(std::move(connection)) {}

  base::Status publish(const std::string& subject, const Message& message) override {
    const std::string bytes = write_message(message);
    const std::string id =
        subject + "." + std::to_string(message.incarnation) + "." + std::to_string(message.number);
    jsPubOptions how;
    jsPubOptions_Init(&how);
    how.MaxWait = kWaitMs;
    how.MsgId = id.c_str();
    how.ExpectStream = kStreamName;
    const natsStatus s = js_Publish(nullptr, connection_.context(), subject.c_str(), bytes.data(),
                                    static_cast<int>(bytes.size()), &how, nullptr);
    if (s == NATS_OK || is_last(subject, message)) return base::Done{};
    return failed("the broker does not take messages now", s);
  }

  uint64_t returns() const override {
    natsStatistics* made = nullptr;
    if (natsStatistics_Create(&made) != NATS_OK) return 0;
    const Owned<natsStatistics> owned(made);
    uint64_t in = 0, in_bytes = 0, out = 0, out_bytes = 0, reconnects = 0;
    if (natsConnection_GetStats(connection_.get(), made) == NATS_OK)
      (void)natsStatistics_GetCounts(made, &in, &in_bytes, &out, &out_bytes, &reconnects);
    return reconnects;
  }

  std::optional<ClockNow> compare_clocks() override {
    std::optional<ClockNow> best;
    for (int i = 0; i < kRoundTrips; ++i) {
      natsMsg* answer = nullptr;
      const uint64_t begin = realtime_ns();
      const natsStatus s =
          natsConnection_RequestString(&answer, connection_.get(), kClockSubject, "", kRoundTripMs);
      const uint64_t end = realtime_ns();
      const Owned<natsMsg> owned(answer);
      if (s != NATS_OK) return best;  // nobody is there
      const char* const text = natsMsg_GetData(answer);
      uint64_t theirs = 0;
      std::from_chars(text, text + natsMsg_GetDataLength(answer), theirs);
      if (theirs == 0 || end < begin) continue;
      const uint64_t error = (end - begin + 1) / 2;
      if (!best || error < best->error_ns)
        best = ClockNow{static_cast<int64_t>(theirs - (begin + (end - begin) / 2)), error};
    }
    return best;
  }

 private:
  // The word that it is stored may have been lost, and not the message.
  bool is_last(const std::string& subject, const Message& message) const {
    natsMsg* last = nullptr;
    const natsStatus s =
        js_GetLastMsg(&last, connection_.context(), kStreamName, subject.c_str(), nullptr, nullptr);
    const Owned<natsMsg> owned(last);
    if (s != NATS_OK) return false;
    const auto there =
        read_message({natsMsg_GetData(last), static_cast<size_t>(natsMsg_GetDataLength(last))});
    return there.ok() && there->incarnation == message.incarnation &&
           there->number == message.number;
  }

  Connection connection_;
};

// In a thread of the library; touches nothing of ours.
void tell_time(natsConnection* connection, natsSubscription*, natsMsg* question, void*) {
  if (natsMsg_GetReply(question) != nullptr)
    (void)natsConnection_PublishString(connection, natsMsg_GetReply(question),
                                       std::to_string(realtime_ns()).c_str());
  natsMsg_Destroy(question);
}

class BrokerInlet : public Inlet {
 public:
  explicit BrokerInlet(Connection connection) : connection_(std::move(connection)) {
    natsSubscription* clock = nullptr;
    (void)natsConnection_Subscribe(&clock, connection_.get(), kClockSubject, tell_time, nullptr);
    clock_.reset(clock);
  }

  base::Status receive(uint64_t most_ns, const Visit& visit) override {
    const uint64_t end = realtime_ns() + most_ns;
    do {
      if (all_ == nullptr)
        if (const base::Status again = subscribe(); !again.ok()) {
          nats_Sleep(kNextMs);
          return again;
        }
      natsMsg* message = nullptr;
      const natsStatus s = natsSubscription_NextMsg(&message, all_.get(), kNextMs);
      const Owned<natsMsg> owned(message);
      if (s == NATS_TIMEOUT) continue;
      if (s != NATS_OK) {  // the broker is gone, or was started again
        all_.reset();
        continue;
      }
      jsMsgMetaData* data = nullptr;
      if (natsMsg_GetMetaData(&data, message) != NATS_OK) continue;
      const Owned<jsMsgMetaData> owned_data(data);
      if (data->Sequence.Stream <= last_) continue;  // it came already
      last_ = data->Sequence.Stream;
      visit(natsMsg_GetSubject(message),
            {natsMsg_GetData(message), static_cast<size_t>(natsMsg_GetDataLength(message))});
    } while (realtime_ns() < end);
    return base::Done{};
  }

  void purge(uint64_t run) override {
    const std::string job = subject_text({run, Subject::Of::kJob, 0});
    const std::string all = job.substr(0, job.rfind('.')) + ".*";
    jsOptions how;
    jsOptions_Init(&how);
    how.Stream.Purge.Subject = all.c_str();
    // What stays is received again by who is started later, and purged then.
    (void)js_PurgeStream(connection_.context(), kStreamName, &how, nullptr);
  }

 private:
  // All messages behind the last one that came, in order.
  base::Status subscribe() {
    const auto newest = connection_.last_number();
    if (!newest.ok()) return newest.error();
    if (*newest < last_) last_ = 0;  // another stream than before
    jsSubOptions how;
    jsSubOptions_Init(&how);
    how.Stream = kStreamName;
    how.Ordered = true;
    how.Config.Heartbeat = kHeartbeatNs;
    if (last_ > 0) {
      how.Config.DeliverPolicy = js_DeliverByStartSequence;
      how.Config.OptStartSeq = last_ + 1;
    }
    natsSubscription* all = nullptr;
    const natsStatus s =
        js_SubscribeSync(&all, connection_.context(), kSubjects, nullptr, &how, nullptr);
    if (s != NATS_OK) return failed("the broker gives no messages now", s);
    all_.reset(all);
    (void)natsSubscription_SetPendingLimits(all, -1, -1);
    return base::Done{};
  }

  Connection connection_;
  Owned<natsSubscription> clock_, all_;
  uint64_t last_ = 0;
};

}  // namespace

bool broker_is_built() { return true; }

base::Result<std::unique_ptr<Outlet>> open_outlet(const BrokerOptions& options) {
  auto connection = Connection::open(options);
  if (!connection.ok()) return connection.error();
  return std::unique_ptr<Outlet>(std::make_unique<BrokerOutlet>(std::move(*connection)));
}

base::Result<std::unique_ptr<Inlet>> open_inlet(const BrokerOptions& options) {
  auto connection = Connection::open(options);
  if (!connection.ok()) return connection.error();
  return std::unique_ptr<Inlet>(std::make_unique<BrokerInlet>(std::move(*connection)));
}

}  // namespace refrain::online
