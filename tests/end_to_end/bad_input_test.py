"""Bad input and bad moments. Each must end with a clear sentence and the right exit code, leave no process and
no temporary folder, and lose no stored verdict.

Usage: bad_input_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD]
Prints one line per case; exit code 1 when any of them failed. Cases that need torch are skipped without it.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from pipeline_house import patience

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, size)

    def forward(self, x):
        return torch.relu(self.linear(x))

def get_inputs():
    return [torch.randn(64, 128)]

def get_init_inputs():
    return [128]
"""
CANDIDATE = TASK.replace("class Model(", "class ModelNew(")
ACCEPTED, REJECTED, USAGE, CANNOT, INTERRUPTED = 0, 1, 2, 3, 130
BENCH = ("--target", "cpu", "--compile", "never")


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Failed(message)


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def expect(self, code, *words):
        """Requires the exit code, all words on stderr, no crash, and nothing else on stdout."""
        codes = code if isinstance(code, tuple) else (code,)
        require(self.code in codes, "exit code %s where %s is expected: %s" % (self.code, code, self.err[-600:]))
        require("a bug in hone" not in self.err, self.err[-600:])
        for word in words:
            require(word in self.err, "stderr does not say %r: %s" % (word, self.err[-600:]))
        return self

    def silent(self):
        require(self.out == "", "stdout should be empty: %r" % self.out[:300])
        return self

    def failure(self):
        """For --json if Hone failed: requires one object that says so, and nothing else on stdout."""
        record = self.records(1)[0]
        require(record["status"] == "failed" and record["exit_code"] == self.code, "not a failure: %s" % record)
        require(record["error"]["message"].splitlines()[0] in self.err, "JSON and stderr differ: %s" % record)
        return self

    def records(self, count):
        """Exactly `count` JSON objects on stdout, one per line, and nothing else."""
        lines = self.out.splitlines()
        require(len(lines) == count, "%d lines on stdout where %d are expected: %r" % (len(lines), count, self.out[:300]))
        try:
            return [json.loads(line) for line in lines]
        except ValueError as error:
            raise Failed("stdout is not JSON: %s" % error)


