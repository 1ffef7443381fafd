// Data and program of the page, put together.

#include "report/page/page.h"

#include "base/bytes.h"
#include "report/info_text.h"
#include "report/page/page_assets.h"
#include "report/profile_report.h"
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

PageData page_data(const PageView& view) {
  PageData out;
  out.json["kind"] = "report";
  out.json["trace"] = view.trace.name();
  out.json["fold_names"] = view.options.fold_names;
  // The same text that the other verbs print, so that the page cannot say anything else.
  out.json["info"] = Json::parse(info_json(view.trace));
  out.json["profile"] = Json::parse(profile_json({view.trace, view.answers.profile, view.symbols}));
  put_verdict(view, out);
  put_timeline(view, out);
  put_messages(view, out);
  put_matrix(view, out);
  put_density(view, out);
  put_waits(view, out);
  put_iterations(view, out);
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
