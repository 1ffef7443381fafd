// Receives and probes: a wildcard whose status the program ignores still says which message it
// took.
#include "hand.h"
#include "mpi/constant_ids.h"
#include "tracer/wrap/completion.h"
#include "tracer/wrap/message_size.h"

namespace refrain::tracer::hand {

namespace {

// The status that the real call fills: the program's, or ours where a wildcard's message would be
// lost, or where a filter asks for the message's size.
class MessageStatus {
 public:
  MessageStatus(const CallScope& scope, MPI_Status* given, int source, int tag)
      : given_(given),
        source_(source),
        tag_(tag),
        matched_(given == MPI_STATUS_IGNORE && (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)),
        substituted_(matched_ || (given == MPI_STATUS_IGNORE && !scope.is_plain() &&
                                  control().sizes != nullptr)) {}

  MPI_Status* used() { return substituted_ ? &own_ : given_; }
  const MPI_Status* filled() const { return substituted_ ? &own_ : given_; }

  // What it said after success, for CallScope::repeats().
  uint64_t word() const {
    const MPI_Status* s = matched_ ? &own_ : given_;
    return s == MPI_STATUS_IGNORE ? 0 : message_word(*s);
  }

  void encode(Encoder& e, int rc) const {
    // A message that was too long has been received all the same, and says whose it was.
    if (rc != MPI_SUCCESS && error_class(rc) != MPI_ERR_TRUNCATE)
      return status_after_error(e, given_);
    if (matched_) {
      e.tag_byte(Tag::kMatched);
      return e.message(own_.MPI_SOURCE, own_.MPI_TAG);
    }
    if (given_ == MPI_STATUS_IGNORE) return e.constant(mpi::kConst_MPI_STATUS_IGNORE);
    if (given_->MPI_SOURCE == source_ && given_->MPI_TAG == tag_)
      return e.tag_byte(Tag::kStatusAsPosted);
    e.tag_byte(Tag::kStatus);
    e.message(given_->MPI_SOURCE, given_->MPI_TAG);
  }

