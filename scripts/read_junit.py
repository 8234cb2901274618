#!/usr/bin/env python3
"""Reads what `ctest --output-junit` wrote. Prints "passed failed skipped" on the first line, then a line per
failed test ("F name<tab>command that runs it again", then "O line" for each of the last lines that it printed), per skipped one ("S name<tab>reason") and per CTest test that ran
("T seconds<tab>name"). A GoogleTest program is one CTest test; its cases are counted from BUILD/gtest/NAME.xml.
Usage: read_junit.py FILE BUILD"""
import pathlib
import re
import shlex
import sys
import xml.etree.ElementTree

LAST_LINES = 12
parse = lambda path: xml.etree.ElementTree.parse(path).getroot().iter("testcase")


class Count:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.ran = 0, [], [], []

    def add(self, name, again, has_failed, reason, output=""):
        """`reason` says why it was skipped, if it was."""
        if has_failed:
            self.failed.append((name, again, [line for line in output.splitlines() if line.strip()][-LAST_LINES:]))
        elif reason is not None:
            self.skipped.append((name, reason))
        else:
            self.passed += 1

    def add_cases(self, program, path, again):
        """Every case of a GoogleTest program. Says whether one of them failed."""
        failures = len(self.failed)
        for case in parse(path):
            if case.get("status") == "notrun":
                continue
            test = "%s.%s" % (case.get("classname"), case.get("name"))
            skipped = case.find("skipped")
            reason = None if skipped is None else (skipped.get("message") or "").strip().split("\n")[-1]
            failure = case.find("failure")
            self.add("%s.%s" % (program, test), "%s --gtest_filter=%s" % (again, shlex.quote(test)), failure is not None, reason,
                     "" if failure is None else failure.text or failure.get("message") or "")
        return len(self.failed) > failures


def skip_reason(case):
    """Why CTest did not count a test as run, or None."""
    if case.find("skipped") is None and case.get("status") not in ("notrun", "disabled"):
        return None
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines()]
    return lines[-1] if lines else ""


def read(report, build):
    count = Count()
    for case in parse(report):
        name = case.get("name", "?")
        count.ran.append((float(case.get("time") or 0), name))
        has_failed = case.find("failure") is not None or case.get("status") == "fail"
        again = "ctest --test-dir %s --output-on-failure -R '^%s$'" % (build, re.escape(name))
        cases = build / "gtest" / (name + ".xml")
        if not cases.exists():
            count.add(name, again, has_failed, skip_reason(case), case.findtext("system-out") or "")
            continue
        program = build / ("tests/hone_%s_golden_test" % name[len("golden."):] if name.startswith("golden.") else "src/hone_%s_test" % name)
        # A program that fails without a failed case was stopped, or found a leak at its end.
        if not count.add_cases(name, cases, program) and has_failed:
            count.add(name, again, True, None, case.findtext("system-out") or "")
    return count


def main():
    count = read(sys.argv[1], pathlib.Path(sys.argv[2]))
    print(count.passed, len(count.failed), len(count.skipped))
    for name, again, lines in count.failed:
        print("F %s\t%s" % (name, again))
        for line in lines:
            print("O %s" % line)
    for name, reason in count.skipped:
        print("S %s\t%s" % (name, reason))
    for seconds, name in sorted(count.ran, reverse=True):
        print("T %.1f\t%s" % (seconds, name))


if __name__ == "__main__":
    main()