class House:
    """One folder with all files that a case may touch. Its name identifies leftover processes."""

    def __init__(self, hone, python):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hone-bad-input-"))
        for name in ("data", "cache", "tmp", "files"):
            (self.folder / name).mkdir()
        self.hone = str(self.folder / "hone")
        shutil.copy2(hone, self.hone)
        self.python = python
        self.task = self.write("task.py", TASK)
        self.candidate = self.write("candidate.py", CANDIDATE)

    def write(self, name, content):
        path = self.folder / "files" / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def environment(self, changes=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("HONE_") and k != "VIRTUAL_ENV"}
        env.update(HONE_DATA=str(self.folder / "data"), HONE_CACHE=str(self.folder / "cache"), TMPDIR=str(self.folder / "tmp"))
        if self.python:
            env["HONE_PYTHON"] = self.python
        env.update(changes or {})
        return env

    def start(self, *words, env=None, stdout=subprocess.PIPE):
        return subprocess.Popen([self.hone, *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
                                env=self.environment(env), cwd=self.folder, start_new_session=True, errors="replace")

    def run(self, *words, env=None, timeout=900):
        process = self.start(*words, env=env)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed("no end after %d s" % timeout)
        return Outcome(process.returncode, out, err)

    def bench(self, *words, **more):
        if not self.python:
            raise Skipped("no Python with torch")
        return self.run("bench", *words, *BENCH, **more)

    def leftovers(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                status = (entry / "stat").read_text()
                seen = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.folder).encode() in seen and status.rpartition(")")[2].split()[0] not in "ZX":
                found.append("process %s %s" % (entry.name, (entry / "cmdline").read_bytes()[:80]))
        return found + ["folder %s" % path.name for path in (self.folder / "tmp").glob("hone-*")]

    def check_clean(self):
        # A killed process needs a moment to vanish, longer on a busy machine.
        deadline = time.monotonic() + 30
        while self.leftovers() and time.monotonic() < deadline:
            time.sleep(0.05)
        require(not self.leftovers(), "left behind: %s" % ", ".join(self.leftovers()))


# Each case is a function of the house; its docstring is its name.


def missing_task(house):
    """a task that is not there"""
    house.run("bench", "no_such_task.py", house.candidate).expect(CANNOT, "no_such_task.py", "task").silent()


def task_is_a_folder(house):
    """a task that is a folder"""
    house.run("bench", str(house.folder), house.candidate).expect(CANNOT, "is a folder").silent()


def task_is_a_device(house):
    """a task that is a device"""
    house.run("bench", "/dev/zero", house.candidate).expect(CANNOT, "not a regular file").silent()


def missing_candidate(house):
    """a candidate that is not there"""
    house.run("bench", house.task, "no_such_candidate.py").expect(CANNOT, "no_such_candidate.py", "candidate").silent()


def candidate_is_a_folder(house):
    """a candidate that is a folder"""
    house.run("bench", house.task, str(house.folder)).expect(CANNOT, "is a folder").silent()


def one_missing_of_several(house):
    """one candidate of several that is not there: said before anything is run"""
    house.run("bench", house.task, house.candidate, "gone.py").expect(CANNOT, "gone.py").silent()


def large_file(house):
    """files of 100 MB"""
    large = house.write("large.py", b"#" * 100_000_000)
    house.run("bench", large, house.candidate).expect(CANNOT, "task", "larger than").silent()
    house.run("bench", house.task, large).expect(CANNOT, "candidate", "larger than").silent()
    os.unlink(large)


def binary_file(house):
    """binary files"""
    binary = house.write("binary.py", b"\x7fELF\x02\x01\x01\x00" * 100)
    house.run("bench", binary, house.candidate).expect(CANNOT, "not a text file").silent()
    house.run("bench", house.task, binary).expect(CANNOT, "not a text file").silent()


def no_arguments(house):
    """no command, no task, no candidate"""
    house.run().expect(USAGE, "hone: see `hone --help`").silent()
    house.run("bench").expect(USAGE, "TASK", "hone: see `hone bench --help`").silent()
    house.run("bench", house.task).expect(USAGE, "CANDIDATE", "hone: see `hone bench --help`").silent()


def misspelt_command(house):
    """a misspelt command is guessed"""
    house.run("bnech", house.task, house.candidate).expect(USAGE, "did you mean `hone bench`?").silent()


def wrong_values(house):
    """values that options do not take"""
    for words in (["--target", "tpu"], ["--trials", "0"], ["--trials", "many"], ["--timeout", "-1"], ["--precision", "fp8"],
                  ["--sandbox", "mine"], ["--no-such-option"], ["--target"]):
        house.run("bench", house.task, house.candidate, *words).expect(USAGE, words[0], "see `hone bench --help`").silent()


def json_on_failure(house):
    """--json prints JSON when the command fails, too"""
    house.run("bench", "gone.py", house.candidate, "--json").expect(CANNOT, "gone.py").failure()
    house.run("optimize", "gone.py", "--json").expect(CANNOT, "gone.py").failure()
    house.run("suite", "gone/", "--json").expect(CANNOT, "gone/").failure()
    house.run("optimize", house.task, "--json", "--seeds", "0").expect(USAGE, "--seeds", "see `hone optimize --help`").failure()


def lint_of_a_missing_file(house):
    """lint of a file that is not there, alone and among good ones"""
    house.run("lint", "nope.py").expect(CANNOT, "nope.py")
    done = house.run("lint", house.candidate, "nope.py", "--json").expect(CANNOT, "nope.py")
    record = json.loads(done.out)
    require(len(record["files"]) == 1 and record["unreadable"][0]["path"] == "nope.py", "not named: %s" % done.out[:300])
    (house.folder / "files" / "empty").mkdir(exist_ok=True)
    house.run("lint", str(house.folder / "files" / "empty")).expect(CANNOT, "empty")


def cuda_without_a_gpu(house):
    """--target cuda where there is no GPU"""
    if not house.python:
        raise Skipped("no Python with torch")
    if os.path.exists("/dev/nvidia0") or os.path.exists("/dev/dxg"):
        raise Skipped("there is a GPU")
    house.run("bench", house.task, house.candidate, "--target", "cuda").expect(CANNOT, "--target cuda", "GPU").silent()


def python_without_torch(house):
    """--python without torch"""
    venv = house.folder / "venv"
    made = subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], capture_output=True)
    if made.returncode != 0:
        raise Skipped("no venv module here")
    program = str(venv / "bin" / "python3")
    house.run("bench", house.task, house.candidate, "--python", program).expect(CANNOT, "torch").silent()
    house.run("bench", house.task, house.candidate, env={"HONE_PYTHON": program}).expect(CANNOT, "torch").silent()


def python_that_is_none(house):
    """--python that is not there, not a program, or not Python"""
    for program in ("/no/such/python", "/etc/passwd", "/bin/true", "/bin/cat"):
        house.run("bench", house.task, house.candidate, "--python", program).expect(CANNOT, program).silent()


