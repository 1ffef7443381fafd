#!/usr/bin/env python3
"""Counts the tests of a ctest run: prints the slowest, and `N passed, N failed, N skipped` as its last line.

usage: count_tests.py ctest.xml | --self-test     exit status 1 when a test failed or none ran
"""

import io
import sys
import xml.etree.ElementTree


def count(path):
    """(passed, failed, skipped) of a JUnit file as ctest writes it."""
    passed, failed, skipped = 0, 0, 0
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        skip = case.find("skipped")
        if case.get("status") == "run" and case.find("failure") is None:
            passed += 1
        elif case.get("status") == "disabled":
            skipped += 1
        elif skip is not None and skip.get("message", "").startswith("SKIP_"):
            skipped += 1  # by its own exit status or output
        else:
            failed += 1  # a missing executable or a failed fixture is "notrun" too
    return passed, failed, skipped


SLOWEST = 10


def slowest(path):
    """Those that took a second or more, as (name, seconds), the slowest first."""
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    times = [(case.get("name"), float(case.get("time") or 0)) for case in cases]
    return sorted((t for t in times if t[1] >= 1), key=lambda t: -t[1])[:SLOWEST]


SELF_TEST = """<testsuite>
<testcase name="good" status="run" time="2.5"/>
<testcase name="bad" status="fail"><failure message=""/></testcase>
<testcase name="left_out" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
<testcase name="off" status="disabled"/>
<testcase name="not_built" status="notrun"><skipped message="Unable to find executable"/></testcase>
</testsuite>"""


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    if sys.argv[1] == "--self-test":
        found = count(io.StringIO(SELF_TEST))
        slow = slowest(io.StringIO(SELF_TEST))
        print(f"count_tests self-test: {found}, {slow}")
        return 0 if found == (1, 2, 2) and slow == [("good", 2.5)] else 1
    try:
        passed, failed, skipped = count(sys.argv[1])
        slow = slowest(sys.argv[1])
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"count_tests: {error}", file=sys.stderr)
        passed, failed, skipped, slow = 0, 1, 0, []
    if slow:
        print("slowest: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in slow))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
