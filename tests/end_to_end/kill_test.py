"""kill -9 at random moments of a run, resume, and the store ends as if nothing had happened: the whole program with its workers. Every single
step of recorded runs is killed by tests/golden/replay_golden_test.cpp, which needs no judge.

Usage: kill_test.py --hone BINARY [--moments N] [--seed N] [--only WORD]

Each disturbed run is killed once or more on its way (always a new random moment), resumed, and compared with an undisturbed one
call for call: keys and replies of calls, keys, sources and verdicts of candidates, keys and words of decisions. Verdicts that
are about speed are compared where the margin is wide; which numbers they hold is the machine's business.
"""

import json
import os
import pathlib
import random
import re
import signal
import sys
import time

from pipeline_house import ACCEPTED, HERE, QUICK, REJECTED, SLOW_ROWS, SMALL_SOFTMAX, Failed, main, patience, require, require_equal, wait_for, waits
from replay_test import check_staged_tuning

# Nothing in the first depends on a clock, because every candidate is rejected for its answers. The second is tuned, with wide margins.
REJECTED_ALL = (SMALL_SOFTMAX, HERE / "replays" / "kill", ("--seeds", "2", "--repairs", "1", "--search", "classic"), REJECTED)
ONE_BRANCH = (SMALL_SOFTMAX, HERE / "replays" / "kill", ("--seeds", "1", "--repairs", "1", "--search", "classic"), REJECTED)
TUNED = (SLOW_ROWS, HERE / "replays" / "tuning", ("--seeds", "1", "--repairs", "1"), ACCEPTED)
# A program that answers as the replay does, by type and key, and logs every request.
ANSWERS = """
import os, pathlib, sys, time
folder, log = pathlib.Path(sys.argv[1]), sys.argv[2]
key, kind = os.environ["HONE_CALL_KEY"], os.environ["HONE_CALL_TYPE"]
sys.stdin.read()
order = {"seed1": 1, "seed1.again": 2, "seed1.repair1": 1, "seed1.repair1.analysis": 1, "seed1.repair1.analysis.again": 2}.get(key, 0)
files = sorted(folder.glob("*_%s.txt" % kind))
time.sleep(0.1)
sys.stdout.write(files[order].read_text())
sys.stdout.flush()
with open(log, "a") as out:
    out.write(key + "\\n")
"""


def without_figures(text):
    # On a busy machine, a second judgement of a candidate that is ahead may be inconclusive; the decision is the same.
    text = re.sub(r"(judged again with other seeds: )(accepted|inconclusive)", r"\1right", text).replace(" in one more pair of processes", "")
    return re.sub(r"\d+(\.\d+)?( (ns|us|ms|s|min)\b)?", "#", text)


def words_of_decisions(run):
    # `seconds` lists steps of 50 ms and more, which depend on the machine.
    return {key: (row["phase"], "" if key == "seconds" else without_figures(row["text"])) for key, row in run.decisions.items()}


def story(run):
    """What two runs of the same recording must have in common."""
    candidates = {}
    for key, row in run.candidates.items():
        wide = row["verdict"] != "accepted" or row["ci_low"] > 2
        about_speed = row["reason"] in ("faster", "slower") or row["verdict"] in ("no_difference", "inconclusive")
        verdict = (row["verdict"], row["reason"]) if wide and not about_speed else "right"
        candidates[key] = (row["parent_key"], row["phase"], row["source"], verdict)
    return {
        "status": run.status,
        "calls": {key: (row["call_type"], row["status"], row["reply"]) for key, row in run.calls.items()},
        "candidates": candidates,
        "decisions": words_of_decisions(run),
        "best": run.best_key,
    }


def require_same(found, wanted):
    for part in wanted:
        if isinstance(wanted[part], dict):
            require_equal(sorted(found[part]), sorted(wanted[part]), part)
            for key in wanted[part]:
                require_equal(found[part][key], wanted[part][key], "%s %s" % (part, key))
        else:
            require_equal(found[part], wanted[part], part)


