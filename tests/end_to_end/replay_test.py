"""Plays two hand-written replays with the real judge: one whose plan is sent back and whose candidates fail, and one that is tuned
(kill_test.py plays it; its expected result is checked here).

Usage: replay_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD]

Every other branch of the pipeline is tested without a judge: src/pipeline/spine_test.cpp has a case for each rule, and
tests/golden/replay_golden_test.cpp replays recorded runs of the real judge. Verdicts contain timings. On a busy machine a block of work
takes arbitrarily long, whatever the ratio. tasks/slow_rows.py and its candidates therefore also wait (50 ms for the task, 2 to 4 ms for the
fast ones).
"""

import csv
import json
import pathlib
import re
import sys

from pipeline_house import ACCEPTED, CANNOT, HERE, REJECTED, ROOT, SLOW_ROWS, USAGE, main, require, require_equal, timed

SMALL_GRU = ROOT / "tasks" / "small_gru.py"


def play(house, name, *flags, task=SLOW_ROWS, code=ACCEPTED, words=()):
    """Plays a replay and returns its run, whose folder and store must agree."""
    outcome = house.optimize(task, "replay:%s" % (HERE / "replays" / name), "--out", house.folder / "run", *flags)
    outcome.expect(code, *words)
    run = house.last()
    require_equal(run.status, "done", "status")
    house.integrity()
    check_folder(house, run)
    return run


def check_folder(house, run):
    """Every candidate, call and verdict is in the folder as well, and best.py can be imported."""
    folder = pathlib.Path(run.folder)
    summary = json.loads((folder / "run.json").read_text())
    require_equal([c["key"] for c in summary["candidates"]], list(run.candidates), "candidates in run.json")
    require_equal([d["key"] for d in summary["decisions"]], list(run.decisions), "decisions in run.json")
    for key, row in run.candidates.items():
        require_equal((folder / "code" / (key + ".py")).read_text(), row["source"], "code of " + key)
        if row["json"]:
            require_equal(json.loads((folder / "evaluation" / (key + ".json")).read_text())["reason"], row["reason"], "evaluation of " + key)
    answered = [key for key, row in run.calls.items() if row["status"] == "answered"]
    for key in answered:
        require_equal((folder / "llm" / (key + ".reply.txt")).read_text(), run.calls[key]["reply"], "reply of " + key)
        require(run.prompt(key), "prompt of " + key)
    with open(folder / "usage.csv", newline="") as file:
        require_equal([row["key"] for row in csv.DictReader(file)], list(run.calls), "usage.csv")
    require((folder / "console.log").read_text().rstrip().endswith(run.outcome), "console.log does not end with the outcome")
    house.best_is_importable(run)


@timed
def analysis_corrected(house):
    """a plan that leaves a launch-bound time loop on the host goes back once; a candidate that is not what the plan asks
    for hears that first; it fails, and PyTorch stays"""
    run = play(house, "analysis_corrected", "--seeds", "1", "--repairs", "1", "--no-tuning", task=SMALL_GRU, code=REJECTED)
    require_equal(run.verdict("seed0"), ("rejected", "slower"), "seed0")
    require_equal(list(run.calls), ["seed0", "seed0.analysis", "seed0.analysis.again", "seed0.algorithm", "seed0.algorithm.repair1"], "calls")
    require("goes back once" in run.decided("seed0.analysis.sent_back"), "sent back")
    require("host" in run.prompt("seed0.analysis.again").lower(), "the second question does not say why")
    require_equal(json.loads(run.decisions["seed0.analysis"]["json"])["kernel_type"], "persistent_recurrent", "the analysis that counts")
    require(run.is_right("seed0.algorithm"), "the algorithm candidate is right: %s" % (run.verdict("seed0.algorithm"),))
    check_kernels(run, "seed0", ("seed0.analysis", "seed0.algorithm"))
    require("The plan asks for a persistent kernel" in run.prompt("seed0.algorithm.repair1"), "the class mismatch is not said")
    require_equal(run.verdict("seed0.algorithm.repair1")[1], "wrong-output", "its repair")


