"""Runs a folder of tasks (KernelBench's levels) through `hone optimize`, in pieces of limited time, and keeps a scoreboard.

    bench/kernelbench.py FOLDER --out DIR [--minutes 60] [--task-minutes 5] [--only level1] [--names FILE] [--target cuda] [--side-by-side N] [--table]

A task that is finished has an archive in DIR (`hone archive`) and is skipped, so the same command goes on where an earlier one stopped, also on another
machine that was given DIR. A run that was interrupted is resumed. --table runs nothing and writes the scoreboard anew. The scoreboard is DIR/scoreboard.md.

--side-by-side N runs up to N tasks at once: imports, captures and compilers overlap, and a timing waits until no other task uses the GPU (Hone's own lock).
A task counts with --memory-factor times the bytes of its inputs, and only as many run at once as the device's memory holds. The time of a task includes its waiting.

Means are over all tasks of a level. A task for which PyTorch is kept, that failed or that was not run yet counts as 1.0, so that giving up does not raise
a mean; how many were not run is printed beside it.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time

from kernelbench_tasks import order

ROOT = pathlib.Path(__file__).resolve().parents[1]
GRACE_S = 90  # that a run may take to stop by itself


class Task:
    def __init__(self, path, folder, out):
        self.path = path
        self.level = str(path.parent.relative_to(folder))
        name = path.stem if self.level == "." else self.level.replace("/", "_") + "_" + path.stem
        self.run, self.archive = out / "runs" / name, out / (name + ".hone.tar.gz")

    def record(self):
        """(the run as JSON, the evaluation of its best candidate), or None while it is not finished."""
        if not self.archive.exists():
            return None
        with tarfile.open(self.archive) as packed:
            texts = {member.name: packed.extractfile(member).read() for member in packed if member.isfile() and member.name.endswith(".json")}
        run = json.loads(texts["folder/run.json"])
        judged = {pathlib.Path(name).stem: json.loads(text) for name, text in texts.items() if name.startswith("folder/evaluation/")}
        return run, judged.get(run["best"]) or next(iter(judged.values()), {})


def stop(process):
    """Asks once, as Ctrl-C does, then ends the group that this program started."""
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(GRACE_S if how is signal.SIGINT else 10)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


class Running:
    """One task under way. `finished()` is None until it ended, then whether it is done for good."""

    def __init__(self, task, options, seconds):
        self.task, self.options = task, options
        self.end = time.time() + seconds + GRACE_S
        self.started = time.time()
        self.log = task.run.with_suffix(".log")
        self.log.parent.mkdir(parents=True, exist_ok=True)
        fresh = [options.hone, "optimize", str(task.path), "--out", str(task.run), "--quiet", "--target", options.target, "--max-minutes", "%.2f" % (seconds / 60), *options.flags.split()]
        self.resumed = (task.run / "run.json").exists()
        command = [options.hone, "resume", str(task.run), "--quiet", "--max-minutes", "%.2f" % options.task_minutes] if self.resumed else fresh
        with open(self.log, "a") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)

    def finished(self):
        code = self.process.poll()
        if code is None:
            if time.time() < self.end:
                return None
            stop(self.process)
            return False
        task = self.task
        if code not in (0, 1):
            print("%s: exit code %d, see %s" % (task.path.name, code, self.log))
            if self.resumed:  # the store does not know the run: next time it begins anew
                shutil.rmtree(task.run)
            return False
        if not (task.run / "run.json").exists():
            return False
        # A run that has used the time of a task is finished with what it found.
        run = json.loads((task.run / "run.json").read_text())
        if run["status"] not in ("done", "failed") and run["seconds"] < 57 * self.options.task_minutes:
            return False
        return subprocess.run([self.options.hone, "archive", str(task.run), str(task.archive), "--force"], stdout=subprocess.DEVNULL).returncode == 0


BYTES_OF_INPUTS = """
import json, sys, torch
sizes = {}
for path in json.load(sys.stdin):
    try:
        with torch.device("meta"):
            task = {"__name__": "task"}
            exec(compile(open(path).read(), path, "exec"), task)
            sizes[path] = sum(t.numel() * t.element_size() for t in task["get_inputs"]() if isinstance(t, torch.Tensor))
    except Exception:
        sizes[path] = None
