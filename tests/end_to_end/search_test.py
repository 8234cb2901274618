"""`hone optimize --search population` with the real judge and the real HTTP client, before the scripted server: killed with SIGKILL at random
moments, interrupted with Ctrl-C, and resumed each time, a run ends as one that nothing disturbed.

Usage: search_test.py --hone BINARY [--only WORD]

The moments are drawn anew each time; HONE_KILL_SEED=N draws those of an earlier test again. The undisturbed run comes second and takes its
verdicts from the store of the first, so that both decide by the same times, and every difference is one of the pipeline. How often the
search itself is right is no claim of this test (bench/search_policies.py), and a made-up judge is killed far more often in
tests/golden/killed_search_golden_test.cpp.
"""

import os
import random
import re
import shlex
import signal
import sys
import time

from kill_test import check_folder
from pipeline_house import ACCEPTED, INTERRUPTED, QUICK, SLOW_ROWS, Failed, main, require, require_equal, timed, wait_for, waits

CALLS = 7
# Each reply is a function of its call's key and of the candidates in the prompt. Right candidates wait less than the task, by wide margins.
THINKER = r'''
import json, re, sys

RIGHT = """A shorter wait.
```python
# %s
import time

import torch
import torch.nn as nn

WAIT = %.4f


class ModelNew(nn.Module):
    def forward(self, x):
        time.sleep(WAIT)
        return torch.softmax(x, dim=1)
```
"""
for line in sys.stdin:
    asked = json.loads(line)
    key, kind = asked["key"], asked["call_type"]
    shown = [float(wait) for wait in re.findall(r"^WAIT = (\S+)", asked["prompt"], re.M)]
    wait = {"improve": 0.7 * min(shown, default=0.02), "combine": 0.9 * min(shown, default=0.02)}.get(kind, 0.022)
    text = RIGHT % (key, wait)
    if key == "seed1":
        text = text.replace("import torch\n", "import torch\nimport fast_rows_that_nobody_has\n").replace("torch.softmax", "fast_rows_that_nobody_has.softmax")
    if key == "seed1.repair1":
        text = text.replace("dim=1", "dim=0")
    print(json.dumps({"text": text, "prompt_tokens": len(asked["prompt"]) // 4, "completion_tokens": len(text) // 4}), flush=True)
'''


def judged_again(text):
    """The second judgement of the winner is timed afresh in each run. Its figure differs, and on a busy machine its verdict may be open."""
    return re.sub(r"(judged again with other seeds: )(accepted|inconclusive|right), .*", r"\1stays", text)


def story(run):
    """What a disturbed run and an undisturbed one have in common: all but times, the sources of verdicts and the figures of the second judgement."""
    return {
        "status": run.status, "result": run.result, "outcome": run.outcome, "best": run.best_key, "vs_best": run.vs_best,
        "calls": {key: (row["call_type"], row["status"], row["reply"], row["completion_tokens"]) for key, row in run.calls.items()},
        "candidates": {key: (row["phase"], row["parent_key"], row["other_parent_key"], row["source"], row["verdict"], row["reason"], row["vs_best"])
                       for key, row in run.candidates.items()},
        "decisions": {key: (row["phase"], judged_again(row["text"]) if row["phase"] == "confirm" else row["text"]) for key, row in run.decisions.items()},
    }


def step_of(key):
    """12 for "gen12.improve", "gen12.end" and "profile:gen12.improve", 0 for the opening. The winner is judged again after all steps."""
    if key.startswith("confirm:"):
        return CALLS
    found = re.search(r"(?:^|:)gen(\d+)", key)
    return int(found.group(1)) if found else 0


def require_same(found, wanted):
    """An inconclusive verdict is not reused from the store. Choices after it may differ and are left out."""
    unsettled = [step_of(key) for key, row in found["candidates"].items() if row[4] == "inconclusive"]
    end = min(unsettled, default=CALLS + 1)
    for part in wanted:
        if not isinstance(wanted[part], dict):
            require(unsettled or found[part] == wanted[part], "%s: %r where %r is expected" % (part, found[part], wanted[part]))
            continue
        for key in {**found[part], **wanted[part]}:
            if step_of(key) < end:
                require_equal(found[part].get(key), wanted[part].get(key), "%s %s" % (part, key))
    if unsettled:
        print("     the machine was too busy for a verdict in step %d; compared up to there" % end, flush=True)


