#include "tracer/state/shown.h"

#include <unistd.h>

#include <climits>

#include "options/environment.h"

namespace refrain::tracer {

std::string short_path(const std::string& path) {
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) == nullptr) return path;
  const std::string here = std::string(folder) + "/";
  return path.size() > here.size() && path.compare(0, here.size(), here) == 0
             ? path.substr(here.size())
             : path;
}

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return text;
}

std::string shell_word(const std::string& text) {
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./"
                             ":,@%^") == std::string::npos)
    return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string called_as() {
  const char* const word = options::text_of(options::Variable::kCalledAs);
  return shell_word(*word != '\0' ? word : "refrain");
}

}  // namespace refrain::tracer
