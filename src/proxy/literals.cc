#include "proxy/literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "text/escape.h"

namespace refrain::proxy {
namespace {

constexpr size_t kColumns = 100, kMostLines = 10, kLongestName = 40;
constexpr size_t kBreakDepth = 1;  // parameters stay whole

// Words of the language, of the header, and macros of the C library that look like names.
constexpr std::string_view kTaken[] = {
    "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class",
    "concept", "const", "consteval", "continue", "decltype", "default", "delete", "do", "double",
    "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "nullptr",
    "operator", "or", "private", "protected", "public", "register", "requires", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try",
    "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
    "while", "xor", "bitand", "bitor", "compl", "constexpr", "constinit", "static_cast",
    "dynamic_cast", "reinterpret_cast", "const_cast", "static_assert", "thread_local", "co_await",
    "co_return", "co_yield", "char8_t", "char16_t", "char32_t", "wchar_t", "not_eq", "or_eq",
    "and_eq", "xor_eq",
    // of the header and the program
    "main", "proxy", "program", "rank", "size", "kind", "work", "sent", "received", "released",
    "list", "runs", "some", "given", "masked", "handles", "out", "inout", "status", "statuses",
    "table", "request", "comms", "types", "groups", "windows", "files", "ops", "infos",
    "errhandlers", "messages", "keyvals", "i", "scratch", "finish", "attached", "await", "never",
    "arena", "modulo", "iterations", "std", "stand_in", "Table", "Taken", "Run", "alone", "part",
    "out", "never", "arena", "stages", "threads", "thread", "start_thread", "Signal", "Stage",
    "await_stage", "set_stage", "hold_session", "sessions", "allocated", "freed", "stand",
    "neighbours", "recorded_status", "bytes_of_elements", "await_message", "await_part",
    "end_exposure", "unused_tag", "is_kind", "cart_shift", "read_options", "check_ranks",
    "no_main_loop", "Comm", "Window", "File", "Group", "Errhandler", "Shared", "Changed", "OfGroup",
    "OfErrhandler", "Ranges", "memory_of_window", "Alone", "Arena", "Compute", "Handles", "InOut",
    "List", "Masked", "Never", "Nothing", "OfComm", "OfFile", "OfWindow", "Out", "Place", "Search",
    "Some", "Given", "GivenTypes", "Stages", "StandIn", "attached_memory", "compute_how",
    "compute_scale", "find_quiet", "give_up", "group_of_session", "held_session", "holds_session",
    "own_comm", "release_session", "room", "wanted_iterations", "work_owed_ns", "work_share",
    "grid", "Grid", "KindAt", "Along", "one_of", "At", "Attached", "Startable", "agree_on_ports",
    "attached_at", "detached", "discard_message", "generalized_status", "in_window", "port",
    "port_file", "port_files", "port_key", "port_room", "startable", "tell_port", "Epochs",
    "epochs", "open_epoch", "close_epoch", "kOfAll", "kOfStart", "kOfPost", "recorded_size",
    "AddedErrors", "added_errors", "made_error", "own_error", "GivenError", "words", "fitting",
    "with_recorded_ranks", "in_recorded_blocks", "with_recorded_neighbours", "put_in_order",
    "comm_of_never", "NeverParts", "never_parts", "end_never", "end_unseen", "kept", "Kept",
    "place_of_array",
    // macros
    "assert", "errno", "stdin", "stdout", "stderr", "linux", "unix", "major", "minor", "makedev",
    "offsetof", "setjmp", "signbit", "isnan", "isinf", "isfinite", "va_start", "va_end", "va_arg",
    "va_copy", "stdc", "i386"};

bool is_taken(const std::string& name) {
  return std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken);
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f || c == '?') {
      out += fmt::format("\\{:03o}", byte);  // three digits: what follows is not part of it
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string in_comment(std::string_view text) {
  std::string out;
  for (const char c : text::printable(text))
    out += static_cast<unsigned char>(c) >= 0x7f || c == '\\' || c == '?' ? '_' : c;
  return out.substr(0, kColumns);
}

std::string identifier(std::string_view name) {
  std::string plain;  // without what stands in angle brackets and in parentheses
  int depth = 0;
  for (const char c : name) {
    if (c == '<' || c == '(') ++depth;
    if (depth == 0) plain += c;
    if ((c == '>' || c == ')') && depth > 0) --depth;
  }
  if (const size_t at = plain.rfind("::"); at != std::string::npos) plain.erase(0, at + 2);
  if (const size_t at = plain.rfind('.'); at != std::string::npos) plain.erase(0, at + 1);
  std::string out;
  for (const char c : plain) {
    const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_good)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  out = out.substr(0, kLongestName);
  if (out.empty()) return out;
  const bool has_lower =
      std::any_of(out.begin(), out.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  const bool is_number = out[0] >= '0' && out[0] <= '9';
  // Capitals alone may be a macro, and PMPI_X and MPI_X are functions.
  if (out == "main") return "main_step";
  if (is_number || !has_lower || is_taken(out) || out.find("MPI") != std::string::npos)
    out = "part_" + out;
  return out;
}

std::string wrapped(std::string_view statement, size_t indent) {
  const std::string first(indent, ' '), next(indent + 4, ' ');
  if (indent + statement.size() <= kColumns) return first + std::string(statement) + "\n";
  std::string out, line = first;
  size_t lines = 1, piece = 0, depth = 0;
  char quote = 0;
  const auto take = [&](size_t end) {
    const std::string_view text = statement.substr(piece, end - piece);
    if (line.size() > next.size() && line.size() + text.size() > kColumns) {
      while (line.back() == ' ') line.pop_back();
      out += line + "\n";
      line = next;
      ++lines;
    }
    line += text;
    piece = end;
  };
  for (size_t i = 0; i < statement.size(); ++i) {
    const char c = statement[i];
    if (quote != 0) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '"') {
      quote = c;
    } else if (c == '(' || c == '{') {
      ++depth;
    } else if ((c == ')' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',' && depth <= kBreakDepth && i + 1 < statement.size() &&
               statement[i + 1] == ' ') {
      take(i + 2);
      ++i;
    }
  }
  take(statement.size());
  if (lines > kMostLines) return first + std::string(statement) + "\n";
  return out + line + "\n";
}

}  // namespace refrain::proxy
