// One rank for Python: its reader, and its signatures as Python objects, each made once.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/buffers/transfers.h"
#include "refrain/calls.h"
#include "refrain/trace.h"
#include "text/path_names.h"
#include "text/site_names.h"

namespace refrain::python {

// A trace, and the names of its call sites: debug information is opened once for all its ranks,
// when the first name is asked for.
struct Opened {
  explicit Opened(Trace t) : trace(std::move(t)), sites(trace, true), paths(trace, symbols) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  const Trace trace;
  text::SiteNames sites;
  reader::Symbols symbols;
  text::PathNames paths;
};

// What one call of a rank moves, as a profile counts it.
struct Moved {
  std::optional<uint64_t> bytes;  // that it hands to MPI; nothing: the trace does not tell
  Rank peer = -1;                 // -1: none, several, or not known
};

// A function with its parameters, as a rank passed them.
class SignatureView {
 public:
  SignatureView(const Signature& signature, std::shared_ptr<Opened> opened, const Moved& moved);

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& site() { return opened_->sites.name(signature_.site); }
  // Steps (function or None, site), the outermost first.
  pybind11::list call_path();
  pybind11::object bytes() const {
    return moved_.bytes ? pybind11::cast(*moved_.bytes) : pybind11::none();
  }
  pybind11::object peer() const {
    return moved_.peer >= 0 ? pybind11::cast(moved_.peer) : pybind11::none();
  }
  // By parameter, in the order of the C binding; of an inout parameter that changed also what it
  // was at entry, as NAME_in. Made when first asked for.
  const pybind11::dict& args();
  const pybind11::object& result() const { return result_; }
  bool failed() const { return failed_; }
  const pybind11::object& error() const { return error_; }
  const pybind11::object& matched() const { return matched_; }

 private:
  std::shared_ptr<Opened> opened_;
  Signature signature_;  // a copy: readers come and go
  Moved moved_;
  SignatureId id_;
  std::string name_;
  std::vector<std::string> arg_names_;
  std::optional<pybind11::dict> args_;
  pybind11::object result_, error_, matched_;
  bool failed_ = false;
};

class RankView {
 public:
  RankView(std::shared_ptr<Opened> opened, Rank rank, Times times);

  RankReader& reader() { return reader_; }
  // A Python SignatureView; the same one each time.
  const pybind11::object& signature(const Signature& signature);

 private:
  Moved moved_by(const Signature& signature);

  std::shared_ptr<Opened> opened_;
  RankReader reader_;
  events::TransferReader transfers_;
  std::unordered_map<SignatureId, pybind11::object> known_;
};

}  // namespace refrain::python
