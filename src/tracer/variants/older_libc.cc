// What libstdc++ asks of a newer C library than a recorder may need.
//
// The recorder has libstdc++ inside. One that was compiled with glibc 2.38 or newer calls strtoul
// by its new name, which older systems do not have; of what that name stands for (binary constants
// as of C23) nothing is used.

namespace {

// By its old name: the headers of a newer glibc would turn it into the new one.
extern "C" unsigned long strtoul_of_any_libc(const char* text, char** end,
                                             int base) __asm__("strtoul");

}  // namespace

extern "C" unsigned long __isoc23_strtoul(const char* text, char** end, int base) {
  return strtoul_of_any_libc(text, end, base);
}
