// A relay sleeps between its looks at MPI, and a program that ends would wait for the next one. So
// the program rings: it sets the times of the folder that both know, which whoever watches a folder
// on the same system is told at once. On another one nobody is, and the looks remain.
#pragma once

#include <string>

namespace refrain::tracer {

class Doorbell {
 public:
  // Of a folder. Where it cannot be watched nobody hears it ring.
  explicit Doorbell(const std::string& folder);
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Sleeps so long, or until it rings. Whether it did, since the last time this was asked.
  bool rings_within(int ms);

 private:
  int events_;
};

// Changes nothing else; silent where that is not allowed.
void ring(const std::string& folder);

}  // namespace refrain::tracer
