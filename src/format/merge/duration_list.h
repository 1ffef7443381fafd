// DurationList: DurationStats as the bytes that ranks send to each other, to be read in order.
//
// If no call repeats, there are millions of statistics of one call each, which take about twelve
// bytes each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/duration_stats.h"
#include "format/merge/flat_duration.h"

namespace refrain::format {

class DurationList {
 public:
  bool empty() const { return pages_.empty() && last_.used == 0; }
  void push_back(const DurationStats& d) { push_back(flat(d)); }
  void push_back(const FlatDuration& d) {
    if (last_.room - last_.used < kMostDurationBytes) make_room();
    char* const begin = last_.bytes.get() + last_.used;
    last_.used += static_cast<size_t>(format::write(begin, d) - begin);
  }
  // Of one call.
  void push_one(uint64_t ns, double sum_ns) {
    if (last_.room - last_.used < kMostDurationBytes) make_room();
    char* const begin = last_.bytes.get() + last_.used;
    last_.used += static_cast<size_t>(write_one(begin, ns, sum_ns) - begin);
  }
  // The next `n` of the reader, which fails when there are fewer. They stay where they are, until
  // own() or until they were read.
  void take(base::ByteReader& in, uint64_t n) {
    end_page();
    const std::string_view all = in.rest();
    const char* const end = all.data() + all.size();
    const char* at = all.data();
    for (; n > 0; --n) {
      at = FlatDurationReader::skip(at, end);
      if (at == nullptr) return in.fail();
    }
    const auto used = static_cast<size_t>(at - all.data());
    if (used > 0) pages_.push_back(Page::of_others(all.data(), used));
    in.bytes(used);
  }
  // From here on, nothing of it is in the bytes that take() read.
  void own() {
    for (Page& page : pages_)
      if (page.bytes == nullptr) page = Page(page.begin, page.used);
  }
  void write(base::ByteWriter& out) const {
    for (const Page& page : pages_) out.put_bytes(page.begin, page.used);
    out.put_bytes(last_.begin, last_.used);
  }

 private:
  struct Page {
    Page() = default;
    explicit Page(size_t bytes_of_room)
        : bytes(new char[bytes_of_room]), begin(bytes.get()), room(bytes_of_room) {}
    Page(const char* from, size_t n) : Page(n) {
      if (n > 0) std::memcpy(bytes.get(), from, n);
      used = n;
    }
    // A copy has bytes of its own.
    Page(const Page& o) : Page(o.begin, o.used) {}
    Page(Page&& o) noexcept
        : bytes(std::move(o.bytes)),
          begin(std::exchange(o.begin, nullptr)),
          used(std::exchange(o.used, 0)),
          room(std::exchange(o.room, 0)) {}
    Page& operator=(Page o) noexcept {
      bytes.swap(o.bytes);
      begin = o.begin;
      used = o.used;
      room = o.room;
      return *this;
    }
    static Page of_others(const char* at, size_t n) {
      Page page;
      page.begin = at;
      page.used = n;
      return page;
    }
    std::unique_ptr<char[]> bytes;  // null: those at `begin` belong to somebody else
    const char* begin = nullptr;
    size_t used = 0, room = 0;
  };

 public:
  // Takes the list apart: a page is freed when it was read.
  class Reader {
   public:
    explicit Reader(DurationList list) {
      list.end_page();
      pages_ = std::move(list.pages_);
      open();
    }
    DurationStats next() {
      turn_page();
      FewCalls few;
      if (few.read(at_, end_) && few.used <= sizeof(uint64_t)) {
        at_ = few.end;
        return {few.count, few.min_ns, few.max_ns, few.sum_ns,
                Histogram::of_few(few.first, few.used, few.word)};
      }
      next(flat_);
      return stats_of(flat_);
    }
    // No calls behind the last one.
    void next(FlatDuration& d) {
      turn_page();
      if (at_ != end_ && (at_ = FlatDurationReader::read(at_, end_, d)) != nullptr) return;
      at_ = end_;
      d.count = d.used = 0;
    }

   private:
    friend class DurationList;
    void turn_page() {
      if (at_ != end_) return;
      if (page_ < pages_.size()) pages_[page_++] = Page();
      open();
    }
    void open() {
      at_ = end_ = nullptr;
      if (page_ >= pages_.size()) return;
      at_ = pages_[page_].begin;
      end_ = at_ + pages_[page_].used;
    }

    std::vector<Page> pages_;
    size_t page_ = 0;
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    FlatDuration flat_;
  };

  // The next of both as one, without reading more of them than their bytes say; false, and nothing
  // was read: one of them is not of a few calls.
  bool add_few(Reader& a, Reader& b) {
    a.turn_page();
    b.turn_page();
    if (last_.room - last_.used < kMostDurationBytes) make_room();
    if (add_words(a, b)) return true;
    FewCalls x, y;
    if (!x.read(a.at_, a.end_) || !y.read(b.at_, b.end_) || x.count + y.count > UINT8_MAX)
      return false;
    char* const begin = last_.bytes.get() + last_.used;
    last_.used += static_cast<size_t>(write_sum(begin, x, y) - begin);
    a.at_ = x.end;
    b.at_ = y.end;
    return true;
  }
  // The first `n`; frees all.
  std::deque<DurationStats> take(size_t n) {
    Reader all(std::exchange(*this, {}));
    std::deque<DurationStats> to;
    for (size_t i = 0; i < n; ++i) to.push_back(all.next());
    return to;
  }
  // Each to the one with its number; frees all.
  void add_to(std::deque<DurationStats>& to, const std::vector<uint32_t>& numbers) {
    Reader all(std::exchange(*this, {}));
    for (const uint32_t number : numbers) add_durations(to[number], all.next());
  }

 private:
  static constexpr size_t kPage = 65536, kFirstPage = 2048;

  // As add_few(), with room for an entry; false says only that it was not done here.
  bool add_words(Reader& a, Reader& b) {
    FewWords x, y;
    if (!x.read(a.at_, a.end_) || !y.read(b.at_, b.end_)) return false;
    char* const begin = last_.bytes.get() + last_.used;
    const char* const end = FewWords::write_sum(begin, x, y);
    if (end == nullptr) return false;
    last_.used += static_cast<size_t>(end - begin);
    a.at_ = x.end;
    b.at_ = y.end;
    return true;
  }

  // For the longest entry, which every page has until it ends.
  void make_room() {
    if (last_.room >= kPage) end_page();
    const size_t room = last_.room > 0 ? 2 * last_.room : pages_.empty() ? kFirstPage : kPage;
    Page more(room);
    if (last_.used > 0) std::memcpy(more.bytes.get(), last_.bytes.get(), last_.used);
    more.used = last_.used;
    last_ = std::move(more);
  }
  // A full page is as it is; of another one what is used.
  void end_page() {
    if (last_.used == 0) return;
    const bool is_full = last_.room - last_.used < last_.room / 8;
    if (is_full)
      pages_.push_back(std::move(last_));
    else
      pages_.emplace_back(last_.bytes.get(), last_.used);
    last_ = Page();
  }

  std::vector<Page> pages_;  // each of whole entries
  Page last_;
};

}  // namespace refrain::format