class Sitting:
    """One disturbed run: its process, its rows, and its requests to the server."""

    def __init__(self, house, server, rng, words):
        self.house, self.server, self.rng, self.words = house, server, rng, words
        self.out = house.folder / "disturbed"
        self.process = None
        self.kills = 0
        self.known_before = []  # answered calls in the store, and the length of the server's log, at the end of each session

    def begun(self):
        database = self.house.folder / "data" / "hone.db"
        tables = database.exists() and self.house.rows("SELECT 1 FROM sqlite_master WHERE name='run'")
        return bool(tables and self.house.rows("SELECT 1 FROM run WHERE folder=?", str(self.out)))

    def start(self):
        self.process = self.house.start(*(("resume", self.out, "-q") if self.begun() else (*self.words, "--out", self.out)))

    def progress(self):
        """Calls and verdicts so far."""
        if not self.begun():
            return 0
        return sum(self.house.rows("SELECT count(*) AS n FROM call")[0].values()) + sum(self.house.rows("SELECT count(*) AS n FROM candidate WHERE verdict != ''")[0].values())

    def go_on_until(self, progress):
        """Waits until this progress is reached, and up to two seconds more."""
        wait_for("progress to %d" % progress, lambda: self.progress() >= progress, process=self.process)
        time.sleep(2 * self.rng.random())

    def took(self):
        self.house.integrity()
        answered = {row["key"] for row in self.house.rows("SELECT key FROM call WHERE status='answered'")}
        self.known_before.append((answered, len(self.server.log())))

    def check_asked_once(self):
        """Requests that the store had answered when a session ended are not repeated; otherwise only those pending at a kill are."""
        asked = [entry["call_key"] for entry in self.server.log()]
        for answered, length in self.known_before:
            require_equal(sorted(answered & set(asked[length:])), [], "asked although the store had the reply")
        require(len(asked) - len(set(asked)) <= 2 * self.kills, "asked again: %s" % sorted(asked))
        return asked


@waits
def disturbed_search(house):
    """a population search that is killed twice at random moments and interrupted once ends as an undisturbed one; no reply is asked for twice"""
    seed = int(os.environ.get("HONE_KILL_SEED") or random.SystemRandom().randrange(1 << 32))
    try:
        disturb(house, random.Random(seed))
    except Failed as reason:
        raise Failed("%s (HONE_KILL_SEED=%d)" % (reason, seed))


def disturb(house, rng):
    program = shlex.join([sys.executable, str(house.write("thinker.py", THINKER))])
    with house.server("--program", program) as server:
        words = ("optimize", SLOW_ROWS, "--proposer", "llm", "--model", "fake", "--api-base", server.base("program"), "--search", "population", *QUICK,
                 "--seeds", "2", "--repairs", "1", "--no-analysis", "--no-tuning", "--max-calls", CALLS, "--search-seed", 7, "-q")
        run = Sitting(house, server, rng, words)
        # Each call has at most two rows, and the last ones come too late for a kill.
        moments = sorted(rng.sample(range(2 * CALLS - 3), 3))
        signals = [signal.SIGKILL, signal.SIGKILL, signal.SIGINT]
        rng.shuffle(signals)
        for moment, what in zip(moments, signals):
            run.start()
            run.go_on_until(moment)
            run.process.send_signal(what)
            outcome = house.finish(run.process, 60)
            run.kills += what == signal.SIGKILL
            if what == signal.SIGINT:
                require_equal(outcome.code, INTERRUPTED, "exit code after Ctrl-C")
                wait_for("end of its workers", lambda: not [line for _, line in house.processes() if "thinker.py" not in line], 30)
                if run.begun():
                    require_equal(house.last().status, "stopped", "status after Ctrl-C")
            run.took()
        run.start()
        house.finish(run.process).expect(ACCEPTED, "the budget of %d calls is spent" % CALLS)
        found = house.last()
        asked = run.check_asked_once()
        require_equal(sorted(set(asked)), sorted(found.calls), "what was asked, and what is on record")
        require_equal(len(found.calls), CALLS, "calls")
        check_folder(found)

        house.run(*words, "--out", house.folder / "undisturbed").expect(ACCEPTED, "the budget of %d calls is spent" % CALLS)
        wanted = house.last()
        require(found.name != wanted.name, "there is no second run")
        found, wanted = story(found), story(wanted)
        require_same(found, wanted)
        require_equal(len(server.log()) - len(asked), CALLS, "calls of the undisturbed run")
    require(any(row[0] in ("improve", "combine") for row in found["candidates"].values()), "nothing was improved or combined: %s" % list(found["candidates"]))
    house.integrity()


