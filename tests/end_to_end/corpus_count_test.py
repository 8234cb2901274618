"""What docs/JUDGE.md says about how much of tests/adversarial CTest judges, against the groups and names in tests/CMakeLists.txt.

Usage: corpus_count_test.py [--missing]     (--missing: names the files for a CPU that no test judges)
Exit code 1 when the page says something else.
"""

import pathlib
import re
import sys
import tempfile

import run_adversarial

ROOT = run_adversarial.ROOT


def judged(found, cmake):
    """The candidates for a CPU that a test of CTest judges."""
    groups = re.search(r"set\(adversarial_tested ([^)]*)\)", cmake)[1].split()
    names = {one.name for one in found if one.group() in groups and not one.slow}
    for call in re.findall(r"hone_end_to_end\(adversarial_\w+ (\$\{(?:adversarial|landlock)\}[^)]*)\)", cmake):
        words = re.search(r"--only (\S+)", call)
        if words:
            names |= {one.name for one in found if any(word in one.name for word in words[1].split(",")) and ("--slow" in call or not one.slow)}
    return names


def main():
    with tempfile.TemporaryDirectory() as copies:
        found = [one for one in run_adversarial.collect(pathlib.Path(copies)) if "cpu" in one.targets]
    files = {one.name for one in found if not one.name.startswith("copy_of_")}
    by_ctest = judged(found, (ROOT / "tests/CMakeLists.txt").read_text())
    by_unit_tests = {one.name for one in found if one.group().endswith(":unit")} - by_ctest
    counts = (len(files & by_ctest), len(files), len(by_ctest - files), len(found) - len(files), len(by_unit_tests))
    said = re.search(r"judges (\d+) of the (\d+) files for a CPU, and (\d+) of the (\d+) copies.*?unit tests have the gates of (\d+) more", (ROOT / "docs/JUDGE.md").read_text(), re.S)
    if "--missing" in sys.argv:
        print(" ".join(sorted(files - by_ctest - by_unit_tests)))
    if said is None or tuple(map(int, said.groups())) != counts:
        print("docs/JUDGE.md should say: judges %d of the %d files for a CPU, and %d of the %d copies; unit tests have the gates of %d more" % counts)
        return 1
    print("%d of %d files, %d of %d copies, %d by unit tests" % counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
