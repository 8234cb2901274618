"""What one candidate, or the machine, does to a session of several (`hone bench --stdin`) does not end it: the next one gets its verdict.

Usage: session_test.py --hone BINARY
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

from nursery_test import ROOT, TASK, Bench, NotHere

COPY = TASK.read_text().replace("class Model(", "class ModelNew(").replace("super(Model,", "super(ModelNew,")
ATTACKS = ROOT / "tests/adversarial"


def attack(name):
    """An attack on another task, for this one: what it does in a call, it does here before each."""
    text = (ATTACKS / name).read_text()
    act = text[text.index("import "):text.index("class ModelNew")]
    call = text.split("def forward(self, x):")[1].split("()")[0].strip()
    return act + COPY.replace("def forward(self, x: torch.Tensor) -> torch.Tensor:\n", "def forward(self, x: torch.Tensor) -> torch.Tensor:\n        %s()\n" % call)


def is_right(verdict):
    return verdict["gates"]["correct"] == "pass"


def seats(bench):
    """The sandboxes of candidates, as processes that Hone started."""
    return [number for number, line in bench.below().items() if "bwrap" in line[0]]


def await_seat(bench):
    for _ in range(1000):
        if seats(bench):
            return seats(bench)
        time.sleep(0.02)
    raise AssertionError("no process waits for the next candidate")


def descriptors(hone, folder):
    """descriptors of a candidate that are on their way in sockets leave Hone enough"""
    # The kernel exempts privileged users. 1024 is what most users have.
    before = ["prlimit", "--nofile=1024:4096"]
    if os.geteuid() == 0:
        before = ["setpriv", "--inh-caps=-sys_admin,-sys_resource", "--bounding-set=-sys_admin,-sys_resource", *before]
    bench = Bench(hone, folder, before=before)
    text = attack("escape/descriptors_on_their_way.py")
    for number in range(2):
        verdict = bench.judge("fills%d" % number, text)
        assert is_right(verdict), verdict
    assert is_right(bench.judge("copy", COPY))
    assert bench.end() == 0


def threads(hone, folder):
    """a candidate that starts threads without end is named, and the next one is judged"""
    bench = Bench(hone, folder)
    verdict = bench.judge("bomb", attack("broken/thread_bomb.py"))
    assert verdict["reason"] == "escaped" and "threads where" in verdict["detail"], verdict
    assert is_right(bench.judge("copy", COPY))
    bench.end()


def waiting_seats(hone, folder):
    """a process that waits for the next candidate may die"""
    bench = Bench(hone, folder)
    assert is_right(bench.judge("first", COPY))
    for number in await_seat(bench):
        os.kill(number, signal.SIGKILL)
    assert is_right(bench.judge("second", COPY))
    assert bench.end() == 0


def next_process(hone, folder):
    """a process for the next candidate that does not start costs no verdict; when it is needed, the error is that candidate's alone"""
    programs = pathlib.Path(folder) / "programs"
    programs.mkdir()
    flag = programs / "broken"
    (programs / "bwrap").write_text("#!/bin/sh\n[ -e %s ] && exit 1\nexec %s \"$@\"\n" % (flag, shutil.which("bwrap")))
    (programs / "bwrap").chmod(0o755)
    bench = Bench(hone, folder, "--sandbox", "bubblewrap", environment={"PATH": "%s:%s" % (programs, os.environ["PATH"])})
    assert is_right(bench.judge("first", COPY))
    await_seat(bench)
    flag.touch()
    assert is_right(bench.judge("second", COPY)), "its own process had started"
    failed = json.loads(bench.ask("third", COPY))
    assert failed["status"] == "failed" and "third" in failed["error"]["message"], failed
    flag.unlink()
    assert is_right(bench.judge("fourth", COPY))
    assert bench.end() == 3


def reference(hone, folder):
    """when the reference is killed, the next candidate may get an error, and the one after it a verdict"""
    bench = Bench(hone, folder)
    assert is_right(bench.judge("first", COPY))
    processes = [number for number, line in bench.below().items() if "reference" in line]
    assert len(processes) == 1, bench.below()
    processes += [int(one) for one in pathlib.Path("/proc/%d/task/%d/children" % (processes[0], processes[0])).read_text().split()]
    for number in processes:
        os.kill(number, signal.SIGKILL)
    bench.ask("second", COPY)
    assert is_right(bench.judge("third", COPY))
    bench.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--only")
    args = parser.parse_args()
    checks = [one for one in (descriptors, threads, waiting_seats, next_process, reference) if args.only in (None, one.__name__)]
    failed = skipped = 0
    for check in checks:
        with tempfile.TemporaryDirectory(prefix="hone-session-test-") as folder:
            try:
                check(args.hone, folder)
            except NotHere as error:
                skipped += 1
                print("skipped %s: %s" % (check.__name__, error))
            except AssertionError as error:
                failed += 1
                print("FAILED %s: %s" % (check.__name__, error))
            else:
                print("ok %s" % check.__name__)
    print("%d of %d checks failed" % (failed, len(checks)))
    sys.exit(1 if failed else 77 if skipped == len(checks) else 0)


if __name__ == "__main__":
    main()
