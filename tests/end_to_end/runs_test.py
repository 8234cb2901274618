"""Functions around a run: programs as proposers, recordings of runs, suites, settings, prompts, Ctrl-C, read-only folders, and
several processes on one store.

Usage: runs_test.py --hone BINARY [--store-seconds N] [--only WORD]
"""

import collections
import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

from kill_test import ANSWERS, ONE_BRANCH, words_of_decisions
from pipeline_house import (ACCEPTED, CANNOT, INTERRUPTED, QUICK, REJECTED, ROOT, SLOW_ROWS, SMALL_SOFTMAX, USAGE, Failed, fenced, main, patience,
                            require, require_equal, wait_for)

BROKEN = fenced("import torch, no_such_module\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x")
ONE_CALL = ("--seeds", "1", "--repairs", "0", "--no-analysis", "--no-tuning", "--search", "classic")


def program(house, name, text):
    """A proposer: Python that sees `prompt`, `key` and `kind`."""
    script = house.write(name, "import os, sys, time\nprompt = sys.stdin.read()\nkey, kind = os.environ['HONE_CALL_KEY'], os.environ['HONE_CALL_TYPE']\n" + text)
    return "exec:%s %s" % (sys.executable, script)


def broken_seed(house):
    """A recording with one seed that is rejected at import, for runs that are not about verdicts."""
    house.write("broken/001_seed.txt", BROKEN)
    return "replay:%s" % (house.folder / "broken")


def programs(house):
    """exec: a program gets the prompt and gives the reply; one that fails, or does not exist, is told apart from a bad candidate"""
    house.optimize(SMALL_SOFTMAX, program(house, "good.py", "print(%r)\nassert 'softmax' in prompt and key == 'seed0' and kind == 'seed'" % BROKEN),
                   *ONE_CALL, "--out", house.folder / "run").expect(REJECTED, "import-failed")
    require_equal(house.last().calls["seed0"]["status"], "answered", "the call")
    house.optimize(SMALL_SOFTMAX, program(house, "bad.py", "sys.exit('out of ideas')"), *ONE_CALL, "--out", house.folder / "run2").expect(
        CANNOT, "out of ideas", "hone resume")
    require_equal((house.last().status, house.last().calls["seed0"]["status"]), ("failed", "command_failed"), "the run")
    house.optimize(SMALL_SOFTMAX, "exec:/no/such/program", *ONE_CALL).expect(CANNOT, "/no/such/program")
    house.optimize(SMALL_SOFTMAX, "exec:'unclosed", *ONE_CALL).expect(USAGE, "not closed")
    require_equal(len(house.rows("SELECT 1 FROM run")), 2, "runs in the store")


def searches_without_a_budget(house):
    """a run with a model and no budget goes on after its opening, says what ends it, and ends when nothing improves"""
    # The reply is the call's own key, which is not a file: nothing to judge.
    words = ("exec:printenv HONE_CALL_KEY", *ONE_CALL[:-2])
    house.optimize(SMALL_SOFTMAX, *words, "--out", house.folder / "run").expect(
        REJECTED, "the opening is over; the search goes on and ends after 8 steps in a row without a gain of 1% (--patience); --search classic would end here",
        "the search ends: 8 steps in a row brought no gain of 1%")
    steps = {re.match(r"seed0|gen\d+", key).group() for key in house.last().calls}
    require_equal(steps, {"seed0", *("gen%d" % step for step in range(1, 9))}, "steps")