 private:
  MPI_Status* given_;
  int source_, tag_;
  bool matched_;  // the program ignores it, and it says which message came
  bool substituted_;
  MPI_Status own_;
};

// `more`: integers between communicator and status.
template <class Real, class Count, class... More>
int receive(CallScope& scope, Real real, void* buf, Count count, MPI_Datatype datatype, int source,
            int tag, MPI_Comm comm, MPI_Status* status, More... more) {
  MessageStatus message(scope, status, source, tag);
  scope.begin();
  const int rc = real(buf, count, datatype, source, tag, comm, more..., message.used());
  scope.end();
  const auto with_words = [&](auto&& use) {
    return use(word(buf), word(count), word(datatype), word(source), word(tag), word(comm),
               word(more)..., message.word(), status == MPI_STATUS_IGNORE);
  };
  const bool short_way = rc == MPI_SUCCESS;
  if (short_way && with_words([&](auto... words) { return scope.was_made(words...); })) return rc;
  if (!scope.is_plain()) filter_received(scope, rc, message.filled(), count, datatype);
  Encoder& e = scope.encoder(rc);
  e.buffer(buf);
  e.integer(count);
  e.handle(Kind::kDatatype, datatype);
  e.rank(source);
  e.tag(tag);
  e.handle(Kind::kComm, comm);
  (e.integer(more), ...);
  message.encode(e, rc);
  scope.commit();
  if (short_way) with_words([&](auto... words) { scope.memorise(words...); });
  return rc;
}

template <class Real, class Count>
int send_receive(CallScope& scope, Real real, const void* sendbuf, Count sendcount,
                 MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf, Count recvcount,
                 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                 MPI_Status* status) {
  MessageStatus message(scope, status, source, recvtag);
  scope.begin();
  const int rc = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                      source, recvtag, comm, message.used());
  scope.end();
  const auto with_words = [&](auto&& use) {
    return use(word(sendbuf), word(sendcount), word(sendtype), word(dest), word(sendtag),
               word(recvbuf), word(recvcount), word(recvtype), word(source), word(recvtag),
               word(comm), message.word(), status == MPI_STATUS_IGNORE);
  };
  const bool short_way = rc == MPI_SUCCESS;
  if (short_way && with_words([&](auto... words) { return scope.was_made(words...); })) return rc;
  if (!scope.is_plain())
    filter_exchanged(scope, rc, message.filled(), sendcount, sendtype, dest, recvcount, recvtype,
                     source);
  Encoder& e = scope.encoder(rc);
  e.buffer(sendbuf);
  e.integer(sendcount);
  e.handle(Kind::kDatatype, sendtype);
  e.rank(dest);
  e.tag(sendtag);
  e.buffer(recvbuf);
  e.integer(recvcount);
  e.handle(Kind::kDatatype, recvtype);
  e.rank(source);
  e.tag(recvtag);
  e.handle(Kind::kComm, comm);
  message.encode(e, rc);
  scope.commit();
  if (short_way) with_words([&](auto... words) { scope.memorise(words...); });
  return rc;
}

template <class Real, class Count>
int send_receive_replace(CallScope& scope, Real real, void* buf, Count count, MPI_Datatype datatype,
                         int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                         MPI_Status* status) {
  MessageStatus message(scope, status, source, recvtag);
  scope.begin();
  const int rc = real(buf, count, datatype, dest, sendtag, source, recvtag, comm, message.used());
  scope.end();
  const auto with_words = [&](auto&& use) {
    return use(word(buf), word(count), word(datatype), word(dest), word(sendtag), word(source),
               word(recvtag), word(comm), message.word(), status == MPI_STATUS_IGNORE);
  };
  const bool short_way = rc == MPI_SUCCESS;
  if (short_way && with_words([&](auto... words) { return scope.was_made(words...); })) return rc;
  if (!scope.is_plain())
    filter_exchanged(scope, rc, message.filled(), count, datatype, dest, count, datatype, source);
  Encoder& e = scope.encoder(rc);
  e.buffer(buf);
  e.integer(count);
  e.handle(Kind::kDatatype, datatype);
  e.rank(dest);
  e.tag(sendtag);
  e.rank(source);
  e.tag(recvtag);
  e.handle(Kind::kComm, comm);
  message.encode(e, rc);
  scope.commit();
  if (short_way) with_words([&](auto... words) { scope.memorise(words...); });
  return rc;
}

// MPI_Mrecv: the message says source and tag, and its handle is gone afterwards.
template <class Real, class Count>
int receive_message(CallScope& scope, Real real, void* buf, Count count, MPI_Datatype datatype,
                    MPI_Message* message, MPI_Status* status) {
  if (message == nullptr)
    return scope.process().lose(kNullArgument, "MPI_Mrecv"),
           real(buf, count, datatype, message, status);
  const Captured before = scope.capture_to_free(Kind::kMessage, *message);
  MPI_Status own;
  MPI_Status* const used =
      status == MPI_STATUS_IGNORE && control().sizes != nullptr ? &own : status;
  scope.begin();
  const int rc = real(buf, count, datatype, message, used);
  scope.end();
  if (!scope.is_plain()) filter_received(scope, rc, used, count, datatype);
  Encoder& e = scope.encoder(rc);
  e.buffer(buf);
  e.integer(count);
  e.handle(Kind::kDatatype, datatype);
  e.captured(before);
  rc == MPI_SUCCESS ? e.status(status, StatusHow::kMessage) : status_after_error(e, status);
  rc == MPI_SUCCESS ? scope.released(Kind::kMessage, before)
                    : scope.not_released(Kind::kMessage, before);
  scope.commit();
  return rc;
}

}  // namespace

int MPI_Recv(CallScope& scope, decltype(&::MPI_Recv) real, void* buf, int count,
             MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive(scope, real, buf, count, datatype, source, tag, comm, status);
}

int MPI_Sendrecv(CallScope& scope, decltype(&::MPI_Sendrecv) real, const void* sendbuf,
                 int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                 MPI_Status* status) {
  return send_receive(scope, real, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                      recvtype, source, recvtag, comm, status);
}

int MPI_Sendrecv_replace(CallScope& scope, decltype(&::MPI_Sendrecv_replace) real, void* buf,
                         int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                         int recvtag, MPI_Comm comm, MPI_Status* status) {
  return send_receive_replace(scope, real, buf, count, datatype, dest, sendtag, source, recvtag,
                              comm, status);
}

int MPI_Mrecv(CallScope& scope, decltype(&::MPI_Mrecv) real, void* buf, int count,
              MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  return receive_message(scope, real, buf, count, datatype, message, status);
}

#ifdef REFRAIN_HAS_MPI_Recv_c
int MPI_Recv_c(CallScope& scope, decltype(&::MPI_Recv_c) real, void* buf, MPI_Count count,
               MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive(scope, real, buf, count, datatype, source, tag, comm, status);
}

int MPI_Sendrecv_c(CallScope& scope, decltype(&::MPI_Sendrecv_c) real, const void* sendbuf,
                   MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Status* status) {
  return send_receive(scope, real, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                      recvtype, source, recvtag, comm, status);
}

int MPI_Sendrecv_replace_c(CallScope& scope, decltype(&::MPI_Sendrecv_replace_c) real, void* buf,
                           MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return send_receive_replace(scope, real, buf, count, datatype, dest, sendtag, source, recvtag,
                              comm, status);
}

int MPI_Mrecv_c(CallScope& scope, decltype(&::MPI_Mrecv_c) real, void* buf, MPI_Count count,
                MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  return receive_message(scope, real, buf, count, datatype, message, status);
}
#endif

