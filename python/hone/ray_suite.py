"""The driver of `hone suite --on ray`: hands the tasks of a suite to the nodes of a Ray cluster and brings their runs home.

    python3 ray_suite.py PLAN

The program `hone` writes the plan and becomes this driver; `python -m hone.ray TASKS...` does the same from Python. Runs come back as
archives, and `hone import` puts them into the store, which has one place for each task. The driver decides nothing about verdicts. What
it decides: which task goes to Ray when, that a fault of the system is tried again on another node (a bounded number of times), and that
nodes whose versions differ are refused. If it dies, `hone resume NAME` starts it again with the tasks that are still missing.
"""

from __future__ import annotations

import collections
import contextlib
import fcntl
import hashlib
import io
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

if __package__:
    from . import ray_node
else:  # as the program `hone` starts it: a file beside another
    import ray_node  # type: ignore

ANSWER_S = 5.0  # how long an address may take to answer
CONNECT_S = 45.0  # and the cluster behind it
NODE_PATIENCE_S = 300.0  # how long to wait for a node that can take tasks
IMPORT_AT_MOST = 64  # archives per `hone import`
FAILED, INTERRUPTED = 3, 130


class Refused(Exception):
    """One sentence that says what to do."""


def say(text: str) -> None:
    print("hone: " + " ".join(text.split()), file=sys.stderr, flush=True)


# ---- the suite: what is left, what came home ----


class Plan:
    """What `hone suite --on ray` wants done; see src/cli/suite_on_ray.cpp."""

    def __init__(self, values: Dict[str, Any]) -> None:
        self.suite: str = values["suite"]
        self.folder = pathlib.Path(values["folder"])
        self.binary: str = values["binary"]
        self.address: str = values.get("address", "")
        self.tasks: List[Dict[str, str]] = values["tasks"]
        self.done: int = values.get("done", 0)
        self.run: Dict[str, Any] = values["run"]
        self.cores: int = values.get("cores", 0)
        self.attempts: int = values.get("attempts", 3)
        self.allow_mixed: bool = values.get("allow_mixed", False)
        self.json: bool = values.get("json", False)
        self.quiet: bool = values.get("quiet", False)

    @property
    def total(self) -> int:
        return self.done + len(self.tasks)


class Progress:
    """progress.json in the suite's folder, which the dashboard shows. Written whole, at most twice a second."""

    def __init__(self, plan: Plan) -> None:
        self.file = plan.folder / "progress.json"
        self.values: Dict[str, Any] = {
            "suite": plan.suite,
            "state": "starting",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "total": plan.total,
            "done": plan.done,
            "queued": len(plan.tasks),
            "running": 0,
            "faults": [],
            "gave_up": [],
            "nodes": [],
        }
        self.written = 0.0

    def write(self, now: bool = False) -> None:
        if not now and time.time() - self.written < 0.5:
            return
        self.written = time.time()
        self.values["updated"] = self.written
        fresh = self.file.with_suffix(".tmp")
        try:
            fresh.write_text(json.dumps(self.values, indent=1))
            fresh.rename(self.file)
        except OSError:
            pass  # only the dashboard misses it


