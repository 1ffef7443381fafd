// analysis::Matrix as text, JSON or CSV.
#pragma once

#include <string>

#include "analysis/matrix.h"

namespace refrain::report {

// A table of messages and bytes for few ranks; for many, a picture with one character per pair (or
// per block of pairs) and the heaviest pairs.
// `of`: the trace, which says so where ranks stand for others; null: they do not.
std::string matrix_text(const analysis::Matrix& matrix, const std::string& name,
                        const analysis::Window& window = {}, const Trace* of = nullptr);
// "source,dest,messages,bytes", one line per pair with messages.
std::string matrix_csv(const analysis::Matrix& matrix);
// {"ranks": N, ..., "pairs": [{"source","dest","messages","bytes"}]}
std::string matrix_json(const analysis::Matrix& matrix, const analysis::Window& window = {},
                        const Trace* of = nullptr);

}  // namespace refrain::report
