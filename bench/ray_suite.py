#!/usr/bin/env python3
"""What docs/SCALE.md claims about `hone suite --on ray`, shown on a real Ray cluster whose nodes are processes of this machine.

    P=~/.local/share/hone/package-python/bin/python3
    $P bench/ray_suite.py --hone build/release/hone --proof table     # 40 judged CPU tasks: the table of the plain run
    $P bench/ray_suite.py --hone build/release/hone --proof kills     # a node killed at a random moment, ten times
    $P bench/ray_suite.py --hone build/release/hone --proof resume    # the driver killed with SIGKILL and resumed, three times
    $P bench/ray_suite.py --hone build/release/hone --proof busy      # 2,000 tasks on 64 places (--simulated: without Ray)
    $P bench/ray_suite.py --hone build/release/hone --proof costs     # binary, archives, imports

In all but `table` judging is a stand-in: the worker sleeps and gives back a true archive with another task's name in it. Everything else
is what a user gets: `hone suite --on ray` starts the driver, Ray moves the bytes, `hone import` fills the store. The driver is this file
(`--drive PLAN`), so that it can put the stand-in in place of ray_node.run_task.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import io
import json
import os
import pathlib
import queue
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from typing import Any, Dict, List, Optional

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from hone import ray_node, ray_suite  # noqa: E402

TASK = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + %d
def get_inputs():
    return [torch.randn(4, %d)]
def get_init_inputs():
    return []
"""
# Right for every fourth task, and then much slower than PyTorch; wrong or without a result for the others.
REPLY = """```python
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        task = x.shape[1] - 8
        if task % 4 == 1:
            raise RuntimeError("on purpose")
        if task % 4 == 0:
            for _ in range(300):
                y = torch.relu(x)
            return y + task
        return x * 0.5
```
"""


def require(condition: bool, what: str) -> None:
    if not condition:
        raise SystemExit("FAILED: " + what)


# ---- archives without a judge ----


def change_archive(template: bytes, task: str) -> bytes:
    """The archive of a run, as one of another task: new name and moment, and a manifest that agrees."""
    members: Dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(template)) as tar:
        for member in tar.getmembers():
            source = tar.extractfile(member)
            assert source is not None
            members[member.name] = source.read()
    run = json.loads(members["store/run.json"])
    run.update(task=task, name="standin_" + task, created="2026-01-01T%02d:%02d:%02dZ" % tuple(random.randrange(n) for n in (24, 60, 60)))
    members["store/run.json"] = (json.dumps(run) + "\n").encode()
    manifest = json.loads(members["hone-run.json"])
    manifest["members"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items() if name != "hone-run.json"}
    members["hone-run.json"] = json.dumps(manifest).encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def stand_in(seconds: float, template: bytes, change: Any) -> Any:
    """A node's function: sleeps between half and one and a half times `seconds`."""

    def judge(job: Dict[str, Any], board: Any = None) -> Dict[str, Any]:
        import random
        import socket
        import time

        import ray

        node = ray.get_runtime_context().get_node_id()
        if board is not None:
            board.started.remote(job["name"], job["attempt"], node)
        begun = time.time()
        time.sleep(seconds * random.uniform(0.5, 1.5))
        archive = change(template, job["name"])
        return {"node": node, "host": socket.gethostname(), "archive": archive, "begun": begun, "ended": time.time()}

    return judge


