"""The scheduler of `hone suite --on ray`: when each task goes to the cluster, what is retried, and when a task is given up. It depends
on neither Ray nor the store: the cluster and the importer are parameters, and tests have their own.
"""

from __future__ import annotations

import collections
import time
from typing import Any, Callable, Dict, List, Optional, Set

if __package__:
    from .ray_plan import Plan, Progress, Refused, say
else:  # the program `hone` starts it as a file without a package
    from ray_plan import Plan, Progress, Refused, say  # type: ignore

NODE_PATIENCE_S = 300.0  # how long to wait for a node that can run tasks


class Scheduler:
    """Tracks the state of each task. It uses Ray only through `cluster`, so that tests can replace it."""

    def __init__(self, plan: Plan, cluster: Any, importer: Any, progress: Progress) -> None:
        self.plan, self.cluster, self.importer, self.progress = plan, cluster, importer, progress
        self.files = {task["name"]: task["file"] for task in plan.tasks}
        self.attempt: Dict[str, int] = {}
        self.bad_nodes: Dict[str, Set[str]] = collections.defaultdict(set)  # by task
        self.different: Set[str] = set()  # nodes whose versions differ
        self.flying: Dict[Any, str] = {}  # by the cluster's handle
        self.where: Dict[str, str] = {}  # for tasks that came back
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
            avoid = set(self.different)  # a node where the task failed is better than none
        if alive and not alive - avoid:
            self.give_up(task, "every node has versions that differ from the others")
            return
        self.flying[self.cluster.submit({"name": task, "file": self.files[task], "attempt": self.attempt[task]}, avoid & alive)] = task

    def give_up(self, task: str, why: str) -> None:
        self.gave_up[task] = why
        self.progress.values["gave_up"].append({"task": task, "why": why})
        say("%s: given up after %d attempts: %s" % (task, self.attempt.get(task, 0), why))

    def fault(self, task: str, why: str, node: str = "") -> None:
        """A system fault: retries elsewhere, unless the limit of attempts is reached."""
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
            self.fault(task, answer.get("fault", "the worker gave no answer"), node or self.cluster.began(task, self.attempt[task]))

    def take_imports(self) -> None:
        while self.importer.results:
            task, why = self.importer.results.popleft()
            if why is None:
                self.finished.add(task)
                self.say("%s: done (%d of %d)%s" % (task, self.plan.done + len(self.finished), self.plan.total, " on " + self.where[task] if self.where.get(task) else ""))
            elif "has a run of" in why:
                self.finished.add(task)  # the store has it already and keeps no duplicate
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
        """Waits a limited time for a node if the cluster has none for the tasks."""
        if self.cluster.usable_nodes():
            self.lonely_since = None
            return
        if self.lonely_since is None:
            self.lonely_since = time.time()
            say("no node of the cluster can take a task; waiting %.0f s for one" % self.first_wait)
        if time.time() - self.lonely_since > self.first_wait:
            raise Refused("no node of the cluster can take a task; add nodes, then continue with: hone resume %s" % self.plan.suite)

    def check_importer(self) -> None:
        if self.importer.broken:
            raise Refused("the store cannot take the results (%s); free its disk, then continue with: hone resume %s" % (self.importer.broken, self.plan.suite))

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
            self.check_importer()
            for handle in self.cluster.wait(list(self.flying), 0.2):
                self.take(handle)
            self.take_imports()
            if self.flying:
                self.check_nodes()
            if time.time() - self.progress.written >= 0.5:
                self.note_progress()
                self.progress.write()
        self.check_importer()  # it may have failed at the last archive
        return True