def exported_and_replayed(house):
    """export-replay, then replay: the same calls, candidates and decisions, without the server"""
    _, folder, flags, _ = ONE_BRANCH
    script, log = house.write("answers.py", ANSWERS), house.write("asked.log", "")
    house.optimize(SMALL_SOFTMAX, "exec:%s %s %s %s" % (sys.executable, script, folder, log), *flags, "--out", house.folder / "first").expect(REJECTED)
    first = house.last()
    recorded = house.folder / "recorded"
    printed = house.run("export-replay", first.name, recorded).expect(ACCEPTED, "to replay them: hone optimize ").out
    names = sorted(path.name for path in recorded.glob("*.txt"))
    require_equal(len(names), len(first.calls), "files")
    require(names[0][:4] == "001_" and all(name[4:-4] in {row["call_type"] for row in first.calls.values()} for name in names), "names: %s" % names)
    require_equal({c["key"] for c in json.loads((recorded / "index.json").read_text())["calls"]}, set(first.calls), "index.json")
    house.run("export-replay", first.name, recorded).expect(USAGE, "not an empty folder")
    # As it is printed: it has every option that decides what a run asks.
    house.run(*shlex.split(printed.split("to replay them: hone ")[1].splitlines()[0]), "--out", house.folder / "second").expect(REJECTED)
    second = house.last()
    require_equal({k: row["reply"] for k, row in second.calls.items()}, {k: row["reply"] for k, row in first.calls.items()}, "calls")
    require_equal({k: row["source"] for k, row in second.candidates.items()}, {k: row["source"] for k, row in first.candidates.items()}, "candidates")
    require_equal(words_of_decisions(second), words_of_decisions(first), "decisions")
    require_equal(second.best_key, first.best_key, "the best")


def suite_survives(house):
    """a suite of three with two jobs: one member is killed from outside, the table says so, resume completes it"""
    log = house.write("asked.log", "")
    # The prompt contains the task's own text; the member with the slow reference is killed.
    answers = program(house, "answers.py", """
slow = "for i in range(x.shape[0])" in prompt
open(%r, "a").write("slow\\n" if slow else "quick\\n")
if slow and open(%r).read().count("slow") == 1:
    time.sleep(120)
print(%r)
""" % (str(log), str(log), BROKEN))
    tasks = [ROOT / "tasks" / "small_layer_norm.py", SMALL_SOFTMAX, SLOW_ROWS]
    process = house.start("suite", *tasks, "--jobs", "2", "--name", "three", "--out", "out", "--proposer", answers, *QUICK, *ONE_CALL, "--csv", "table.csv")

    def victim():
        rows = house.rows("SELECT name FROM run WHERE task='slow_rows'") if (house.folder / "data" / "hone.db").exists() and "slow" in log.read_text() else []
        return [pid for pid, command in house.processes() if rows and "resume %s" % rows[0]["name"] in command]
    os.kill(wait_for("member at work", victim, process=process)[0], signal.SIGKILL)
    outcome = house.finish(process).expect(CANNOT, "slow_rows", "failed", "3 tasks", "signal 9")
    rows = {row["task"]: row for row in csv.DictReader((house.folder / "table.csv").open(newline=""))}
    require_equal({task: row["status"] for task, row in rows.items()},
                  {"small_layer_norm": "done", "small_softmax": "done", "slow_rows": "failed"}, "the table")
    before = {row["name"]: row["seconds"] for row in house.rows("SELECT name, seconds FROM run WHERE status='done'")}
    summary = json.loads((house.folder / "out" / "summary.json").read_text())
    require_equal((summary["tasks"], len(summary["rows"])), (3, 3), "summary.json")
    require((house.folder / "out" / "summary.txt").read_text() in outcome.out, "summary.txt is what was printed")
    # In another folder, so that nothing depends on the working folder.
    elsewhere = house.folder / "elsewhere"
    elsewhere.mkdir()
    again = house.run("resume", "three", "--json", cwd=elsewhere).expect(REJECTED).json()
    require_equal({row["task"]: row["status"] for row in again["rows"]}, dict.fromkeys(rows, "done"), "after resume")
    require_equal(again["correct"], 0, "correct")
    require_equal({row["name"]: row["seconds"] for row in house.rows("SELECT name, seconds FROM run") if row["name"] in before}, before, "members that were done")
    require_equal(log.read_text().split().count("quick"), 2, "questions for the members that were done")
    require(not (elsewhere / "runs").exists(), "resume wrote a table into the folder it was called in")
    house.run("suite", SMALL_SOFTMAX, "--name", "three").expect(USAGE, "hone resume three")
    house.run("suite", ROOT / "tasks", "--range", "900-901").expect(CANNOT, "900-901")
    house.run("suite", ROOT / "tasks", "--range", "x").expect(USAGE, "33-42")


