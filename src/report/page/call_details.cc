#include "report/page/call_details.h"

#include <utility>

#include "analysis/rank_loads.h"
#include "text/escape.h"
#include "text/values.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;
using events::Action;
using events::Op;

namespace {

constexpr size_t kMostValueBytes = 300;  // of one parameter
constexpr size_t kMostRequests = 4096;   // of one call

void append(std::string& out, const Trace& trace, std::string_view name, const Value& value) {
  std::string text;
  const bool whole = text::append_value(text, value, trace, text::Style::kText, kMostValueBytes);
  if (!out.empty()) out += ", ";
  out += name;
  out += '=';
  out += text.substr(0, kMostValueBytes);
  if (!whole || text.size() > kMostValueBytes) out += " ...";
}

// Posts one, or takes one out of the queue for a matched receive.
bool takes(const Op& op) { return op.receives() || op.action == Action::kMatchedProbe; }

}  // namespace

std::string arguments_text(const Trace& trace, const Signature& call) {
  std::string out;
  for (const Argument& arg : call.args) {
    append(out, trace, arg.name, arg.value.at_exit());
    if (arg.value.kind == ValueKind::kChanged)
      append(out, trace, std::string(arg.name) + "_in", arg.value.at_entry());
  }
  if (!call.matched.is_null()) append(out, trace, "matched", call.matched);
  if (!call.result.is_null()) append(out, trace, call.failed() ? "rc" : "return", call.result);
  if (call.failed()) append(out, trace, "error_class", call.error_class);
  return text::printable(out);
}

GroupDetails::GroupDetails(const Trace& trace, std::vector<SignatureId> signatures)
    : trace_(trace), signatures_(std::move(signatures)), details_(signatures_.size()) {}

void GroupDetails::End::add(const events::MessageEnd& end, bool here) {
  const auto known = [](int64_t v) { return v == events::kAny ? -1 : v; };
  is_used = is_used || here;
  comm.append(here ? static_cast<int64_t>(end.comm) : -1);
  peer.append(here ? known(end.peer) : -2);
  tag.append(here ? known(end.tag) : -1);
  bytes.append(here ? static_cast<int64_t>(end.bytes) : 0);
}

void GroupDetails::add(RankReader& reader, events::Decoder& ops) {
  for (size_t i = 0; i < signatures_.size(); ++i) {
    const Signature& call = reader.signature(signatures_[i]);
    Detail& detail = details_[i];
    detail.text.add(arguments_text(trace_, call));
    const Op& op = analysis::op_of(ops, call);
    detail.send.add(op.send, op.sends());
    detail.receive.add(op.receive, takes(op));
    if (ranks_ > 0) continue;
    detail.starts = op.action == Action::kStart;
    detail.persistent = op.is_persistent;
    detail.makes_request = op.makes_request;
    detail.unsuccessful = !op.unsuccessful.empty();
    if (op.action == Action::kStart || op.action == Action::kComplete)
      for (size_t k = 0; k < op.requests.size() && k < kMostRequests; ++k)
        detail.completes.push_back(op.requests[k].request);
  }
  ++ranks_;
}

size_t GroupDetails::cost() const {
  size_t sum = 0;
  for (const Detail& d : details_) sum += d.text.cost() + d.completes.size() + 4;
  return sum;
}

Json GroupDetails::to_json() const {
  Json out = Json::array();
  for (const Detail& d : details_) {
    Json item = {{"text", d.text.to_json()}};
    const auto put = [&](const char* name, const End& end) {
      if (end.is_used) item[name] = {runs_json(end.comm), runs_json(end.peer), runs_json(end.tag)};
    };
    put("send", d.send);
    put("receive", d.receive);
    if (d.send.is_used) item["bytes"] = runs_json(d.send.bytes);
    if (!d.completes.empty()) item[d.starts ? "starts" : "completes"] = d.completes;
    if (d.persistent) item["persistent"] = true;
    if (d.makes_request) item["request"] = true;
    if (d.unsuccessful) item["in_vain"] = true;
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace refrain::report
