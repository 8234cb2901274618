"""`hone explain` and `hone compare` on real runs: what explain says would have happened without a part is checked by really
running without it.

Usage: explain_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD]

Keys and verdicts are compared, never timings; candidates differ in correctness, or in speed by a factor.
"""

import os
import sys

from pipeline_house import ACCEPTED, CANNOT, HERE, QUICK, SLOW_ROWS, USAGE, main, require, require_equal


def play(house, replay, name, *flags, verdicts=None):
    """The run of a replay. `verdicts`: what the judge must say of each candidate for the test to mean anything; on a machine that
    others keep busy it is sometimes misled by its clock, and there, and only there, the run is repeated."""
    for attempt in range(4):
        house.optimize(SLOW_ROWS, "replay:%s" % (HERE / "replays" / replay), "--out", house.folder / ("%s_%d" % (name, attempt)), *flags)
        run = house.last()
        require_equal(run.status, "done", "status of " + name)
        found = {key: judged(run, key) for key in run.candidates if verdicts and key in verdicts}
        if found == {key: verdicts[key] for key in found} or os.getloadavg()[0] <= 2 * os.cpu_count():
            break
        print("     again, at a load of %.1f: %s, judged %s" % (os.getloadavg()[0], name, found), flush=True)
    for key in found:
        require_equal(found[key], verdicts[key], "what the judge says of %s in %s" % (key, name))
    return run


def judged(run, key):
    return "accepted" if run.verdict(key)[0] == "accepted" else "right" if run.is_right(key) else "broken"


def explain(house, run):
    return house.run("explain", run.name, "--json").expect(ACCEPTED).json()


def part(told, name):
    return next(one for one in told["counterfactuals"] if one["part"] == name)


EXPLAINED = {"seed0": "right", "seed0.algorithm": "right", "seed0.algorithm.repair1": "accepted", "seed1": "accepted"}
REPAIRED = {"seed0": "broken", "seed0.repair1": "broken", "seed0.repair2": "accepted"}


def check_really(house, base, told, name, *flags):
    """An exact counterfactual: the run without the part has the same candidates and the same best, with the same verdict."""
    said = part(told, name)
    require(said["exact"], "%s is not exact: %s" % (name, said))
    run = play(house, "explained", "without_" + name, *flags, verdicts=EXPLAINED)
    expected = [key for key in base.candidates if key not in said["lost"]]
    require_equal(sorted(run.candidates), sorted(expected), "candidates without " + name)
    require_equal(run.best_key or "pytorch", said["best"], "the best without " + name)
    require_equal(run.candidates[run.best_key or "zero"]["verdict"], said["verdict"], "the verdict without " + name)


def parts_are_recomputed_exactly(house):
    """a run with an analysis, a candidate of the wrong class and its repair: without each part, the best is what explain says"""
    both = ("--repairs", "1", "--seeds", "2")
    base = play(house, "explained", "base", *both, verdicts=EXPLAINED)
    require_equal(list(base.calls), ["seed0", "seed0.analysis", "seed0.algorithm", "seed0.algorithm.repair1", "seed1"], "calls")
    require_equal(base.best_key, "seed0.algorithm.repair1", "the best")
    told = explain(house, base)
    require_equal(told["outcome"]["best"], base.best_key, "explain's best")
    require_equal([row["candidate"] for row in told["timeline"]],
                  ["zero", "seed0", "seed0.analysis", "seed0.algorithm", "seed0.algorithm.repair1", "seed1"], "the timeline")
    require_equal((told["difference"]["other"], told["difference"]["relation"]), ("seed1", "second_accepted"), "the second best")
    require("+        return torch.cat([torch.softmax(part, dim=1) for part in x.split(48)])" in told["difference"]["diff"], told["difference"]["diff"])
    require_equal({one["part"]: (one["effect"], one["best"]) for one in told["counterfactuals"]},
                  {"repair": ("other_best", "seed1"), "analysis": ("other_best", "seed1"), "seeds": ("same_best", base.best_key),
                   "class_check": ("other_best", "seed1")}, "counterfactuals")
    check_really(house, base, told, "repair", "--repairs", "0", "--seeds", "2")
    check_really(house, base, told, "analysis", *both, "--no-analysis")
    check_really(house, base, told, "seeds", "--repairs", "1", "--seeds", "1")
    check_really(house, base, told, "class_check", *both, "--no-class-check")
    compared = house.run("compare", base.name, "last", "--json").expect(ACCEPTED).json()
    require_equal(compared["contests"][0]["speedup_a"]["vs_best"], base.vs_best, "speed-up of the first run")
    require("options" in [f["id"] for f in compared["fields"] if f["differs"]], "the options differ")
    house.run("compare", base.name + ":seed0", base.name + ":seed1").expect(ACCEPTED, "What differs", "torch.softmax")
    house.run("compare", base.name + ":seed0", base.name + ":seed9").expect(CANNOT, "seed0.algorithm")
    house.run("compare", base.name + ":seed0", base.name).expect(USAGE, "not of one kind")
    house.run("explain", "last", "--md").expect(ACCEPTED, "## What each part was worth", "```diff")
    house.run("explain", "last", "--lang", "zh").expect(ACCEPTED, "各环节的作用", "不做修复")
    house.run("explain", "no_such_run").expect(CANNOT)


def what_cannot_be_known_is_said(house):
    """without repair this run would have asked for an analysis, as it really does; with the analysis off it is exact again"""
    base = play(house, "repaired", "base", "--seeds", "1", verdicts=REPAIRED)
    said = part(explain(house, base), "repair")
    require_equal((said["effect"], said["exact"], said["best"]), ("at_least", False, "pytorch"), "without repair")
    require_equal(said["unknown"], [{"key": "seed0.analysis", "why": "never_asked"}], "what is not known")
    without = play(house, "repaired", "without", "--seeds", "1", "--repairs", "0")
    require("seed0.analysis" in without.calls, "the run without repair did not ask for seed0.analysis: %s" % list(without.calls))
    quiet = play(house, "repaired", "quiet", "--seeds", "1", "--no-analysis", verdicts=REPAIRED)
    said = part(explain(house, quiet), "repair")
    require_equal((said["effect"], said["exact"], said["best"]), ("other_best", True, "pytorch"), "without repair and analysis")
    again = play(house, "repaired", "again", "--seeds", "1", "--no-analysis", "--repairs", "0")
    require_equal((list(again.candidates), again.best_key), (["zero", "seed0"], ""), "really without repair and analysis")


def suites_side_by_side(house):
    """two suites of one task: a table with wins and losses"""
    for name, replay in (("broken", "exhausted"), ("fixed", "no_code")):
        house.run("suite", SLOW_ROWS, "--name", name, "--proposer", "replay:%s" % (HERE / "replays" / replay), "--seeds", "1", "--repairs", "1",
                  "--no-analysis", *QUICK)
    compared = house.run("compare", "broken", "fixed", "--json").expect(ACCEPTED).json()
    require_equal((compared["kind"], compared["wins"], compared["tasks"][0]["task"]), ("suites", [0, 1], "slow_rows"), "the comparison")
    require_equal(compared["tasks"][0]["contest"]["winner"], "fixed", "the winner")
    house.run("compare", "broken", "fixed").expect(ACCEPTED, "real: fixed is faster", "Geometric mean over the 1 common tasks")


CASES = [parts_are_recomputed_exactly, what_cannot_be_known_is_said, suites_side_by_side]

if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