class Importer(threading.Thread):
    """Puts archives into the store, many per process, while the driver goes on. A file stays until the store has it."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(daemon=True)
        self.plan = plan
        self.folder = plan.folder / "archives"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.waiting: Deque[str] = collections.deque()
        self.results: Deque[Tuple[str, Optional[str]]] = collections.deque()  # (task, what went wrong)
        self.broken: Optional[str] = None
        self.more = threading.Condition()
        self.ending = False
        self.busy = False
        self.seconds = 0.0

    def file_of(self, task: str) -> pathlib.Path:
        return self.folder / (task + ".hone.tar.gz")

    def add(self, task: str, archive: bytes) -> None:
        fresh = self.folder / (".%s.tmp" % task)
        fresh.write_bytes(archive)
        fresh.rename(self.file_of(task))
        self.take(task)

    def take(self, task: str) -> None:
        with self.more:
            self.waiting.append(task)
            self.more.notify()

    def left_from_before(self) -> List[str]:
        """Tasks that came home and were not imported when an earlier driver died."""
        return [task["name"] for task in self.plan.tasks if self.file_of(task["name"]).exists()]

    def idle(self) -> bool:
        with self.more:
            return not self.waiting and not self.busy and not self.results

    def end(self) -> None:
        with self.more:
            self.ending = True
            self.more.notify()
        self.join(60)

    def run(self) -> None:
        while True:
            with self.more:
                self.busy = False
                while not self.waiting and not self.ending:
                    self.more.wait()
                if not self.waiting:
                    return
                batch = [self.waiting.popleft() for _ in range(min(IMPORT_AT_MOST, len(self.waiting)))]
                self.busy = True
            started = time.time()
            try:
                self.import_all(batch)
            except OSError as error:  # the driver must hear of it: it waits for this thread
                self.broken = str(error)
            self.seconds += time.time() - started

    def import_all(self, batch: Sequence[str]) -> None:
        files = {str(self.file_of(task)): task for task in batch}
        command = [self.plan.binary, "import", "--json", "--quiet", "--suite", self.plan.suite, "--out", str(self.plan.folder), *files]
        said = subprocess.run(command, capture_output=True, text=True)
        lines: Dict[str, Dict[str, Any]] = {}
        for text in said.stdout.splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue
            lines[line.get("file") or next(iter(files))] = line
        for file, task in files.items():
            line = lines.get(file, {})
            if "run" in line:
                self.results.append((task, None))
                os.unlink(file)
            elif isinstance(line.get("error"), dict) and line["error"].get("kind") == "invalid":
                self.results.append((task, line["error"].get("message", "")))
                os.unlink(file)
            else:  # the store itself cannot be used: the archives stay for the next driver
                self.broken = ray_node.last_words(said.stderr)
                return


class Scheduler:
    """Which task is where, and what becomes of it. Knows Ray only through `cluster`, so that a made-up one can stand for it."""

    def __init__(self, plan: Plan, cluster: Any, importer: Any, progress: Progress) -> None:
        self.plan, self.cluster, self.importer, self.progress = plan, cluster, importer, progress
        self.files = {task["name"]: task["file"] for task in plan.tasks}
        self.attempt: Dict[str, int] = {}
        self.bad_nodes: Dict[str, Set[str]] = collections.defaultdict(set)  # by task
        self.different: Set[str] = set()  # nodes whose versions differ
        self.flying: Dict[Any, str] = {}  # by what the cluster gave for it
        self.where: Dict[str, str] = {}  # of tasks that came home
        self.finished: Set[str] = set()
        self.gave_up: Dict[str, str] = {}
        self.nodes_done: Dict[str, int] = collections.Counter()
        self.nodes_faults: Dict[str, int] = collections.Counter()
        self.lonely_since: Optional[float] = None
        self.first_wait = NODE_PATIENCE_S

    def say(self, text: str) -> None:
        if not self.plan.quiet:
            say(text)

    def submit(self, task: str, again: bool = False) -> None:
        if not again:
            self.attempt[task] = self.attempt.get(task, 0) + 1
        avoid = self.different | self.bad_nodes[task]
        alive = set(self.cluster.usable_nodes())
        if alive and not alive - avoid:
            avoid = set(self.different)  # where it failed is better than nowhere
        if alive and not alive - avoid:
            self.give_up(task, "every node has versions that differ from the others")
            return
        self.flying[self.cluster.submit({"name": task, "file": self.files[task], "attempt": self.attempt[task]}, avoid & alive)] = task

    def give_up(self, task: str, why: str) -> None:
        self.gave_up[task] = why
        self.progress.values["gave_up"].append({"task": task, "why": why})
        say("%s: given up after %d attempts: %s" % (task, self.attempt.get(task, 0), why))

    def fault(self, task: str, why: str, node: str = "") -> None:
        """The system failed: elsewhere, unless it was tried often enough."""
        if node:
            self.bad_nodes[task].add(node)
            self.nodes_faults[node] += 1
        record = {"task": task, "why": why, "attempt": self.attempt[task], "node": node, "time": time.time()}
        self.progress.values["faults"] = (self.progress.values["faults"] + [record])[-50:]
        if self.attempt[task] >= self.plan.attempts:
            self.give_up(task, why)
            return
        self.say("%s: attempt %d of %d failed: %s; it is tried on another node" % (task, self.attempt[task], self.plan.attempts, why))
        self.submit(task)

    def take(self, handle: Any) -> None:
        task = self.flying.pop(handle)
        answer = self.cluster.answer(handle)
        node = answer.get("node", "")
        if "archive" in answer:
            self.where[task] = answer.get("host", "") or node
            self.nodes_done[node] += 1
            self.importer.add(task, answer["archive"])
        elif "differs" in answer:
            if node not in self.different:
                say("node %s is not used: it has %s (--allow-mixed uses it)" % (answer.get("host", node), answer["differs"]))
            self.different.add(node)
            self.submit(task, again=True)
        else:
            self.fault(task, answer.get("fault", "the worker gave no answer"), node)

    def take_imports(self) -> None:
        while self.importer.results:
            task, why = self.importer.results.popleft()
            if why is None:
                self.finished.add(task)
                self.say("%s: done (%d of %d)%s" % (task, self.plan.done + len(self.finished), self.plan.total, " on " + self.where[task] if self.where.get(task) else ""))
            elif "has a run of" in why:
                self.finished.add(task)  # it is in the store already: nothing is there twice
            else:
                self.fault(task, "its archive could not be imported: " + why)

    def note_progress(self, state: str = "running") -> None:
        running = self.cluster.running()
        values = self.progress.values
        here = [task for task in self.flying.values() if running.get(task, ("", 0))[1] == self.attempt[task]]
        values.update(state=state, done=self.plan.done + len(self.finished), running=len(here), queued=len(self.flying) - len(here))
        by_node: Dict[str, List[str]] = collections.defaultdict(list)
        for task in here:
            by_node[running[task][0]].append(task)
        values["nodes"] = [
            {"id": node["id"][:12], "host": node["host"], "alive": node["alive"], "places": node["places"], "used": node["id"] not in self.different, "running": by_node[node["id"]], "done": self.nodes_done[node["id"]], "faults": self.nodes_faults[node["id"]]}
            for node in self.cluster.nodes()
        ]

    def check_nodes(self) -> None:
        """A cluster without a node for the tasks gets some time to get one."""
        if self.cluster.usable_nodes():
            self.lonely_since = None
            return
        if self.lonely_since is None:
            self.lonely_since = time.time()
            say("no node of the cluster can take a task; waiting %.0f s for one" % self.first_wait)
        if time.time() - self.lonely_since > self.first_wait:
            raise Refused("no node of the cluster can take a task; add nodes, then continue with: hone resume %s" % self.plan.suite)

    def run(self, stopped: Callable[[], bool]) -> bool:
        """All tasks, each to its end; False when stopped."""
        before = set(self.importer.left_from_before())
        for task in before:
            self.attempt[task] = 1
            self.importer.take(task)
        for task in self.files:
            if task not in before:
                self.submit(task)
        while self.flying or not self.importer.idle():
            if stopped():
                return False
            if self.importer.broken:
                raise Refused("the store cannot take the results (%s); free its disk, then continue with: hone resume %s" % (self.importer.broken, self.plan.suite))
            for handle in self.cluster.wait(list(self.flying), 0.2):
                self.take(handle)
            self.take_imports()
            if self.flying:
                self.check_nodes()
            if time.time() - self.progress.written >= 0.5:
                self.note_progress()
                self.progress.write()
        return True


# ---- the cluster ----


class Board:
    """An actor beside the driver to which workers say what they have begun."""

    def __init__(self) -> None:
        self.begun: Dict[str, Tuple[str, int]] = {}

    def started(self, task: str, attempt: int, node: str) -> None:
        self.begun[task] = (node, attempt)

    def all(self) -> Dict[str, Tuple[str, int]]:
        return self.begun


def check_address(address: str) -> None:
    """Ray itself tries for minutes before it says that nobody answers."""
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
    """The files below `names` as a tar; the same files give the same bytes."""
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
    """What the scheduler needs of Ray."""

    def __init__(self, ray: Any, plan: Plan, function: Callable[..., Any] = ray_node.run_task) -> None:
        self.ray, self.plan = ray, plan
        # Nodes need no package: what runs there travels by value.
        ray.cloudpickle.register_pickle_by_value(ray_node)
        if __name__ != "__main__":
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
        # The reference is inside a list: Ray then fetches the bytes where they are asked for, not for every task.
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
        # A whole node each: what runs beside a timing on the same processor slows it down.
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
        """Every node that can take tasks, asked for its versions."""
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
        except errors.NodeDiedError as error:
            return {"fault": "its node died", "node": self.node_in(str(error))}
        except errors.OutOfMemoryError:
            return {"fault": "its worker was ended because the node ran out of memory"}
        except errors.WorkerCrashedError:
            return {"fault": "its worker died"}
        except errors.ObjectLostError:
            return {"fault": "its result was lost with the node that held it"}
        except errors.RayError as error:
            return {"fault": "%s: %s" % (type(error).__name__, " ".join(str(error).split())[-300:])}

    def node_in(self, text: str) -> str:
        return next((node["id"] for node in self.node_list if node["id"] in text), "")

    def running(self) -> Dict[str, Tuple[str, int]]:
        """What workers said last; never waits."""
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
    """What every node has. Refused where they differ, unless told otherwise; then nothing is required of a node."""
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


# ---- the program ----


@contextlib.contextmanager
def nothing_on_stdout() -> Iterator[None]:
    """Ray prints the last words of a dead node there, where the table will be."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def lock_suite(plan: Plan) -> Any:
    lock = open(plan.folder / "driver.lock", "a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Refused("another driver works on %s; wait for it, or stop it first" % plan.suite)
    return lock


def drive(plan: Plan, function: Callable[..., Any] = ray_node.run_task, check_versions: bool = True) -> int:
    """Runs what is missing; the exit code: 0 all came home, 3 some did not, 130 interrupted. Ends its connection to Ray."""
    with nothing_on_stdout():
        try:
            return drive_connected(plan, function, check_versions)
        finally:
            if "ray" in sys.modules:
                sys.modules["ray"].shutdown()


def drive_connected(plan: Plan, function: Callable[..., Any], check_versions: bool) -> int:
    lock = lock_suite(plan)
    progress = Progress(plan)
    progress.write(now=True)
    try:
        ray = connect(plan.address)
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: stop.set())
        cluster = RayCluster(ray, plan, function)
        nodes = cluster.nodes()
        wanted = facts_in_common(cluster.probe(), cluster.gpu, plan.allow_mixed) if check_versions else {}
        if not plan.quiet:
            say("%d tasks on %d nodes with %d places" % (len(plan.tasks), len(nodes), sum(node["places"] for node in nodes)))
        cluster.begin(wanted)
        importer = Importer(plan)
        importer.start()
        scheduler = Scheduler(plan, cluster, importer, progress)
        try:
            complete = scheduler.run(stop.is_set)
        finally:
            cluster.cancel(scheduler.flying)
            importer.end()
            scheduler.take_imports()
            scheduler.note_progress("finished" if not scheduler.flying and not scheduler.gave_up else "stopped")
            progress.write(now=True)
    except Refused as refused:
        progress.values["state"] = "stopped"
        progress.values["gave_up"].append({"task": "", "why": str(refused)})
        progress.write(now=True)
        raise
    finally:
        lock.close()
    if not complete:
        say("interrupted; to continue: hone resume %s" % plan.suite)
        return INTERRUPTED
    return FAILED if scheduler.gave_up else 0


def main(arguments: Sequence[str]) -> int:
    plan = Plan(json.loads(pathlib.Path(arguments[0]).read_text()))
    try:
        code = drive(plan)
    except Refused as refused:
        say(str(refused))
        say("the suite is kept; to continue: hone resume %s" % plan.suite)
        return FAILED
    if code == INTERRUPTED:
        return code
    sys.stderr.flush()
    # The program prints the table, and says what is missing.
    os.execv(plan.binary, [plan.binary, "resume", plan.suite, "--table", *(["--json"] if plan.json else [])])
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
