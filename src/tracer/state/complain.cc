#include "tracer/state/complain.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "tracer/state/process.h"
#include "tracer/state/survive_sigpipe.h"

namespace refrain::tracer {

void say(const char* format, ...) {
  const SurviveSigpipe survive;
  va_list words;
  va_start(words, format);
  char* text = nullptr;
  const int length = vasprintf(&text, format, words);
  va_end(words);
  // At once, so that lines of several ranks do not run into each other.
  if (length >= 0) std::fprintf(stderr, "refrain: %s\n", text);
  if (length >= 0) std::free(text);
}

void complain(const Process& p, const char* what) {
  say("rank %d: %s; the program continues", p.rank, what);
}

}  // namespace refrain::tracer
