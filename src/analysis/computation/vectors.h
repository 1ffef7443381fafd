// Computation vectors of ranks, from the times of their calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/computation/sequences.h"
#include "format/vectors/vector_file.h"
#include "similarity/vectors/vector_source.h"

namespace refrain::analysis::computation {

// Vectors of one sequence: unit k is the time between calls k and k + 1 of a rank's first thread,
// without the recorder's own work in it, and 0 where a call began inside another one. In memory up
// to 128 MiB, in an unlinked file in $TMPDIR beyond.
class Vectors : public similarity::VectorSource {
 public:
  // Reads the times of these ranks. Fails where one of their calls has none.
  // `progress`: calls read so far, in all.
  static base::Result<Vectors> read_from(const Trace& trace, const Sequence& sequence,
                                         const std::function<void(uint64_t)>& progress = {});

  // Takes the least times of ranks that ran alone (`refrain solo --times`). Fails where a rank of
  // the sequence is not among them, or has another number of calls. `name`: of the file.
  static base::Result<Vectors> take_from(const format::vectors::VectorFile& file,
                                         const Sequence& sequence, const std::string& name);

  Vectors(Vectors&&) noexcept;
  Vectors& operator=(Vectors&&) noexcept;
  ~Vectors() override;

  uint32_t vectors() const override;
  uint64_t units() const override;
  base::Status read(uint64_t first, uint64_t count, std::span<uint64_t> out) override;

  // Each unit becomes the smaller one of both: what several runs of a program have in common is
  // its work, and noise only adds to it (PHANTOM, section 5.2). Equal sizes.
  base::Status take_least_of(Vectors& other);
  // Sum of a vector's units.
  uint64_t sum_ns(uint32_t vector) const;

 private:
  struct Store;
  explicit Vectors(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

}  // namespace refrain::analysis::computation
