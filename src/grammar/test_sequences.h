// Sequences of many kinds for the tests of this folder, and the slow, obvious expansion that
// everything is compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "grammar/builder.h"
#include "grammar/grammar.h"

namespace refrain::grammar::test {

using Sequence = std::vector<Terminal>;

struct Named {
  std::string name;
  Sequence sequence;
};

inline Grammar build(const Sequence& sequence) {
  Builder builder;
  for (const Terminal t : sequence) builder.append(t);
  return builder.finish();
}

inline void expand_rule(const Grammar& g, size_t rule, Sequence* out) {
  for (uint32_t i = g.rule_begin(rule); i < g.rule_end[rule]; ++i) {
    for (uint64_t k = 0; k < g.symbols[i].count; ++k) {
      if (g.symbols[i].is_rule) {
        expand_rule(g, g.symbols[i].id, out);
      } else {
        out->push_back(g.symbols[i].id);
      }
    }
  }
}
inline Sequence expand(const Grammar& g) {
  Sequence out;
  expand_rule(g, 0, &out);
  return out;
}

// The sequence as a plain list of (terminal, count).
inline uint64_t run_count(const Sequence& s) {
  uint64_t runs = 0;
  for (size_t i = 0; i < s.size(); ++i) runs += i == 0 || s[i] != s[i - 1] ? 1 : 0;
  return runs;
}

inline Sequence repeat(const Sequence& body, size_t n) {
  Sequence out;
  for (size_t i = 0; i < n; ++i) out.insert(out.end(), body.begin(), body.end());
  return out;
}
inline Sequence operator+(Sequence a, const Sequence& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Sequence random_sequence(std::mt19937& random, size_t n, uint32_t alphabet) {
  Sequence out(n);
  for (Terminal& t : out) t = static_cast<Terminal>(random() % alphabet);
  return out;
}

// Loops in loops, bodies shared between them, some iterations broken off or with a stray terminal.
inline Sequence nested_loops(std::mt19937& random, size_t max_length, unsigned noise_per_1000) {
  std::vector<Sequence> bodies;
  bodies.reserve(7);
  for (int i = 0; i < 3; ++i) bodies.push_back(random_sequence(random, 1 + random() % 4, 6));
  for (int level = 0; level < 4; ++level) {
    Sequence body;
    const size_t parts = 1 + random() % 4;
    for (size_t p = 0; p < parts; ++p) {
      const Sequence& part = bodies[random() % bodies.size()];
      for (size_t k = 1 + random() % 5; k > 0 && body.size() < max_length / 4; --k) {
        Sequence once = part;
        if (random() % 1000 < noise_per_1000) once.resize(random() % (once.size() + 1));
        if (random() % 1000 < noise_per_1000) once.push_back(6 + random() % 3);
        body = body + once;
      }
    }
    if (!body.empty()) bodies.push_back(body);
  }
  Sequence out;
  while (out.size() < max_length) {
    out = out + bodies.back();
    if (random() % 1000 < noise_per_1000) out.push_back(random() % 9);
  }
  out.resize(max_length);
  return out;
}

// p a^k q with k from a short list, over and over.
inline Sequence changing_counts(std::mt19937& random, size_t rounds) {
  const Sequence body = random_sequence(random, 1 + random() % 3, 3);
  Sequence out;
  std::vector<size_t> counts(1 + random() % 3);
  for (size_t& c : counts) c = 1 + random() % 9;
  for (size_t i = 0; i < rounds; ++i)
    out = out + Sequence{7} + repeat(body, counts[i % counts.size()]) + Sequence{8};
  return out;
}

inline Sequence fibonacci_word(size_t n) {
  Sequence a{0};
  Sequence b{0, 1};
  while (b.size() < n) {
    Sequence c = b + a;
    a = b;
    b = c;
  }
  b.resize(n);
  return b;
}

inline Sequence thue_morse(size_t n) {
  Sequence out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<Terminal>(__builtin_popcountll(i) & 1);
  return out;
}

// One of each kind, about `n` long; the seed decides the rest.
inline std::vector<Named> kinds(uint32_t seed, size_t n) {
  std::mt19937 random(seed);
  std::vector<Named> all;
  for (const uint32_t alphabet : {1u, 2u, 3u, 5u, 20u, 1000000u})
    all.push_back(
        {"random over " + std::to_string(alphabet), random_sequence(random, n, alphabet)});
  for (const unsigned noise : {0u, 20u, 200u})
    all.push_back({"nested loops, noise " + std::to_string(noise), nested_loops(random, n, noise)});
  all.push_back({"changing counts", changing_counts(random, 1 + n / 12)});
  all.push_back({"fibonacci", fibonacci_word(n)});
  all.push_back({"thue-morse", thue_morse(n)});
  Sequence ascending(n);
  for (size_t i = 0; i < n; ++i) ascending[i] = static_cast<Terminal>(i);
  all.push_back({"all different", ascending});
  const Sequence body = random_sequence(random, 1 + random() % 7, 4);
  Sequence noisy;  // a fixed body and one terminal out of a few after it
  while (noisy.size() < n)
    noisy = noisy + body + Sequence{10 + static_cast<Terminal>(random() % 4)};
  all.push_back({"body and choice", noisy});
  const Sequence page = random_sequence(random, n / 3, 4);
  all.push_back({"a long repeat", page + random_sequence(random, n / 10, 4) + page + page});
  for (Named& k : all) k.name += ", seed " + std::to_string(seed);
  return all;
}

}  // namespace refrain::grammar::test