class House:
    """A store, a folder of tasks and a driver of their own."""

    def __init__(self, hone: str, count: int, seconds: float = 1.0) -> None:
        self.hone = str(pathlib.Path(hone).resolve())
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="hone-ray-"))
        self.tasks = self.path / "tasks"
        self.tasks.mkdir()
        self.names = ["%d_small" % (i + 1) for i in range(count)]
        for i, name in enumerate(self.names):
            (self.tasks / (name + ".py")).write_text(TASK % (i, 8 + i))
        self.env = {**os.environ, "HONE_DATA": str(self.path / "data"), "HONE_CACHE": os.environ.get("HONE_CACHE", str(self.path / "cache"))}
        # What `hone suite` takes for a Python with Ray: it starts this file in place of the driver that is in the program.
        driver = self.path / "driver.sh"
        driver.write_text("#!/bin/sh\nif [ \"$1\" = -u ]; then exec %s -u %s --drive \"$3\" --seconds %s; fi\nexec %s \"$@\"\n" % (sys.executable, pathlib.Path(__file__).resolve(), seconds, sys.executable))
        driver.chmod(0o755)
        self.driver_env = {**self.env, "HONE_RAY_PYTHON": str(driver), "HONE_RAY_TEMPLATE": str(self.path / "template.hone.tar.gz")}

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def run(self, *arguments: str, env: Optional[Dict[str, str]] = None, check: bool = True) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run([self.hone, *arguments], capture_output=True, text=True, env=env or self.env, cwd=self.path)
        require(not check or done.returncode in (0, 1), "hone %s ended with %d: %s%s" % (" ".join(arguments), done.returncode, done.stdout[-1000:], done.stderr[-2000:]))
        return done

    def make_template(self) -> None:
        """A true archive of a run that nobody judged."""
        other = {**self.env, "HONE_DATA": str(self.path / "other")}
        kernels = self.path / "kernels"
        kernels.mkdir()
        (kernels / "k.py").write_text(REPLY.replace("```python\n", "").replace("```\n", ""))
        self.run("import", str(kernels), "--task", str(self.tasks / (self.names[0] + ".py")), env=other)
        self.run("archive", "last", str(self.path / "template.hone.tar.gz"), env=other)

    def rows(self) -> Dict[str, int]:
        """How many runs of each task the store has."""
        with sqlite3.connect(self.path / "data" / "hone.db") as store:
            return dict(store.execute("SELECT task, count(*) FROM run GROUP BY task"))

    def require_each_once(self, what: str) -> None:
        rows = self.rows()
        require(sorted(rows) == sorted(self.names), "%s: lost %s" % (what, sorted(set(self.names) - set(rows))))
        require(set(rows.values()) == {1}, "%s: twice: %s" % (what, [task for task, n in rows.items() if n > 1]))


class Nodes:
    """A Ray cluster of processes of this machine: a head without places, and nodes with some."""

    def __init__(self, count: int, places: int) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        self.places = places
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        self.nodes: List[Any] = []
        for _ in range(count):
            self.add()
        self.address = self.cluster.address

    def add(self) -> None:
        for last in (False, False, True):
            try:
                self.nodes.append(self.cluster.add_node(wait=False, num_cpus=self.places))
                return
            except Exception as error:  # Ray gives a node 30 s to start, which a busy machine may need
                if last or "timed out during startup" not in str(error):
                    raise

    def kill_one(self) -> None:
        """Its raylet and workers, without a word to anybody."""
        self.cluster.remove_node(self.nodes.pop(random.randrange(len(self.nodes))), allow_graceful=False)

    def close(self) -> None:
        self.cluster.shutdown()


# ---- the driver, with the stand-in ----


def drive(plan_file: str, seconds: float) -> int:
    plan = ray_suite.Plan(json.loads(pathlib.Path(plan_file).read_text()))
    template = pathlib.Path(os.environ["HONE_RAY_TEMPLATE"]).read_bytes()
    times = open(plan.folder / "times.jsonl", "a")
    answer = ray_suite.RayCluster.answer

    def note(self: Any, handle: Any) -> Dict[str, Any]:
        said = answer(self, handle)
        if "begun" in said:
            times.write(json.dumps([said["begun"], said["ended"]]) + "\n")
        return said

    ray_suite.RayCluster.answer = note  # type: ignore
    warm = int(os.environ.get("HONE_RAY_WARM", "0"))
    if warm:
        begin = ray_suite.RayCluster.begin

        def begin_warm(self: Any, wanted: Dict[str, Any]) -> None:
            """Workers are processes: Ray starts them at the first tasks. They all wait for each other once."""
            begin(self, wanted)
            hold = self.ray.remote(lambda until: time.sleep(max(0.0, until - time.time())))
            started = time.time()
            self.ray.get([hold.options(num_cpus=1).remote(started + 30) for _ in range(warm)])
            print("warm: %d workers after %.1f s" % (warm, time.time() - started), file=sys.stderr)

        ray_suite.RayCluster.begin = begin_warm  # type: ignore
    try:
        code = ray_suite.drive(plan, stand_in(seconds, template, change_archive), check_versions=False)
    except ray_suite.Refused as refused:
        print("hone: %s" % refused, file=sys.stderr)
        return 3
    times.flush()
    if code == ray_suite.INTERRUPTED:
        return code
    os.execv(plan.binary, [plan.binary, "resume", plan.suite, "--table", "--json"])
    return 3


