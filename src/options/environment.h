// Reads the options of `record` in the recorder, from the environment variables of record.h.
//
// The texts belong to the environment (or are literals): use them before the program may change it.
// Thread safety is that of getenv().
#pragma once

#include <cstdlib>
#include <cstring>

#include "options/record.h"

namespace refrain::options {

// The variable's text; "" if it is not set.
inline const char* text_of(Variable variable) {
  const char* const text = std::getenv(variable_of(variable));
  return text == nullptr ? "" : text;
}

// The option's text; its default if the variable is not set, or empty.
inline const char* text_of(RecordOption option) {
  const char* const text = std::getenv(variable_of(option));
  return text == nullptr || text[0] == '\0' ? default_of(option) : text;
}

inline bool is_word(RecordOption option, const char* word) {
  return std::strcmp(text_of(option), word) == 0;
}

// Whether a flag is given: its variable is neither empty nor 0.
inline bool is_given(RecordOption flag) {
  const char* const text = text_of(flag);
  return text[0] != '\0' && std::strcmp(text, "0") != 0;
}

}  // namespace refrain::options
