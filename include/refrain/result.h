// How functions of the library fail: they return a Result, which is a value or an Error. They never
// throw, and never end the program.
//
//   refrain::Result<refrain::Trace> trace = refrain::Trace::open("run.rfn");
//   if (!trace.ok()) return report(trace.error().to_string());   // "run.rfn: not a trace: ..."
//   use(trace->info());
//
// Messages are written for the user of a program, not for its author: a caller that cannot do
// anything about an error prints to_string() as its one line on stderr, and exits with the code.
// Bugs of a caller (an index that a comment excludes) are not reported this way.
//
// Threads: as the value inside.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace refrain {

// Which kind of failure it is, for programs: the text is not to be parsed. The numbers are the exit
// status that the command line gives; 0, success, is no error.
enum class ErrorCode : int {
  kFailed = 1,       // the operation could not be done (I/O, damaged file)
  kUsage = 2,        // the caller asked for something that makes no sense
  kThreshold = 3,    // a comparison passed its threshold
  kIncomplete = 4,   // the trace lacks a part, the rest was read
  kUnsupported = 5,  // valid, but not something that this build can do
};

// What went wrong, for the user: the library writes no messages itself.
struct Error {
  ErrorCode code = ErrorCode::kFailed;
  std::string message;  // what, and what to do about it; one line, no trailing full stop
  std::string place;    // file and offset, or rank; may be empty

  // "place: message", the form in which it reaches the user.
  std::string to_string() const { return place.empty() ? message : place + ": " + message; }
};

// A function that calls another one hands its error on:
//
//   refrain::Result<uint64_t> calls_of(const std::string& path) {
//     refrain::Result<refrain::Trace> trace = refrain::Trace::open(path);
//     if (!trace.ok()) return trace.error();
//     return trace->call_count();
//   }
//
// Either a T or an Error. It may not be ignored, and converts from both, so that a function ends
// with `return value;` or `return error;`. Asking for the half that is not there is undefined.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The value stays in the Result: move it out with std::move(*result). Only valid when ok().
  T& value() { return *std::get_if<0>(&state_); }
  const T& value() const { return *std::get_if<0>(&state_); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }

  // Only valid when not ok().
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

//   refrain::Status s = rank.for_each_call(0, visit);
//   if (!s.ok()) ...
//
// For operations that have nothing to give but whether they worked.
struct Done {};
using Status = Result<Done>;

}  // namespace refrain
