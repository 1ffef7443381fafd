// SpillLog: an append-only array of plain records, of which a bounded part is in memory.
//
// The backward sweeps read every synchronisation of a run again, the last one first. Records that
// do not fit in memory are in an unlinked file in $TMPDIR (/tmp), read and written in chunks. The
// file is ordered by time, so a sweep reads each chunk about once. If the file cannot be written,
// the log stays in memory and exceeds its bound, so that the analysis can finish.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace refrain::analysis::waits {

// Bytes by chunk number; what SpillLog is made of.
class ChunkFile {
 public:
  ChunkFile() = default;
  ~ChunkFile();
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;
  // False: could not be written.
  bool write(uint64_t chunk, const void* bytes, size_t size);
  bool read(uint64_t chunk, void* bytes, size_t size) const;
  uint64_t bytes() const { return bytes_; }

 private:
  int fd_ = -1;
  bool failed_ = false;
  uint64_t bytes_ = 0;
};

template <class T>
class SpillLog {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr uint64_t kItems = 1024;  // of a chunk

  // At most about `memory_bytes` stay in memory. Without `keeps` nothing is kept but the number of
  // records: get() and change() give one that means nothing.
  explicit SpillLog(uint64_t memory_bytes, bool keeps = true) : keeps_(keeps) {
    max_chunks_ = memory_bytes / (kItems * sizeof(T));
    if (max_chunks_ < 4) max_chunks_ = 4;
  }

  uint64_t size() const { return size_; }
  uint64_t file_bytes() const { return file_.bytes(); }

  uint64_t append(const T& item) {
    const uint64_t index = size_++;
    if (!keeps_) return index;
    Chunk& chunk = chunk_of(index / kItems);
    chunk.items[index % kItems] = item;
    chunk.dirty = true;
    return index;
  }
  // Valid until the next use: what is in memory may go to the file then.
  const T& get(uint64_t index) {
    return keeps_ ? chunk_of(index / kItems).items[index % kItems] : nothing_;
  }
  // nullptr: it is in the file, or not there. Is no use of it.
  const T* in_memory(uint64_t index) const {
    const uint64_t number = index / kItems;
    if (number >= where_.size() || where_[number] == kNowhere) return nullptr;
    return &chunks_[where_[number]].items[index % kItems];
  }
  void set(uint64_t index, const T& item) { change(index) = item; }
  // Valid until the next use.
  T& change(uint64_t index) {
    if (!keeps_) return nothing_;
    Chunk& chunk = chunk_of(index / kItems);
    chunk.dirty = true;
    return chunk.items[index % kItems];
  }

 private:
  struct Chunk {
    uint64_t number = UINT64_MAX;
    bool dirty = false;
    std::unique_ptr<T[]> items;
  };

  Chunk& chunk_of(uint64_t number) {
    if (last_ < chunks_.size() && chunks_[last_].number == number) return chunks_[last_];
    last_ = number < where_.size() && where_[number] != kNowhere ? where_[number] : load(number);
    used_[last_] = ++clock_;
    return chunks_[last_];
  }

  uint32_t load(uint64_t number) {
    const uint32_t slot = free_slot();
    Chunk& chunk = chunks_[slot];
    if (chunk.items == nullptr) chunk.items = std::make_unique<T[]>(kItems);
    // A chunk that was never written is the one that append() is about to begin.
    (void)file_.read(number, chunk.items.get(), kItems * sizeof(T));
    chunk.number = number;
    chunk.dirty = false;
    if (number >= where_.size()) where_.resize(number + 1, kNowhere);
    where_[number] = slot;
    return slot;
  }

  uint32_t free_slot() {
    if (chunks_.size() >= max_chunks_) {
      const auto oldest =
          static_cast<uint32_t>(std::min_element(used_.begin(), used_.end()) - used_.begin());
      Chunk& chunk = chunks_[oldest];
      if (!chunk.dirty || file_.write(chunk.number, chunk.items.get(), kItems * sizeof(T))) {
        where_[chunk.number] = kNowhere;
        return oldest;
      }
    }
    chunks_.emplace_back();
    used_.push_back(0);
    return static_cast<uint32_t>(chunks_.size() - 1);
  }

  static constexpr uint32_t kNowhere = UINT32_MAX;
  bool keeps_;
  T nothing_{};
  uint64_t size_ = 0;
  uint64_t max_chunks_ = 4;
  uint64_t clock_ = 0;
  uint32_t last_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<uint64_t> used_;   // by chunk in memory: when, for the last time
  std::vector<uint32_t> where_;  // by number: which of them
  ChunkFile file_;
};

}  // namespace refrain::analysis::waits
