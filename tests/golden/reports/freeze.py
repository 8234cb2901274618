"""Real runs of every branch of the pipeline, frozen as the rows of the store, so that reports about them can be golden.

Usage: freeze.py --hone BINARY [--only WORD]     writes NAME.json beside this file

Timings differ from run to run and machine to machine, so this is done once, by hand; the reports made from the rows (see
report_golden_test.cpp) are then the same everywhere. What no report reads is left out: prompts, measurements, most of the
provenance. Paths become neutral ones. `running` and `empty` are cut from finished runs, as no process can be frozen.
"""

import json
import pathlib
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "end_to_end"))
from pipeline_house import HERE as END_TO_END, QUICK, ROOT, SLOW_ROWS, SMALL_SOFTMAX, main, require  # noqa: E402

SMALL_GRU = ROOT / "tasks" / "small_gru.py"
# Name, task, flags, and what the best has to be: a busy machine can lead a run elsewhere, and such a run is not kept.
REPLAYS = [
    ("seeds_fine", SLOW_ROWS, (), "seed"),
    ("repaired", SLOW_ROWS, ("--seeds", "1"), "seed0.repair2"),
    ("exhausted", SLOW_ROWS, ("--seeds", "1"), ""),
    ("no_code", SLOW_ROWS, ("--seeds", "1"), "seed0.repair1"),
    ("analysis_corrected", SMALL_GRU, ("--seeds", "1", "--repairs", "1", "--no-tuning"), ""),
    ("algorithm_wins", SLOW_ROWS, ("--seeds", "1"), "seed0.algorithm"),
    ("algorithm_fails", SLOW_ROWS, ("--repairs", "1"), "seed1"),
    ("tuning", SLOW_ROWS, ("--seeds", "1", "--repairs", "1"), "tune.grid.tuned1"),
    ("persistent", SLOW_ROWS, ("--seeds", "1"), "seed0"),
    ("keep_pytorch", SMALL_SOFTMAX, ("--seeds", "1"), ""),
    ("compiled", SLOW_ROWS, ("--seeds", "1"), "seed0"),
]


def shorter(record):
    """A verdict without what was measured on the way, and without where."""
    if not record:
        return ""
    verdict = json.loads(record)
    verdict.pop("measurement", None)
    verdict["provenance"] = {k: v for k, v in verdict.get("provenance", {}).items() if k in ("target", "torch")}
    return verdict


def parsed(text):
    return json.loads(text) if text else None


def frozen(house, run):
    options = parsed(run["options"])
    options["judge"], options["search_seed"] = {}, "7"
    run = dict(run, id=7, options=options, card=parsed(run["card"]), device="CPU of the golden runs")
    candidates = [dict(row, findings=parsed(row["findings"]), facts=parsed(row["facts"]), json=shorter(row["json"]))
                  for row in house.rows("SELECT * FROM candidate WHERE run_id=? ORDER BY id", house.last().id)]
    calls = [{k: v for k, v in row.items() if k not in ("system", "prompt", "thinking")}
             for row in house.rows("SELECT * FROM call WHERE run_id=? ORDER BY id", house.last().id)]
    decisions = [dict(row, json=parsed(row["json"])) for row in house.rows("SELECT * FROM decision WHERE run_id=? ORDER BY id", house.last().id)]
    if isinstance(run["card"], dict):
        run["card"].pop("machine", None)
        run["card"].pop("facts", None)
        run["card"].pop("device", None)
        run["card"]["device_name"] = run["device"]
    return {"run": run, "candidates": candidates, "calls": calls, "decisions": decisions}


def keep(house, name, story):
    text = json.dumps(story, indent=1, ensure_ascii=False)
    text = text.replace(str(house.folder / "run"), "/home/user/runs/" + name).replace(str(ROOT), "/home/user/hone").replace(str(house.folder), "/home/user")
    text = re.sub(r"/tmp/[^\s\"'\\]*", "/tmp/hone", text)
    text = re.sub(r'"name": "2[0-9-]+_', '"name": "20260131-235959_', text, count=1)
    text = re.sub(r"hone resume 2[0-9-]+_", "hone resume 20260131-235959_", text)
    (HERE / (name + ".json")).write_text(text + "\n")


def last_story(house):
    return frozen(house, house.rows("SELECT * FROM run ORDER BY id DESC LIMIT 1")[0])