def check_folder(run):
    """The folder has all that the store has, whenever the run was killed."""
    folder = pathlib.Path(run.folder)
    for key, row in run.candidates.items():
        require_equal((folder / "code" / (key + ".py")).read_text(), row["source"], "code of " + key)
    for key, row in run.calls.items():
        require_equal((folder / "llm" / (key + ".reply.txt")).read_text(), row["reply"], "reply of " + key)
    require_equal(len((folder / "usage.csv").read_text().splitlines()), 1 + len(run.calls), "lines in usage.csv")
    summary = json.loads((folder / "run.json").read_text())
    require_equal(len(summary["candidates"]), len(run.candidates), "candidates in run.json")
    compile((folder / "best.py").read_text(), "best.py", "exec")


def kill_at(house, process, seconds):
    """Waits this long, then kills it like kill -9. True if it was still running."""
    try:
        process.wait(seconds)
        process.communicate()
        return False
    except Exception:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        return True


def disturbed(house, number, rng, whole_seconds, subject, proposer):
    """A run killed at one to three random moments and resumed until it ends. Returns it and the number of kills."""
    task, _, flags, code = subject
    out = house.folder / ("disturbed%d" % number)
    words = ("optimize", task, "--proposer", proposer, *QUICK, *flags, "--again", "--out", out, "-q")
    process = house.start(*words)
    kills = 0
    for sitting in range(1 + rng.randrange(3)):
        if not kill_at(house, process, rng.uniform(0.02, 0.95) * whole_seconds / (1 + sitting)):
            break
        kills += 1
        known = house.rows("SELECT 1 FROM sqlite_master WHERE name='run'") and house.rows("SELECT 1 FROM run WHERE folder=?", str(out))
        if known:
            house.integrity()
        process = house.start(*(("resume", out, "-q") if known else words))
    outcome = house.finish(process)
    require(outcome.code == code, "exit code %s: %s" % (outcome.code, outcome.err[-800:]))
    return house.named(house.rows("SELECT name FROM run WHERE folder=? ORDER BY id DESC", str(out))[0]["name"]), kills


def undisturbed(house, subject, proposer):
    task, _, flags, code = subject
    begin = time.monotonic()
    house.optimize(task, proposer, *flags, "--out", house.folder / "undisturbed", "-q").expect(code)
    return house.last(), time.monotonic() - begin


def require_as(wanted, found, kills, house):
    try:
        require_same(story(found), story(wanted))
        check_folder(found)
    except Failed as reason:
        raise Failed("%s (seed %s, killed %d times): %s" % (found.name, house.options.seed, kills, reason))


def killed_runs(house):
    """runs killed at random moments end as the undisturbed one; a program that proposes is not asked again for what it answered before the kill"""
    script = house.write("answers.py", ANSWERS)
    logs = []

    def proposer(name):
        logs.append(house.folder / name)
        logs[-1].write_text("")
        return "exec:%s %s %s %s" % (sys.executable, script, REJECTED_ALL[1], logs[-1])
    wanted, seconds = undisturbed(house, REJECTED_ALL, proposer("whole.log"))
    require_equal(sorted(wanted.calls), ["seed0", "seed0.algorithm", "seed0.algorithm.repair1", "seed0.repair1", "seed0.repair1.analysis", "seed1",
                                         "seed1.again", "seed1.repair1", "seed1.repair1.analysis", "seed1.repair1.analysis.again"], "calls")
    rng = random.Random(house.options.seed)
    total = 0
    for number in range(house.options.moments):
        found, kills = disturbed(house, number, rng, seconds, REJECTED_ALL, proposer("disturbed%d.log" % number))
        total += kills
        require_as(wanted, found, kills, house)
        asked = logs[-1].read_text().split()
        # A reply that was pending at the kill was lost and must be requested again: one for each of two branches.
        twice = {key for key in asked if asked.count(key) > 1}
        require(len(asked) - len(set(asked)) <= 2 * kills, "asked again: %s" % sorted(twice))
    require(total > 0, "nothing was killed")
    house.integrity()
    print("     %d runs, killed %d times; undisturbed %.1f s" % (house.options.moments, total, seconds), flush=True)


