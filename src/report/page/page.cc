// Data and program of the page, put together.

#include "report/page/page.h"

#include "base/bytes.h"
#include "reader/time_store.h"
#include "report/page/page_assets.h"
#include "report/page/section.h"
#include "text/escape.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;

namespace {

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What the script takes apart: the length of the JSON in 4 bytes, the JSON, the columns.
std::string blob_of(const PageData& data) {
  Json json = data.json;
  json["columns"] = data.columns.directory();
  const std::string text = text_of(json);
  base::ByteWriter out;
  out.put_u32(static_cast<uint32_t>(text.size()));
  out.put_bytes(text.data(), text.size());
  std::string bytes = out.take();
  bytes += data.columns.bytes();
  return bytes;
}

}  // namespace

PageData page_data(const Trace& trace, reader::Symbols& symbols, const PageOptions& options) {
  reader::expect_more_walks(trace);  // the sections ask one after the other
  const std::vector<std::unique_ptr<PageSection>> sections = page_sections();
  events::CommTable comms(trace);
  PageAnswers answers;
  const reader::SourcePaths paths(trace, symbols);
  const PageQuestion question{trace, options, comms, paths, answers};
  for (const auto& section : sections) section->ask(question);
  question.say("page");
  PageData out;
  out.json["kind"] = "report";
  out.json["trace"] = trace.name();
  out.json["fold_names"] = options.fold_names;
  for (const auto& section : sections) section->write({trace, answers, symbols, options}, out);
  return out;
}

std::string_view why_no_pages() { return kWhyNoPages; }

std::string page_html(const PageData& data, std::string_view title) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  // The page is whole: it may not ask anybody for anything.
  out +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>";
  out += text::escaped(text::printable(title));
  out += "</title>\n<style>\n";
  out += kPageStyle;
  out +=
      "</style>\n</head>\n<body>\n<noscript>This page is drawn by its own script, which is "
      "switched off here.</noscript>\n<main id=\"page\"></main>\n"
      "<script type=\"application/octet-stream\" id=\"data\">";
  out += base64(deflated(blob_of(data)));
  out += "</script>\n<script>\n";
  out += kPageScript;
  out += "</script>\n</body>\n</html>\n";
  return out;
}

std::string page_json(const PageData& data) {
  Json json = data.json;
  json["columns"] = data.columns.lists();
  return text_of(json) + "\n";
}

}  // namespace refrain::report