def suite_interrupted(house):
    """Ctrl-C in a suite reaches its members: they stop in order, and resume goes on"""
    answers = program(house, "answers.py", "open(%r, 'a').write(key)\ntime.sleep(60)" % str(house.folder / "asked"))
    process = house.start("suite", SMALL_SOFTMAX, SLOW_ROWS, "--jobs", "1", "--name", "two", "--proposer", answers, *QUICK, *ONE_CALL)
    wait_for("question", lambda: (house.folder / "asked").exists(), process=process)
    process.send_signal(signal.SIGINT)
    house.finish(process, 30).expect(INTERRUPTED, "hone resume two")
    states = {row["task"]: row["status"] for row in house.rows("SELECT task, status FROM run")}
    require_equal(states["small_softmax"], "stopped", "the member that was at work")
    (house.folder / "answers.py").write_text("print(%r)\n" % BROKEN)
    house.run("resume", "two").expect(REJECTED, "2 tasks")
    require_equal({row["status"] for row in house.rows("SELECT status FROM run")}, {"done"}, "members after resume")


def settings(house):
    """user file, project file, environment and flag: each stronger than the one before, in `hone config` and in a run"""
    project = house.folder / "project" / "below"
    project.mkdir(parents=True)

    def seeds(*words, env=None):
        found = {s["key"]: (s["value"], s["source"]) for s in house.run("config", "--json", *words, cwd=project, env=env).expect(ACCEPTED).json()}
        return found.get("optimize.seeds"), found.get("optimize.trials")
    require_equal(seeds(), (None, None), "nothing set")
    house.write("config/hone/hone.toml", "[defaults]\ntrials = 6\n[optimize]\nseeds = 3\nrepairs = 0\nno-tuning = true\nno-analysis = true\n")
    user = str(house.folder / "config" / "hone" / "hone.toml")
    require_equal(seeds(), (("3", user), ("6", user)), "user file")
    house.write("project/hone.toml", "[optimize]\nseeds = 4\nproposer = \"%s\"\n" % broken_seed(house))
    file = str(house.folder / "project" / "hone.toml")
    require_equal(seeds(), (("4", file), ("6", user)), "project file")
    require_equal(seeds(env={"HONE_SEEDS": "5"})[0], ("5", "HONE_SEEDS"), "environment")
    require_equal(seeds(env={"HONE_OPTIMIZE_SEEDS": "7", "HONE_SEEDS": "5"})[0], ("7", "HONE_OPTIMIZE_SEEDS"), "environment of one command")
    house.run("optimize", SMALL_SOFTMAX, *QUICK[:-2], "--seeds", "1", cwd=project, env={"HONE_SEEDS": "5"}).expect(REJECTED)
    options = json.loads(house.last().options)
    require_equal((options["seeds"], options["repairs"], options["tuning"], options["analysis"], options["judge"]["trials"]), (1, 0, False, False, 6), "the run")
    require(house.last().folder.startswith(str(project / "runs")), "the run's folder: " + house.last().folder)
    house.write("project/hone.toml", "[optimize]\nseed = 4\n")
    house.run("runs", cwd=project).expect(USAGE, "hone.toml", "did you mean 'seeds'?")
    house.run("--help", cwd=project).expect(ACCEPTED)
    house.write("project/hone.toml", "[optimize\n")
    house.run("config", cwd=project).expect(USAGE, "hone.toml:1")
    failure = house.run("runs", "--json", cwd=project).expect(USAGE, "hone.toml:1").json()
    require_equal((failure["status"], failure["error"]["kind"], failure["exit_code"]), ("failed", "usage", USAGE), "a broken file with --json")
    house.write("project/hone.toml", "")
    house.run("config", cwd=project, env={"HONE_SEEDS": "many"}).expect(USAGE, "HONE_SEEDS")


