// Planes of wide numbers: the first byte of every number, then the second of every number, then the
// third. Numbers of three bytes that stand for ranks, tags and counts differ in their first byte
// only, and compress by a tenth better, in half the time, when zeros stand beside zeros.
//
// A number above three bytes moves those behind it by a byte or more: planes hold what is three
// bytes apart, whatever it is, so any bytes can be put in planes and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace refrain::format {

inline constexpr size_t kPlanes = 3;

inline std::string in_planes(std::string_view bytes) {
  std::string planes;
  planes.reserve(bytes.size());
  for (size_t plane = 0; plane < kPlanes; ++plane)
    for (size_t i = plane; i < bytes.size(); i += kPlanes) planes.push_back(bytes[i]);
  return planes;
}

inline std::string out_of_planes(std::string_view planes) {
  std::string bytes(planes.size(), '\0');
  size_t at = 0;
  for (size_t plane = 0; plane < kPlanes; ++plane)
    for (size_t i = plane; i < bytes.size(); i += kPlanes) bytes[i] = planes[at++];
  return bytes;
}

}  // namespace refrain::format