#ifdef REFRAIN_HAS_MPIX_Stream_recv
int MPIX_Stream_recv(CallScope& scope, decltype(&::MPIX_Stream_recv) real, void* buf, int count,
                     MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     int source_stream_index, int dest_stream_index, MPI_Status* status) {
  return receive(scope, real, buf, count, datatype, source, tag, comm, status, source_stream_index,
                 dest_stream_index);
}

int MPIX_Stream_recv_c(CallScope& scope, decltype(&::MPIX_Stream_recv_c) real, void* buf,
                       MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                       int source_stream_index, int dest_stream_index, MPI_Status* status) {
  return receive(scope, real, buf, count, datatype, source, tag, comm, status, source_stream_index,
                 dest_stream_index);
}
#endif

int MPI_Probe(CallScope& scope, decltype(&::MPI_Probe) real, int source, int tag, MPI_Comm comm,
              MPI_Status* status) {
  MessageStatus message(scope, status, source, tag);
  scope.begin();
  const int rc = real(source, tag, comm, message.used());
  scope.end();
  const auto with_words = [&](auto&& use) {
    return use(word(source), word(tag), word(comm), message.word(), status == MPI_STATUS_IGNORE);
  };
  const bool short_way = rc == MPI_SUCCESS;
  if (short_way && with_words([&](auto... words) { return scope.was_made(words...); })) return rc;
  if (!scope.is_plain()) filter_received(scope, rc, message.filled(), 0, MPI_DATATYPE_NULL);
  Encoder& e = scope.encoder(rc);
  e.rank(source);
  e.tag(tag);
  e.handle(Kind::kComm, comm);
  message.encode(e, rc);
  scope.commit();
  if (short_way) with_words([&](auto... words) { scope.memorise(words...); });
  return rc;
}

int MPI_Iprobe(CallScope& scope, decltype(&::MPI_Iprobe) real, int source, int tag, MPI_Comm comm,
               int* flag, MPI_Status* status) {
  MessageStatus message(scope, status, source, tag);
  scope.begin();
  const int rc = real(source, tag, comm, flag, message.used());
  scope.end();
  // Polling: nothing has arrived yet.
  const auto with_words = [&](auto&& use) {
    return use(word(source), word(tag), word(comm), status == MPI_STATUS_IGNORE);
  };
  const bool short_way = rc == MPI_SUCCESS && *flag == 0;
  if (short_way && with_words([&](auto... words) { return scope.was_made(words...); })) return rc;
  if (!scope.is_plain() && rc == MPI_SUCCESS && *flag != 0)
    filter_received(scope, rc, message.filled(), 0, MPI_DATATYPE_NULL);
  Encoder& e = scope.encoder(rc);
  e.rank(source);
  e.tag(tag);
  e.handle(Kind::kComm, comm);
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  rc == MPI_SUCCESS&&* flag != 0 ? message.encode(e, rc) : status_after_error(e, status);
  scope.commit();
  if (short_way) with_words([&](auto... words) { scope.memorise(words...); });
  return rc;
}

int MPI_Mprobe(CallScope& scope, decltype(&::MPI_Mprobe) real, int source, int tag, MPI_Comm comm,
               MPI_Message* message_out, MPI_Status* status) {
  MessageStatus message(scope, status, source, tag);
  scope.begin();
  const int rc = real(source, tag, comm, message_out, message.used());
  scope.end();
  if (!scope.is_plain()) filter_received(scope, rc, message.filled(), 0, MPI_DATATYPE_NULL);
  Encoder& e = scope.encoder(rc);
  e.rank(source);
  e.tag(tag);
  e.handle(Kind::kComm, comm);
  rc == MPI_SUCCESS ? e.new_handle(Kind::kMessage, *message_out) : e.none();
  message.encode(e, rc);
  scope.commit();
  return rc;
}

int MPI_Improbe(CallScope& scope, decltype(&::MPI_Improbe) real, int source, int tag, MPI_Comm comm,
                int* flag, MPI_Message* message_out, MPI_Status* status) {
  MessageStatus message(scope, status, source, tag);
  scope.begin();
  const int rc = real(source, tag, comm, flag, message_out, message.used());
  scope.end();
  const bool found = rc == MPI_SUCCESS && *flag != 0;
  if (!scope.is_plain() && rc == MPI_SUCCESS && *flag != 0)
    filter_received(scope, rc, message.filled(), 0, MPI_DATATYPE_NULL);
  Encoder& e = scope.encoder(rc);
  e.rank(source);
  e.tag(tag);
  e.handle(Kind::kComm, comm);
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  found ? e.new_handle(Kind::kMessage, *message_out) : e.none();
  found ? message.encode(e, rc) : status_after_error(e, status);
  scope.commit();
  return rc;
}

}  // namespace refrain::tracer::hand