def prompts(house):
    """`hone prompt` prints what would be sent, without asking anybody"""
    seed = house.run("prompt", SMALL_SOFTMAX, *QUICK).expect(ACCEPTED).out
    require("torch.softmax(x, dim=1)" in seed and "ModelNew" in seed, "the seed prompt:\n" + seed[:500])

    def untimed(text):
        """Without what is measured: a run stores the time of PyTorch, and each call of this command takes it anew. The peak rates behind the
        floor are measured again where PyTorch is faster than they allow, by this call or by another test beside it."""
        return re.sub("- (best of PyTorch|floor of this device): .*\n", "", text)
    require(re.search(r"\n- best of PyTorch: [\d.]+ [mu]?s \(eager\), [\d.]+ times the floor\n", seed), "the best of PyTorch: %s" % re.findall(".*PyTorch: .*", seed))
    slow = house.write("candidate.py", BROKEN.replace("```python\n", "").replace("```\n", ""))
    repair = house.run("prompt", SMALL_SOFTMAX, "--call-type", "seed_repair", "--candidate", slow, "--json", *QUICK).expect(ACCEPTED).json()
    require("no_such_module" in repair["prompt"] and "import-failed" in repair["prompt"], "the repair prompt:\n" + repair["prompt"][:800])
    require(repair["tokens_estimated"] > 100 and repair["call_type"] == "seed_repair", "tokens: %s" % repair["tokens_estimated"])
    right = house.write("right.py", "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.softmax(x, dim=1)\n")
    other = house.write("other.py", "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.log_softmax(x, dim=1).exp()\n")
    analysis = house.write("analysis.txt", 'So:\n{"worth_optimizing": true, "reason": "r", "bottleneck": "launches", "optimisation_method": "one pass",'
                           '"modification_plan": "fuse them", "expected_speedup": 2, "implementation_complexity": "low", "kernel_type": "reduction", "time_loop": "none"}')
    for kind, flags, words in [("improve", ("--candidate", right), ("Make it faster", "the floor of this device is", "torch.softmax(x, dim=1)")),
                               ("combine", ("--candidate", right, "--second", other), ("The first, ", "The second, ", "log_softmax", "times the floor")),
                               ("restart", (), ("with another algorithm than those that were tried", "The floor of this device is")),
                               ("mend", ("--candidate", slow), ("This candidate did not pass", "no_such_module", "import-failed")),
                               ("algorithm", ("--candidate", right, "--analysis", analysis), ("fuse them",))]:
        shown = house.run("prompt", SMALL_SOFTMAX, "--call-type", kind, *flags, "--json", *QUICK).expect(ACCEPTED).json()
        for word in words:
            require(word in shown["prompt"], "%s: %r is missing:\n%s" % (kind, word, shown["prompt"][:1500]))
        require(untimed(seed).startswith(untimed(shown["system"] + "\n")), "%s: the constant part: %s" % (kind, shown["system"][-1500:]))
    house.run("prompt", SMALL_SOFTMAX, "--call-type", "improve", "--candidate", slow, *QUICK).expect(ACCEPTED, "only for a candidate that is correct")
    for kind, flags, words in [("improve", (), "needs --candidate FILE"), ("combine", ("--candidate", right), "--second FILE"), ("restart", ("--candidate", right), "leave out --candidate"),
                               ("mend", ("--candidate", slow, "--second", right), "leave out --second"), ("algorithm", ("--candidate", right), "--analysis FILE")]:
        house.run("prompt", SMALL_SOFTMAX, "--call-type", kind, *flags).expect(USAGE, words)
    house.run("prompt", SMALL_SOFTMAX, "--call-type", "seeds").expect(USAGE)
    require(not (house.folder / "data" / "hone.db").exists() or not house.rows("SELECT 1 FROM run"), "a prompt made a run")


def interrupted_in_a_call(house):
    """Ctrl-C while a model thinks: exit code 130 at once, the run is stopped, nothing of the call is kept, resume goes on"""
    proposer = program(house, "slow.py", "open(%r, 'a').write(key)\ntime.sleep(1200)" % str(house.folder / "asked"))
    process = house.start("optimize", SMALL_SOFTMAX, "--proposer", proposer, *QUICK, *ONE_CALL, "--out", house.folder / "run")
    wait_for("question", lambda: (house.folder / "asked").exists(), process=process)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    house.finish(process).expect(INTERRUPTED, "hone resume")
    seconds = time.monotonic() - begin
    require(seconds < patience(30), "it took %.1f s" % seconds)
    run = house.last()
    require_equal((run.status, list(run.calls)), ("stopped", []), "the run")
    house.check_no_processes()
    (house.folder / "slow.py").write_text("print(%r)\n" % BROKEN)
    house.run("resume", "last").expect(REJECTED)
    require_equal(house.last().status, "done", "after resume")


