"""Many candidates in one `hone bench --stdin`: does its memory stay flat, and does it leak descriptors, processes or device memory?

  bench/long_session.py --hone build/release/hone [--task tasks/small_gru.py] [--target cpu|cuda] [--count 100] [--check-only]

A copy of the task, a copy that computes something else, and one that crashes take turns. After every verdict it reads, from /proc, the descriptors
and the resident memory of hone itself, and the processes below it. The first ten verdicts are warm-up; after them, descriptors must not
grow at all and memory by less than a tenth. With `--target cuda` also the device's memory, which has to be what it was before, once hone has ended.
Exit code 1 if they do.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WARM_UP = 10


def candidates(task, folder):
    """A right one, a wrong one and one that crashes."""
    copy = re.sub(r"\bModel\b", "ModelNew", task.read_text())
    wrong = copy + "\n\n_right = ModelNew.forward\nModelNew.forward = lambda self, *inputs: _right(self, *[value * 1.5 for value in inputs])\n"
    crash = copy + "\n\nModelNew.forward = lambda self, *inputs: 1 // 0\n"
    paths = []
    for name, text in (("right", copy), ("wrong", wrong), ("crash", crash)):
        paths.append(folder / (name + ".py"))
        paths[-1].write_text(text)
    return paths


def below(pid):
    """Processes below `pid`, itself left out."""
    found, level = [], [pid]
    while level:
        following = []
        for one in level:
            for task in pathlib.Path("/proc/%d/task" % one).glob("*/children"):
                try:
                    following += map(int, task.read_text().split())
                except OSError:
                    pass
        found += following
        level = following
    return found


def state_of(pid):
    status = pathlib.Path("/proc/%d/status" % pid).read_text()
    resident = int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024
    return len(os.listdir("/proc/%d/fd" % pid)), resident, len(below(pid))


def device_memory():
    """MiB in use on the first device."""
    said = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], stdout=subprocess.PIPE, text=True, check=True)
    return int(said.stdout.splitlines()[0])


def settled_device_memory(wanted):
    """After a moment, since the driver takes a process apart for a while after its end."""
    until = time.monotonic() + 10
    while device_memory() > wanted and time.monotonic() < until:
        time.sleep(0.2)
    return device_memory()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--task", type=pathlib.Path, default=ROOT / "tasks" / "small_gru.py")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--check-only", action="store_true")
    options = parser.parse_args()
    on_device = device_memory if options.target == "cuda" else lambda: 0
    device_before = on_device()
    rows, verdicts, began = [], {}, time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        paths = candidates(options.task, pathlib.Path(scratch))
        command = [options.hone, "bench", str(options.task), "--stdin", "--json", "--again", "--no-save", "--compile", "never", "--target", options.target,
                   *(["--check-only"] if options.check_only else [])]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as hone:
            for number in range(options.count):
                hone.stdin.write("%s\n" % paths[number % len(paths)])
                hone.stdin.flush()
                line = hone.stdout.readline()
                if not line:
                    sys.exit("hone ended after %d verdicts" % number)
                record = json.loads(line)
                said = record.get("reason", "no verdict")
                verdicts[said] = verdicts.get(said, 0) + 1
                rows.append((*state_of(hone.pid), on_device()))
                if number % 10 == 9:
                    print("%4d verdicts  %5.0f s  %3d descriptors  %6.1f MB  %2d processes  %d MiB on the device" %
                          (number + 1, time.monotonic() - began, *rows[-1]), flush=True)
            hone.stdin.close()
            hone.wait()
    settled = rows[WARM_UP:]
    # Candidates of three kinds take turns, and the next one's interpreter may or may not be there yet: medians of both halves.
    halves = [settled[:len(settled) // 2], settled[len(settled) // 2:]]
    before, after = ([statistics.median(row[i] for row in half) for i in range(4)] for half in halves)
    print("verdicts: " + ", ".join("%s %d" % item for item in sorted(verdicts.items())))
    print("first half: %g descriptors, %.1f MB, %g processes, %g MiB on the device; second half: %g, %.1f MB, %g, %g MiB" % (*before, *after))
    leaks = after[0] > before[0] or after[1] > 1.1 * before[1] or after[2] > before[2] or after[3] > 1.1 * before[3]
    if options.target == "cuda":
        left = settled_device_memory(device_before)
        print("on the device before: %d MiB, after: %d MiB" % (device_before, left))
        leaks = leaks or left > device_before
    print("it grows" if leaks else "flat")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
