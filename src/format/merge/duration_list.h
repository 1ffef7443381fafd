// DurationList: DurationStats as the bytes that they travel in, to be read in order.
//
// Where every call is a new one there are millions of statistics of one call each: they take a
// dozen bytes then.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/merge/duration_bytes.h"
#include "format/trace_data.h"

namespace refrain::format {

class DurationList {
 public:
  void push_back(const DurationStats& d) {
    const auto bucket = [](uint64_t ns) { return static_cast<size_t>(std::bit_width(ns | 1) - 1); };
    const bool is_even = d.count != 0 && d.min_ns == d.max_ns && d.histogram.used() == 1 &&
                         d.histogram.first() == bucket(d.min_ns) &&
                         d.histogram[bucket(d.min_ns)] == d.count;
    if (is_even) {
      uint8_t bytes[1 + 2 * 10 + sizeof d.sum_ns];
      bytes[0] = 1;
      uint8_t* const sum = base::write_varint(base::write_varint(bytes + 1, d.count), d.min_ns);
      std::memcpy(sum, &d.sum_ns, sizeof d.sum_ns);
      last_.put_bytes(bytes, static_cast<size_t>(sum - bytes) + sizeof d.sum_ns);
    } else {
      last_.put_u8(0);
      put(last_, d);
    }
    end_entry();
  }
  // The next one of the reader, which fails when it is none.
  void take(base::ByteReader& in) {
    const DurationStats d = get(in);
    if (in.ok()) push_back(d);
  }
  void write(base::ByteWriter& out) const {
    for (const std::string& page : pages_) out.put_bytes(page.data(), page.size());
    out.put_bytes(last_.view().data(), last_.size());
  }

  // Takes the list apart: a page is freed when it was read.
  class Reader {
   public:
    explicit Reader(DurationList list) : pages_(std::move(list.pages_)) {
      if (list.last_.size() > 0) pages_.push_back(list.last_.take());
      if (!pages_.empty()) in_ = base::ByteReader(pages_[0]);
    }
    DurationStats next() {
      while (in_.at_end() && page_ < pages_.size()) {
        std::string().swap(pages_[page_++]);
        if (page_ < pages_.size()) in_ = base::ByteReader(pages_[page_]);
      }
      return get(in_);
    }

   private:
    std::vector<std::string> pages_;
    size_t page_ = 0;
    base::ByteReader in_;
  };

 private:
  static constexpr size_t kPage = 65536;
  // u8 1 when all calls took equally long, and are in the bucket of that: count, ns, sum.
  // Otherwise 0, and all of it.
  static DurationStats get(base::ByteReader& in) {
    const uint8_t form = in.u8();
    if (form > 1) in.fail();
    if (form != 1) return get_duration(in);
    DurationStats d;
    d.count = in.varint();
    d.min_ns = d.max_ns = in.varint();
    const std::string_view sum = in.bytes(sizeof d.sum_ns);
    if (in.ok()) std::memcpy(&d.sum_ns, sum.data(), sizeof d.sum_ns);
    d.histogram.add(static_cast<size_t>(std::bit_width(d.min_ns | 1) - 1), d.count);
    return d;
  }
  void end_entry() {
    if (last_.size() < kPage) return;
    std::string page = last_.take();
    page.shrink_to_fit();
    pages_.push_back(std::move(page));
    last_ = base::ByteWriter();
  }

  std::vector<std::string> pages_;  // each of whole entries
  base::ByteWriter last_;
};

}  // namespace refrain::format
