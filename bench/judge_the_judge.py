"""The judge judged: PyTorch against itself, many times. Every verdict should be no_difference or inconclusive. The
spread of vs_best is what the judge cannot see.

  bench/judge_the_judge.py --hone build/release/hone --task tasks/small_gru.py --times 40 [--target cpu|cuda]
  bench/judge_the_judge.py --load 2                     two processes spin beside it: a busy machine
  bench/judge_the_judge.py --compile-against-itself     the candidate is torch.compile of the reference
  bench/judge_the_judge.py --series quiet,loaded --log judge.jsonl [--minutes 15]
      PyTorch and torch.compile against themselves, on a quiet machine and with every core busy: 40 verdicts on each, then a table. Every verdict is
      added to the log at once; the same command goes on where an earlier one was stopped.

Each verdict is on a candidate in processes of its own. `--per-process` verdicts share a hone process, which saves the preparation of the reference. They share
the inputs of the trials and the two interpreters that the processes of the two sides are forked from, and therefore their layout in memory. Verdicts
of one hone process are thus alike by a little (bench/README.md has an example): eight hone processes of five say less about the reference's side than forty. Exit code 1 when a verdict accepted or accused the
candidate, or when fewer than 95% came out as no_difference or inconclusive.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from time_to_verdict import ROOT, copy_of


# The reference behind a wrapper that prepares it once. load_state_dict and state_dict are the reference's own.
WRAPPED = '''

class ModelNew(nn.Module):
    """The reference itself, prepared by {what}."""

    def __init__(self, *arguments):
        super().__init__()
        self.__dict__["model"] = Model(*arguments).eval()
        self.__dict__["prepared"] = {{}}

    def state_dict(self, *args, **kwargs):
        return self.model.state_dict(*args, **kwargs)

    def load_state_dict(self, *args, **kwargs):
        return self.model.load_state_dict(*args, **kwargs)

    def _apply(self, change, *args, **kwargs):
        self.model._apply(change)
        return self

    def forward(self, *inputs):
{forward}
'''

GRAPH = '''        key = tuple(value.shape for value in inputs)
        if key not in self.prepared:
            static = [value.clone() for value in inputs]
            for _ in range(3):
                self.model(*static)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = self.model(*static)
            self.prepared[key] = static, graph, out
        static, graph, out = self.prepared[key]
        for slot, value in zip(static, inputs):
            slot.copy_(value)
        graph.replay()
        return out'''

SHARED_CACHE = '''
import os
os.environ["TORCHINDUCTOR_CACHE_DIR"] = {folder!r}
'''

COMPILED = '''        if "run" not in self.prepared:
            self.prepared["run"] = torch.compile(self.model)
        return self.prepared["run"](*inputs)'''


def wrapped(what, forward, cache=None):
    """`cache`: a folder in which all copies keep what they compile, so that only the first takes long."""
    def make(task, folder, number):
        path = pathlib.Path(folder) / ("%s_%d_of_%s.py" % (what.replace(" ", "_").replace(".", "_"), number, task.stem))
        head = SHARED_CACHE.format(folder=str(cache)) if cache else ""
        path.write_text(head + task.read_text() + WRAPPED.format(what=what, forward=forward) + "\n# copy %d\n" % number)
        return path

    return make


def sit(hone, task, candidates, flags):
    """One hone process; one record per candidate."""
    done = subprocess.run([hone, "bench", str(task), *map(str, candidates), "--json", "--no-save", "--again", *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not records:
        raise SystemExit(done.stderr)
    return records


def said(record):
    return record["reason"] if record["verdict"] == "rejected" else record["verdict"]


def tell(record):
    """One line for one verdict, and what the log keeps of it."""
    speed = record["speedup"] or {"vs_best": float("nan"), "vs_eager": float("nan"), "ci95": [0, 0]}
    print("%-14s vs_eager %.4f  vs_best %.4f of %-10s interval %.3f to %.3f  %.1f s  %s" % (
        said(record), speed["vs_eager"], speed["vs_best"], speed.get("best_baseline"), *speed["ci95"],
        record["provenance"]["seconds"], record["detail"][:100].replace("\n", " ")), flush=True)
    return {"said": said(record), "vs_best": speed["vs_best"], "ci95": speed["ci95"], "best": speed.get("best_baseline"),
            "seconds": record["provenance"]["seconds"], "detail": record["detail"][:300]}


# Ends with its parent, however that ends.
SPIN = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1000000):
        pass
"""


