"""The part of `hone suite --on ray` that uses Ray: a connection, the program and the tasks in its object store, tasks with the right
resources, and their results. It decides nothing about tasks (ray_schedule.py).
"""

from __future__ import annotations

import collections
import hashlib
import io
import os
import pathlib
import socket
import sys
import tarfile
import threading
import time
from typing import Any, Callable, Dict, Iterable, List, Sequence, Set, Tuple

if __package__:
    from . import ray_node
    from .ray_plan import Plan, Refused, say
else:  # the program `hone` starts it as a file without a package
    import ray_node  # type: ignore
    from ray_plan import Plan, Refused, say  # type: ignore

ANSWER_S = 5.0  # how long an address may take to answer
CONNECT_S = 45.0  # time limit for the cluster behind the address
BOARD_S = 5.0  # time limit for the board to say where a task began
FAILED = 3
# Parts of Ray's errors that are shown to the user.
FAULTS = (
    ("NodeDiedError", "its node died"),
    ("OutOfMemoryError", "its worker was ended because the node ran out of memory"),
    ("WorkerCrashedError", "its worker died"),
    ("ObjectLostError", "its result was lost with the node that held it"),
)


class Board:
    """An actor beside the driver, to which workers report the tasks they have begun."""

    def __init__(self) -> None:
        self.begun: Dict[str, Tuple[str, int]] = {}

    def started(self, task: str, attempt: int, node: str) -> None:
        self.begun[task] = (node, attempt)

    def all(self) -> Dict[str, Tuple[str, int]]:
        return self.begun


def check_address(address: str) -> None:
    """Tests the address first, because Ray itself tries for minutes before it reports that no server answers."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_S).close()
    except (OSError, ValueError) as error:
        raise Refused("no Ray cluster answers at %s (%s); start one there with: ray start --head --port %s" % (address, error.strerror or error if isinstance(error, OSError) else error, port))


def connect(address: str) -> Any:
    try:
        import ray
    except ImportError as error:
        raise Refused("--on ray needs Ray, and %s cannot import it (%s); install it with: %s -m pip install ray" % (sys.executable, error, sys.executable))
    address = address or os.environ.get("RAY_ADDRESS", "")
    named = address not in ("", "auto", "local")
    if named:
        check_address(address)

    def give_up() -> None:
        say("the Ray cluster at %s does not answer; look at it with: ray status" % (address or "this machine"))
        os._exit(FAILED)

    watchdog = threading.Timer(CONNECT_S, give_up)
    watchdog.daemon = True
    watchdog.start()
    options: Dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "ignore_reinit_error": True}
    try:
        ray.init(address=address if named else "auto", **options)
    except ConnectionError as error:
        if named:
            raise Refused("no Ray cluster answers at %s (%s)" % (address, " ".join(str(error).split())[:300]))
        say("no Ray cluster runs on this machine; one is started for this suite")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        watchdog.cancel()
        ray.init(address="local", include_dashboard=False, **options)
    except (RuntimeError, ValueError) as error:
        raise Refused("the Ray cluster cannot be used: %s" % " ".join(str(error).split())[:400])
    finally:
        watchdog.cancel()
    return ray


def pack(folder: pathlib.Path, names: Iterable[str]) -> bytes:
    """The files below `names` as a tar. Equal files give equal bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in names:
            for path in sorted((folder / name).rglob("*")):
                if path.is_file():
                    entry = tarfile.TarInfo(str(path.relative_to(folder)))
                    content = path.read_bytes()
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


