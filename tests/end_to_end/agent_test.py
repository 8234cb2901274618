"""--proposer agent:CMD with scripted agents, the whole program and the real judge: an agent that works, floods and forges; one that hangs;
one that is killed, resumed and interrupted. src/pipeline/agent_stage_test.cpp tests what the pipeline does with verdicts.

Usage: agent_test.py --hone BINARY [--case NAME]
"""

import json
import os
import pathlib
import signal
import sys

from pipeline_house import INTERRUPTED, QUICK, REJECTED, CANNOT, SLOW_ROWS, SMALL_SOFTMAX, USAGE, main, require, require_equal, wait_for

WRONG = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x) + %d
"""
GOOD = """
import time
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        time.sleep(0.01)
        return torch.softmax(x, dim=-1)
"""
# What a Python agent needs: files, the commands of its folder, a log of their answers.
HELP = """
import json, os, pathlib, signal, subprocess, sys, time
log = []
def ask(*words):
    done = subprocess.run(list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    log.append({"words": words, "code": done.returncode, "answer": json.loads(done.stdout) if done.stdout.strip() else None, "text": done.stderr})
    pathlib.Path("log.json").write_text(json.dumps(log))
    return log[-1]
def write(name, text):
    pathlib.Path(name).write_text(text)
    return name
WRONG, GOOD = %r, %r
""" % (WRONG, GOOD)
WORKS = HELP + """
assert pathlib.Path.cwd() == pathlib.Path(os.environ["HONE_AGENT_FOLDER"])
for name in ("README.md", "task.py", "CARD.md", "card.json"):
    assert pathlib.Path(name).stat().st_size > 0
ask("./lint", write("broken.py", "class ModelNew(:\\n"))
ask("./bench")
ask("./bench", "no_such_file.py")
# One that knows the protocol but not the rules.
write("verdicts.json", json.dumps({"agent1": {"verdict": "accepted"}}))
write("best.py", "forged = True")
ask("./bench", write("wrong.py", WRONG % 1), "--note", "zeros")
ask("./bench", write("good.py", GOOD), "--parent", "agent1")
ask("./bench", "good.py")
ask("./bench", write("third.py", WRONG % 2))
ask("./history")
write("bench", "#!/bin/sh\\necho forged\\n")
print("x" * 3000000)
print("the end")
"""
HANGS = HELP + """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
write("pid", str(os.getpid()))
subprocess.Popen(["sleep", "1000"], start_new_session=True)
time.sleep(1000)
"""
# One session each: hangs after a verdict (killed), hangs after another (Ctrl-C), ends.
RETURNS = HELP + """
sitting = len(list(pathlib.Path(".").glob("sitting*"))) + 1
write("sitting%d" % sitting, "")
if sitting == 1:
    ask("./bench", write("a.py", WRONG % 1))
elif sitting == 2:
    ask("./bench", "a.py")
    ask("./bench", write("b.py", WRONG % 2), "--parent", "agent1")
else:
    ask("./bench", "b.py")
    sys.exit(0)
write("waits%d" % sitting, str(os.getpid()))
time.sleep(1000)
"""


def agent(house, script):
    return "agent:%s %s" % (sys.executable, house.write("agent.py", script))


def answers(run):
    return json.loads(pathlib.Path(run.folder, "agent", "log.json").read_text())


def works_floods_and_forges(house):
    """a wrong file, a good one, the good one again, one more than the budget allows; forged files and a flood of output change nothing"""
    house.optimize(SLOW_ROWS, agent(house, WORKS), "--max-evaluations", "2", "--out", house.folder / "run")
    run = house.last()
    lint, no_file, missing, wrong, good, again, third, history = answers(run)
    require_equal(lint["code"], 1, "lint of a file that does not parse")
    require(lint["answer"]["findings"], "lint has no findings")
    require_equal((no_file["code"], missing["code"]), (USAGE, USAGE), "wrong usage")
    require_equal((wrong["code"], wrong["answer"]["verdict"], wrong["answer"]["reason"]), (REJECTED, "rejected", "wrong-output"), "the wrong file")
    require("wrong-output" in wrong["text"] and "1 evaluations" in wrong["text"], wrong["text"])
    require_equal(run.verdict("agent1"), ("rejected", "wrong-output"), "agent1")
    require(run.is_right("agent2"), "the good file: %s" % (run.verdict("agent2"),))
    require_equal(good["answer"]["record"]["verdict"], run.verdict("agent2")[0], "what the agent was told")
    require_equal((again["answer"]["recorded_before"], again["answer"]["key"]), (True, "agent2"), "the same bytes again")
    require_equal((third["code"], third["answer"]["status"]), (CANNOT, "refused"), "beyond the budget")
    require("the budget of 2 evaluations is spent" in third["text"], third["text"])
    require_equal([one["key"] for one in history["answer"]["candidates"]], ["zero", "agent1", "agent2"], "history")
    header = history["text"].splitlines()[0]
    require(all(word in header for word in ("candidate", "verdict", "reason", "speed-up", "parent")), "header of the history: %r" % header)
    require_equal(list(run.candidates), ["zero", "agent1", "agent2"], "candidates")
    require_equal((run.candidates["agent1"]["title"], run.candidates["agent2"]["parent_key"]), ("zeros", "agent1"), "what the agent said")
    require_equal((run.status, run.best_key), ("stopped", "agent2" if run.verdict("agent2")[0] == "accepted" else ""), "the end")
    require("forged" not in pathlib.Path(run.folder, "best.py").read_text(), "best.py is the agent's")
    house.best_is_importable(run)
    said = run.calls["agent.sitting1"]["reply"]
    require(len(said) < 1000000 and "left out" in said and said.endswith("the end\n"), "the output: %d bytes, ends %r" % (len(said), said[-40:]))
    require("2 files judged; it ended with exit code 0" in run.decided("agent.sitting1"), run.decided("agent.sitting1"))
    house.run("show", run.name).expect(0, "agent2", "2 files judged")
    house.run("show", "-v", run.name).expect(0, "the end")
    house.run("explain", run.name).expect(0, "agent")
    house.run("export-replay", run.name, house.folder / "replay").expect(USAGE, "an agent has no replies")


def ended_at_its_deadline(house):
    """an agent that hangs is ended with all it started; one that cannot be started is told before anything is written"""
    house.optimize(SMALL_SOFTMAX, agent(house, HANGS), "--agent-minutes", "0.05", "--out", house.folder / "run").expect(CANNOT, "no candidate came", "its time was over and it was ended")
    require((house.folder / "run" / "agent" / "pid").exists(), "the agent was not started")
    house.check_no_processes()
    house.optimize(SMALL_SOFTMAX, "agent:/no/such/agent").expect(CANNOT, "agent: '/no/such/agent' is not a program that can be run")
    house.optimize(SMALL_SOFTMAX, "agent:").expect(USAGE, "agent:CMD")
    require_equal(len(house.rows("SELECT id FROM run")), 1, "runs")


def runs(pid):
    """Whether the process exists and is not a zombie, which its adoptive parent must collect."""
    try:
        return pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def killed_resumed_and_interrupted(house):
    """a run is killed, resumed, interrupted and resumed: the agent finds its folder as it was, and no verdict is reached twice"""
    folder = house.folder / "run"
    waits = folder / "agent"
    process = house.start("optimize", SMALL_SOFTMAX, "--proposer", agent(house, RETURNS), "--again", *QUICK, "--out", folder)
    wait_for("the first sitting", (waits / "waits1").exists, process=process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    first = int((waits / "waits1").read_text())
    kept = house.last().candidates["agent1"]
    require_equal(kept["verdict"], "rejected", "before the kill")

    process = house.start("resume", folder)
    wait_for("the second sitting", (waits / "waits2").exists, process=process)
    require(not runs(first), "the agent of the killed sitting is still there")
    process.send_signal(signal.SIGINT)
    house.finish(process).expect(INTERRUPTED, "interrupted")
    house.check_no_processes()
    run = house.last()
    require_equal((run.status, list(run.candidates)), ("stopped", ["zero", "agent1", "agent2"]), "after Ctrl-C")
    require_equal([one["answer"].get("recorded_before") for one in answers(run)], [True, False], "the second sitting")

    house.run("resume", folder).expect(REJECTED)
    run = house.last()
    require_equal([one["answer"].get("recorded_before") for one in answers(run)], [True], "the third sitting")
    require_equal((run.status, run.candidates["agent1"]), ("done", kept), "the end")
    require_equal(run.candidates["agent2"]["parent_key"], "agent1", "lineage")
    require_equal(list(run.calls), ["agent.sitting1", "agent.sitting2", "agent.sitting3"], "sittings")
    house.run("resume", folder).expect(REJECTED, "finished")
    house.integrity()


if __name__ == "__main__":
    sys.exit(main([works_floods_and_forges, ended_at_its_deadline, killed_resumed_and_interrupted], __doc__))