print(json.dumps(sizes))
"""


def needs(tasks, options):
    """(bytes of device memory by task, bytes of the device); nothing is known of a task whose inputs do not come out of factories."""
    total = subprocess.run(["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"], capture_output=True, text=True).stdout.split() if shutil.which("nvidia-smi") else []
    if not total:
        return {}, 1
    found = subprocess.run([options.python, "-c", BYTES_OF_INPUTS], input=json.dumps([str(task.path) for task in tasks]), capture_output=True, text=True)
    sizes = json.loads(found.stdout.splitlines()[-1]) if found.returncode == 0 else {}
    device = 0.95e6 * 1.048576 * int(total[0])
    unknown = 1e9
    return {task: min(device, options.memory_factor * (sizes.get(str(task.path)) or unknown) + 3e9) for task in tasks}, device


def run_tasks(tasks, options, end):
    """Starts tasks while there is room and time; those with the largest inputs first, so that small ones run beside them."""
    need, device = needs(tasks, options) if options.side_by_side > 1 else ({}, 1)
    waiting = sorted(tasks, key=lambda task: -need.get(task, 0))
    running, done = [], 0
    try:
        while waiting or running:
            left = end - time.time()
            if waiting and left < 30:
                print("the time of this piece is over; the same command goes on")
                waiting = []
            while len(running) < options.side_by_side:
                taken = sum(need.get(one.task, 0) for one in running)
                fits = next((task for task in waiting if taken + need.get(task, 0) <= device), None)
                if fits is None:
                    break
                waiting.remove(fits)
                running.append(Running(fits, options, min(60 * options.task_minutes, left)))
            for one in list(running):
                finished = one.finished()
                if finished is None:
                    continue
                running.remove(one)
                done += 1
                print("%d of %d  %s  %.0f s  %s" % (done, len(tasks), one.task.path.stem, time.time() - one.started, one.task.record()[0]["outcome"] if finished else "not finished"), flush=True)
            time.sleep(0.1)
    finally:
        for one in running:
            stop(one.process)


def geomean(values):
    return math.exp(sum(math.log(max(v, 1e-9)) for v in values) / len(values)) if values else None


def speeds(run):
    """(vs_best, vs_eager) of what a user gets: PyTorch as it is where no candidate was accepted."""
    return (run["speedup"]["vs_best"], run["speedup"]["vs_eager"]) if run["result"] == "accepted" else (1.0, 1.0)


def row(task, record):
    if record is None:
        return "| %s | not run | | | | | | |" % task.path.stem
    run, verdict = record
    best = next((c for c in run["candidates"] if c["key"] == run["best"]), {})
    accepted = run["result"] == "accepted"
    speed = "%.2f (%.2f to %.2f)" % (best["vs_best"], *best["ci95"]) if accepted else ""
    floor = (verdict.get("card") or verdict).get("floor_us") or 0
    cells = [task.path.stem, run["best"] if accepted else run["result"].replace("_", " "), speed, "%.2f" % best["vs_eager"] if accepted else "",
             "%.0f us" % best["candidate_us"] if accepted else "", "%.0f us" % floor if floor else "",
             "%.1e of %.1e" % (best["error"], best["limit"]) if accepted else "", run["degenerate"].replace("|", "/")]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def scoreboard(tasks):
    records = [(task, task.record()) for task in tasks]
    lines = ["# Scoreboard", ""]
    summary = ["| level | tasks | run | accepted | vs_best | vs_eager | vs_best without degenerate | vs_eager without degenerate |", "|---|---|---|---|---|---|---|---|"]
    tables = []
    for level in sorted({task.level for task in tasks}, key=order):
        own = [(task, record) for task, record in records if task.level == level]
        every = [speeds(record[0]) if record else (1.0, 1.0) for _, record in own]
        sound = [speeds(record[0]) if record else (1.0, 1.0) for _, record in own if not record or not record[0]["degenerate"]]
        done = [record for _, record in own if record]
        means = [geomean([pair[i] for pair in pairs]) for pairs in (every, sound) for i in (0, 1)]
        summary.append("| %s | %d | %d | %d | %s |" % (level, len(own), len(done), sum(r[0]["result"] == "accepted" for r in done), " | ".join("-" if m is None else "%.3f" % m for m in means)))
        tables += ["", "## " + level, "| task | answer | vs_best (95% interval) | vs_eager | time | floor | error and limit | degenerate |", "|---|---|---|---|---|---|---|---|"]
        tables += [row(task, record) for task, record in own]
    notes = ["", "Geometric means over all tasks of a level. Where PyTorch is kept, and where nothing was run, a task counts as 1.0."]
    devices = sorted({record[0]["device"] for _, record in records if record})
    if devices:
        notes.append("Devices: %s." % ", ".join(devices))
    return "\n".join(lines + summary + notes + tables) + "\n", "\n".join(summary)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--hone", default=shutil.which("hone") or str(ROOT / "build" / "release" / "hone"))
    parser.add_argument("--minutes", type=float, default=60, help="of this piece")
    parser.add_argument("--task-minutes", type=float, default=5)
    parser.add_argument("--target", default="auto")
    parser.add_argument("--only", default="", help="tasks whose path has this word")
    parser.add_argument("--names", type=pathlib.Path, help="a file with the names of tasks, one a line, without .py")
    parser.add_argument("--side-by-side", type=int, default=1, help="tasks at once")
    parser.add_argument("--memory-factor", type=float, default=20, help="device memory of a task, in bytes of its inputs")
    parser.add_argument("--python", default=sys.executable, help="that has torch, to know the sizes of inputs")
    parser.add_argument("--flags", default="", help="more options of hone optimize, as one word")
    parser.add_argument("--table", action="store_true", help="run nothing")
    options = parser.parse_args()
    options.folder, options.out = options.folder.resolve(), options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    paths = [p for p in options.folder.rglob("*.py") if options.out not in p.parents and options.only in str(p.relative_to(options.folder)) and "class Model" in p.read_text()]
    if options.names:
        named = set(options.names.read_text().split())
        paths = [p for p in paths if p.stem in named]
    tasks = [Task(path, options.folder, options.out) for path in sorted(paths, key=lambda p: order(str(p)))]
    if not tasks:
        print("%s has no tasks" % options.folder)
        return 2
    if not options.table:
        run_tasks([task for task in tasks if not task.archive.exists()], options, time.time() + 60 * options.minutes)
    text, summary = scoreboard(tasks)
    (options.out / "scoreboard.md").write_text(text)
    print(summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
