"""What recorders say that were told to check their call paths: REFRAIN_CHECK_PATHS, src/tracer/paths/path_check.h."""
import os
import platform

# Elsewhere all paths are libunwind's.
HAS_RULES = platform.machine() == "x86_64"


class Totals:
    """Of all ranks that wrote to a file: paths that were unwound, that differ, that were taken for another one."""

    def __init__(self):
        self.paths = self.differ = self.wrong = self.by_libunwind = 0
        self.lines = []  # about those that differ

    def add(self, file):
        if not os.path.exists(file):
            return
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                words = line.split()
                if words[0] != "paths":
                    self.lines.append(line.strip())
                    continue
                for name, value in zip(words[::2], words[1::2]):
                    setattr(self, name, getattr(self, name) + int(value))

    def fault(self):
        """One line that says what is wrong, or None."""
        if self.differ == 0 and self.wrong == 0:
            return None
        return "of %d call paths %d differ from libunwind's, %d were taken for others: %s" % (
            self.paths, self.differ, self.wrong, "; ".join(self.lines[:3]))

    def __str__(self):
        return "%d call paths as libunwind has them, %d by libunwind itself" % (self.paths, self.by_libunwind)
