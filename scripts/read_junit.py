#!/usr/bin/env python3
"""Reads what `ctest --output-junit` wrote. Prints "passed failed skipped" on the first line, then a line per
failed test ("F name<tab>regex for ctest -R"), per skipped one ("S name<tab>reason") and per test that ran ("T seconds<tab>name").
Usage: read_junit.py FILE"""
import re
import sys
import xml.etree.ElementTree


def main():
    passed, failed, skipped, ran = 0, [], [], []
    for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        name, status = case.get("name", "?"), case.get("status", "")
        ran.append((float(case.get("time") or 0), name))
        if case.find("failure") is not None or status == "fail":
            failed.append(name)
        elif case.find("skipped") is not None or status in ("notrun", "disabled"):
            output = case.findtext("system-out") or ""
            lines = [line.strip() for line in output.splitlines()]
            reason = next((lines[i + 1] for i, line in enumerate(lines[:-1]) if line.endswith("Skipped")), "")
            skipped.append((name, reason or (lines[-1] if lines else "")))
        else:
            passed += 1
    print(passed, len(failed), len(skipped))
    for name in failed:
        print(f"F {name}\t^{re.escape(name)}$")
    for name, reason in skipped:
        print(f"S {name}\t{reason}")
    for seconds, name in sorted(ran, reverse=True):
        print(f"T {seconds:.1f}\t{name}")


if __name__ == "__main__":
    main()