# None of the expert's rules knows that a sum needs no order.
SORTED_SUM = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.tanh(torch.sort(x, dim=1).values.mean(dim=1))


def get_inputs():
    return [torch.randn(512, 2048)]


def get_init_inputs():
    return []
"""
UNSORTED = r'''
import os, pathlib, sys

pathlib.Path(sys.argv[1], os.environ["HONE_CALL_KEY"]).write_text(sys.stdin.read())
print("""The order does not matter to a mean.
```python
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.tanh(x.mean(dim=1))
```
""")
'''


@timed
def expert_improved(house):
    """expert+exec: a program improves a file of the expert, and its prompt has the file, its measured speed and its floor"""
    task, asked = house.write("sorted_sum.py", SORTED_SUM), house.folder / "asked"
    asked.mkdir()
    program = shlex.join([sys.executable, str(house.write("thinker.py", UNSORTED)), str(asked)])
    outcome = house.optimize(task, "expert+exec:" + program, "--seeds", "0", "--max-calls", "1", "--no-tuning", "--search-seed", "3",
                             "--out", house.folder / "run")
    run = house.last()
    require("the opening is over; the search goes on and ends after 24 steps in a row without a gain of 1% (--patience) or when the budget (1 call) is spent" in
            " ".join((outcome.out + outcome.err).split()), "it does not say what ends the search:\n" + outcome.err[-1500:])
    require_equal([key for key in run.calls], ["gen1.improve"], "calls")
    made = run.candidates["gen1.improve"]
    parent = run.candidates[made["parent_key"]]
    require_equal(parent["phase"], "expert", "what was improved")
    if made["verdict"] == "inconclusive":
        # Its estimate is on record all the same, and is compared below.
        print("     the machine was too busy for a verdict on %.2fx" % made["vs_best"], flush=True)
    else:
        outcome.expect(ACCEPTED, "the budget of 1 call is spent")
        require_equal((run.best_key, made["verdict"]), ("gen1.improve", "accepted"), "the best")
    require(made["vs_best"] > 2 * parent["vs_best"] > 0, "%.2f is no improvement of %.2f" % (made["vs_best"], parent["vs_best"]))
    prompt = (asked / "gen1.improve").read_text()
    require(parent["source"].strip() in prompt, "the prompt does not show the file")
    # A machine that is too busy leaves a ratio and no time of the candidate.
    takes = "" if parent["candidate_us"] == 0 else r", [\d.]+ [mu]?s per call, [\d.]+ times the floor"
    unsure = " on a machine too busy to be sure" if parent["verdict"] == "inconclusive" else ""
    reached = re.escape("%.2fx of the best PyTorch baseline%s" % (parent["vs_best"], unsure)) + takes
    require(re.search(reached, prompt), "the prompt does not tell the speed of %s: %s" % (made["parent_key"], re.findall(".*best PyTorch baseline.*", prompt)))
    require(re.search(r"the floor of this device is [\d.]+ [mu]?s\)", prompt), "the prompt does not tell the floor: %s" % re.findall(".*floor.*", prompt))


CASES = [disturbed_search, expert_improved]

if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
