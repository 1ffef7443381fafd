// Instead of libFuzzer, for any compiler: runs every file of a folder, and a number of mutations of
// each, which are the same every time.
//
//   NAME_replay [--mutations N] FOLDER|FILE ...
//
// Allocations that no input of this size justifies end the run.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <vector>

#include "support.h"

namespace {

namespace fs = std::filesystem;

std::string g_name;       // of the input, and the number of its mutation, for a post mortem
uint64_t g_mutation = 0;  // 0: the file itself

// One at a time; libFuzzer's -malloc_limit_mb in `./dev check fuzz` is the same. The format lets
// families of definitions take 64 MiB without being asked why, and vectors double.
constexpr size_t kMaxAllocation = size_t{160} << 20;

void say_where() {
  std::fprintf(stderr, "in mutation %llu of %s\n", static_cast<unsigned long long>(g_mutation),
               g_name.c_str());
}

extern "C" void on_abort(int) {
  say_where();
  std::_Exit(1);
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void damage(std::string& bytes, std::mt19937_64& random, const std::string& other) {
  const auto below = [&](size_t n) {
    return n == 0 ? size_t{0} : static_cast<size_t>(random() % n);
  };
  constexpr unsigned char kEdges[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x40, 16};
  const size_t at = below(bytes.size());
  switch (random() % 8) {
    case 0:
      if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (!bytes.empty()) bytes[at] = static_cast<char>(random());
      break;
    case 2:
      if (!bytes.empty()) bytes[at] = static_cast<char>(kEdges[random() % sizeof kEdges]);
      break;
    case 3:
      bytes.insert(at, 1 + below(9), static_cast<char>(kEdges[random() % sizeof kEdges]));
      break;
    case 4: bytes.erase(at, 1 + below(12)); break;
    case 5: bytes.insert(below(bytes.size()), bytes.substr(at, 1 + below(32))); break;
    case 6: {
      const size_t from = below(other.size());
      bytes.insert(at, other.substr(from, 1 + below(64)));
      break;
    }
    default: bytes.resize(at);
  }
}

void run(const std::string& bytes) {
  // A copy of its own size, so that a sanitizer sees what is read beyond it.
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REFRAIN_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REFRAIN_SANITIZED
#endif
#ifndef REFRAIN_SANITIZED
// GCC 14 inlines one of the two and takes the other for the library's.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t bytes) {
  if (bytes > kMaxAllocation) {
    std::fprintf(stderr, "not so: %zu bytes of memory are not too much\n", bytes);
    say_where();
    std::_Exit(1);
  }
  void* const p = std::malloc(bytes == 0 ? 1 : bytes);
  if (p == nullptr) std::abort();
  return p;
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
#endif

#include <csignal>

int main(int argc, char** argv) {
  uint64_t mutations = 0;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mutations") == 0 && i + 1 < argc) {
      mutations = std::strtoull(argv[++i], nullptr, 10);
    } else if (fs::is_directory(argv[i])) {
      for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
    } else {
      files.emplace_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "no files to run\n");
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(signal, on_abort);
  std::mt19937_64 random(1);
  std::string other;
  uint64_t runs = 0;
  for (const fs::path& path : files) {
    const std::string bytes = read_file(path);
    g_name = path.string();
    for (g_mutation = 0; g_mutation <= mutations; ++g_mutation, ++runs) {
      std::string input = bytes;
      for (uint64_t n = g_mutation == 0 ? 0 : 1 + random() % 4; n > 0; --n)
        damage(input, random, other);
      run(input);
    }
    other = bytes;
  }
  std::printf("%zu files, %llu runs\n", files.size(), static_cast<unsigned long long>(runs));
  return 0;
}
