#include "text/values.h"

#include <fmt/format.h>

#include <iterator>

#include "format/source_site.h"
#include "text/escape.h"

namespace refrain::text {

namespace {

class Writer {
 public:
  Writer(std::string& out, const Trace& trace, Style style, size_t max_bytes)
      : out_(out), trace_(trace), json_(style == Style::kJson), max_bytes_(max_bytes) {}

  bool value(const Value& v) {
    switch (v.kind) {
      case ValueKind::kNull: out_ += json_ ? "null" : "-"; break;
      case ValueKind::kInteger: integer(v.number); break;
      case ValueKind::kConstant: word(constant_name(v)); break;
      case ValueKind::kObject: word(trace_.object_name(v.id)); break;
      case ValueKind::kFunction: function(v.id); break;
      case ValueKind::kRequest: word(fmt::format("request#{}", v.id)); break;
      case ValueKind::kBuffer: buffer(v); break;
      case ValueKind::kString: string(v.text); break;
      case ValueKind::kBytes: hex(v.text); break;
      case ValueKind::kStatus: return status(v);
      case ValueKind::kArray: return array(v);
      case ValueKind::kChanged: return value(v.at_exit());
      case ValueKind::kBits: bits(v); break;
    }
    return out_.size() <= max_bytes_;
  }

 private:
  // Words never hold a character that JSON would escape.
  void word(std::string_view text) {
    if (json_) out_ += '"';
    out_ += text;
    if (json_) out_ += '"';
  }
  void integer(int64_t v) {
    const fmt::format_int digits(v);
    out_.append(digits.data(), digits.size());
  }
  static std::string constant_name(const Value& v) {
    const std::string_view name = v.name();
    return name.empty() ? fmt::format("constant#{}", v.id) : std::string(name);
  }
  void function(DefinitionId id) {
    const std::optional<Site> site = trace_.site(id);
    const std::string place = site ? module_and_offset(*site) : std::string();
    if (place.empty())
      word(fmt::format("function#{}", id));
    else if (json_)
      append_json_string(out_, place);
    else
      out_ += place;
  }
  void buffer(const Value& v) {
    static constexpr std::string_view kPlaces[] = {"unknown", "stack",   "data",  "heap",
                                                   "device",  "managed", "pinned"};
    std::string text(v.id < std::size(kPlaces) ? kPlaces[v.id] : kPlaces[0]);
    if (!v.items.empty()) text += fmt::format("{}", v.items[0].number);
    if (v.number >= 0) text += fmt::format("#{}", v.number);
    if (v.offset != 0) text += fmt::format("{:+}", v.offset);
    word(text);
  }
  void string(std::string_view text) {
    if (is_utf8(text))
      append_json_string(out_, text);
    else
      hex(text);
  }
  void hex(std::string_view bytes) {
    out_ += json_ ? "{\"hex\":\"" : "0x";
    append_hex(out_, bytes);
    if (json_) out_ += "\"}";
  }
  void key(std::string_view name, bool is_first) {
    if (!is_first) out_ += json_ ? "," : ", ";
    word(name);
    out_ += json_ ? ':' : '=';
  }
  bool status(const Value& v) {
    static constexpr std::string_view kKeys[] = {"source", "tag", "error"};
    out_ += '{';
    bool fits = true;
    for (size_t i = 0; i < v.items.size() && i < std::size(kKeys); ++i) {
      key(kKeys[i], i == 0);
      fits = fits && value(v.items[i]);
    }
    out_ += '}';
    return fits;
  }
  bool array(const Value& v) {
    out_ += '[';
    const std::string_view comma = json_ ? "," : ", ";
    bool first = true;
    for (const Value& run : v.items) {
      for (uint64_t i = 0; i < run.repeat; ++i) {
        if (!first) out_ += comma;
        first = false;
        if (run.is_integer()) {
          integer(run.number_of_element(i));
        } else if (!value(run.step == 0 ? run : run.element(i))) {
          return false;
        }
        if (out_.size() > max_bytes_) return false;
      }
    }
    out_ += ']';
    return true;
  }
  void bits(const Value& v) {
    fmt::memory_buffer text;
    const auto bar = [&] { return text.size() == 0 ? "" : "|"; };
    for (const Value& bit : v.items)
      fmt::format_to(std::back_inserter(text), "{}{}", bar(), constant_name(bit));
    if (v.number != 0 || text.size() == 0)
      fmt::format_to(std::back_inserter(text), "{}{:#x}", bar(), static_cast<uint64_t>(v.number));
    word({text.data(), text.size()});
  }

  std::string& out_;
  const Trace& trace_;
  const bool json_;
  const size_t max_bytes_;
};

}  // namespace

std::string module_and_offset(const Site& site) {
  if (site.module.empty() || site.offset < 0) return {};
  const std::string_view name = site.module.substr(site.module.rfind('/') + 1);
  if (format::is_source(site.build_id)) return fmt::format("{}:{}", printable(name), site.offset);
  return fmt::format("{}+{:#x}", printable(name), site.offset);
}

bool append_value(std::string& out, const Value& value, const Trace& trace, Style style,
                  size_t max_bytes) {
  return Writer(out, trace, style, max_bytes).value(value);
}

}  // namespace refrain::text
