"""Replays written by hand walk every branch of the pipeline, on small tasks and with the real judge.

Usage: replay_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD]

Verdicts hold timings. On a busy machine a block of work takes as long as the scheduler likes, whatever the ratio; so tasks/slow_rows.py and the
candidates for it wait (50 ms the task, 2 to 4 ms the fast ones, 200 ms the slow ones) besides what they compute.
"""

import csv
import json
import pathlib
import sys

from pipeline_house import (ACCEPTED, CANNOT, HERE, QUICK, REJECTED, ROOT, SLOW_ROWS, SMALL_SOFTMAX, USAGE, main, require,
                            require_equal)

SMALL_GRU = ROOT / "tasks" / "small_gru.py"


def play(house, name, *flags, task=SLOW_ROWS, code=ACCEPTED, words=()):
    """The run that a replay leads to; its folder and its store have to agree about it."""
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


def keys(run):
    return list(run.calls)


def seeds_fine(house):
    """two seeds that are right and faster: no repair, no analysis, the faster one is kept"""
    run = play(house, "seeds_fine", words=("accepted", "hone show"))
    require_equal(keys(run), ["seed0", "seed1"], "calls")
    require_equal(run.verdict("seed0"), ("accepted", "faster"), "seed0")
    require_equal(run.verdict("zero"), ("baseline", "reference"), "PyTorch as candidate zero")
    speeds = {key: row["vs_best"] for key, row in run.candidates.items() if row["verdict"] == "accepted"}
    require_equal(run.best_key, max(speeds, key=speeds.get), "the best")
    require("no kernel of its own" in run.decided("tuning"), run.decided("tuning"))
    best = pathlib.Path(run.folder, "best.py").read_text()
    require(run.best_key in best and "hone" in best.split("import")[0], "best.py has no header with its provenance:\n" + best[:400])
    shown = house.run("show", "last", "--json").expect(ACCEPTED).json()
    require_equal(shown["best"], run.best_key, "hone show")
    listed = house.run("runs", "--json").expect(ACCEPTED).json()
    require_equal((listed["name"], listed["status"], listed["best"]), (run.name, "done", run.best_key), "hone runs")


def seeds_repaired(house):
    """a seed that cannot be imported, then is wrong, then is right: each repair is told the error and the history"""
    run = play(house, "repaired", "--seeds", "1")
    require_equal(keys(run), ["seed0", "seed0.repair1", "seed0.repair2"], "calls")
    require_equal(run.verdict("seed0")[1], "import-failed", "seed0")
    require_equal(run.verdict("seed0.repair1")[1], "wrong-output", "seed0.repair1")
    require_equal(run.verdict("seed0.repair2"), ("accepted", "faster"), "seed0.repair2")
    require_equal([run.candidates[k]["parent_key"] for k in ("seed0", "seed0.repair1", "seed0.repair2")], ["", "seed0", "seed0.repair1"], "lineage")
    require("No module named 'torch_fast_rows'" in run.prompt("seed0.repair1"), "the first repair is not told the error")
    second = run.prompt("seed0.repair2")
    require("torch_fast_rows" in second and "wrong-output" in second and "dim=0" in second, "the second repair is not told the history")
    require_equal(run.best_key, "seed0.repair2", "the best")


def repairs_exhausted(house):
    """four broken candidates in a row, and an analysis that says it is not worth it: PyTorch is kept"""
    run = play(house, "exhausted", "--seeds", "1", code=REJECTED, words=("keep PyTorch",))
    require_equal([run.verdict(k)[1] for k in ("seed0", "seed0.repair1", "seed0.repair2", "seed0.repair3")],
                  ["wrong-output", "wrong-shape", "crashed", "wrong-dtype"], "reasons")
    require_equal(keys(run)[-1], "seed0.repair3.analysis", "the last call")
    require("not worth optimising: the rows are too few" in run.decided("seed0.repair3.analysis"), run.decided("seed0.repair3.analysis"))
    require("no candidate is right" in run.decided("tuning"), run.decided("tuning"))
    require_equal((run.best_key, run.vs_best), ("", 1), "the best")
    require("ModelNew = Model" in pathlib.Path(run.folder, "best.py").read_text(), "best.py is not PyTorch under the name ModelNew")


def no_code(house):
    """two replies without a file: asked again once, then a failed candidate, which is repaired like any other"""
    run = play(house, "no_code", "--seeds", "1")
    require_equal(keys(run), ["seed0", "seed0.again", "seed0.repair1"], "calls")
    require_equal(run.verdict("seed0"), ("rejected", "no-code"), "seed0")
    require("held no Python file" in run.prompt("seed0.again"), "the second question does not say what was missing")
    require_equal(run.best_key, "seed0.repair1", "the best")


