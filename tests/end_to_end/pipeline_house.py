"""Shared by the tests of `hone optimize` and related commands: a house per test (its own HONE_DATA and folder for runs, one HONE_CACHE
for all, so that peak rates are measured once), the store as plain rows, the fake model server, and a runner that prints a line per
test.

A test is a function of the house; its docstring is its name. No test may leave a process behind. CTest runs each test separately (--list,
--case), beside others unless it is marked with @timed or @waits. `pipeline_house.py --hone BINARY` runs before all of them: it finds
Python and measures peak rates once, into the folder HONE_TEST_CACHE.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "end_to_end"
SLOW_ROWS = HERE / "tasks" / "slow_rows.py"
SMALL_SOFTMAX = ROOT / "tasks" / "small_softmax.py"
ACCEPTED, REJECTED, USAGE, CANNOT, INTERRUPTED = 0, 1, 2, 3, 130
QUICK = ("--target", "cpu", "--compile", "never", "--baselines", "eager", "--trials", "5")
RIGHT_REASONS = ("faster", "no-difference", "slower")


def timed(case):
    """Marks a test of speed. CTest runs nothing else beside it."""
    case.timed = "timed"
    return case


def waits(case):
    """Marks a test of the speed of candidates that sleep instead of using the processors. CTest runs one other such test beside it."""
    case.timed = "waits"
    return case


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Failed(message)


def require_equal(found, wanted, what):
    require(found == wanted, "%s: %r where %r is expected" % (what, found, wanted))


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def expect(self, code, *words):
        """Requires the exit code, and every word somewhere in the output, in which sentences may span lines."""
        require(self.code == code, "exit code %s where %s is expected:\n%s" % (self.code, code, (self.out + self.err)[-1500:]))
        require("a bug in hone" not in self.err, self.err[-600:])
        said = self.out + self.err
        for word in words:
            require(word in said or word in " ".join(said.split()), "it does not say %r:\n%s" % (word, said[-1500:]))
        return self

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise Failed("stdout is not JSON (%s): %r" % (error, self.out[:300]))


class Run:
    """One run's rows, by key, as they are in the store now."""

    def __init__(self, house, row):
        self.__dict__.update(row)
        self.calls = {r["key"]: r for r in house.rows("SELECT * FROM call WHERE run_id=? ORDER BY id", row["id"])}
        self.candidates = {r["key"]: r for r in house.rows("SELECT * FROM candidate WHERE run_id=? ORDER BY id", row["id"])}
        self.decisions = {r["key"]: r for r in house.rows("SELECT * FROM decision WHERE run_id=? ORDER BY id", row["id"])}

    def verdict(self, key):
        require(key in self.candidates, "no candidate %s; there are %s" % (key, list(self.candidates)))
        return self.candidates[key]["verdict"], self.candidates[key]["reason"]

    def is_right(self, key):
        verdict, reason = self.verdict(key)
        return verdict in ("accepted", "no_difference", "inconclusive") or reason == "slower"

    def decided(self, key):
        require(key in self.decisions, "no decision %s; there are %s" % (key, list(self.decisions)))
        return self.decisions[key]["text"]

    def prompt(self, key):
        return pathlib.Path(self.folder, "llm", key + ".prompt.txt").read_text()