def check_kernels(run, key, prompts):
    """The judge's profile of a real candidate is in the store, with times that add up, and in the prompts about it."""
    profile = json.loads(run.candidates[key]["json"])["measurement"]["profile"]
    kernels, total = profile["kernels"], profile["own_us"] + profile["library_us"]
    times = [one["time_us"] for one in kernels]
    require(times == sorted(times, reverse=True) and times[0] > 0, "not the longest first: %s" % kernels)
    # The 12 that take most of the time; each microsecond counts once.
    require(0.8 * total < sum(times) < 1.01 * total, "%s of %s us: %s" % (sum(times), total, kernels))
    own = [one for one in kernels if one["name"] == "own code outside of PyTorch's operators"]
    require(len(own) == 1 and abs(own[0]["time_us"] - profile["own_us"]) < 1, "own time: %s of %s" % (own, profile["own_us"]))
    require(any(one["name"].startswith("aten::") for one in kernels), "no operator: %s" % kernels)
    for prompt in prompts:
        said = re.search(r"^Where its time goes \(PyTorch's profiler .*not verified\):\n- largest operators and their share of the time: (.*)$",
                         run.prompt(prompt), re.M)  # fmt: skip
        require(said, "%s does not say where the time goes" % prompt)
        require(re.match(r"own code outside of PyTorch's operators \d+%", said.group(1)), "the wait is not the largest: " + said.group(1))


def check_staged_tuning(house, run):
    """The run of replays/tuning: grid finds a better number by search and becomes the best; block degrades and memory is wrong, so both
    are dropped. kill_test.py plays it and then kills it."""
    require_equal(run.status, "done", "status")
    house.integrity()
    check_folder(house, run)
    require("tuning seed0 (reduction" in run.decided("tuning"), run.decided("tuning"))
    require("tune.grid.tuned1" in run.candidates, "no tuned candidate: %s" % list(run.candidates))
    tuned = run.candidates["tune.grid.tuned1"]
    require("ROWS = 24\n" in tuned["source"] and tuned["title"] == "ROWS=24", "the number that was found: " + tuned["title"])
    require_equal(tuned["parent_key"], "tune.grid", "lineage")
    require("best so far" in run.decided("tune.grid"), run.decided("tune.grid"))
    require_equal(run.candidates["tune.block"]["parent_key"], "tune.grid.tuned1", "what block starts from")
    require("ROWS = 24\n" in run.prompt("tune.block"), "block is not shown the tuned candidate")
    require("dropped" in run.decided("tune.block"), run.decided("tune.block"))
    require("dropped" in run.decided("tune.memory") and "wrong-output" in run.decided("tune.memory"), run.decided("tune.memory"))
    require_equal(run.verdict("tune.memory.repair1")[1], "wrong-output", "memory's repair")
    require_equal(run.best_key, "tune.grid.tuned1", "the best")
    require(tuned["vs_best"] > 2 * run.candidates["seed0"]["vs_best"], "the tuned one is not much faster than the seed")
    require_equal(run.verdict("zero"), ("baseline", "reference"), "PyTorch as candidate zero")
    best = pathlib.Path(run.folder, "best.py").read_text()
    require(run.best_key in best and "hone" in best.split("import")[0], "best.py has no header with its provenance:\n" + best[:400])
    shown = house.run("show", "last", "--json").expect(ACCEPTED).json()
    require_equal(shown["best"], run.best_key, "hone show")
    listed = house.run("runs", "--json").expect(ACCEPTED).json()
    require_equal((listed["name"], listed["status"], listed["best"]), (run.name, "done", run.best_key), "hone runs")
    told = house.run("explain", "last", "--json").expect(ACCEPTED).json()
    require_equal(told["outcome"]["best"], run.best_key, "hone explain")
    require_equal({row["candidate"] for row in told["timeline"]} & set(run.candidates), set(run.candidates), "the timeline")
    house.run("compare", run.name + ":seed0", run.name + ":tune.grid.tuned1").expect(ACCEPTED, "What differs", "ROWS = 24")