def analysis_corrected(house):
    """a plan that leaves a launch-bound time loop on the host goes back once; a candidate that is not what the plan asks
    for hears that first; it fails, and PyTorch stays"""
    run = play(house, "analysis_corrected", "--seeds", "1", "--repairs", "1", "--no-tuning", task=SMALL_GRU, code=REJECTED)
    require_equal(run.verdict("seed0"), ("rejected", "slower"), "seed0")
    require_equal(keys(run), ["seed0", "seed0.analysis", "seed0.analysis.again", "seed0.algorithm", "seed0.algorithm.repair1"], "calls")
    require("goes back once" in run.decided("seed0.analysis.sent_back"), "sent back")
    require("host" in run.prompt("seed0.analysis.again").lower(), "the second question does not say why")
    require_equal(json.loads(run.decisions["seed0.analysis"]["json"])["kernel_type"], "persistent_recurrent", "the analysis that counts")
    require(run.is_right("seed0.algorithm"), "the algorithm candidate is right: %s" % (run.verdict("seed0.algorithm"),))
    require("The plan asks for a persistent kernel" in run.prompt("seed0.algorithm.repair1"), "the class mismatch is not said")
    require_equal(run.verdict("seed0.algorithm.repair1")[1], "wrong-output", "its repair")


def algorithm_wins(house):
    """a seed under 1.0, an analysis in prose and then as a loose dictionary, and the candidate from it wins; its
    complexity is high, so it is not tuned"""
    run = play(house, "algorithm_wins", "--seeds", "1")
    require_equal(run.verdict("seed0"), ("rejected", "slower"), "seed0")
    require_equal(keys(run), ["seed0", "seed0.analysis", "seed0.analysis.again", "seed0.algorithm"], "calls")
    record = json.loads(run.decisions["seed0.analysis"]["json"])
    require_equal((record["worth_optimizing"], record["expected_speedup"], record["implementation_complexity"]), (True, 8, "high"), "the analysis")
    require_equal(run.best_key, "seed0.algorithm", "the best")
    require_equal(run.candidates["seed0.algorithm"]["parent_key"], "seed0", "lineage")
    require("complexity is high" in run.decided("tuning"), run.decided("tuning"))


def algorithm_fails(house):
    """the candidate from the analysis is wrong, and so is its repair: the other seed stays"""
    run = play(house, "algorithm_fails", "--repairs", "1")
    require_equal([run.verdict(k)[1] for k in ("seed0", "seed0.algorithm", "seed0.algorithm.repair1")], ["slower", "wrong-output", "wrong-output"], "reasons")
    require_equal((run.verdict("seed1"), run.best_key), (("accepted", "faster"), "seed1"), "seed1")


def staged_tuning(house):
    """grid finds a better number by searching and becomes the best; block degrades and memory is wrong: both are dropped"""
    run = play(house, "tuning", "--seeds", "1", "--repairs", "1")
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


def persistent_skips_stages(house):
    """a persistent kernel is left alone by tuning"""
    run = play(house, "persistent", "--seeds", "1")
    require_equal(run.candidates["seed0"]["kernel_class"], "persistent_recurrent", "class")
    require("a persistent kernel" in run.decided("tuning"), run.decided("tuning"))
    require_equal(keys(run), ["seed0"], "calls")


def nothing_beats_pytorch(house):
    """a right candidate that is slower, and nothing else: keep PyTorch"""
    run = play(house, "keep_pytorch", "--seeds", "1", task=SMALL_SOFTMAX, code=REJECTED, words=("keep PyTorch",))
    require_equal(run.verdict("seed0"), ("rejected", "slower"), "seed0")
    require("not worth optimising" in run.decided("seed0.analysis"), run.decided("seed0.analysis"))
    require(run.best_key == "" and run.outcome.startswith("keep PyTorch: nothing accepted was faster"), "the outcome: " + run.outcome)


def compiled_kernel_is_tuned(house):
    """a kernel in C++ is one that can be tuned, although static analysis knows no class for it"""
    run = play(house, "compiled", "--seeds", "1")
    require_equal(run.candidates["seed0"]["kernel_class"], "none", "seed0")
    require(run.decided("tuning").startswith("tuning seed0"), run.decided("tuning"))
    require_equal(run.calls["tune.grid"]["status"], "exhausted", "the call for which there is no recording")


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


CASES = [seeds_fine, seeds_repaired, repairs_exhausted, no_code, analysis_corrected, algorithm_wins, algorithm_fails, staged_tuning,
         persistent_skips_stages, nothing_beats_pytorch, compiled_kernel_is_tuned, bad_recordings]

if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
