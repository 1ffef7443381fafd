// Containers of the standard library, of kinds that a recorder may use as well. A recorder that
// shows its instances of their templates gets these calls, or has its own ones bound to these
// functions, and then memory of one allocator is given back to the other.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#ifdef OWN_NEW
// An allocator that knows its pieces, and stops at any other.
namespace {

constexpr uint64_t kMagic = 0x636f6e7461696e65;

void* piece(size_t bytes) {
  auto* const head = static_cast<uint64_t*>(std::malloc(bytes + 16));
  if (head == nullptr) std::abort();
  head[0] = kMagic;
  return head + 2;
}

void give_back(void* p) {
  if (p == nullptr) return;
  auto* const head = static_cast<uint64_t*>(p) - 2;
  if (head[0] != kMagic) {
    std::fputs("a piece that is not ours\n", stderr);
    std::abort();
  }
  head[0] = 0;
  std::free(head);
}

}  // namespace

void* operator new(size_t bytes) { return piece(bytes); }
void* operator new[](size_t bytes) { return piece(bytes); }
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, size_t) noexcept { give_back(p); }
void operator delete[](void* p, size_t) noexcept { give_back(p); }
#endif

namespace {

// Twice each, so that the compiler has a reason for functions of the templates' own.
template <class Map, class Key>
size_t fill(Map* map, size_t n, Key key) {
  for (size_t i = 0; i < n; ++i) map->insert({key(i), {}});
  for (size_t i = 0; i < n; ++i) map->emplace(key(3 * i), typename Map::mapped_type{});
  for (size_t i = 0; i < n; ++i) (*map)[key(5 * i)] = {};
  return map->size();
}

template <class Map, class Key>
size_t maps(size_t n, Key key) {
  Map first, second;
  const size_t size = fill(&first, n, key) + fill(&second, 2 * n, key);
  first = second;
  for (size_t i = 0; i < n; ++i) first.erase(key(i));
  return size + first.size();
}

template <class Set>
size_t sets(size_t n) {
  Set first;
  for (size_t i = 0; i < n; ++i) first.insert(static_cast<typename Set::value_type>(i));
  Set second = first;
  for (size_t i = 0; i < n; ++i) second.emplace(static_cast<typename Set::value_type>(7 * i));
  first = second;
  return first.size();
}

}  // namespace

size_t use_containers(size_t n) {
  const auto number = [](size_t i) { return i; };
  const auto little = [](size_t i) { return static_cast<uint16_t>(i); };
  const auto text = [](size_t i) { return "a name of some length " + std::to_string(i); };
  size_t all = maps<std::unordered_map<uint64_t, uint64_t>>(n, number);
  all += maps<std::unordered_map<uint64_t, uint32_t>>(n, number);
  all += maps<std::unordered_map<uint16_t, uint64_t>>(n, little);
  all += maps<std::unordered_map<std::string, uint32_t>>(n, text);
  all += maps<std::map<std::string, std::string>>(n / 8, text);
  all += maps<std::map<uint64_t, uint64_t>>(n / 8, number);
  all += sets<std::set<uint64_t>>(n) + sets<std::unordered_set<uint64_t>>(n);
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < n; ++i) numbers.push_back(i);
  std::vector<std::string> texts;
  for (size_t i = 0; i < n; ++i) texts.push_back(text(i));
  return all + numbers.size() + texts.size();
}