def unknown_verdict(house):
    """a verdict that is not in the store"""
    house.run("show", "V999999").expect(CANNOT, "V999999").silent()


def store_that_is_none(house):
    """a store that is not one, and one below a file"""
    data = house.folder / "corrupt"
    data.mkdir()
    (data / "hone.db").write_bytes(b"not a database " * 1000)
    house.run("runs", env={"HONE_DATA": str(data)}).expect(CANNOT, str(data)).silent()
    require((data / "hone.db").read_bytes() == b"not a database " * 1000, "it changed a file that is not its own")
    house.run("runs", env={"HONE_DATA": house.task + "/data"}).expect(CANNOT, house.task).silent()


def suite_of_helpers(house):
    """a suite passes over files without a Model, says which, and is an error when none is left"""
    folder = house.folder / "files" / "helpers"
    folder.mkdir(exist_ok=True)
    (folder / "helper.py").write_text("def f():\n    return 1\n")
    (folder / "candidate.py").write_text(CANDIDATE)
    house.run("suite", str(folder)).expect(CANNOT, "none of 2 Python files defines a class Model").silent()


def advice_of_gc(house):
    """gc says how to do what it listed: with the same flags"""
    if not house.python:
        raise Skipped("no Python with torch")
    if not house.run("runs", "--verdicts", "--json").expect(0).out:  # with --only; otherwise earlier cases have left some
        house.bench(house.task, house.write("bad.py", ""), "--json").expect(REJECTED)
    listed = house.run("gc", "--older-than", "0", "--keep-files").expect(0).out
    advice = [line.split("hone ")[1] for line in listed.splitlines() if "to delete them: hone gc" in line]
    require(advice == ["gc --older-than 0 --keep-files --yes"], "advice: %s" % listed)
    count = len(house.run("runs", "--verdicts", "--json").expect(0).out.splitlines())
    house.run(*advice[0].split()).expect(0)
    left = len(house.run("runs", "--verdicts", "--json").expect(0).out.splitlines())
    require(left < count, "%d verdicts before and %d after" % (count, left))


def own_python_with_another_store(house):
    """HONE_DATA moves the store and does not hide the Python of the default data folder"""
    share = house.folder / "share" / "hone" / "python" / "bin"
    share.mkdir(parents=True, exist_ok=True)
    answer = '{"version": "3.11.2", "torch": "2.11.0", "cuda": "", "triton": "", "read_paths": ["/usr"]}'
    (share / "python3").write_text("#!/bin/sh\necho '%s'\n" % answer)
    (share / "python3").chmod(0o755)
    nothing = house.folder / "nothing"
    nothing.mkdir(exist_ok=True)
    env = {"XDG_DATA_HOME": str(house.folder / "share"), "HONE_PYTHON": "", "PATH": str(nothing)}
    python = json.loads(house.run("doctor", "--json", env=env).expect((0, CANNOT)).out)["python"]
    require(python and python["program"] == str(share / "python3"), "doctor sees %s" % python)


