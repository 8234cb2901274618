#!/usr/bin/env python3
"""`hone suite --on ray`: the scheduler with a made-up cluster, and the whole way with a real one of two nodes on this machine.

Usage: ray_test.py --hone BINARY [--case NAME]
"""
# label: long

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "bench"))

import ray_suite as bench  # noqa: E402
from hone import ray_cluster, ray_import, ray_node, ray_suite  # noqa: E402


def require(condition, what):
    if not condition:
        raise SystemExit("FAILED: %s" % what)


# ---- without Ray ----


class FakeCluster:
    """Scripted nodes and answers: {task: [answer of attempt 1, ...]}; an answer is a dict, or 'ok'."""

    def __init__(self, script, nodes=("n1", "n2")):
        self.script, self.node_ids = script, list(nodes)
        self.submitted = []
        self.flying = {}
        self.board = {}  # (task, attempt) -> node, as workers report it

    def usable_nodes(self):
        return self.node_ids

    def nodes(self):
        return [{"id": node, "host": node, "alive": True, "places": 1} for node in self.node_ids]

    def submit(self, job, avoid):
        handle = (job["name"], len(self.submitted))
        self.submitted.append((job["name"], job["attempt"], frozenset(avoid)))
        answers = self.script.get(job["name"], ["ok"])
        count = sum(1 for name, _, _ in self.submitted if name == job["name"])
        self.flying[handle] = answers[min(count, len(answers)) - 1]
        return handle

    def wait(self, handles, seconds):
        return handles[:1]

    def answer(self, handle):
        said = self.flying.pop(handle)
        return {"node": "n1", "archive": b"archive of " + handle[0].encode()} if said == "ok" else said

    def running(self):
        return {}

    def began(self, task, attempt):
        return self.board.get((task, attempt), "")

    def cancel(self, handles):
        pass


class FakeImporter:
    def __init__(self, before=(), errors=None):
        self.results, self.added, self.broken = collections.deque(), [], None
        self.before, self.errors = list(before), errors or {}

    def left_from_before(self):
        return self.before

    def add(self, task, archive):
        self.added.append(task)
        self.take(task)

    def take(self, task):
        why = self.errors.get(task, [])
        self.results.append((task, why.pop(0) if why else None))

    def idle(self):
        return not self.results


def plan_of(folder, tasks, **more):
    more.setdefault("binary", "/bin/false")
    return ray_suite.Plan({"suite": "s", "folder": str(folder), "tasks": [{"name": task, "file": task + ".py"} for task in tasks], "run": {}, "quiet": True, **more})


def scheduled(folder, tasks, script=None, importer=None, nodes=("n1", "n2"), board=None, **more):
    plan = plan_of(folder, tasks, **more)
    cluster, importer = FakeCluster(script or {}, nodes), importer or FakeImporter()
    cluster.board = board or {}
    scheduler = ray_suite.Scheduler(plan, cluster, importer, ray_suite.Progress(plan))
    require(scheduler.run(lambda: False), "the scheduler did not come to its end")
    return scheduler, cluster, importer