# ---- the proofs ----


def proof_table(options: argparse.Namespace) -> None:
    """The same tasks, judged here one after the other and on four nodes: the same verdicts."""
    house = House(options.hone, options.tasks)
    replay = house.path / "replies"
    replay.mkdir()
    (replay / "001_seed.txt").write_text(REPLY)
    how = ["--target", "cpu", "--proposer", "replay:%s" % replay, "--seeds", "1", "--repairs", "0", "--no-analysis", "--no-tuning", "--compile", "never", "--quiet"]

    def table(name: str) -> Dict[str, Any]:
        text = house.run("resume", name, "--table", "--json").stdout
        return {row["task"]: (row["result"], row["right"], row["candidates"], row["best"]) for row in json.loads(text)["rows"]}

    started = time.time()
    house.run("suite", str(house.tasks), "--name", "plain", *how)
    plain_s = time.time() - started
    nodes = Nodes(4, 1)
    try:
        started = time.time()
        env = {**house.env, "HONE_RAY_PYTHON": sys.executable}
        house.run("suite", str(house.tasks), "--name", "far", "--on", "ray:" + nodes.address, "--again", *how, env=env)
        far_s = time.time() - started
    finally:
        nodes.close()
    plain, far = table("plain"), table("far")
    require(plain == far, "the tables differ: %s" % [(task, plain.get(task), far.get(task)) for task in plain if plain.get(task) != far.get(task)])
    print("table: %d tasks, the same %s; here %.0f s, on four nodes of this machine %.0f s" % (len(plain), dict(collections.Counter(row[0] for row in plain.values())), plain_s, far_s))
    house.close()