def interrupted_before_the_run(house):
    """Ctrl-C while Python is looked for: exit code 130, no run is left behind, and --json prints one object that says so"""
    hangs = house.write("python", "#!/bin/sh\ntouch '%s'\nexec sleep 1000\n" % (house.folder / "asked"))
    pathlib.Path(hangs).chmod(0o755)
    process = house.start("optimize", SMALL_SOFTMAX, "--python", hangs, "--json")
    wait_for("search for Python", lambda: (house.folder / "asked").exists(), process=process)
    process.send_signal(signal.SIGINT)
    said = house.finish(process).expect(INTERRUPTED, "interrupted").json()
    require_equal((said["status"], said["error"]["kind"], said["exit_code"]), ("failed", "interrupted", INTERRUPTED), "the object")
    require(not (house.folder / "data" / "hone.db").exists() or not house.rows("SELECT 1 FROM run"), "a run was left behind")


def interrupted_in_judging(house):
    """Ctrl-C while a candidate is judged: exit code 130, the candidate stays unjudged and is judged on resume"""
    house.write("wrong/001_seed.txt", fenced("import time\n\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        time.sleep(5)  # longer than the signal takes\n        return 2 * torch.softmax(x, dim=1)"))
    process = house.start("optimize", SLOW_ROWS, "--proposer", "replay:%s" % (house.folder / "wrong"), *QUICK, *ONE_CALL, "--out", house.folder / "run")

    def listen():
        for line in process.stderr:
            if "seed0: checking" in line:
                process.send_signal(signal.SIGINT)
    reader = threading.Thread(target=listen)
    reader.start()
    reader.join(180)
    require_equal(process.wait(30), INTERRUPTED, "exit code")
    process.stdout.close()
    house.check_no_processes()
    run = house.last()
    require_equal((run.status, run.candidates["seed0"]["verdict"]), ("stopped", ""), "the run")
    require("hone resume" in run.outcome, "the outcome: " + run.outcome)
    house.run("resume", "last").expect(REJECTED)
    require_equal((house.last().status, house.last().verdict("seed0")), ("done", ("rejected", "wrong-output")), "after resume")


def folders_that_cannot_be_written(house):
    """an --out that cannot be made is said before a run exists; one that cannot be written to costs nothing but the files"""
    blocked = house.write("file", "x")
    house.optimize(SMALL_SOFTMAX, broken_seed(house), *ONE_CALL, "--out", blocked / "run").expect(CANNOT, "--out")
    require(not house.rows("SELECT name FROM run"), "a run was left behind: %s" % house.rows("SELECT name, status FROM run"))
    # Works for root as well: every file that the run wants to write already exists as something else.
    out = house.folder / "taken"
    house.optimize(SMALL_SOFTMAX, broken_seed(house), *ONE_CALL, "--out", out).expect(REJECTED)
    shutil.rmtree(out)
    for name in ("best.py", "run.json", "usage.csv", "console.log"):
        (out / name).mkdir(parents=True)
    for name in ("code", "evaluation", "llm"):
        (out / name).write_text("")
    outcome = house.optimize(SMALL_SOFTMAX, broken_seed(house), *ONE_CALL, "--out", out)
    outcome.expect(REJECTED, "cannot write into the run's folder", "no candidate was right")
    require_equal(outcome.err.count("cannot write into the run's folder"), 1, "complaints")
    require_equal((house.last().status, house.last().verdict("seed0")[1]), ("done", "import-failed"), "the run")
    record = house.run("resume", "last", "--json").expect(REJECTED).json()
    require_equal(record["status"], "done", "--json without a run.json")