class RayCluster:
    """The scheduler's interface to Ray."""

    def __init__(self, ray: Any, plan: Plan, function: Callable[..., Any] = ray_node.run_task) -> None:
        self.ray, self.plan = ray, plan
        # Nodes need no package, because the code is sent by value.
        ray.cloudpickle.register_pickle_by_value(ray_node)
        ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        self.run = dict(plan.run)
        judge = dict(self.run.get("judge", {}))
        gpus = [node for node in self.alive() if node["Resources"].get("GPU", 0) >= 1]
        if judge.get("target", "auto") == "auto":
            judge["target"] = "cuda" if gpus else "cpu"
        self.run["judge"] = judge
        self.gpu = judge["target"] == "cuda" or (judge["target"] == "triton" and bool(gpus))
        self.resources = self.choose_resources()
        self.board: Any = None
        self.begun: Dict[str, Tuple[str, int]] = {}
        self.asked: Any = None
        self.node_list: List[Dict[str, Any]] = []
        self.listed = 0.0
        self.function = ray.remote(function)
        self.facts: Dict[str, Any] = {}
        self.program = self.ship(pathlib.Path(plan.binary).read_bytes())
        self.bundle = self.ship(pack(plan.folder, ["tasks", "replay"]))

    def ship(self, content: bytes) -> Dict[str, Any]:
        # The reference is inside a list, so that Ray fetches the bytes on demand and not for every task.
        return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "refs": [self.ray.put(content)]}

    def alive(self) -> List[Dict[str, Any]]:
        return [node for node in self.ray.nodes() if node["Alive"]]

    def choose_resources(self) -> Dict[str, Any]:
        nodes = [node["Resources"] for node in self.alive()]
        if self.gpu:
            per_gpu = [int(have.get("CPU", 0) // have["GPU"]) for have in nodes if have.get("GPU", 0) >= 1]
            if not per_gpu:
                raise Refused("no node of the cluster has a GPU; add one, or use --target cpu")
            return {"num_gpus": 1, "num_cpus": self.plan.cores or min([2, *per_gpu])}
        # Each task gets a whole node, because other load on the same processor slows a timing down.
        cores = [int(have.get("CPU", 0)) for have in nodes if have.get("CPU", 0) >= 1]
        if not cores:
            raise Refused("no node of the cluster has a core for tasks; start its nodes with: ray start --num-cpus N")
        if self.plan.cores > max(cores):
            raise Refused("--cores %d: the largest node has %d" % (self.plan.cores, max(cores)))
        return {"num_cpus": self.plan.cores or min(cores)}

    def places(self, resources: Dict[str, float]) -> int:
        need = self.resources
        most = [int(resources.get("GPU", 0) // need["num_gpus"])] if need.get("num_gpus") else []
        if need["num_cpus"]:
            most.append(int(resources.get("CPU", 0) // need["num_cpus"]))
        return min(most) if most else 0

    def nodes(self) -> List[Dict[str, Any]]:
        if time.time() - self.listed > 1:
            self.listed = time.time()
            known = {node["id"]: node for node in self.node_list}
            for node in self.ray.nodes():
                places = self.places(node["Resources"]) if node["Alive"] else known.get(node["NodeID"], {}).get("places", 0)
                if node["Alive"] or node["NodeID"] in known:
                    known[node["NodeID"]] = {"id": node["NodeID"], "host": node["NodeManagerHostname"], "alive": node["Alive"], "places": places}
            self.node_list = list(known.values())
        return [node for node in self.node_list if node["places"] > 0]

    def usable_nodes(self) -> List[str]:
        return [node["id"] for node in self.nodes() if node["alive"]]

    def probe(self) -> List[Dict[str, Any]]:
        """Asks every node that can run tasks for its versions."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        job = {"program": self.program, "python": self.run["judge"].get("python", "")}
        ask = self.ray.remote(ray_node.probe)
        asked = {ask.options(num_cpus=0, max_retries=1, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(job): node for node in self.usable_nodes()}
        answers = []
        for ref, node in asked.items():
            try:
                answers.append(self.ray.get(ref, timeout=180))
            except self.ray.exceptions.RayError as error:
                answers.append({"node": node, "host": node[:12], "fault": " ".join(str(error).split())[:200]})
        return answers

    def begin(self, wanted: Dict[str, Any]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self.facts = wanted
        here = NodeAffinitySchedulingStrategy(self.ray.get_runtime_context().get_node_id(), soft=True)
        self.board = self.ray.remote(Board).options(num_cpus=0, scheduling_strategy=here).remote()

    def submit(self, job: Dict[str, Any], avoid: Set[str]) -> Any:
        options: Dict[str, Any] = {"max_retries": 0, "name": "hone " + job["name"], **self.resources}
        if avoid:
            options["label_selector"] = {"ray.io/node-id": "!in(%s)" % ",".join(sorted(avoid))}
        whole = {**job, "run": self.run, "program": self.program, "bundle": self.bundle, "facts": self.facts}
        return self.function.options(**options).remote(whole, self.board)

    def wait(self, handles: List[Any], seconds: float) -> List[Any]:
        if not handles:
            time.sleep(min(seconds, 0.05))
            return []
        done, rest = self.ray.wait(handles, num_returns=1, timeout=seconds)
        if done and rest:
            done += self.ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        return done

    def answer(self, handle: Any) -> Dict[str, Any]:
        errors = self.ray.exceptions
        try:
            return self.ray.get(handle)
        except errors.RayError as error:
            words = next((words for name, words in FAULTS if isinstance(error, getattr(errors, name))), "")
            said = " ".join(str(error).split())
            return {"fault": words or "%s: %s" % (type(error).__name__, said[-300:]), "node": self.node_in(said)}

    def node_in(self, text: str) -> str:
        return next((node["id"] for node in self.node_list if node["id"] in text), "")

    def began(self, task: str, attempt: int) -> str:
        """The node that began this attempt, as its worker reported; empty without a report. Ray does not name the node of a dead worker."""
        if self.board is not None and self.begun.get(task, ("", 0))[1] != attempt:
            try:
                self.begun = self.ray.get(self.board.all.remote(), timeout=BOARD_S)
            except self.ray.exceptions.RayError:
                pass
        node, said = self.begun.get(task, ("", 0))
        return node if said == attempt else ""

    def running(self) -> Dict[str, Tuple[str, int]]:
        """The workers' last reports; never waits."""
        if self.asked is None and self.board is not None:
            self.asked = self.board.all.remote()
        if self.asked is not None and self.ray.wait([self.asked], timeout=0)[0]:
            try:
                self.begun = self.ray.get(self.asked)
            except self.ray.exceptions.RayError:
                pass
            self.asked = None
        return self.begun

    def cancel(self, handles: Iterable[Any]) -> None:
        for handle in handles:
            self.ray.cancel(handle, force=True)


def facts_in_common(answers: Sequence[Dict[str, Any]], gpu: bool, allow_mixed: bool) -> Dict[str, Any]:
    """The facts that all nodes share. Refused if nodes differ, unless the user allows it; then nothing is required of a node."""
    for answer in answers:
        if "fault" in answer:
            raise Refused("node %s cannot run hone: %s; repair it or take it out of the cluster" % (answer["host"], answer["fault"]))
        if not answer["facts"]["torch"]:
            raise Refused("node %s has no Python with PyTorch; install PyTorch there, name one with --python, or take the node out of the cluster" % answer["host"])
    names = ["hone", "torch", "triton", "Python"] + (["GPU driver", "GPU"] if gpu else ["CPU", "cores"])
    differing = []
    for name in names:
        values: Dict[str, List[str]] = collections.defaultdict(list)
        for answer in answers:
            values[answer["facts"][name] or "none"].append(answer["host"])
        if len(values) > 1:
            differing.append("%s %s" % (name, " and ".join("%s on %s" % (value, ", ".join(sorted(set(hosts))[:4])) for value, hosts in sorted(values.items()))))
    if differing and not allow_mixed:
        raise Refused("the nodes differ (%s), so results would not be comparable; make them equal, or accept it with --allow-mixed" % "; ".join(differing))
    return {} if allow_mixed or not answers else {name: answers[0]["facts"][name] for name in names}
