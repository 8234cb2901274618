"""What a build costs: processor time of all compilers, by room and by file, and how long one edit takes.

  bench/build_time.py                 configures and builds `hone` in a temporary folder, without ccache
  bench/build_time.py --tests         with all test programs
  bench/build_time.py --edits         also: one .cpp of every room, base/json.h and base/result.h are touched, and the binary is built again

Processor time is what the compilers used (user + system); it does not depend on what else the machine does. Wall times
do: they mean something on a quiet machine only. The limits are those of a machine with two cores: 450 s of processor time and 240 s
in all, 20 s for one .cpp, 90 s for one of the two headers.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def launch(log, command):
    """Runs one compiler and notes its processor time. CMake calls this file in place of the compiler."""
    code = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command else command[-1]
    with open(log, "a") as file:
        file.write(json.dumps([output, used.ru_utime + used.ru_stime]) + "\n")
    return code


def build(folder, jobs, targets):
    began = time.monotonic()
    subprocess.run(["ninja", "-C", folder, "--quiet", "-j", str(jobs), *targets], check=True)
    return time.monotonic() - began


def room_of(output):
    match = re.search(r"CMakeFiles/(?:hone_)?(\w+)\.dir", output)
    return match.group(1) if match else "other"


def source_of(output, source, folder):
    """The source behind an object, from the root; of several that are compiled together, the first. None for others."""
    together = pathlib.Path(folder, output.removesuffix(".o"))
    if together.parent.name == "Unity" and together.is_file():
        path = pathlib.Path(re.search(r'#include "([^"]+)"', together.read_text()).group(1))
        return str(path.relative_to(source)) if path.is_relative_to(source) else None
    path = re.sub(r".*\.dir/", "src/", output).removesuffix(".o")
    return path if (source / path).is_file() else None


def edit(source, path, folder, jobs):
    """Seconds until the binary is there again after `path` changed. A comment is added, so that nothing is taken from a cache."""
    file = source / path
    text = file.read_text()
    file.write_text(text + f"// edited {time.monotonic_ns()}\n")
    try:
        return build(folder, jobs, ["hone"])
    finally:
        file.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", action="store_true", help="build the test programs too")
    parser.add_argument("--edits", action="store_true", help="also time the build after single edits")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="compilers at a time (default: one per core)")
    parser.add_argument("--launch", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.launch:
        return launch(options.launch[0], options.launch[1:])
    with tempfile.TemporaryDirectory(prefix="hone-build-") as temporary:
        source = pathlib.Path(temporary) / "source"  # a copy, so that an interrupted edit harms nothing
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
        for name in files.stdout.splitlines():
            if (ROOT / name).is_file():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, source / name)
        folder, log = str(source / "build" / "release"), str(pathlib.Path(temporary) / "compilers.jsonl")
        launcher = ";".join([sys.executable, str(pathlib.Path(__file__).resolve()), "--launch", log])
        began = time.monotonic()
        configure = ["cmake", "--preset", "release", f"-DHONE_TESTS={'ON' if options.tests else 'OFF'}", "--log-level=NOTICE"]
        configure += [f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX", "ASM")]
        subprocess.run(configure, cwd=source, check=True, stdout=subprocess.DEVNULL)
        configured = time.monotonic() - began
        open(log, "w").close()
        wall = build(folder, options.jobs, [] if options.tests else ["hone"])
        rows = [json.loads(line) for line in open(log)]

        rooms = collections.defaultdict(lambda: [0, 0.0])
        for output, seconds in rows:
            rooms[room_of(output)][0] += 1
            rooms[room_of(output)][1] += seconds
        print(f"{'room':<24} {'files':>5} {'processor s':>12}")
        for name, (count, seconds) in sorted(rooms.items(), key=lambda item: -item[1][1]):
            print(f"{name:<24} {count:>5} {seconds:>12.1f}")
        total = sum(seconds for _, seconds in rows)
        print(f"{'all':<24} {len(rows):>5} {total:>12.1f}    configured in {configured:.0f} s, built in {wall:.0f} s with {options.jobs} jobs")
        print("\nthe ten worst files")
        for output, seconds in sorted(rows, key=lambda row: -row[1])[:10]:
            print(f"{seconds:>8.1f} s  {re.sub(r'.*CMakeFiles/', '', output)}")
        if options.edits:
            print("\nthe binary again after an edit of")
            per_room = {}
            for output, seconds in sorted(rows, key=lambda row: row[1]):  # the last one stays: a room's worst file
                path = source_of(output, source, folder)
                if path:
                    per_room[room_of(output)] = path
            for path in [*sorted(per_room.values()), "src/base/json.h", "src/base/result.h"]:
                print(f"{edit(source, path, folder, options.jobs):>8.1f} s  {path}", flush=True)
        return 0 if total <= 450 or options.tests else 1


if __name__ == "__main__":
    sys.exit(main())