@waits
def killed_while_tuning(house):
    """a replayed run is tuned stage by stage; killed at random moments, it finds the same best"""
    proposer = "replay:%s" % TUNED[1]
    wanted, seconds = undisturbed(house, TUNED, proposer)
    check_staged_tuning(house, wanted)
    found, kills = disturbed(house, 0, random.Random(house.options.seed + 4), seconds, TUNED, proposer)
    require(kills > 0, "nothing was killed")
    require_as(wanted, found, kills, house)
    house.integrity()


def answered_once(house):
    """killed after its first and its third answer, a run asks for each of its answers exactly once; resuming it when it is done changes nothing"""
    script = house.write("answers.py", ANSWERS)
    log = house.write("asked.log", "")
    out = house.folder / "run"
    task, folder, flags, code = ONE_BRANCH
    proposer = "exec:%s %s %s %s" % (sys.executable, script, folder, log)
    process = house.start("optimize", task, "--proposer", proposer, *QUICK, *flags, "--out", out, "-q")
    kills = 0
    for stored in (1, 3):
        deadline = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < deadline:
            now = len(house.rows("SELECT key FROM call")) if (house.folder / "data" / "hone.db").exists() and house.rows("SELECT 1 FROM sqlite_master WHERE name='call'") else 0
            if now >= stored:
                break
            time.sleep(0.01)
        if process.poll() is not None:
            break
        kills += 1
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        process = house.start("resume", out, "-q")
    require_equal(house.finish(process).code, code, "exit code")
    run = house.last()
    asked = log.read_text().split()
    require_equal(sorted(asked), sorted(run.calls), "what was asked")
    require_equal(kills, 2, "how often it was killed")
    check_resume_of_a_done_run(house, run, log)


def check_resume_of_a_done_run(house, wanted, log):
    """Resuming a run that is done asks nothing, judges nothing, changes no row and no file, and says so."""
    asked = log.read_text()

    def everything():
        files = sorted(path for path in pathlib.Path(wanted.folder).rglob("*") if path.is_file())
        tables = [row["name"] for row in house.rows("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")]
        return [(str(path), path.stat().st_mtime_ns, path.read_bytes()) for path in files], [house.rows("SELECT * FROM " + table) for table in tables]
    before = everything()
    begin = time.monotonic()
    house.run("resume", "last", "-q").expect(REJECTED, "no candidate was right", "is finished; nothing was changed")
    seconds = time.monotonic() - begin
    require(seconds < patience(30), "it took %.1f s to see that all is done" % seconds)
    require_equal(house.run("resume", "last", "--json", "--max-evaluations", "50").expect(REJECTED).json()["status"], "done", "status")
    require(everything() == before, "a row or a file has changed")
    require_same(story(house.last()), story(wanted))
    require_equal(log.read_text(), asked, "what was asked")


def two_at_once(house):
    """a run that another process works on is refused, and goes on untouched"""
    # It reports the request, then thinks until its run has ended.
    script = house.write("answers.py", "import os, time\nparent = os.getppid()\nopen(%r, 'w').close()\nwhile os.getppid() == parent:\n    time.sleep(0.05)\n" % str(house.folder / "asked"))
    process = house.start("optimize", SMALL_SOFTMAX, "--proposer", "exec:%s %s" % (sys.executable, script), *QUICK, "--seeds", "1", "--out", house.folder / "run")
    wait_for("question", lambda: (house.folder / "asked").exists(), process=process)
    house.run("resume", "last").expect(3, "another hone is working on this run")
    require("running" in house.run("runs").expect(0).out, "hone runs does not say that it is running")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    require("killed" in house.run("runs").expect(0).out, "hone runs does not say that it was killed")


CASES = [killed_runs, killed_while_tuning, answered_once, two_at_once]


def options(parser):
    parser.add_argument("--moments", type=int, default=2, help="disturbed runs")
    parser.add_argument("--seed", type=int, default=20261115, help="of the random moments")


if __name__ == "__main__":
    sys.exit(main(CASES, __doc__, options))
