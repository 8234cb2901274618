"""Tests `hone explain` and `hone compare` on recorded runs. src/report/counterfactual_test.cpp checks what explain says would have
happened without a part, by really running without it.

Usage: explain_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD]
"""

import contextlib
import json
import sqlite3
import sys

from pipeline_house import ACCEPTED, CANNOT, ROOT, USAGE, main, require, require_equal


GOLDEN = ROOT / "tests" / "golden" / "reports"


def result_of(story):
    """What the store derives when it saves a run (src/store/run_result.cpp). Rows written directly need it too."""
    verdicts = {(row["verdict"], row["reason"]) for row in story["candidates"] if row["phase"] != "zero" and row["verdict"]}
    if story["run"]["status"] == "running":
        return ""
    if any(verdict == "accepted" for verdict, _ in verdicts):
        return "accepted"
    if story["run"]["status"] == "failed":
        return "failed"
    if not verdicts:
        return "nothing_tried"
    return "kept_pytorch" if any(verdict == "no_difference" or reason == "slower" for verdict, reason in verdicts) else "none_right"


def load(house, name, number, suite=None, change=None):
    """A recorded run (tests/golden/reports/freeze.py) as rows of this house's store. `change` may modify it first."""
    story = json.loads((GOLDEN / (name + ".json")).read_text())
    if change:
        change(story)
    story["run"].update(id=number, name="%s_%d" % (story["run"]["name"], number) if suite else story["run"]["name"], suite_id=suite,
                        result=result_of(story))
    tables = {"run": [story["run"]], "candidate": story["candidates"], "call": story["calls"], "decision": story["decisions"]}
    with contextlib.closing(sqlite3.connect(house.folder / "data" / "hone.db", timeout=20)) as store, store:
        for table, rows in tables.items():
            for row in rows:
                row = {column: value if isinstance(value, (str, int, float)) else json.dumps(value)
                       for column, value in row.items() if (column, value) != ("suite_id", None)}
                if table != "run":
                    row.pop("id", None)
                    row["run_id"] = number
                if table == "call":
                    row.update(system="", prompt="", thinking="")
                store.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, ", ".join(row), ", ".join("?" * len(row))), list(row.values()))


def commands_say_what_golden_reports_say(house):
    """frozen runs in a real store: text, Markdown, JSON and Chinese are the golden reports, word for word"""
    house.run("runs").expect(ACCEPTED)
    for name in ("tuning", "algorithm_fails", "exhausted", "expert", "stopped", "failed", "imported"):
        with contextlib.closing(sqlite3.connect(house.folder / "data" / "hone.db", timeout=20)) as store, store:
            store.execute("PRAGMA foreign_keys=ON")
            store.execute("DELETE FROM run")
        load(house, name, 7)
        for flags, file in (((), ".txt"), (("--md",), ".md"), (("--json",), ".explain.json"), (("--lang", "zh"), ".zh.txt")):
            found = house.run("explain", "R7", *flags).expect(ACCEPTED).out
            require_equal(found, (GOLDEN / (name + file)).read_text(), "explain %s of %s" % (" ".join(flags), name))


def killed_runs_and_suites(house):
    """a run that nobody works on is called killed and can be resumed; two suites are compared task by task"""
    house.run("runs").expect(ACCEPTED)
    load(house, "running", 7)
    house.run("explain", "R7").expect(ACCEPTED, "no process works on it any more", "hone resume")
    house.run("explain", "no_such_run").expect(CANNOT)
    with contextlib.closing(sqlite3.connect(house.folder / "data" / "hone.db", timeout=20)) as store, store:
        for number, name in ((1, "broken"), (2, "fixed")):
            store.execute("INSERT INTO suite (id, name, created, options) VALUES (?, ?, 'now', '{}')", (number, name))
    load(house, "exhausted", 11, suite=1)
    load(house, "repaired", 12, suite=2)
    compared = house.run("compare", "broken", "fixed", "--json").expect(ACCEPTED).json()
    require_equal((compared["kind"], compared["wins"], compared["tasks"][0]["task"]), ("suites", [0, 1], "slow_rows"), "the comparison")
    require_equal(compared["tasks"][0]["contest"]["winner"], "fixed", "the winner")
    house.run("compare", "broken", "fixed").expect(ACCEPTED, "significant: fixed is faster", "Geometric mean over the 1 tasks of both suites")
    house.run("compare", "R11", "R12").expect(ACCEPTED, "significant: R12 is faster", "What differs")
    house.run("compare", "R12:seed0", "R12:seed0.repair2", "--md").expect(ACCEPTED, "```diff")
    house.run("compare", "R12:seed0", "R12:seed9").expect(CANNOT, "seed0.repair1")
    house.run("compare", "R12:seed0", "R12").expect(USAGE, "not of one kind")
    house.run("compare", "R12").expect(USAGE)
    house.run("compare", "R11", "R12", "R7").expect(ACCEPTED, "3 runs side by side")


