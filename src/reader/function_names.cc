// Names of functions as people say them: demangled, without parameters and the type of the result,
// and without the marks of clones that the optimiser made. What comes in is out of a file, so
// everything here is linear in its length.

#include "reader/function_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace refrain::reader {
namespace {

// Longer names are shown as they are: what is read here comes from a file, and time must be linear.
constexpr size_t kLongestName = 1 << 16;
constexpr std::string_view kFold = "…";

bool is_of_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Past the bracket that closes the one at `at`; npos: none does. '>' closes nothing within round
// brackets, where it compares.
size_t past_closing(std::string_view s, size_t at) {
  std::vector<char> open;
  for (size_t i = at; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      open.push_back(c);
    } else if (c == '>') {
      if (open.back() == '<' && s[i - 1] != '-') open.pop_back();
    } else if (c == ')' || c == '}' || c == ']') {
      const char begin = c == ')' ? '(' : c == '}' ? '{' : '[';
      while (!open.empty() && open.back() != begin) open.pop_back();
      if (open.empty()) return std::string_view::npos;
      open.pop_back();
    }
    if (open.empty()) return i + 1;
  }
  return std::string_view::npos;
}

// Length of "operator" and of the punctuation behind it, at `at`; 0 where there is no operator.
size_t operator_length(std::string_view s, size_t at) {
  constexpr std::string_view kWord = "operator";
  if (s.substr(at, kWord.size()) != kWord || (at > 0 && is_of_identifier(s[at - 1]))) return 0;
  const std::string_view rest = s.substr(at + kWord.size());
  static constexpr std::string_view kSigns[] = {
      "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "==", "!=",
      "&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",
      ">",   "+",   "-",   "*",   "/",  "%",  "^",  "&",  "|",  "~",  "!",  "=",  ","};
  for (const std::string_view sign : kSigns)
    if (rest.substr(0, sign.size()) == sign) return kWord.size() + sign.size();
  return rest.empty() || !is_of_identifier(rest[0]) ? kWord.size() : 0;
}

// Without parameters and type of the result. Empty: it is written in a way that is not known here.
std::string name_alone(std::string_view s) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)", kDeclared = "decltype";
  size_t begin = 0;
  bool is_conversion = false;  // "operator unsigned long": spaces belong to the name
  for (size_t i = 0; i < s.size();) {
    if (const size_t length = operator_length(s, i); length > 0) {
      i += length;
      is_conversion = i < s.size() && s[i] == ' ' && i + 1 < s.size() && s[i + 1] != '<';
      if (i < s.size() && s[i] == ' ') ++i;  // "operator< <int>"
    } else if (s[i] == '(' && s.substr(i, kAnonymous.size()) == kAnonymous) {
      i += kAnonymous.size();
    } else if (s[i] == '(') {
      const size_t end = past_closing(s, i);
      if (end == std::string_view::npos) return "";
      const std::string_view before = s.substr(begin, i - begin), after = s.substr(end);
      const bool is_local = after.substr(0, 2) == "::" || after.substr(0, 8) == " const::";
      const bool is_declared = before == kDeclared || before == "decltype ";
      if (!is_local && !is_declared) return std::string(before);
      i = end;
    } else if (s[i] == '<' || s[i] == '{' || s[i] == '[') {
      i = past_closing(s, i);
      if (i == std::string_view::npos) return "";
    } else {
      if (s[i] == ' ' && !is_conversion && s.substr(i + 1, 1) != "(") begin = i + 1;
      ++i;
    }
  }
  return std::string(s.substr(begin));
}

// "exchange.constprop.0" -> "exchange".
std::string_view without_clone(std::string_view name) {
  static constexpr std::string_view kMarks[] = {".part.",     ".constprop.", ".isra.", ".cold",
                                                ".lto_priv.", ".llvm.",      " [clone"};
  size_t end = name.size();
  for (const std::string_view mark : kMarks)
    if (const size_t at = name.find(mark); at > 0 && at < end) end = at;
  return name.substr(0, end);
}

}  // namespace

std::string readable_name(const char* symbol) {
  const std::string plain(without_clone(symbol));
  if (plain.compare(0, 2, "_Z") != 0 || plain.size() > kLongestName) return plain;
  int status = 0;
  char* const text = abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) return plain;
  const size_t length = std::strlen(text);
  std::string name = length > kLongestName ? "" : name_alone({text, length});
  if (name.empty()) name = length > kLongestName ? plain : text;
  std::free(text);
  return name;
}

// Between angle brackets may be names as long as the rest of a line: "…" stands for them.
std::string folded_name(std::string_view text) {
  constexpr std::string_view kLambda = "{lambda(";
  std::string out;
  if (text.size() > kLongestName) return std::string(text);
  for (size_t i = 0; i < text.size();) {
    size_t opens = std::string_view::npos;
    if (const size_t length = operator_length(text, i); length > 0) {
      out += text.substr(i, length);
      i += length;
      if (text.substr(i, 2) == " <") out += text[i++];
      if (i < text.size() && text[i] == '<') opens = i;
    } else if (text[i] == '<' && i > 0 && is_of_identifier(text[i - 1])) {
      opens = i;
    } else if (text.substr(i, kLambda.size()) == kLambda) {
      out += text.substr(i, kLambda.size() - 1);
      i += kLambda.size() - 1;
      if (i + 1 < text.size() && text[i + 1] != ')') opens = i;
    } else {
      out += text[i++];
    }
    if (opens == std::string_view::npos) continue;
    const size_t end = past_closing(text, opens);
    if (end == std::string_view::npos) return out + std::string(text.substr(i));
    out += text[opens];
    out += kFold;
    out += text[end - 1];
    i = end;
  }
  return out;
}

}  // namespace refrain::reader
