// UniqueSignatures: the signatures of a rank that may have been written more than once.
//
// With --memory a recorder drops signatures and gives them new numbers when they occur again. A
// signature that refers to another one (a completion, for example) may then exist several times
// with different numbers in it. Equal signatures are united here, beginning with those that others
// refer to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "format/codes/byte_strings.h"

namespace refrain::format {

class UniqueSignatures {
 public:
  // The next terminal's signature (inline form). False, and nothing added: it is none, or refers to
  // one that was not added before.
  bool add(std::string_view signature);

  uint64_t terminals() const { return numbers_.size(); }
  // By terminal: the index in signatures(). As signatures were added first, so they are numbered.
  const std::vector<uint32_t>& numbers() const { return numbers_; }
  const ByteStrings& signatures() const { return signatures_; }
  // Leaves numbers() only.
  ByteStrings take();

 private:
  uint32_t& slot_of(std::string_view bytes);
  void grow();

  ByteStrings signatures_;
  std::vector<uint32_t> slots_;  // index + 1; 0 free; a power of two, at most half full
  std::vector<uint32_t> numbers_;
  bool is_identity_ = true;  // no signature was there twice so far
};

}  // namespace refrain::format
