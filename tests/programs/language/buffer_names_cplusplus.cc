// C++: blocks of new, of containers, and aligned ones.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "calls.h"

namespace {

void use(char* buffer, const std::string& name) {
  DO(MPI_Bcast(buffer, 1, MPI_CHAR, 0, MPI_COMM_WORLD), "buffer:s", name.c_str());
}

struct alignas(256) Wide {
  char bytes[512];
};

}  // namespace

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  {
    std::vector<char> one(1000), two(70000);
    const auto wide = std::make_unique<Wide>();
    const std::unique_ptr<char[]> plain(new char[10]);
    use(&two[5], "heap#0+5");
    use(&one[999], "heap#1+999");
    use(&wide->bytes[511], "heap#2+511");
    use(plain.get(), "heap#3");
    two.resize(200000);  // a new block, and the end of the old one
    use(plain.get() + 9, "heap#3+9");
    use(two.data(), "heap#0");
  }
  auto* last = new char[5];
  use(last + 4, "heap#0+4");
  delete[] last;
  log_finalize();
  std::printf("rank %d of %d done\n", rank, size);
  return 0;
}
