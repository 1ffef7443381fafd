// Walks the bytes of a signature (format/signatures/signature.h) in inline or in split form.
//
// Any bytes are either walked or refused, in time and memory bounded by their length and by
// limits.h. A walk does not expand runs; it only checks that an expansion has at most
// kMaxSignatureValues values.
//
// Three ways in:
//   walk_signature()   events for a Visitor, no allocation: what merging uses
//   split_signature()  inline form -> shape + slot values
//   parse_fields()     shape + slot values -> a tree of Field: what the reader uses
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/limits.h"
#include "format/signatures/shape_table.h"
#include "format/signatures/signature.h"

namespace refrain::format {

// kFile: as kSplit, but requests are left out too, and so are large numbers of elements: 8 stands
// for those. They are equal or regular in calls of one kind, and follow the number of ranks.
enum class Form : uint8_t { kInline, kSplit, kFile };
inline constexpr uint64_t kLargeElementCount = 8;

// Events of a walk, all of them optional to override. Between open(tag) and close(tag) come the
// parts of the field in the order of signature.h.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void call(uint32_t) {}
  virtual void open(FieldTag) {}
  virtual void close(FieldTag) {}
  // A SLOT. In inline form `value` is the value and [begin, end) the bytes it stands in; in split
  // form both are where the value would stand, and the result is what the walk goes on with.
  virtual int64_t slot(SlotNature, int64_t value, size_t /*begin*/, size_t /*end*/) {
    return value;
  }
  virtual void value(SlotNature, int64_t) {}  // the value that slot() returned
  virtual void number(uint64_t) {}            // any varint of the shape, u8 classes included
  virtual void request(uint64_t, size_t /*begin*/, size_t /*end*/) {}  // kRequest's number
  virtual void text(std::string_view) {}                               // kString, kBytes
  virtual void repeat(uint64_t) {}  // in kArray: how often the next field stands
  // A number of elements or of repetitions of one; the walk goes on with the result.
  virtual uint64_t count(uint64_t stands, size_t /*begin*/, size_t /*end*/) { return stands; }
  virtual uint64_t request_in_file() { return 0; }  // in kFile, before request()
  virtual void field_bytes(FieldTag, size_t /*begin*/, size_t /*end*/) {}  // after close()
};

// False when the bytes are not a signature of this form. `form` says where slot values are.
bool walk_signature(std::string_view bytes, Form form, Visitor& visitor);

// What merging and evaluating need to know about a shape.
struct ShapeInfo {
  uint32_t call_id = 0;
  std::vector<SlotNature> slots;
  std::vector<uint32_t> object_slots;  // slots of kObject fields: candidates for the communicator
  std::vector<uint32_t> requests;      // numbers of its kRequest fields, in order
};
std::optional<ShapeInfo> inspect_shape(std::string_view shape);

struct SplitSignature {
  std::string shape;
  std::vector<int64_t> values;
};
std::optional<SplitSignature> split_signature(std::string_view inline_form);
// The reverse; nullopt when the number of values does not fit the shape.
std::optional<std::string> join_signature(std::string_view shape,
                                          const std::vector<int64_t>& values);

// The shape with every kRequest number n replaced by map[n]; nullopt when one is out of range.
std::optional<std::string> renumber_requests(std::string_view shape, std::span<const uint32_t> map,
                                             Form form = Form::kSplit);

// A field with its slot values filled in. Which members mean something depends on the tag:
//   kInt            value
//   kConst          number: constant id
//   kObject         number: definition index (also kFunction)
//   kRequest        number: signature       kNewRequest   number: pool position
//   kBuffer         buffer_class, value: id, offset_bytes, device
//   kString kBytes  text
//   kStatus kMatched  children: source, tag     kStatusError  children: source, tag, error
//   kMatchedArray   children                kArray        children with repeat; number: elements
//   kIntRuns        runs; number: elements  kPairArray    ranges: first, last, stride
//                   (kIntList becomes this)
//   kChanged        children: at exit, at entry
//   kBits           number: mask, constants kResult       children: one
struct IntRun {
  uint64_t count = 0;
  int64_t start = 0, step = 0;
};
struct Field {
  FieldTag tag = FieldTag::kNone;
  BufferClass buffer_class = BufferClass::kUnknown;
  uint64_t number = 0;
  int64_t value = 0;
  int64_t offset_bytes = 0;
  int64_t device = 0;
  uint64_t repeat = 1;    // elements of the enclosing kArray that this field stands for
  std::string_view text;  // into the shape
  std::vector<Field> children;
  std::vector<IntRun> runs;
  std::vector<std::array<int64_t, 3>> ranges;
  std::vector<uint32_t> constants;
};
struct CallFields {
  uint32_t call_id = 0;
  Field site;  // kObject of a kSite definition, or kNone
  std::vector<Field> parameters;
  std::optional<Field> result;  // the field inside kResult
};
// `shape` must outlive the result. nullopt: not a shape, or not this many values.
std::optional<CallFields> parse_fields(std::string_view shape, const std::vector<int64_t>& values);

}  // namespace refrain::format