class Spinners:
    """Processes that keep cores busy while it is entered."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.running = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(self.count)]

    def __exit__(self, *_):
        for one in self.running:
            one.kill()
            one.wait()


# Task, kind of candidate, flags. The task of torch.compile is one on which it is the fastest baseline: elsewhere it is `slower` than eager, as it should be.
# What torch.compile writes lies in a folder that all copies share, which a sandbox would not let them see.
SERIES = {
    "eager": ("tasks/small_gru.py", None, ["--compile", "never"]),
    "compile": ("bench/tasks/small_activation_chain.py", "torch.compile", ["--compile", "always", "--sandbox", "none"]),
}


def run_series(arguments):
    """All series that are asked for, and a table. Goes on where the log ends."""
    log, until = pathlib.Path(arguments.log), time.monotonic() + 60 * arguments.minutes
    done = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    wanted = [(kind, machine) for machine in arguments.series.split(",") for kind in SERIES]
    for kind, machine in wanted:
        task, compiled, flags = SERIES[kind]
        task, cache = ROOT / task, pathlib.Path(tempfile.gettempdir()) / "hone-judge-the-judge"
        cache.mkdir(exist_ok=True)
        make = wrapped(compiled, COMPILED, cache) if compiled else copy_of
        name = "%s, %s" % (kind, machine)
        with tempfile.TemporaryDirectory() as folder, Spinners(os.cpu_count() if machine == "loaded" else 0):
            while (have := sum(one["series"] == name for one in done)) < arguments.times and time.monotonic() < until:
                some = min(arguments.per_process, arguments.times - have)
                for record in sit(arguments.hone, task, [make(task, folder, have + i) for i in range(some)], ["--target", "cpu", *flags]):
                    done.append({"series": name, **tell(record)})
                    with log.open("a") as file:
                        file.write(json.dumps(done[-1]) + "\n")
    print("| candidate, machine | verdicts | no_difference | inconclusive | slower | accepted | accused | vs_best: median, range | seconds: median |\n|---|---|---|---|---|---|---|---|---|")
    bad = False
    for kind, machine in wanted:
        rows = [one for one in done if one["series"] == "%s, %s" % (kind, machine)]
        counts = collections.Counter(one["said"] for one in rows)
        fair, accepted = counts["no_difference"] + counts["inconclusive"], counts["accepted"]
        accused = len(rows) - fair - accepted - counts["slower"]
        ratios = [one["vs_best"] for one in rows if one["vs_best"] == one["vs_best"]] or [float("nan")]
        print("| %s, %s | %d | %d | %d | %d | %d | %d | %.3f, %.3f to %.3f | %.1f |" % (
            kind, machine, len(rows), counts["no_difference"], counts["inconclusive"], counts["slower"], accepted, accused,
            statistics.median(ratios), min(ratios), max(ratios), statistics.median([one["seconds"] for one in rows] or [0])))
        bad = bad or accepted or accused or fair < 0.95 * len(rows) or len(rows) < arguments.times
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", default=str(ROOT / "build/release/hone"))
    parser.add_argument("--task", default="tasks/small_gru.py")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--times", type=int, default=40, help="verdicts")
    parser.add_argument("--per-process", type=int, default=1, help="verdicts per hone process")
    parser.add_argument("--load", type=int, default=0, help="processes that spin beside the judge")
    parser.add_argument("--graph", action="store_true", help="the candidate is a CUDA graph of the reference")
    parser.add_argument("--compile-against-itself", action="store_true", help="the candidate is torch.compile of the reference, and so is a baseline")
    parser.add_argument("--series", help="quiet, loaded or both with a comma between them: the whole table")
    parser.add_argument("--log", default="judge_the_judge.jsonl", help="of --series: one line per verdict")
    parser.add_argument("--minutes", type=float, default=600, help="of --series: begin no further hone process after so many")
    parser.add_argument("--extra", nargs="*", default=[], help="more flags for hone bench, without their dashes: sandbox=none")
    arguments = parser.parse_args()
    if arguments.series:
        return run_series(arguments)
    make = copy_of
    flags = ["--target", arguments.target, "--compile", "never"]
    if arguments.graph:
        make = wrapped("a CUDA graph", GRAPH)
    if arguments.compile_against_itself:
        make = wrapped("torch.compile", COMPILED)
        flags[-1] = "always"
    flags += ["--" + flag for flag in arguments.extra]
    task = ROOT / arguments.task
    records = []
    with tempfile.TemporaryDirectory() as folder, Spinners(arguments.load):
        while len(records) < arguments.times:
            some = min(arguments.per_process, arguments.times - len(records))
            for record in sit(arguments.hone, task, [make(task, folder, len(records) + i) for i in range(some)], flags):
                records.append(record)
                tell(record)
    counts = collections.Counter(map(said, records))
    speeds = [record["speedup"] for record in records if record["speedup"]]
    print("%s on %s, %d verdicts, %d processes spinning on %d cores" % (task.stem, arguments.target, len(records), arguments.load, os.cpu_count()))
    print("  " + ", ".join("%s %d" % pair for pair in counts.most_common()))
    if speeds:
        ratios = [speed["vs_best"] for speed in speeds]
        print("  vs_best median %.4f, from %.4f to %.4f, standard deviation %.4f; interval width median %.4f" % (
            statistics.median(ratios), min(ratios), max(ratios), statistics.pstdev(ratios),
            statistics.median(speed["ci95"][1] - speed["ci95"][0] for speed in speeds)))
    fair = counts["no_difference"] + counts["inconclusive"]
    accused = set(counts) - {"no_difference", "inconclusive", "slower"}
    return 1 if accused or fair < 0.95 * len(records) else 0


if __name__ == "__main__":
    sys.exit(main())
