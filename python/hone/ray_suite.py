"""The driver of `hone suite --on ray`: distributes the tasks of a suite to the nodes of a Ray cluster and collects their
runs.

    python3 ray_suite.py PLAN

The program `hone` writes the plan and becomes this driver; `python -m hone.ray TASKS...` does the same from Python. Runs
come back as archives, and `hone import` adds them to the store, which holds one run per task. The driver decides nothing
about verdicts. It decides when each task goes to Ray, retries system faults on another node (a limited number of times),
and refuses nodes whose versions differ. If it dies, `hone resume NAME` starts it again with the missing tasks.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pathlib
import signal
import sys
import threading
from typing import Any, Callable, Iterator, Sequence

if __package__:
    from . import ray_node
    from .ray_cluster import RayCluster, connect, facts_in_common
    from .ray_import import Importer
    from .ray_plan import Plan, Progress, Refused, say
    from .ray_schedule import Scheduler
else:  # the program `hone` starts it as a file without a package
    import ray_node  # type: ignore
    from ray_cluster import RayCluster, connect, facts_in_common  # type: ignore
    from ray_import import Importer  # type: ignore
    from ray_plan import Plan, Progress, Refused, say  # type: ignore
    from ray_schedule import Scheduler  # type: ignore

FAILED, INTERRUPTED = 3, 130


@contextlib.contextmanager
def nothing_on_stdout() -> Iterator[None]:
    """Keeps Ray's messages about dead nodes away from stdout, where the table will be."""
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
    """Runs the missing tasks. Exit code: 0 all came back, 3 some did not, 130 interrupted. Closes its connection to Ray."""
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
    # The program prints the table and the missing tasks.
    os.execv(plan.binary, [plan.binary, "resume", plan.suite, "--table", *(["--json"] if plan.json else [])])
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
