// DurationList: DurationStats as the bytes that they travel in, to be read in order.
//
// Where every call is a new one there are millions of statistics of one call each: they take a
// dozen bytes then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/merge/flat_duration.h"
#include "format/trace_data.h"

namespace refrain::format {

class DurationList {
 public:
  void push_back(const DurationStats& d) { push_back(flat(d)); }
  void push_back(const FlatDuration& d) {
    if (last_.size() - used_ < kMostDurationBytes) make_room();
    auto* const begin = reinterpret_cast<uint8_t*>(last_.data());
    used_ = static_cast<size_t>(format::write(begin + used_, d) - begin);
  }
  // The next `n` of the reader, which fails when there are fewer.
  void take(base::ByteReader& in, uint64_t n) {
    end_page();
    const std::string_view all = in.rest();
    const char* const end = all.data() + all.size();
    const char* begin = all.data();
    FlatDuration d;
    for (const char* at = begin; n > 0 || begin != at;) {
      if (n == 0 || static_cast<size_t>(at - begin) >= kPage) {
        pages_.emplace_back(begin, at);
        begin = at;
        continue;
      }
      at = FlatDurationReader::read(at, end, d);
      if (at == nullptr) return in.fail();
      --n;
    }
    in.bytes(static_cast<size_t>(begin - all.data()));
  }
  void write(base::ByteWriter& out) const {
    for (const std::string& page : pages_) out.put_bytes(page.data(), page.size());
    out.put_bytes(last_.data(), used_);
  }

  // Takes the list apart: a page is freed when it was read.
  class Reader {
   public:
    explicit Reader(DurationList list) {
      list.end_page();
      pages_ = std::move(list.pages_);
      open();
    }
    DurationStats next() {
      next(flat_);
      return stats_of(flat_);
    }
    // No calls behind the last one.
    void next(FlatDuration& d) {
      if (at_ == end_) {
        if (page_ < pages_.size()) std::string().swap(pages_[page_++]);
        open();
      }
      if (at_ != end_ && (at_ = FlatDurationReader::read(at_, end_, d)) != nullptr) return;
      at_ = end_;
      d.count = d.used = 0;
    }

   private:
    void open() {
      at_ = end_ = nullptr;
      if (page_ >= pages_.size()) return;
      at_ = pages_[page_].data();
      end_ = at_ + pages_[page_].size();
    }

    std::vector<std::string> pages_;
    size_t page_ = 0;
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    FlatDuration flat_;
  };

 private:
  static constexpr size_t kPage = 65536, kFirstPage = 2048;

  // For the longest entry, which every page has until it ends.
  void make_room() {
    if (last_.size() >= kPage) end_page();
    last_.resize(!last_.empty() ? 2 * last_.size() : pages_.empty() ? kFirstPage : kPage);
  }
  void end_page() {
    if (used_ == 0) return;
    pages_.emplace_back(last_, 0, used_);
    std::string().swap(last_);
    used_ = 0;
  }

  std::vector<std::string> pages_;  // each of whole entries
  std::string last_;                // as long as it may become
  size_t used_ = 0;                 // of the last one
};

}  // namespace refrain::format