def scheduling(options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        died = {"fault": "its node died", "node": "n1"}
        # A fault is retried elsewhere; a verdict never is.
        scheduler, cluster, _ = scheduled(folder, ["a", "b"], {"a": [died, "ok"]})
        require(scheduler.finished == {"a", "b"} and not scheduler.gave_up, "not all finished: %s" % scheduler.finished)
        require(cluster.submitted == [("a", 1, frozenset()), ("b", 1, frozenset()), ("a", 2, frozenset({"n1"}))], "submitted: %s" % cluster.submitted)
        # Ray does not say on which node a worker died, but the worker had reported where it began.
        scheduler, cluster, _ = scheduled(folder, ["a"], {"a": [{"fault": "its worker died"}, "ok"]}, board={("a", 1): "n2"})
        require(cluster.submitted[1] == ("a", 2, frozenset({"n2"})) and scheduler.nodes_faults["n2"] == 1, "a worker that died: %s" % cluster.submitted)
        # The number of attempts is limited; other tasks continue.
        scheduler, cluster, _ = scheduled(folder, ["a", "b"], {"a": [died]}, attempts=3)
        require(scheduler.finished == {"b"} and "its node died" in scheduler.gave_up["a"] and len(cluster.submitted) == 4, "bounded: %s" % cluster.submitted)
        # A single node is better than none.
        scheduler, cluster, _ = scheduled(folder, ["a"], {"a": [died, "ok"]}, nodes=["n1"])
        require(cluster.submitted[1] == ("a", 2, frozenset()), "a single node: %s" % cluster.submitted)
        # A node that differs is left out and costs no attempt.
        scheduler, cluster, _ = scheduled(folder, ["a"], {"a": [{"differs": "torch 1", "node": "n2"}, "ok"]}, attempts=1)
        require(scheduler.finished == {"a"} and cluster.submitted[1] == ("a", 1, frozenset({"n2"})), "differs: %s" % cluster.submitted)
        scheduler, cluster, _ = scheduled(folder, ["a"], {"a": [{"differs": "x", "node": "n1"}]}, nodes=["n1"])
        require("versions" in scheduler.gave_up["a"], "no node left: %s" % scheduler.gave_up)
        # Results that an earlier driver collected are imported and not run again.
        scheduler, cluster, importer = scheduled(folder, ["a", "b"], importer=FakeImporter(before=["a"]))
        require([name for name, _, _ in cluster.submitted] == ["b"] and scheduler.finished == {"a", "b"}, "left from before: %s" % cluster.submitted)
        # A run in the store counts; an archive that the store rejects is run again.
        scheduler, cluster, _ = scheduled(folder, ["a", "b"], importer=FakeImporter(errors={"a": ["the suite has a run of a already"], "b": ["broken"]}))
        require(scheduler.finished == {"a", "b"} and len(cluster.submitted) == 3, "imports: %s" % cluster.submitted)


def versions(options):
    def answer(host, **facts):
        every = {"hone": "1", "torch": "2.11", "triton": "", "Python": "3.11", "GPU driver": "580", "GPU": "H200", "CPU": "EPYC", "cores": "8"}
        return {"node": host, "host": host, "facts": {**every, **facts}}

    def refusal(answers, **how):
        try:
            ray_cluster.facts_in_common(answers, how.get("gpu", True), how.get("allow", False))
        except ray_suite.Refused as refused:
            return str(refused)
        return "accepted"

    said = refusal([answer("a"), answer("b", torch="2.12")])
    require("torch 2.11 on a and 2.12 on b" in said and "--allow-mixed" in said, said)
    require("GPU driver 570 on b and 580 on a" in refusal([answer("a"), answer("b", **{"GPU driver": "570"})]), "driver")
    require(refusal([answer("a"), answer("b", **{"GPU driver": "570"})], gpu=False) == "accepted", "a driver does not matter on processors")
    require(refusal([answer("a"), answer("b", torch="2.12")], allow=True) == "accepted", "--allow-mixed")
    require("no Python with PyTorch" in refusal([answer("a", torch="")]), "no torch")
    require("take it out of the cluster" in refusal([{"host": "a", "fault": "no disk"}]), "fault")
    require(ray_node.differences({"torch": "2"}, {"torch": "1"}) == "torch 2 where the others have 1", "differences")


def shipping(options):
    """Once per node, by hash; a broken copy is fetched again; a wrong shipment is refused."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["HONE_CACHE"] = name
        content, fetched = b"#!/bin/sh\nexit 0\n", []
        shipment = {"sha256": ray_cluster.hashlib.sha256(content).hexdigest()}

        def fetch(_):
            fetched.append(1)
            return content

        for _ in range(3):
            program = ray_node.kept_program(shipment, fetch)
        require(len(fetched) == 1 and subprocess.run([str(program)]).returncode == 0, "fetched %d times" % len(fetched))
        program.write_bytes(b"half of it")
        ray_node.kept_program(shipment, fetch)
        require(len(fetched) == 2 and program.read_bytes() == content, "a broken copy was kept")
        folder = pathlib.Path(name) / "suite"
        (folder / "tasks" / "0").mkdir(parents=True)
        (folder / "tasks" / "0" / "t.py").write_text("x = 1\n")
        bundle = ray_cluster.pack(folder, ["tasks", "replay"])
        require(bundle == ray_cluster.pack(folder, ["tasks", "replay"]), "the same files, other bytes")
        kept = ray_node.kept_bundle({"sha256": "b" * 64}, lambda _: bundle)
        require((kept / "tasks" / "0" / "t.py").read_text() == "x = 1\n", "the bundle")
        del os.environ["HONE_CACHE"]


def faults(options):
    """Which failures of a node count as system faults: by the kind of the program's error, and never a completed run."""
    script = """#!/bin/sh
case $1 in
optimize) cat <<'END'
%s
END
echo 'hone: the last line' >&2; exit %d;;
archive) echo archive > "$3"; exit 0;;
doctor) echo '{"version": "%s", "python": {"version": "3.11", "torch": "2.11"}}'; echo x >> "$(dirname "$0")/asked";;
esac
"""
    failed = '{"status": "failed", "error": {"kind": "%s", "message": "%s"}, "exit_code": 3}'
    cases = [
        ('{"status": "done"}', 0, ""),
        ('{"status": "done"}', 1, ""),
        (failed % ("invalid", "the task raises ValueError"), 3, ""),
        (failed % ("not_found", "there is no Model"), 3, ""),
        ('{"status": "failed", "result": "failed", "error": "a model said no"}', 3, ""),
        (failed % ("unavailable", "CUDA error: GPU has fallen off the bus"), 3, "fallen off the bus"),
        (failed % ("unavailable", "a node without a compiler"), 3, "without a compiler"),
        (failed % ("io", "cannot write the store"), 3, "cannot write the store"),
        (failed % ("timeout", "no answer to 'run' within 600 s"), 3, "no answer"),
        (failed % ("internal", "a mistake of Hone"), 3, "a mistake of Hone"),
        ("Traceback", 3, "the last line"),
        ("", 139, "ended with 139"),
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bundle" / "tasks").mkdir(parents=True)
        program = folder / "hone"
        for number, (out, code, wanted) in enumerate(cases):
            program.write_text(script % (out, code, "1"))
            program.chmod(0o755)
            work = folder / ("work%d" % number)
            work.mkdir()
            try:
                said = "" if ray_node.optimize({"run": {}, "file": "t.py", "name": "t"}, program, folder / "bundle", work) == b"archive\n" else "no archive"
            except ray_node.Fault as fault:
                said = str(fault)
            require(wanted in said and bool(wanted) == bool(said), "%s, exit %d: %r instead of %r" % (out, code, said, wanted))
        # The folder for runs belongs to this machine; files of other machines or living workers stay there.
        saved, tempfile.tempdir = tempfile.tempdir, name
        try:
            own = ray_node.work_folder()
            require(own.stat().st_mode & 0o77 == 0, "the folder is open to others")
            ended = subprocess.Popen(["true"])
            ended.wait()
            names = {"work-%s-%d-gone" % (ray_node.here(), ended.pid): False, "work-%s-%d-here" % (ray_node.here(), os.getpid()): True,
                     "work-%s-%d-elsewhere" % ("0" * 12, ended.pid): True, "work-odd": True}
            for each in names:
                (own / each).mkdir()
            ray_node.remove_leftovers(own)
            require({each: (own / each).exists() for each in names} == names, "leftovers: %s" % sorted(path.name for path in own.iterdir()))
            # Facts are collected again after a while, because the node may have another driver by then.
            asked = folder / "asked"
            facts = [ray_node.facts_of_node(program, "n1", "")["hone"] for _ in range(2)]
            program.write_text(script % ("", 0, "2"))
            require(facts == ["1", "1"] and ray_node.facts_of_node(program, "n1", "")["hone"] == "1" and len(asked.read_text().split()) == 1, "facts are asked for once")
            kept = ray_node.kept_facts(program, "n1", "")
            os.utime(kept, (time.time() - ray_node.FACTS_S - 1,) * 2)
            require(ray_node.facts_of_node(program, "n1", "")["hone"] == "2", "old facts were used")
        finally:
            tempfile.tempdir = saved


def importing(options):
    """If the program cannot start or fails, the importer's thread ends the suite with a sentence and keeps the archives."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "fails").write_text("#!/bin/sh\necho 'hone: the disk is full' >&2\nexit 3\n")
        (folder / "fails").chmod(0o755)
        for binary, words in (("/nowhere/hone", "No such file"), (str(folder / "fails"), "the disk is full")):
            plan = plan_of(folder, ["a"], binary=binary)
            importer = ray_import.Importer(plan)
            importer.start()
            scheduler = ray_suite.Scheduler(plan, FakeCluster({}), importer, ray_suite.Progress(plan))
            try:
                scheduler.run(lambda: False)
            except ray_suite.Refused as refused:
                require(words in str(refused) and "hone resume s" in str(refused), str(refused))
            else:
                raise SystemExit("FAILED: a suite whose results cannot be imported came to an end")
            importer.end()
            require(not importer.is_alive() and importer.file_of("a").read_bytes() == b"archive of a", "the archive is kept for the next driver")


def bad_addresses(options):
    """One sentence, within seconds."""
    house = bench.House(options.hone, 1)
    for on, env, words in (
        ("ray:127.0.0.1:1", {"HONE_RAY_PYTHON": sys.executable}, "no Ray cluster answers at 127.0.0.1:1"),
        ("ray", {"HONE_RAY_PYTHON": "/bin/false"}, "has no Ray; install it with"),
    ):
        started = time.time()
        done = house.run("suite", str(house.tasks), "--target", "cpu", "--on", on, env={**house.env, **env}, check=False)
        require(done.returncode == 3 and words in done.stderr.splitlines()[0], "%s: %d %s" % (on, done.returncode, done.stderr))
        require(time.time() - started < 60, "%s took %.0f s" % (on, time.time() - started))
    # The suite is kept and can be resumed with another address.
    name = next(path.name for path in sorted((house.path / "runs").iterdir()) if (path / "plan.json").exists())
    done = house.run("resume", name, "--on", "ray:127.0.0.1:2", env={**house.env, "HONE_RAY_PYTHON": sys.executable}, check=False)
    require("answers at 127.0.0.1:2" in done.stderr, "resume elsewhere: " + done.stderr)
    house.close()


# ---- with Ray ----


def two_nodes(options):
    """A node dies in the middle: nothing is lost or duplicated. Then two tasks run completely, with the node's own code."""
    nodes = bench.Nodes(2, 2)
    try:
        house = bench.House(options.hone, 12, 3.0)
        house.make_template()
        on = ("--on", "ray:" + nodes.address, "--cores", "1", "--target", "cpu")
        process = subprocess.Popen([house.hone, "suite", str(house.tasks), "--name", "k", *on, "--json"], env=house.driver_env, cwd=house.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        progress = house.path / "runs" / "k" / "progress.json"
        while process.poll() is None and not (progress.exists() and json.loads(progress.read_text())["running"] >= 3):
            time.sleep(0.05)
        seen = json.loads(progress.read_text())
        nodes.kill_one()
        out, said = process.communicate(timeout=200)
        house.require_each_once("a node was killed")
        table = json.loads(out)
        require(len(table["rows"]) == 12 and table["missing"] == [], "table: %s %s" % (out[-500:], said[-1500:]))
        last = json.loads(progress.read_text())
        require(last["state"] == "finished" and last["done"] == 12, "progress: %s" % last)
        require(len(seen["nodes"]) == 2 and len(last["faults"]) >= 1, "the dead node's tasks were tried again: %s" % last)
        require("its node died" in said or "its worker died" in said, "what the user is told: " + said)
        house.close()
        house = bench.House(options.hone, 2)
        for name in house.names:
            (house.tasks / (name + ".py")).write_text("import torch, helper\nclass Model(torch.nn.Module):\n    pass\nraise RuntimeError(helper.WHY)\n")
        (house.tasks / "helper.py").write_text("WHY = 'this task is broken'\n")
        done = house.run("suite", str(house.tasks), "--name", "whole", *on, "--json", env={**house.env, "HONE_RAY_PYTHON": sys.executable}, check=False)
        rows = json.loads(done.stdout)["rows"]
        require([row["status"] for row in rows] == ["failed", "failed"], "whole: %s %s" % (rows, done.stderr))
        require(all("this task is broken" in row["outcome"] for row in rows), "the task's own error comes home: %s" % rows)
        require("tried on another node" not in done.stderr, "a task's own failure was tried again: " + done.stderr)
        house.require_each_once("whole")
        house.close()
    finally:
        nodes.close()


CASES = [scheduling, versions, shipping, faults, importing, bad_addresses, two_nodes]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--case")
    options = parser.parse_args()
    try:
        import ray  # noqa: F401
    except ImportError:
        print("skipped: this Python has no Ray")
        return 77
    for case in CASES:
        if options.case in (None, case.__name__):
            started = time.time()
            case(options)
            print("%s: ok (%.1f s)" % (case.__name__, time.time() - started), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
