"""What a test expects, line by line, for tests that go on after a failure."""

failures = 0


def expect(condition, what):
    """Prints whether `what` holds, and counts it in `failures` where it does not."""
    global failures
    print("%s  %s" % ("pass" if condition else "FAIL", what), flush=True)
    failures += 0 if condition else 1
