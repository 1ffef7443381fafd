// What nearly every source includes, to be compiled beforehand (refrain_common_headers() in
// cmake/RefrainTargets.cmake). No source includes it: each says itself what it uses.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>
