#include "blackboard/entry.h"

#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "blackboard/entry_memory.h"
#include "blackboard/runner.h"

namespace refrain::blackboard {
namespace {

std::mutex g_accounts_lock;
// Left to the system at the end: entries may be released behind destructors.
std::vector<Account*>* g_accounts = nullptr;

}  // namespace

Account* Account::open(bool has_bound) {
  const std::lock_guard lock(g_accounts_lock);
  if (g_accounts == nullptr) g_accounts = new std::vector<Account*>;
  Account* found = nullptr;
  for (Account* const one : *g_accounts)
    if (!one->is_open_ && one->bytes.load() == 0) found = one;
  if (found == nullptr) {
    auto fresh = std::make_unique<Account>();
    g_accounts->push_back(fresh.get());
    found = fresh.release();
  }
  found->most_bytes.store(0);
  found->has_bound = has_bound;
  found->is_open_ = true;
  return found;
}

void Account::close() {
  const std::lock_guard lock(g_accounts_lock);
  is_open_ = false;
}

void Account::add(int64_t more) {
  const int64_t now = bytes.fetch_add(more) + more;
  int64_t most = most_bytes.load(std::memory_order_relaxed);
  while (most < now && !most_bytes.compare_exchange_weak(most, now)) {
  }
}

void Account::give_back(int64_t less) {
  bytes.fetch_sub(less);
  if (waiting.load() == 0) return;
  room.fetch_add(1);
  room.notify_all();
}

}  // namespace refrain::blackboard

// FNV-1a.
refrain_type refrain_type_of(const char* level, const char* name) {
  uint64_t h = 0xcbf29ce484222325u;
  const auto mix = [&h](std::string_view text) {
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    h = (h ^ 0x100u) * 0x100000001b3u;  // no byte: ends a text
  };
  mix(level);
  mix(name);
  return h == 0 ? 1 : h;
}

refrain_entry* refrain_entry_new(refrain_type type, size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  void* const memory = refrain::blackboard::take_memory(sizeof(refrain_entry) + bytes);
  return memory == nullptr ? nullptr : new (memory) refrain_entry{type, bytes, 1, nullptr};
}

refrain_type refrain_entry_type(const refrain_entry* entry) { return entry->type; }

size_t refrain_entry_bytes(const refrain_entry* entry) { return entry->bytes; }

const void* refrain_entry_data(const refrain_entry* entry) { return entry + 1; }

void* refrain_entry_write(refrain_entry* entry) {
  return entry->references.load(std::memory_order_acquire) == 1 ? entry + 1 : nullptr;
}

refrain_entry* refrain_entry_keep(refrain_entry* entry) {
  entry->references.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

void refrain_entry_release(refrain_entry* entry) {
  if (entry->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  using refrain::blackboard::Runner;
  refrain::blackboard::Account* const account = entry->account.load(std::memory_order_relaxed);
  const size_t bytes = entry->bytes;
  entry->~refrain_entry();
  refrain::blackboard::give_memory(entry, sizeof(refrain_entry) + bytes);
  if (account == nullptr) return;
  Runner* const runner = Runner::of_thread();
  if (runner != nullptr && runner->counts_for(account))
    runner->change_bytes(-static_cast<int64_t>(bytes));
  else
    account->give_back(static_cast<int64_t>(bytes));
}