class House:
    def __init__(self, hone, python, folder, cache):
        self.hone, self.python, self.folder, self.cache = hone, python, folder, cache
        for name in ("data", "tmp", "config"):
            (folder / name).mkdir()
        self.env = {}

    def environment(self, changes=None):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("HONE_", "OPENAI_", "ANTHROPIC_", "DEEPSEEK_")) and k.lower() not in ("virtual_env", "http_proxy", "https_proxy", "all_proxy")}
        env.update(HONE_DATA=str(self.folder / "data"), HONE_CACHE=str(self.cache), HONE_PYTHON=self.python,
                   TMPDIR=str(self.folder / "tmp"), XDG_CONFIG_HOME=str(self.folder / "config"))
        env.update(self.env)
        env.update(changes or {})
        return env

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def start(self, *words, env=None, cwd=None):
        return subprocess.Popen([self.hone, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=self.environment(env), cwd=cwd or self.folder, start_new_session=True, errors="replace")

    def finish(self, process, timeout=900):
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise Failed("no end after %d s:\n%s" % (timeout, err[-1000:]))
        return Outcome(process.returncode, out, err)

    def run(self, *words, env=None, cwd=None, timeout=900):
        return self.finish(self.start(*words, env=env, cwd=cwd), timeout)

    def optimize(self, task, proposer, *flags, again=True, **more):
        """A run that does not reuse verdicts of earlier runs in the same house, unless `again` is false."""
        return self.run("optimize", task, "--proposer", proposer, *(("--again",) if again else ()), *QUICK, *flags, **more)

    def rows(self, sql, *values):
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % (self.folder / "data" / "hone.db"), uri=True, timeout=20)) as store:
            store.row_factory = sqlite3.Row
            return [dict(row) for row in store.execute(sql, values)]

    def last(self):
        rows = self.rows("SELECT * FROM run ORDER BY id DESC LIMIT 1")
        require(rows, "there is no run in the store")
        return Run(self, rows[0])

    def named(self, name):
        return Run(self, self.rows("SELECT * FROM run WHERE name=?", name)[0])

    def integrity(self):
        """The database is whole, and every row belongs to a run."""
        require_equal(self.rows("PRAGMA integrity_check")[0]["integrity_check"], "ok", "integrity")
        require_equal(self.rows("PRAGMA foreign_key_check"), [], "foreign keys")

    def best_is_importable(self, run):
        """best.py is self-contained: its ModelNew can be built and called without Hone."""
        code = ("import runpy; best = runpy.run_path(%r); task = runpy.run_path(%r); "
                "best['ModelNew'](*task['get_init_inputs']())(*task['get_inputs']()); print('runs')")
        done = subprocess.run([self.python, "-I", "-c", code % (str(pathlib.Path(run.folder, "best.py")), run.task_path)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", timeout=120)
        require(done.stdout == "runs\n", "best.py: " + done.stderr[-600:])

    def processes(self):
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
                found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")))
        return found

    def check_no_processes(self):
        # A worker that is importing torch ends only afterwards, which takes a while on a busy machine. While a process starts a program,
        # it briefly has no environment, so a single look may miss it.
        deadline, empty = time.monotonic() + 30, 0
        while empty < 3 and time.monotonic() < deadline:
            empty = 0 if self.processes() else empty + 1
            time.sleep(0.05)
        left = self.processes()
        require(not left, "left behind: %s" % left[:4])

    def files_with(self, words, *folders):
        """Files below the house, the cache and `folders` that contain these bytes."""
        found = []
        for folder in (self.folder, self.cache, *folders):
            for path in pathlib.Path(folder).rglob("*"):
                if path.is_file() and not path.is_symlink() and words in path.read_bytes():
                    found.append(str(path))
        return found

    @contextlib.contextmanager
    def server(self, *flags):
        """A fake model server; yields its port."""
        with subprocess.Popen([sys.executable, str(ROOT / "tests" / "fakes" / "fake_llm_server.py"), *map(str, flags)],
                              stdout=subprocess.PIPE, text=True) as process:
            try:
                yield Server(int(process.stdout.readline().split()[1]))
            finally:
                process.terminate()


class Server:
    def __init__(self, port):
        self.port = port

    def base(self, scenario="", scheme="http"):
        return "%s://127.0.0.1:%d%s" % (scheme, self.port, "/s/" + scenario if scenario else "")

    def read(self, what):
        with urllib.request.urlopen("http://127.0.0.1:%d/%s" % (self.port, what), timeout=30) as answer:
            return json.load(answer)

    def log(self):
        return self.read("log")


def wait_for(what, condition, seconds=600, process=None):
    """Polls until the condition holds. The time limit is for a busy machine; these tests do not claim speed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        if process is not None and process.poll() is not None:
            raise Failed("hone ended before %s: %s" % (what, process.communicate()[1][-800:]))
        time.sleep(0.02)
    raise Failed("no %s within %d s" % (what, seconds))


def patience(seconds):
    """This many seconds if a processor is free, and more on a busy machine, by the time that this process waits for one."""
    begin, used = time.monotonic(), time.process_time()
    while time.process_time() - used < 0.2:
        pass
    return seconds * max(1, (time.monotonic() - begin) / 0.2)


def fenced(source):
    return "```python\n%s\n```\n" % source.strip()


def python_with_torch(hone, asked):
    if asked:
        return asked
    known = pathlib.Path(os.environ.get("HONE_TEST_CACHE", "/nonexistent"), "python")
    if known.exists():
        return known.read_text()
    done = subprocess.run([hone, "doctor", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        python = json.loads(done.stdout)["python"]
        return python["program"] if python.get("torch") else None
    except (ValueError, KeyError, TypeError):
        return None


def prepare(hone):
    """Finds Python and measures peak rates, for all later tests."""
    cache = pathlib.Path(os.environ["HONE_TEST_CACHE"])
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "python").unlink(missing_ok=True)
    python = python_with_torch(hone, None)
    (cache / "python").write_text(python or "")
    if not python:
        print("skipped: no Python with torch")
        return 77
    with tempfile.TemporaryDirectory(prefix="hone-e2e-") as folder:
        House(hone, python, pathlib.Path(folder), cache).run("show", SMALL_SOFTMAX, "--target", "cpu").expect(ACCEPTED)
    return 0


def attempt(case, house, options):
    """ok, skip or FAIL, and the reason."""
    house.options = options
    try:
        try:
            case(house)
            house.check_no_processes()
        finally:
            for pid, _ in house.processes():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
    except Skipped as reason:
        return "skip", " (%s)" % reason
    except Failed as reason:
        return "FAIL", "\n       " + str(reason).replace("\n", "\n       ")
    return "ok", ""


def main(cases, description, more_options=None):
    """Runs every case in its own house. `more_options(parser)` adds flags, which cases read as house.options."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--hone", help="the program")
    parser.add_argument("--python", help="an interpreter with torch; else what hone itself would take")
    parser.add_argument("--only", help="cases whose name holds this word")
    parser.add_argument("--case", help="this case alone")
    parser.add_argument("--list", action="store_true", help="name the cases, for CTest")
    parser.add_argument("--keep", action="store_true", help="leave the folders of failed cases")
    if more_options:
        more_options(parser)
    args = parser.parse_args()
    if args.list:
        print(";".join(case.__name__ + (":" + case.timed if hasattr(case, "timed") else "") for case in cases), end="")
        return 0
    if not args.hone:
        parser.error("--hone is needed")
    python = python_with_torch(args.hone, args.python)
    if not python:
        print("skipped: no Python with torch")
        return 77
    chosen = [case for case in cases if args.case in (None, case.__name__) and (not args.only or args.only in case.__doc__ or args.only in case.__name__)]
    if not chosen:
        parser.error("there is no such case")
    base = pathlib.Path(tempfile.mkdtemp(prefix="hone-e2e-"))
    hone = str(base / "hone")
    shutil.copy2(args.hone, hone)
    cache = pathlib.Path(os.environ.get("HONE_TEST_CACHE") or base / "cache")
    cache.mkdir(parents=True, exist_ok=True)
    failures, skipped, began = 0, 0, time.monotonic()
    try:
        for case in chosen:
            folder = base / case.__name__
            folder.mkdir()
            begin = time.monotonic()
            word, why = attempt(case, House(hone, python, folder, cache), args)
            skipped += word == "skip"
            failures += word == "FAIL"
            print("%-4s %5.1fs  %s%s" % (word, time.monotonic() - begin, re.sub(r"\s+", " ", case.__doc__), why), flush=True)
            if word == "FAIL" and args.keep:
                print("       kept: %s" % folder)
            else:
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        if not (failures and args.keep):
            shutil.rmtree(base, ignore_errors=True)
    count, seconds = len(chosen), time.monotonic() - began
    print("%d of %d failed, %.0f s" % (failures, count, seconds) if failures else "all %d good, %.0f s" % (count, seconds))
    return 1 if failures else 77 if skipped == count else 0


if __name__ == "__main__":
    sys.exit(prepare(sys.argv[sys.argv.index("--hone") + 1]))