def bad_recordings(house):
    """a folder that is not there, has no replies, or names an unknown call type is said at once, and no run is made"""
    empty = house.folder / "empty"
    empty.mkdir()
    house.optimize(SLOW_ROWS, "replay:%s" % empty).expect(CANNOT, "001_seed.txt")
    house.optimize(SLOW_ROWS, "replay:%s" % (house.folder / "gone")).expect(CANNOT, "no folder of recorded replies")
    house.write("odd/001_seeds.txt", "x")
    house.optimize(SLOW_ROWS, "replay:%s" % (house.folder / "odd")).expect(CANNOT, "did you mean seed?")
    house.optimize(SLOW_ROWS, "replay:").expect(USAGE)
    house.optimize(SLOW_ROWS, "reply:x").expect(USAGE, "replay:DIR")
    require_equal(house.rows("SELECT name FROM run"), [], "runs in the store")


LAYERED_GRU = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gru = nn.GRU(width, width, 2)

    def forward(self, x):
        return self.gru(x)[0]


def get_inputs():
    return [torch.randn(5, 3, 8)]


def get_init_inputs():
    return [8]
"""
# The layers have one width, so that only names tell which weight is which.
FLAT_GRU = """```python
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight_ih_l1 = nn.Parameter(torch.zeros(3 * width, width))
        self.weight_hh_l1 = nn.Parameter(torch.zeros(3 * width, width))
        self.bias_ih_l1 = nn.Parameter(torch.zeros(3 * width))
        self.bias_hh_l1 = nn.Parameter(torch.zeros(3 * width))
        self.weight_ih_l0 = nn.Parameter(torch.zeros(3 * width, width))
        self.weight_hh_l0 = nn.Parameter(torch.zeros(3 * width, width))
        self.bias_ih_l0 = nn.Parameter(torch.zeros(3 * width))
        self.bias_hh_l0 = nn.Parameter(torch.zeros(3 * width))

    def forward(self, x):
        weights = [getattr(self, part + layer) for layer in ("l0", "l1") for part in ("weight_ih_", "weight_hh_", "bias_ih_", "bias_hh_")]
        return torch.gru(x, x.new_zeros(2, x.shape[1], x.shape[2]), weights, True, 2, 0.0, False, False, False)[0]
```
"""


def weights_taken_over(house):
    """weights under other names are taken over mechanically: the judge finds the outputs right, and no model is asked for a repair"""
    task = house.write("layered_gru.py", LAYERED_GRU)
    house.write("replay/001_seed.txt", FLAT_GRU)
    house.optimize(task, "replay:%s" % (house.folder / "replay"), "--seeds", "1", "--no-analysis", "--no-tuning", "--out", house.folder / "run")
    run = house.last()
    require_equal(run.status, "done", "status: " + run.outcome)
    require_equal(run.verdict("seed0"), ("rejected", "weights-not-transferred"), "seed0")
    require("weights-not-transferable" in run.decided("seed0.mended"), run.decided("seed0.mended"))
    require(run.is_right("seed0.mended"), "seed0.mended is %s, %s" % run.verdict("seed0.mended"))
    mended = run.candidates["seed0.mended"]
    require(0 < mended["error_limit"] and mended["error"] <= mended["error_limit"], "error %(error)s, limit %(error_limit)s" % mended)
    require_equal(list(run.calls), ["seed0"], "calls")
    told = house.run("explain", run.name, "--json").expect(ACCEPTED).json()
    require_equal(told["mending"], {"mended": 1, "right": 1, "calls_saved": 1, "fixes": {"weights-not-transferable": 1}}, "what is counted")
    house.run("show", run.name).expect(ACCEPTED, "1 candidate mended, 1 of them right, 1 model call saved")


CASES = [weights_taken_over, analysis_corrected, bad_recordings]

if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
