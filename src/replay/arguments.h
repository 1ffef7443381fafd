// The arguments of one call, before they have the types of the mpi.h at hand.
//
// The engine fills a slot for each parameter with numbers, handles as keys and addresses; the
// generated switch (reissue.h) hands the slots over, and each becomes what the function's prototype
// asks for: a conversion knows the element type, so nobody else needs it. Outputs are read back
// from the same places.
//
// Arrays, and what is pointed to, live in `places` of the slot until the Arguments are reset or
// moved: nonblocking calls keep theirs until they complete.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace refrain::replay {

struct Slot {
  int64_t number = 0;            // also the key of a handle
  std::vector<int64_t> numbers;  // of an array, handles too
  void* address = nullptr;       // of a buffer, a function, a constant in the place of an array
  bool is_address = false;       // `address` stands for an array or a status
  std::string text;
  std::vector<std::string> texts;  // of an array of them
  bool is_count = false;           // an amount, which is narrower where there are no large counts
  size_t room = 1;  // elements that an output may have, at least as many as `numbers`

  // ---- made by a conversion ----
  std::unique_ptr<std::byte[]> place;
  size_t element_bytes = 0;

  // Element i of the place after the call; 0 where nothing was handed over.
  int64_t read(size_t i = 0) const {
    int64_t value = 0;
    if (place == nullptr || element_bytes == 0 || element_bytes > sizeof(value)) return 0;
    std::memcpy(&value, place.get() + i * element_bytes, element_bytes);
    if (element_bytes == sizeof(int32_t)) value = static_cast<int32_t>(value);
    return value;
  }
  // The same of a handle, whose key has no sign.
  uint64_t read_key(size_t i = 0) const {
    uint64_t key = 0;
    if (place != nullptr && element_bytes > 0 && element_bytes <= sizeof(key))
      std::memcpy(&key, place.get() + i * element_bytes, element_bytes);
    return key;
  }

  template <class T>
  T* make_place_for(size_t count) {
    place = std::make_unique<std::byte[]>(count * sizeof(T));  // zeroes
    element_bytes = sizeof(T);
    return reinterpret_cast<T*>(place.get());
  }
  template <class T>
  T* make_place() {
    make_place_for<T>(std::max<size_t>({numbers.size(), room, 1}));
    if (numbers.empty()) put<T>(0, number);
    for (size_t i = 0; i < numbers.size(); ++i) put<T>(i, numbers[i]);
    return reinterpret_cast<T*>(place.get());
  }

 private:
  template <class T>
  void put(size_t i, int64_t value) {
    if constexpr (std::is_integral_v<T>) {
      const T narrow = static_cast<T>(value);
      std::memcpy(place.get() + i * sizeof(T), &narrow, sizeof(T));
    } else if constexpr (sizeof(T) <= sizeof(value)) {
      std::memcpy(place.get() + i * sizeof(T), &value, sizeof(T));
    }
  }
};

// Each of these becomes what a prototype asks for.
struct NumberArgument {
  const Slot& slot;
  template <class T>
  operator T() const {  // NOLINT: implicit, that is what it is for
    return static_cast<T>(slot.number);
  }
};
struct HandleArgument {
  const Slot& slot;
  template <class T>
  operator T() const {  // NOLINT: as above
    static_assert(sizeof(T) <= sizeof(slot.number));
    T handle;
    std::memcpy(&handle, &slot.number, sizeof(T));
    return handle;
  }
};
struct PlaceArgument {
  Slot& slot;
  template <class T>
  operator T*() const {  // NOLINT: as above
    if (slot.is_address) return static_cast<T*>(slot.address);
    return slot.make_place<std::remove_const_t<T>>();
  }
};
struct AddressArgument {
  Slot& slot;
  template <class T>
  operator T*() const {  // NOLINT: as above
    return reinterpret_cast<T*>(slot.address);
  }
};
struct TextArgument {
  Slot& slot;
  operator const char*() const {  // NOLINT: as above
    return slot.is_address ? static_cast<const char*>(slot.address) : slot.text.c_str();
  }
  operator char*() const {  // NOLINT: as above
    if (slot.is_address) return static_cast<char*>(slot.address);
    slot.text.resize(std::max(slot.text.size() + 1, slot.room));
    return slot.text.data();
  }
};
struct TextsArgument {
  Slot& slot;
  operator char**() const {  // NOLINT: as above
    char** const places = slot.make_place_for<char*>(slot.texts.size() + 1);
    for (size_t i = 0; i < slot.texts.size(); ++i) places[i] = slot.texts[i].data();
    return places;
  }
};
struct RangesArgument {
  Slot& slot;
  using Range = int[3];
  operator Range*() const {  // NOLINT: as above
    return reinterpret_cast<Range*>(slot.make_place<int>());
  }
};

class Arguments {
 public:
  static constexpr size_t kMost = 24;

  Slot& slot(size_t i) { return slots_[i]; }
  const Slot& slot(size_t i) const { return slots_[i]; }
  size_t size() const { return slots_.size(); }
  void reset(size_t count) {
    slots_.clear();
    slots_.resize(count);
  }
  // Whether all numbers fit where an MPI without large counts takes them.
  bool fits_int() const {
    for (const Slot& s : slots_) {
      if (!fits(s.number) && !s.is_address && s.is_count) return false;
      if (s.is_count)
        for (const int64_t n : s.numbers)
          if (!fits(n)) return false;
    }
    return true;
  }

  NumberArgument number(size_t i) { return {slots_[i]}; }
  PlaceArgument numbers(size_t i) { return {slots_[i]}; }
  HandleArgument handle(size_t i) { return {slots_[i]}; }
  PlaceArgument handles(size_t i) { return {slots_[i]}; }
  PlaceArgument statuses(size_t i) { return {slots_[i]}; }
  AddressArgument buffer(size_t i) { return {slots_[i]}; }
  AddressArgument function(size_t i) { return {slots_[i]}; }
  AddressArgument pointer(size_t i) { return {slots_[i]}; }
  TextArgument text(size_t i) { return {slots_[i]}; }
  TextsArgument texts(size_t i) { return {slots_[i]}; }
  RangesArgument ranges(size_t i) { return {slots_[i]}; }

 private:
  static bool fits(int64_t n) { return n >= INT32_MIN && n <= INT32_MAX; }
  std::vector<Slot> slots_;
};

}  // namespace refrain::replay