def proof_kills(options: argparse.Namespace) -> None:
    nodes = Nodes(4, 2)
    faults = 0
    try:
        for round_ in range(options.times):
            house = House(options.hone, options.tasks, options.seconds)
            house.make_template()
            process = subprocess.Popen([house.hone, "suite", str(house.tasks), "--name", "k", "--on", "ray:" + nodes.address, "--cores", "1", "--quiet", "--attempts", "5"], env=house.driver_env, cwd=house.path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            progress = house.path / "runs" / "k" / "progress.json"
            while process.poll() is None and not (progress.exists() and json.loads(progress.read_text())["running"] >= 4):
                time.sleep(0.05)
            time.sleep(random.uniform(0, options.tasks * options.seconds / 16))
            nodes.kill_one()
            nodes.add()
            said = process.communicate(timeout=300)[1]
            require(process.returncode in (0, 1), "round %d ended with %d: %s" % (round_, process.returncode, said[-1500:]))
            house.require_each_once("round %d" % round_)
            now = json.loads(progress.read_text())
            faults += len(now["faults"])
            print("kills: round %d: %d tasks, each once, %d tried again" % (round_ + 1, len(house.names), len(now["faults"])), flush=True)
            house.close()
    finally:
        nodes.close()
    print("kills: %d nodes killed, %d attempts lost with them, no result lost, none twice" % (options.times, faults))


def proof_resume(options: argparse.Namespace) -> None:
    nodes = Nodes(2, 2)
    try:
        house = House(options.hone, options.tasks, options.seconds)
        house.make_template()
        kills = 0
        command = ["suite", str(house.tasks), "--name", "r", "--on", "ray:" + nodes.address, "--cores", "1", "--quiet"]
        while kills < 3:
            process = subprocess.Popen([house.hone, *command], env=house.driver_env, cwd=house.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            before = sum(house.rows().values()) if (house.path / "data" / "hone.db").exists() else 0
            while process.poll() is None and (not (house.path / "data" / "hone.db").exists() or sum(house.rows().values()) < before + options.tasks // 5):
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            command = ["resume", "r", "--quiet"]
            print("resume: driver killed with %d of %d tasks in the store" % (sum(house.rows().values()), options.tasks), flush=True)
        times = house.path / "runs" / "r" / "times.jsonl"
        house.run("resume", "r", "--quiet", env=house.driver_env)
        house.require_each_once("resume")
        judged = len(times.read_text().splitlines())
        require("is finished; nothing was changed" in house.run("resume", "r", env=house.driver_env).stderr, "a finished suite runs again")
        print("resume: %d tasks, each once; the last driver ran %d" % (options.tasks, judged))
        house.close()
    finally:
        nodes.close()


class SimulatedCluster:
    """Places that are threads of the driver: what is left is the driver's own work and the store's."""

    def __init__(self, places: int, judge: Any) -> None:
        self.judge, self.waiting, self.done = judge, queue.SimpleQueue(), queue.SimpleQueue()
        self.answers: Dict[int, Dict[str, Any]] = {}
        self.spans: List[List[float]] = []
        self.count = 0
        for _ in range(places):
            threading.Thread(target=self.work, daemon=True).start()

    def work(self) -> None:
        while True:
            handle, job = self.waiting.get()
            begun = time.time()
            self.answers[handle] = {"node": "n", "archive": self.judge(job)}
            self.spans.append([begun, time.time()])
            self.done.put(handle)

    def usable_nodes(self) -> List[str]:
        return ["n"]

    def nodes(self) -> List[Dict[str, Any]]:
        return [{"id": "n", "host": "n", "alive": True, "places": 1}]

    def submit(self, job: Dict[str, Any], avoid: Any) -> int:
        self.count += 1
        self.waiting.put((self.count, job))
        return self.count

    def wait(self, handles: List[int], seconds: float) -> List[int]:
        ready = []
        try:
            ready.append(self.done.get(timeout=seconds))
            while True:
                ready.append(self.done.get_nowait())
        except queue.Empty:
            return ready

    def answer(self, handle: int) -> Dict[str, Any]:
        return self.answers.pop(handle)

    def running(self) -> Dict[str, Any]:
        return {}


def report_busy(spans: List[List[float]], places: int, seconds: float, wall: float) -> None:
    first, last_begin, last_end = min(b for b, _ in spans), max(b for b, _ in spans), max(e for _, e in spans)
    used = sum(min(e, last_begin) - b for b, e in spans)
    while_work = used / (places * (last_begin - first))
    overall = sum(e - b for b, e in spans) / (places * (last_end - first))
    gap = (places * (last_begin - first) - used) / len(spans)
    print("busy: %d tasks of %.1f s on %d places: %.1f%% busy while tasks wait, %.1f%% with the drain; %.0f ms of a place per task; %.0f s in all" % (len(spans), seconds, places, 100 * while_work, 100 * overall, 1000 * gap, wall))
    require(while_work >= 0.95, "less than 95% busy")


def proof_busy_simulated(options: argparse.Namespace) -> None:
    """The scheduler and the importer of the driver, with threads in place of Ray's workers."""
    house = House(options.hone, options.tasks, options.seconds)
    house.make_template()
    driver = house.path / "driver.sh"
    driver.write_text("#!/bin/sh\n[ \"$1\" = -u ] && exit 0\nexec %s \"$@\"\n" % sys.executable)  # the plan is all that is wanted
    house.run("suite", str(house.tasks), "--name", "b", "--on", "ray:127.0.0.1:1", env=house.driver_env)
    plan = ray_suite.Plan(json.loads((house.path / "runs" / "b" / "plan.json").read_text()))
    plan.quiet = True
    template = (house.path / "template.hone.tar.gz").read_bytes()

    def judge(job: Dict[str, Any]) -> bytes:
        time.sleep(options.seconds * random.uniform(0.5, 1.5))
        return change_archive(template, job["name"])

    os.environ.update(HONE_DATA=house.env["HONE_DATA"])
    importer = ray_suite.Importer(plan)
    importer.start()
    cluster = SimulatedCluster(options.places, judge)
    started = time.time()
    require(ray_suite.Scheduler(plan, cluster, importer, ray_suite.Progress(plan)).run(lambda: False), "it did not end")
    wall = time.time() - started
    house.require_each_once("busy")
    report_busy(cluster.spans, options.places, options.seconds, wall)
    print("busy: %d imports took %.0f s beside it, %.0f ms each" % (options.tasks, importer.seconds, 1000 * importer.seconds / options.tasks))
    house.close()


def proof_busy(options: argparse.Namespace) -> None:
    places = options.places
    if options.simulated:
        proof_busy_simulated(options)
        return
    nodes = Nodes(4, places // 4)
    try:
        house = House(options.hone, options.tasks, options.seconds)
        house.make_template()
        house.driver_env["HONE_RAY_WARM"] = str(places)
        started = time.time()
        house.run("suite", str(house.tasks), "--name", "b", "--on", "ray:" + nodes.address, "--cores", "1", "--quiet", env=house.driver_env)
        wall = time.time() - started
        house.require_each_once("busy")
        spans = [json.loads(line) for line in (house.path / "runs" / "b" / "times.jsonl").read_text().splitlines()]
        report_busy(spans, places, options.seconds, wall)
        house.close()
    finally:
        nodes.close()


def proof_costs(options: argparse.Namespace) -> None:
    nodes = Nodes(1, 1)
    try:
        house = House(options.hone, 1)
        house.make_template()
        import ray

        ray.init(address=nodes.address, log_to_driver=False, logging_level="error")
        content = pathlib.Path(house.hone).read_bytes()
        started = time.time()
        ref = ray.put(content)
        put_s = time.time() - started
        ray.cloudpickle.register_pickle_by_value(ray_node)
        sent = {"sha256": hashlib.sha256(content).hexdigest(), "refs": [ref]}

        def fetch(shipment: Dict[str, Any], cache: str) -> float:
            os.environ["HONE_CACHE"] = cache
            begun = time.time()
            ray_node.kept_program(shipment)
            return time.time() - begun

        remote = ray.remote(fetch)
        cache = str(house.path / "node")
        first = ray.get(remote.remote(sent, cache))
        again = ray.get(remote.remote(sent, cache))
        print("costs: binary of %.1f MB: put %.2f s, first use on a node %.2f s, later uses (hash checked) %.3f s" % (len(content) / 1e6, put_s, first, again))
        ray.shutdown()
        template = (house.path / "template.hone.tar.gz").read_bytes()
        files = []
        for i in range(200):
            file = house.path / ("%d.hone.tar.gz" % i)
            file.write_bytes(change_archive(template, "t%d" % i))
            files.append(str(file))
        started = time.time()
        house.run("import", "--quiet", "--out", str(house.path / "o"), *files)
        print("costs: import of 200 small archives in one process %.1f ms each" % (1000 * (time.time() - started) / 200))
        started = time.time()
        house.run("import", "--quiet", "--out", str(house.path / "o"), files[0])
        print("costs: import of one %.0f ms" % (1000 * (time.time() - started)))
        house.close()
    finally:
        nodes.close()


PROOFS = {"table": (proof_table, 40, 0.0), "kills": (proof_kills, 40, 1.0), "resume": (proof_resume, 40, 1.0), "busy": (proof_busy, 2000, 4.0), "costs": (proof_costs, 1, 0.0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", help="the program")
    parser.add_argument("--proof", choices=sorted(PROOFS))
    parser.add_argument("--tasks", type=int, help="number of tasks")
    parser.add_argument("--seconds", type=float, help="what the stand-in takes on average")
    parser.add_argument("--times", type=int, default=10, help="nodes to kill")
    parser.add_argument("--places", type=int, default=64)
    parser.add_argument("--simulated", action="store_true", help="busy: places are threads of the driver, without Ray")
    parser.add_argument("--drive", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.drive:
        sys.exit(drive(options.drive, options.seconds or 1.0))
    if not options.hone or not options.proof:
        parser.error("--hone and --proof are needed")
    proof, tasks, seconds = PROOFS[options.proof]
    options.tasks = options.tasks or tasks
    options.seconds = seconds if options.seconds is None else options.seconds
    proof(options)


if __name__ == "__main__":
    main()