def closed_output(house):
    """output that nobody reads"""
    for words in (["--help"], ["--version"], ["doctor"], ["doctor", "--json"], ["completion", "bash"], ["runs"], ["bench", "--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        process = house.start(*words, stdout=writing)
        os.close(writing)
        _, err = process.communicate(timeout=600)
        Outcome(process.returncode, "", err).expect((0, 1, 2, 3))


def good_run(house):
    """--json is one object and nothing else, with the fields of the contract, and is saved"""
    begin = time.monotonic()
    done = house.bench(house.task, house.candidate, "--json").expect((ACCEPTED, REJECTED))
    house.good_seconds = time.monotonic() - begin
    record = done.records(1)[0]
    require(done.code == (0 if record["verdict"] == "accepted" else 1), "exit code %d for %s" % (done.code, record["verdict"]))
    require(done.err == "", "--json without a terminal says nothing on stderr: %r" % done.err[:300])
    for field in ("verdict", "kind", "reason", "detail", "speedup", "error", "gates", "launches", "provenance"):
        require(field in record, "no field %r" % field)
    require(record["verdict"] in ("accepted", "no_difference", "rejected", "inconclusive"), record["verdict"])
    require(record["error"]["candidate"] <= record["error"]["limit"], "a plain copy is over the limit")
    require(set(record["gates"].values()) <= {"pass", "fail", "skipped"}, "odd gates")
    listed = house.run("runs", "--verdicts", "--json").expect(0).records(1)[0]
    shown = house.run("show", listed["id"], "--json").expect(0).records(1)[0]
    require(shown["reason"] == record["reason"] and shown["verdict"] == record["verdict"], "the stored verdict is another one")


def piped_into_head(house):
    """output piped into `head -1` ends well"""
    if not house.python:
        raise Skipped("no Python with torch")
    begin = time.monotonic()
    bench = house.start("bench", house.task, house.candidate, *BENCH, "--again", "--verbose", "--no-save")
    head = subprocess.run(["head", "-1"], stdin=bench.stdout, stdout=subprocess.PIPE, text=True)
    bench.stdout.close()
    err = bench.stderr.read()
    Outcome(bench.wait(timeout=600), "", err).expect((ACCEPTED, REJECTED))
    # The first run also measured the machine; this one takes the usual time.
    house.good_seconds = min(house.good_seconds, time.monotonic() - begin)
    require(len(head.stdout.splitlines()) == 1 and "candidate for task" in head.stdout, "head saw %r" % head.stdout)
    require("\x1b" not in head.stdout + err, "colour without a terminal")


def known_verdict(house):
    """a verdict on the same bytes comes from the store and says so; other bytes and --again are judged"""
    wrong = CANDIDATE.replace("return torch.relu", "return 1.5 * torch.relu")
    path = house.write("wrong.py", wrong)
    fresh = house.bench(house.task, path, "--json").expect(REJECTED).records(1)[0]
    require(fresh["reason"] == "wrong-output" and fresh["from_store"] is None, "fresh: %s" % fresh["reason"])
    known = house.bench(house.task, path, "--json").expect(REJECTED).records(1)[0]
    listed = json.loads(house.run("runs", "--verdicts", "-n", "1", "--json").expect(0).out)
    require(known["from_store"] == {"id": listed["id"], "created": listed["created"]}, "from_store: %s" % known["from_store"])
    require(known["provenance"]["seeds"] == fresh["provenance"]["seeds"], "not the stored verdict")
    text = house.bench(house.task, path).expect(REJECTED).out
    require(text.startswith("taken from the store: %s of %s; --again judges anew\n" % (listed["id"], listed["created"])), text[:300])
    copy = house.write("copy.py", wrong)
    other = house.write("other.py", wrong + "# another file\n")
    records = house.bench(house.task, copy, other, "--json").expect(REJECTED).records(2)
    require(records[0]["from_store"] and not records[1]["from_store"], "the name counts, or the bytes do not")
    again = house.bench(house.task, path, "--again", "--no-save", "--json").expect(REJECTED).records(1)[0]
    require(again["from_store"] is None and again["provenance"]["seeds"] != known["provenance"]["seeds"], "--again did not judge anew")


# Every other mistake in a task is a row of task_errors_test.py.
BAD_TASKS = {
    "whose forward raises": (TASK.replace("return torch.relu", "raise ValueError('by design'); return torch.relu"), ["by design"]),
    "that exits at import": ("import os; os._exit(0)\n" + TASK, ["exit"]),
}


def bad_task(what):
    def case(house):
        source, words = BAD_TASKS[what]
        path = house.write("bad_task.py", source)
        house.bench(path, house.candidate, "--json").expect(CANNOT, *words).failure()

    case.__doc__ = "a task " + what
    case.__name__ = "task_" + what.replace(" ", "_")
    return case


def bad_candidates(house):
    """candidates without ModelNew, with a syntax error, in no encoding, empty: a verdict each, exit code 1"""
    files = {
        "without ModelNew": TASK,
        "with a syntax error": CANDIDATE + "\ndef broken(:\n",
        "in no encoding": b"NAME = '\xff\xfe'\n" + CANDIDATE.encode(),
        "empty": "",
        "with a ModelNew that is no class": "ModelNew = 7\n",
    }
    paths = [house.write("bad_%d.py" % i, content) for i, content in enumerate(files.values())]
    done = house.bench(house.task, *paths, "--json", "--no-save").expect(REJECTED)
    for what, record in zip(files, done.records(len(files))):
        require(record["verdict"] == "rejected", "%s: %s" % (what, record["verdict"]))
        require(record["reason"] in ("import-failed", "crashed"), "%s: %s" % (what, record["reason"]))
        require(record["detail"], "%s: no detail" % what)


def unwritable_places(house):
    """HONE_DATA and HONE_CACHE below a file: the verdict comes all the same, with a warning"""
    env = {"HONE_DATA": house.task + "/data", "HONE_CACHE": house.task + "/cache"}
    done = house.bench(house.task, house.candidate, "--check-only", "--json", env=env).expect((ACCEPTED, REJECTED), "not saved")
    require(done.records(1)[0]["verdict"], "no verdict")


class FullDisk:
    """A full mount of 64 KiB, which only root can create."""

    def __init__(self, house):
        self.place = house.folder / "full"

    def __enter__(self):
        self.place.mkdir(exist_ok=True)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(self.place)], capture_output=True)
        if made.returncode != 0:
            raise Skipped("cannot mount a small file system here")
        filler = os.open(self.place / "filler", os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(filler, b"x" * 4096)
        except OSError:
            pass
        os.close(filler)
        return str(self.place)

    def __exit__(self, *_):
        subprocess.run(["umount", str(self.place)], capture_output=True)


def full_disk_for_the_store(house):
    """a full disk under HONE_DATA and HONE_CACHE: the verdict comes all the same, with a warning"""
    with FullDisk(house) as place:
        env = {"HONE_DATA": place + "/data", "HONE_CACHE": place + "/cache"}
        done = house.bench(house.task, house.candidate, "--check-only", "--json", env=env).expect((ACCEPTED, REJECTED), "not saved")
        require(done.records(1)[0]["verdict"], "no verdict")


def full_disk_for_temporaries(house):
    """a full disk under TMPDIR: Hone cannot do its job and says so"""
    with FullDisk(house) as place:
        done = house.bench(house.task, house.candidate, "--again", "--json", env={"TMPDIR": place})
        done.expect(CANNOT, "No space left", place).failure()
        require(not list(pathlib.Path(place).glob("hone-*")), "left behind: %s" % list(pathlib.Path(place).glob("hone-*")))


def interrupted(share):
    def case(house):
        if not house.python:
            raise Skipped("no Python with torch")
        before = len(house.run("runs", "--verdicts", "--json").expect(0).out.splitlines())
        process = house.start("bench", house.task, house.candidate, *BENCH, "--again", "--json")
        try:
            process.wait(timeout=share * house.good_seconds)
            raise Skipped("it was done before the signal")
        except subprocess.TimeoutExpired:
            pass
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        try:
            out, err = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed("still there 600 s after the signal")
        seconds = time.monotonic() - begin
        if process.returncode in (ACCEPTED, REJECTED) and out.strip():
            raise Skipped("it was done as the signal came")
        Outcome(process.returncode, out, err).expect(INTERRUPTED, "interrupted").failure()
        require(seconds < patience(20), "it took %.1f s to end" % seconds)
        stored = len(house.run("runs", "--verdicts", "--json").expect(0).out.splitlines())
        require(stored == before, "%d stored verdicts where there were %d" % (stored, before))

    case.__doc__ = "Ctrl-C after %d%% of a run" % round(100 * share)
    case.__name__ = "interrupted_%d" % round(100 * share)
    return case


CASES = [
    missing_task, task_is_a_folder, task_is_a_device, missing_candidate, candidate_is_a_folder, one_missing_of_several, large_file,
    binary_file, no_arguments, misspelt_command, wrong_values, json_on_failure,
    lint_of_a_missing_file, cuda_without_a_gpu, python_without_torch, python_that_is_none,
    unknown_verdict, store_that_is_none, suite_of_helpers, own_python_with_another_store, closed_output, good_run, known_verdict, piped_into_head, *[bad_task(what) for what in BAD_TASKS],
    bad_candidates, unwritable_places, full_disk_for_the_store, full_disk_for_temporaries, advice_of_gc,
    *[interrupted(share) for share in (0.01, 0.12, 0.3, 0.5, 0.7, 0.9)],
]


def python_with_torch(hone, asked):
    if asked:
        return asked
    done = subprocess.run([hone, "doctor", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        python = json.loads(done.stdout)["python"]
        return python["program"] if python.get("torch") else None
    except (ValueError, KeyError, TypeError):
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--python", help="an interpreter with torch; else what hone itself would take")
    parser.add_argument("--only", help="cases whose name holds this word")
    args = parser.parse_args()
    house = House(args.hone, python_with_torch(args.hone, args.python))
    house.good_seconds = 8.0
    failures = 0
    try:
        for case in CASES:
            if args.only and args.only not in case.__doc__ and args.only not in case.__name__:
                continue
            begin = time.monotonic()
            try:
                try:
                    case(house)
                finally:
                    house.check_clean()
                word, why = "ok", ""
            except Skipped as reason:
                word, why = "skip", " (%s)" % reason
            except Failed as reason:
                word, why = "FAIL", "\n       " + str(reason).replace("\n", "\n       ")
                failures += 1
            print("%-4s %5.1fs  %s%s" % (word, time.monotonic() - begin, case.__doc__, why), flush=True)
    finally:
        shutil.rmtree(house.folder, ignore_errors=True)
    print("%d of %d failed" % (failures, len(CASES)) if failures else "all good")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