def two_processes_one_store(house):
    """several processes write to one store and others read it: no row is lost, none is doubled"""
    seconds = house.options.store_seconds
    # The reply is the call's own key, which is not a file: many rows from many threads, and nothing to judge.
    flags = ("--proposer", "exec:printenv HONE_CALL_KEY", *QUICK, "--seeds", "32", "--repairs", "2", "--no-tuning", "--no-analysis", "--search", "classic", "-q")
    deadline = time.monotonic() + seconds
    finished, complaints = [], []

    def work(number):
        count = 0
        while count == 0 or time.monotonic() < deadline:
            out = house.folder / ("w%d_%d" % (number, count))
            outcome = house.run("optimize", SMALL_SOFTMAX, *flags, "--out", out)
            finished.append(str(out))
            if outcome.code != REJECTED:
                complaints.append(outcome.err[-500:])
            again = house.run("resume", out, "-q")
            if again.code != REJECTED:
                complaints.append("resume: " + again.err[-500:])
            count += 1

    def read():
        while time.monotonic() < deadline or any(worker.is_alive() for worker in workers):
            outcome = house.run("runs", "-n", "1000")
            if outcome.code != ACCEPTED:
                complaints.append("runs: " + outcome.err[-300:])
            time.sleep(0.02)
    workers = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    reader = threading.Thread(target=read)
    for thread in (*workers, reader):
        thread.start()
    for thread in (*workers, reader):
        thread.join()
    require(not complaints, "%d complaints, such as: %s" % (len(complaints), complaints[:2]))
    house.integrity()
    require_equal(sorted(row["folder"] for row in house.rows("SELECT folder FROM run")), sorted(finished), "runs")
    wanted = sorted(["zero"] + ["seed%d%s" % (s, r) for s in range(32) for r in ("", ".repair1", ".repair2")])
    asked = sorted(key + again for key in wanted[:-1] for again in ("", ".again"))
    for row in house.rows("SELECT id, name, status FROM run"):
        keys = [r["key"] for r in house.rows("SELECT key FROM candidate WHERE run_id=? ORDER BY key", row["id"])]
        require_equal((row["status"], keys), ("done", wanted), row["name"])
        calls = house.rows("SELECT key, reply FROM call WHERE run_id=? ORDER BY key", row["id"])
        require_equal(sorted(c["key"] for c in calls), asked, "calls of " + row["name"])
        require_equal([c for c in calls if c["reply"] != c["key"] + "\n"], [], "replies under the wrong key")
    total = sum(house.rows("SELECT count(*) n FROM " + table)[0]["n"] for table in ("run", "call", "candidate", "decision", "console"))
    print("     %d runs, %d rows by two processes in %.0f s" % (len(finished), total, seconds), flush=True)


def corrected_ceilings(house):
    """ceilings that were measured on a busy machine are measured again, a few times at most, and no floor is above PyTorch's time"""
    env = {"HONE_CACHE": str(house.folder / "cache")}

    def card():
        return house.run("show", ROOT / "tasks" / "small_gru.py", "--target", "cpu", "--json", env=env).expect(0).json()

    card()
    (kept,) = (house.folder / "cache" / "ceilings").glob("*.json")
    honest = json.loads(kept.read_text())
    for times, again in ((1, True), (4, False)):
        kept.write_text(json.dumps(dict(honest, float32_flops_per_s=1e6, times=times)))
        shown = json.dumps(card())
        now = json.loads(kept.read_text())
        require_equal(now["times"], times + again, "measured")
        require((now["float32_flops_per_s"] > 1e8) == again, "the kept rate is %s" % now["float32_flops_per_s"])
        floor_us = float(re.search(r'"floor_us": ([0-9.e+-]+)', shown).group(1))
        require(0 < floor_us < 1e6, "the floor is %s us" % floor_us)  # 1e6 operations per second would give minutes


