// base::Error as a Python exception with the text that the command line would print.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "base/result.h"
#include "text/escape.h"

namespace refrain::python {

class RefrainError : public std::runtime_error {
 public:
  explicit RefrainError(const base::Error& error)
      : std::runtime_error(as_text(error.to_string())), code_(error.code) {}
  base::ErrorCode code() const { return code_; }

 private:
  // Python takes UTF-8 only; names of files may be any bytes.
  static std::string as_text(std::string text) {
    return text::is_utf8(text) ? text : text::printable(text);
  }

  base::ErrorCode code_;
};

// The value, or the exception.
template <class T>
T unwrap(base::Result<T> result) {
  if (!result.ok()) throw RefrainError(result.error());
  return std::move(result.value());
}

}  // namespace refrain::python
