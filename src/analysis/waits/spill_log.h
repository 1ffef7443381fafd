// SpillLog: an append-only array of plain records that keeps a bounded part of itself in memory.
//
// The backward sweeps need every synchronisation of a run again, the last one first. What does not
// fit lies in an unlinked file in $TMPDIR (/tmp), read and written a chunk at a time; neighbours in
// time are neighbours in the file, so a sweep reads each chunk about once. Where the file cannot be
// written, the log stays in memory: the answer is worth more than the bound.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <unordered_map>
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

  // At most about `memory_bytes` stay in memory.
  explicit SpillLog(uint64_t memory_bytes) {
    max_chunks_ = memory_bytes / (kItems * sizeof(T));
    if (max_chunks_ < 4) max_chunks_ = 4;
  }

  uint64_t size() const { return size_; }
  uint64_t file_bytes() const { return file_.bytes(); }

  uint64_t append(const T& item) {
    const uint64_t index = size_++;
    Chunk& chunk = chunk_of(index / kItems);
    chunk.items[index % kItems] = item;
    chunk.dirty = true;
    return index;
  }
  // A copy: what is in memory may go to the file at the next use.
  T get(uint64_t index) { return chunk_of(index / kItems).items[index % kItems]; }
  void set(uint64_t index, const T& item) {
    Chunk& chunk = chunk_of(index / kItems);
    chunk.items[index % kItems] = item;
    chunk.dirty = true;
  }

 private:
  struct Chunk {
    uint64_t number = UINT64_MAX;
    uint64_t used = 0;
    bool dirty = false;
    std::unique_ptr<T[]> items;
  };

  Chunk& chunk_of(uint64_t number) {
    if (last_ < chunks_.size() && chunks_[last_].number == number) return chunks_[last_];
    const auto known = where_.find(number);
    last_ = known != where_.end() ? known->second : load(number);
    chunks_[last_].used = ++clock_;
    return chunks_[last_];
  }

  size_t load(uint64_t number) {
    const size_t slot = free_slot();
    Chunk& chunk = chunks_[slot];
    if (chunk.items == nullptr) chunk.items = std::make_unique<T[]>(kItems);
    // A chunk that was never written is the one that append() is about to begin.
    (void)file_.read(number, chunk.items.get(), kItems * sizeof(T));
    chunk.number = number;
    chunk.dirty = false;
    where_[number] = slot;
    return slot;
  }

  size_t free_slot() {
    if (chunks_.size() >= max_chunks_) {
      size_t oldest = 0;
      for (size_t i = 1; i < chunks_.size(); ++i)
        if (chunks_[i].used < chunks_[oldest].used) oldest = i;
      Chunk& chunk = chunks_[oldest];
      if (!chunk.dirty || file_.write(chunk.number, chunk.items.get(), kItems * sizeof(T))) {
        where_.erase(chunk.number);
        return oldest;
      }
    }
    chunks_.emplace_back();
    return chunks_.size() - 1;
  }

  uint64_t size_ = 0;
  uint64_t max_chunks_ = 4;
  uint64_t clock_ = 0;
  size_t last_ = 0;
  std::vector<Chunk> chunks_;
  std::unordered_map<uint64_t, size_t> where_;
  ChunkFile file_;
};

}  // namespace refrain::analysis::waits
