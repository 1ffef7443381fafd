// Result<T> and Error of the public header, and the errors that this code makes.
#pragma once

#include <string>
#include <utility>

#include "refrain/result.h"

namespace refrain::base {

using refrain::Done;
using refrain::Error;
using refrain::ErrorCode;
using refrain::Result;
using refrain::Status;

inline Error fail(std::string message, std::string place = {}) {
  return Error{ErrorCode::kFailed, std::move(message), std::move(place)};
}
inline Error usage(std::string message, std::string place = {}) {
  return Error{ErrorCode::kUsage, std::move(message), std::move(place)};
}
inline Error unsupported(std::string message, std::string place = {}) {
  return Error{ErrorCode::kUnsupported, std::move(message), std::move(place)};
}

}  // namespace refrain::base
