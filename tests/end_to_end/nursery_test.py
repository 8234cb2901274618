"""Candidates are forks of one interpreter that imported torch (src/evaluation/nursery.h). Tests what they must not inherit from it, from
Hone or from each other, and what happens if it dies.

Usage: nursery_test.py --hone BINARY
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = ROOT / "tasks/small_softmax.py"
SECRET = "swordfish-%d" % os.getpid()

# Reports what it sees as the message of its failure.
LOOKS_AROUND = """
import json, os, random, resource, sys, tempfile
import numpy, torch
def links(folder):
    found = {}
    for name in os.listdir(folder):
        try: found[name] = os.readlink(folder + "/" + name)
        except OSError: pass
    return found
lines = [line.split() for line in open("/proc/self/maps")]
status = dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))
seen = {
    "number": NUMBER, "cmdline": open("/proc/self/cmdline").read().split("\\0"), "argv": sys.argv,
    "environ": dict(os.environ), "environ_at_start": open("/proc/self/environ").read(),
    "descriptors": links("/proc/self/fd"), "shared_memory": [line for line in lines if line[1][1] == "w" and line[1][3] == "s"],
    "folder": os.getcwd(), "temporary": tempfile.gettempdir(), "tmp": os.listdir("/tmp"),
    "processes": [name for name in os.listdir("/proc") if name.isdigit()], "namespaces": links("/proc/self/ns"),
    "random": [random.random(), float(numpy.random.rand())],
    "capabilities": [status[name].strip() for name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb")],
    "confined": [status[name].strip() for name in ("NoNewPrivs", "Seccomp")], "session": os.getsid(0) != 0,
    "manners": {
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")},
        "nice": os.nice(0), "policy": os.sched_getscheduler(0), "affinity": sorted(os.sched_getaffinity(0)), "umask": os.umask(0o077),
        "signals": [status[name].strip() for name in ("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd")],
        "expendable": open("/proc/self/oom_score_adj").read().strip(), "ids": [status[name].split() for name in ("Uid", "Gid")],
    },
    "program": os.readlink("/proc/self/exe"), "program_read_only": bool(os.statvfs("/proc/self/exe").f_flag & os.ST_RDONLY),
}
open("left_behind", "w").write("x")
raise SystemExit(json.dumps(seen))
"""


# Asks to change the times of a file of its own, and another thread puts the way to the interpreter's file in place of the path, sooner or
# later after Hone was asked.
REPLACES_THE_PATH = """
import collections, ctypes, errno, json, os, sys, threading, time
sys.setswitchinterval(1e-5)
libc = ctypes.CDLL(None, use_errno=True)
own, program = b"./////////own", b"/proc/self/exe"
own = own.replace(b"./", b".//", 1)
assert len(own) == len(program), (len(own), len(program))
open("own", "w").close()
path = ctypes.create_string_buffer(own)
times = (ctypes.c_long * 4)(MARK, 0, 0, 0x3FFFFFFE)
turn, delay, ended = [0], [0.0], []
def replace():
    seen = 0
    while not ended:
        if turn[0] == seen:
            time.sleep(0)
            continue
        seen = turn[0]
        until = time.perf_counter() + delay[0]
        while time.perf_counter() < until: pass
        ctypes.memmove(path, program, len(program))
other = threading.Thread(target=replace, daemon=True)
other.start()

for attempt in range(600):
    ctypes.memmove(path, own, len(own))
    delay[0] = 1e-6 * (attempt % 200)
    turn[0] += 1
    libc.utimensat(-100, path, times, 0)
ended.append(1)
raise SystemExit("it tried %d times" % turn[0])
"""
LONG_AGO = 1_000_000_000

# Does what torch.compile does with the first module that it compiles. Reports the processes that this started.
WARMS_UP = """
import json, os, torch
from torch._inductor import async_compile
from torch.utils._triton import has_triton_package
before = set(os.listdir("/proc"))
async_compile.maybe_warm_pool()
started = [name for name in os.listdir("/proc") if name.isdigit() and name not in before]
raise SystemExit(json.dumps({"started": started, "triton": has_triton_package()}))
"""


class NotHere(Exception):
    """This machine does not support this sandbox."""


class Bench:
    """One `hone bench --stdin` that gets its files one by one."""

    def __init__(self, hone, folder, *flags, before=(), environment=()):
        self.folder = pathlib.Path(folder)
        self.said = open(self.folder / "said", "w+")
        self.process = subprocess.Popen(
            [*before, hone, "bench", str(TASK), "--stdin", "--json", "--no-save", "--again", "--no-lint", "--check-only", "--target", "cpu", *flags], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.said, text=True,
            env={**os.environ, "HONE_DATA": str(self.folder / "data"), "A_SECRET": SECRET, **dict(environment)})

    def ask(self, name, text):
        """The line that Hone prints for a file."""
        path = self.folder / (name + ".py")
        path.write_text(text)
        self.process.stdin.write("%s\n" % path)
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def judge(self, name, text):
        line = self.ask(name, text)
        if not line or "verdict" not in json.loads(line):
            self.process.wait()
            self.said.seek(0)
            said = line + self.said.read()[-2000:]
            if "bubblewrap does not work here" in said or "has no Landlock" in said:
                raise NotHere(said)
            raise AssertionError("hone bench ended with %s: %s" % (self.process.returncode, said))
        return json.loads(line)

    def look_around(self, number):
        verdict = self.judge("looks%d" % number, LOOKS_AROUND.replace("NUMBER", str(number)))
        assert verdict["reason"] == "import-failed", verdict
        detail = verdict["detail"]
        return json.JSONDecoder().raw_decode(detail[detail.index("{"):])[0]

    def below(self):
        """Command lines of its descendants, by process id."""
        parents, lines = {}, {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    lines[int(entry.name)] = (entry / "cmdline").read_text().split("\0")
                except OSError:
                    pass
        return {number: lines[number] for number, parent in parents.items() if parent == self.process.pid}

    def nursery(self):
        found = [number for number, line in self.below().items() if "nursery" in line]
        assert len(found) <= 1, found
        return found[0] if found else None

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.said.close()
        return self.process.returncode


def check_inherited(seen, level):
    assert "nursery" in seen["cmdline"], seen["cmdline"]
    assert seen["argv"][1:] == ["3", "candidate", "cpu"], seen["argv"]
    text = json.dumps(seen["environ"]) + seen["environ_at_start"]
    assert SECRET not in text and "HONE_DATA" not in text, "the environment came along"
    assert seen["environ"]["HOME"] == seen["environ"]["TMPDIR"] == seen["folder"] == seen["temporary"], seen["environ"]
    # Paths of watched calls can change after Hone has checked them. Then only the mount protects the shared interpreter.
    assert seen["program_read_only"], "the interpreter's own file could be changed by way of /proc/self/exe"
    assert seen["program"] == os.path.realpath(seen["program"]) and os.path.isfile(seen["program"]), seen["program"]
    places = set(seen["descriptors"].values())
    assert all(place.startswith(("/dev/null", "pipe:", "socket:")) for place in places), places
    assert len(places) <= 4, "more descriptors than stdin, stdout, stderr and the channel: %s" % seen["descriptors"]
    assert not seen["shared_memory"], seen["shared_memory"]
    assert seen["tmp"] == [os.path.basename(seen["folder"])], seen["tmp"]
    assert len(seen["processes"]) <= 4, seen["processes"]
    assert all(set(one) == {"0"} for one in seen["capabilities"]), seen["capabilities"]
    assert seen["confined"] == ["1", "2"], seen["confined"]
    assert seen["session"], "its session is that of a process outside"
    outside = {name: os.readlink("/proc/self/ns/" + name) for name in ("mnt", "pid", "net", "ipc", "uts")}
    for name, place in outside.items():
        assert seen["namespaces"][name] != place, "%s is that of outside (%s)" % (name, level)


def check_interpreter_stays(bench, program):
    """Hone sees the replaced path in some of the tries and refuses; in the others the mount does."""
    verdict = bench.judge("replaces", REPLACES_THE_PATH.replace("MARK", str(LONG_AGO)))
    told = verdict["reason"] == "escaped" and "times of" in verdict["detail"] or "it tried 600 times" in verdict["detail"]
    assert verdict["verdict"] == "rejected" and told, verdict
    assert os.stat(program).st_atime != LONG_AGO, "a candidate changed the times of %s" % program


def inherits_nothing(hone, folder, level):
    """a candidate has nothing of the nursery's, of Hone's or of another candidate's, and cannot change the interpreter's own file"""
    bench = Bench(hone, folder, "--sandbox", level)
    first = bench.look_around(1)
    if "nursery" not in first["cmdline"]:
        bench.end()
        return "nobody can come into a sandbox of level %s here" % level
    second = bench.look_around(2)
    for seen in (first, second):
        check_inherited(seen, level)
    assert first["folder"] != second["folder"]
    assert first["namespaces"]["pid"] != second["namespaces"]["pid"] or first["namespaces"]["mnt"] != second["namespaces"]["mnt"]
    check_interpreter_stays(bench, first["program"])
    assert first["random"][0] != second["random"][0] and first["random"][1] != second["random"][1], "two candidates draw the same"
    assert bench.end() == 1
    return ""


def ends_as_before(hone, folder, level):
    """how a candidate ends is told as it is, whichever way it came in"""
    ways = {}
    for nursery in (True, False):
        bench = Bench(hone, folder, "--sandbox", level)
        if not nursery:
            bench.look_around(1)
            if bench.nursery():
                os.kill(bench.nursery(), signal.SIGKILL)
            bench.look_around(2)  # its interpreter may have existed before
        found = []
        for name, text in {
            "exits": "import os; os._exit(7)", "crashes": "import ctypes; ctypes.string_at(0)",
            "speaks": "import os; os.write(2, b'last words\\n'); os._exit(3)",
        }.items():
            verdict = bench.judge(name, text)
            found.append((name, verdict["verdict"], verdict["reason"], "last words" in verdict["detail"]))
        ways[nursery] = found
        bench.end()
    assert ways[True] == ways[False], ways
    return ""


def starts_no_helpers(hone, folder, level):
    """torch.compile starts no processes that would run beside timed calls"""
    bench = Bench(hone, folder, "--sandbox", level)
    detail = bench.judge("warms_up", WARMS_UP)["detail"]
    bench.end()
    seen = json.JSONDecoder().raw_decode(detail[detail.index("{"):])[0]
    assert not seen["started"], "%s started" % seen["started"]
    return "" if seen["triton"] else "torch.compile starts them only where Triton is installed"


def goes_on_without(hone, folder, level):
    """when the nursery is killed, interpreters start in their sandboxes again, and verdicts stay"""
    bench = Bench(hone, folder, "--sandbox", level)
    first = bench.look_around(1)
    if "nursery" not in first["cmdline"]:
        bench.end()
        return "nobody can come into a sandbox of level %s here" % level
    os.kill(bench.nursery(), signal.SIGKILL)
    bench.look_around(2)
    third = bench.look_around(3)
    assert "nursery" not in third["cmdline"] and "candidate" in third["cmdline"], third["cmdline"]
    for name, found in first["manners"].items():
        assert found == third["manners"][name], "%s differs: %s from the nursery, %s fresh" % (name, found, third["manners"][name])
    copy = TASK.read_text().replace("class Model(", "class ModelNew(").replace("super(Model,", "super(ModelNew,")
    verdict = bench.judge("copy", copy)
    assert verdict["gates"]["correct"] == "pass", verdict
    assert bench.end() == 1
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    args = parser.parse_args()
    failed = skipped = 0
    cases = [(starts_no_helpers, "bubblewrap")]
    cases += [(check, level) for level in ("bubblewrap", "landlock") for check in (inherits_nothing, ends_as_before, goes_on_without)]
    for check, level in cases:
        with tempfile.TemporaryDirectory(prefix="hone-nursery-test-") as folder:
            try:
                why_not = check(args.hone, folder, level)
            except NotHere as error:
                skipped += 1
                print("skipped %s: %s" % (check.__name__, error))
            except AssertionError as error:
                failed += 1
                print("FAILED %s, %s: %s" % (check.__name__, level, error))
            else:
                skipped += bool(why_not)
                print("%s %s, %s" % ("skipped" if why_not else "ok", check.__name__, why_not or level))
    print("%d of %d checks failed" % (failed, len(cases)))
    sys.exit(1 if failed else 77 if skipped == len(cases) else 0)


if __name__ == "__main__":
    main()