def two_ways_to_search(house):
    """two policies over six tasks, by suite, by list and by range: who is better after how many calls, and nothing from three pairs"""
    house.run("runs").expect(ACCEPTED)
    with contextlib.closing(sqlite3.connect(house.folder / "data" / "hone.db", timeout=20)) as store, store:
        for number, name in ((1, "careless"), (2, "careful")):
            store.execute("INSERT INTO suite (id, name, created, options) VALUES (?, ?, 'now', '{}')", (number, name))

    def of_task(number, faster):
        def change(story):
            story["run"]["task"] = "task%d" % number
            for row in story["candidates"]:
                if row["verdict"] == "accepted":
                    row["vs_best"] = 1.5 + faster
        return change

    for number in range(1, 7):
        load(house, "exhausted", number, suite=1, change=of_task(number, 0))
        load(house, "repaired", 10 + number, suite=2, change=of_task(number, 0.1 * number))
    made = house.run("compare", "--policies", "careless", "careful", "--json").expect(ACCEPTED).json()
    require_equal((made["kind"], made["names"], made["pairs"], made["tasks"]), ("policies", ["careless", "careful"], 6, 6), "the comparison")
    end = made["points"][-1]
    require_equal((end["cost"], end["winner"], end["result"]), ("all", "careful", "b_better"), "the end")
    require(1 < end["ci95"][0] <= end["ratio"] <= end["ci95"][1], "the interval: %r" % end)
    require_equal(made["sides"][1]["results"]["accepted"], 6, "accepted runs")
    calls = {point["at"]: point for point in made["points"] if point["cost"] == "calls"}
    require_equal((calls[1]["best"], calls[1]["result"]), ([1, 1], "not_told"), "nothing is right after the first call")
    words = house.run("compare", "R1-R6", "R11-R13,R14,R15,R16").expect(ACCEPTED, "R1-R6 and R11-R13,R14,R15,R16 at equal cost", "R15,R16 is better")
    require("not_told" not in words.out, words.out)
    require_equal(house.run("compare", "R1-R6", "R11-R16").out, house.run("compare", "R1-R6", "R11-R16").out, "the same comparison again")
    house.run("compare", "R1,R2,R3", "R11,R12,R13").expect(ACCEPTED, "3 pairs of runs on the same tasks", "No interval can be told")
    house.run("compare", "R1,R2,R3", "R11,R12,R13", "--md", "--lang", "zh").expect(ACCEPTED, "无法给出区间")
    house.run("compare", "R1,R2", "R2,R3").expect(USAGE, "R2 is on both sides")
    house.run("compare", "R1,R2", "R3", "R4").expect(USAGE, "exactly two policies")
    house.run("compare", "R1,,R2", "R3").expect(USAGE, "a name is missing")
    house.run("compare", "R1,R99", "R3").expect(CANNOT, "R99")
    house.run("compare", "R70-R80", "R3").expect(CANNOT, "no runs R70-R80")
    house.run("compare", "--policies", "R1:seed0", "R3").expect(USAGE, "by runs and suites")


CASES = [commands_say_what_golden_reports_say, killed_runs_and_suites, two_ways_to_search]

if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
