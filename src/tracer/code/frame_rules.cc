#include "tracer/code/frame_rules.h"

#include <link.h>

namespace refrain::tracer {

namespace {

// What .eh_frame_hdr must be encoded as, to be searched: that is what linkers write.
constexpr uint8_t kVersion = 1, kCountEncoding = 0x03, kTableEncoding = 0x3b;

// A row of its table; both words are relative to the begin of .eh_frame_hdr.
struct IndexRow {
  int32_t function, entry;
};

// Address of the entry (FDE) of the function that holds `place`, 0: none.
uintptr_t find_entry(const LoadedImage& image, uintptr_t place) {
  const uintptr_t base = image.index.begin;
  EhBytes header = image.bytes(base);
  const uint8_t version = header.byte(), frame_encoding = header.byte();
  const uint8_t count_encoding = header.byte(), table_encoding = header.byte();
  if (version != kVersion || count_encoding != kCountEncoding || table_encoding != kTableEncoding)
    return 0;
  header.address(frame_encoding, base);
  const uint32_t count = header.fixed<uint32_t>();
  const uintptr_t table = header.at();
  if (!header.is_good() || count > (header.end() - table) / sizeof(IndexRow)) return 0;
  const auto row = [table](uint32_t i) {
    return EhBytes(table + i * sizeof(IndexRow), table + (i + 1) * sizeof(IndexRow))
        .fixed<IndexRow>();
  };
  uint32_t first = 0, last = count;  // the first function behind the place is between them
  while (first < last) {
    const uint32_t middle = first + (last - first) / 2;
    if (base + static_cast<uintptr_t>(int64_t{row(middle).function}) <= place)
      first = middle + 1;
    else
      last = middle;
  }
  return first == 0 ? 0 : base + static_cast<uintptr_t>(int64_t{row(first - 1).entry});
}

// The bytes of an entry behind its length.
EhBytes entry_at(const LoadedImage& image, uintptr_t address) {
  constexpr uint32_t kLongLength = 0xffffffff;
  EhBytes bytes = image.bytes(address);
  const uint32_t length = bytes.fixed<uint32_t>();
  return length == kLongLength ? EhBytes() : bytes.part(length);
}

struct Search {
  uintptr_t place;
  FrameRule rule;

  static int visit(dl_phdr_info* info, size_t, void* self) {
    return static_cast<Search*>(self)->look_at(*info) ? 1 : 0;
  }
  bool look_at(const dl_phdr_info& info) {
    LoadedImage image;
    bool is_here = false;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& ph = info.dlpi_phdr[i];
      const uintptr_t begin = info.dlpi_addr + ph.p_vaddr;
      const MappedArea area{begin, begin + ph.p_memsz};
      if (ph.p_type == PT_GNU_EH_FRAME) image.index = area;
      if (ph.p_type != PT_LOAD) continue;
      is_here |= area.holds(place);
      if ((ph.p_flags & PF_R) != 0 && image.part_count < LoadedImage::kMaxParts)
        image.parts[image.part_count++] = area;
    }
    if (is_here) rule = find_frame_rule(image, place + 1);
    return is_here;
  }
};

}  // namespace

EhBytes LoadedImage::bytes(uintptr_t at) const {
  for (size_t i = 0; i < part_count; ++i)
    if (parts[i].holds(at)) return {at, parts[i].end};
  return {};  // whose bytes are none: whoever reads finds that it is not good
}

FrameRule find_frame_rule(const LoadedImage& image, uintptr_t return_address) {
  // The call is what counts; behind it may be another function, when it never returns.
  const uintptr_t place = return_address - 1;
  if (image.index.begin == image.index.end) return {};
  const uintptr_t address = find_entry(image, place);
  if (address == 0) return {};
  EhBytes entry = entry_at(image, address);
  // How far back its common information is, from this word on.
  const uintptr_t here = entry.at();
  const uint32_t distance = entry.fixed<uint32_t>();
  if (distance == 0 || distance > here) return {};
  EhBytes common_entry = entry_at(image, here - distance);
  if (common_entry.fixed<uint32_t>() != 0) return {};
  const CommonInfo common = read_common_info(common_entry);
  if (!common.is_good) return {};
  const uintptr_t begin = entry.address(common.pointer_encoding);
  // The size is a plain number of the same width.
  constexpr uint8_t kWidth = 0x0f;
  const uintptr_t size = entry.address(common.pointer_encoding & kWidth);
  if (place < begin || place - begin >= size) return {};
  if (common.has_augmentation) entry.skip(entry.uleb());
  if (!entry.is_good()) return {};
  return run_cfa_program(common, entry, begin, place);
}

#if defined(__x86_64__)

FrameRule find_frame_rule(uintptr_t return_address) {
  Search search{return_address - 1, {}};
  dl_iterate_phdr(&Search::visit, &search);
  return search.rule;
}

#else

FrameRule find_frame_rule(uintptr_t) { return {}; }

#endif

}  // namespace refrain::tracer