def minutes_in_judging(house):
    """--max-minutes ends a run in the middle of whatever the judge is doing, and the run says how far it came"""
    seconds = house.folder / "seconds"
    # A call takes ten seconds and writes a line each second, with the process that makes the call.
    task = house.write("sleeper.py", "import os\nimport time\nimport torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
                       "        for second in range(10):\n            with open(%r, 'a') as file:\n                file.write('%%d %%d\\n' %% (os.getpid(), second))\n"
                       "            time.sleep(1)\n        return x + 1\n\n\n"
                       "def get_inputs():\n    return [torch.ones(4)]\n\n\ndef get_init_inputs():\n    return []\n" % str(seconds))
    begin = time.monotonic()
    # The reference makes a dozen calls before the first candidate, which take over two minutes unless they are interrupted.
    outcome = house.optimize(task, broken_seed(house), *ONE_CALL, "--max-minutes", "0.4", "--out", house.folder / "run")
    took = time.monotonic() - begin
    outcome.expect(REJECTED, "the budget of 24 s is spent")
    require_equal((house.last().status, house.last().result), ("stopped", "nothing_tried"), "the run")
    require(took > 20, "it took %.0f s of its 24 s" % took)
    lines = seconds.read_text().split("\n")[:-1]
    print("     %.1f s, %d seconds of calls" % (took, len(lines)), flush=True)
    # No line can be early, however busy the machine is: a process writes at most one each second. So the 25th is from after the end.
    processes = collections.Counter(line.split()[0] for line in lines)
    late = [count for count in processes.values() if count > 24 + 1]
    require(lines and not late, "the task was called for %s seconds where 24 are allowed" % late)
    require(took < 24 + patience(10), "it took %.0f s where 24 are allowed" % took)


def nothing_tried(house):
    """a task that imports a file beside it leaves nothing to try, and nobody calls that a kept PyTorch"""
    house.write("beside.py", "def scale(x):\n    return 2 * x\n")
    task = house.write("importer.py", "import torch\nfrom beside import scale\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return scale(x)\n\n\n"
                       "def get_inputs():\n    return [torch.randn(64, 64)]\n\n\ndef get_init_inputs():\n    return []\n")
    outcome = house.run("optimize", task, *QUICK, "--out", house.folder / "run")
    outcome.expect(REJECTED, "nothing could be tried", "imports 'beside'")
    require("keep PyTorch" not in outcome.out, outcome.out)
    require_equal((house.last().status, house.last().result), ("done", "nothing_tried"), "the run")
    house.run("explain", "last").expect(0, "Nothing could be tried: the task imports 'beside'")


def nothing_tried_in_constructor(house):
    """a task whose constructor reads a file beside it leaves nothing to try either: no candidate is to blame"""
    house.write("scale.txt", "2.0")
    task = house.write("reader.py", "import os\n\nimport torch\n\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                       "        with open(os.path.join(%r, 'scale.txt')) as file:\n            self.scale = float(file.read())\n\n"
                       "    def forward(self, x):\n        return torch.tanh(self.scale * x) + 1\n\n\n"
                       "def get_inputs():\n    return [torch.randn(64, 64)]\n\n\ndef get_init_inputs():\n    return []\n" % str(house.folder))
    reply = fenced(pathlib.Path(task).read_text().replace("class Model(", "class ModelNew("))
    outcome = house.optimize(task, program(house, "same.py", "print(%r)" % reply), *ONE_CALL, "--out", house.folder / "run")
    outcome.expect(REJECTED, "nothing could be tried", "reads scale.txt")
    require("keep PyTorch" not in outcome.out and "no candidate was right" not in outcome.out, outcome.out)
    require_equal((house.last().status, house.last().result), ("done", "nothing_tried"), "the run")
    shown = house.run("show", "last", "--json").expect(0).json()
    require_equal((shown["best"], shown["vs_best"]), (None, None), "best of a run that tried nothing")


CASES = [programs, searches_without_a_budget, minutes_in_judging, nothing_tried, nothing_tried_in_constructor, corrected_ceilings, exported_and_replayed, suite_survives, suite_interrupted, settings, prompts, interrupted_in_a_call, interrupted_before_the_run, interrupted_in_judging,
         folders_that_cannot_be_written, two_processes_one_store]


def options(parser):
    parser.add_argument("--store-seconds", type=float, default=10, help="how long two processes share a store")


if __name__ == "__main__":
    sys.exit(main(CASES, __doc__, options))
