// Escapes text of a trace for output: JSON (written directly into a buffer, for millions of lines),
// plain text, XML and HTML, fields of CSV.
#pragma once

#include <string>
#include <string_view>

namespace refrain::text {

// Appends `text` as a JSON string, quotes included. The caller has made sure that it is UTF-8.
void append_json_string(std::string& out, std::string_view text);

bool is_utf8(std::string_view text);

// `text` as part of one line for people: control characters and what is no UTF-8 become '?', so
// that a name in a file can neither break a line nor speak to the terminal.
std::string printable(std::string_view text);

// `text` as text or as the value of a quoted attribute of XML and HTML: & < > " ' are escaped, and
// what XML 1.0 does not allow (control characters, what is no UTF-8, U+FFFE and U+FFFF) becomes
// '?'. Line feeds stay.
std::string escaped(std::string_view text);

// A field of a CSV file (RFC 4180): quoted when it holds a comma, a quote or a newline.
std::string csv_field(const std::string& text);

// Lower-case hexadecimal digits, two a byte.
void append_hex(std::string& out, std::string_view bytes);

}  // namespace refrain::text