def replayed(name, task, flags, best):
    def case(house):
        house.optimize(task, "replay:%s" % (END_TO_END / "replays" / name), "--out", house.folder / "run", *flags)
        run = house.last()
        require(run.status == "done", "the run is not done")
        require(run.best_key.startswith(best) and bool(run.best_key) == bool(best), "the best is %r" % run.best_key)
        story = last_story(house)
        keep(house, name, story)
        if name == "repaired":
            story["run"].update(status="running", outcome="", best_key="", vs_best=0, finished="")
            story["candidates"] = story["candidates"][:3]
            story["candidates"][-1].update(verdict="", reason="", detail="", seconds=0, error=0, error_limit=0, json="")
            story["calls"], story["decisions"] = story["calls"][:2], []
            keep(house, "running", story)
            story.update(candidates=[], calls=[])
            story["run"].update(card=None, device="")
            keep(house, "empty", story)
    case.__name__, case.__doc__ = name, "the replay " + name
    return case


def expert(house):
    """the expert's own proposals"""
    house.run("optimize", ROOT / "tasks" / "small_gru.py", *QUICK, "--judge-at-most", "1", "--out", house.folder / "run", timeout=600)
    keep(house, "expert", last_story(house))


def imported(house):
    """files that somebody else made"""
    folder = house.folder / "code"
    folder.mkdir()
    source = (END_TO_END / "replays" / "seeds_fine" / "001_seed.txt").read_text().split("```python\n")[1].split("```")[0]
    (folder / "good.py").write_text(source)
    (folder / "bad.py").write_text("import nothing_of_that_name\n" + source)
    house.run("import", folder, "--task", SLOW_ROWS, "--judge", *QUICK)
    require(house.last().best_key == "good", "the best is %r" % house.last().best_key)
    keep(house, "imported", last_story(house))


def stopped(house):
    """a budget that is spent"""
    house.optimize(SLOW_ROWS, "replay:%s" % (END_TO_END / "replays" / "algorithm_fails"), "--repairs", "1", "--max-evaluations", "2", "--out", house.folder / "run")
    keep(house, "stopped", last_story(house))


def failed(house):
    """a model that cannot be reached"""
    house.run("optimize", SLOW_ROWS, "--proposer", "llm", "--model", "a-model", "--api-base", "http://127.0.0.1:9/v1", *QUICK, "--seeds", "1",
              "--search", "classic", "--out", house.folder / "run", env={"OPENAI_API_KEY": "k"})
    keep(house, "failed", last_story(house))


# What a scripted model says to each call of a population search: candidates that wait less and less, one that lacks an import, and one that is wrong.
SEARCHER = r'''
import json, re, sys

FILE = """Waits %(wait).4f s.
```python
# %(key)s
import time

import torch
import torch.nn as nn

WAIT = %(wait).4f


class ModelNew(nn.Module):
    def forward(self, x):
        time.sleep(WAIT)
        return torch.softmax(x, dim=%(dim)d)
```
"""
for line in sys.stdin:
    asked = json.loads(line)
    key, kind = asked["key"], asked["call_type"]
    shown = [float(wait) for wait in re.findall(r"^WAIT = (\S+)", asked["prompt"], re.M)]
    step = int(re.match(r"(?:gen)?(\d+)", key.replace("seed", "")).group(1))
    wait = {"improve": 0.6 * min(shown, default=0.02), "combine": 0.8 * min(shown, default=0.02), "mend": 0.008}.get(kind, 0.024)
    wrong = key == "gen2.%s" % kind and kind != "mend"
    text = FILE % {"key": key, "wait": max(wait, 0.006), "dim": 0 if wrong else 1}
    if key == "seed1":
        text = text.replace("import time\n\n", "").replace("0.0240", "0.0200")
    print(json.dumps({"text": text, "prompt_tokens": 1200, "completion_tokens": 150}), flush=True)
'''


def population(house):
    """a population search with its operators, two parents, a mechanical repair and its cost"""
    thinker = house.write("searcher.py", SEARCHER)
    prices = house.write("prices.json", '{"a-model": {"input": 10, "output": 30}}')
    with house.server("--default", "program", "--program", "%s %s" % (shlex.quote(sys.executable), shlex.quote(str(thinker)))) as server:
        house.optimize(SLOW_ROWS, "llm", "--model", "a-model", "--api-base", server.base(), "--prices", prices, "--search", "population", "--seeds", "2",
                       "--breadth", "1", "--patience", "4", "--search-seed", "7", "--repairs", "1", "--out", house.folder / "run", env={"HONE_API_KEY": "k"})
    run = house.last()
    require(run.status == "done", "the run is not done: " + run.outcome)
    require(run.best_key.startswith("gen"), "the best is %r" % run.best_key)
    require("seed1.mended" in run.candidates and run.is_right("seed1.mended"), "seed1 was not mended")
    require(any(row["other_parent_key"] for row in run.candidates.values()), "no candidate has two parents")
    story = last_story(house)
    story["run"]["options"]["model"].update(api_base="http://127.0.0.1:8000", prices="/home/user/prices.json")
    keep(house, "population", story)


CASES = [replayed(*one) for one in REPLAYS] + [expert, imported, stopped, failed, population]

if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
