"""How many tasks of a folder become graphs (docs/GRAPH.md), with one sentence for each that does not. Modules are built from fake tensors, so a
task needs no memory; one that cannot be built so is built from real ones. No graph is run against its module here.

Usage: kernelbench_capture.py FOLDER [--only WORD] [--seconds N] [--md FILE]
Exit code 1 when a task that has no graph is not declined with a sentence.
"""

import argparse
import pathlib
import sys
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "worker"))
import hone_graph
from kernelbench_tasks import apart, build, capture_one, load, tasks_of
from torch._subclasses.fake_tensor import FakeTensorMode


def built(path):
    """The task's module and inputs."""
    task = load(path)
    return build(task, task.Model), task.get_inputs()


def capture(path):
    """The graph's number of nodes."""
    hone_graph._uniform = lambda tensor: None  # fake tensors have no values
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
            model, inputs = built(path)
        with torch.no_grad():
            return len(hone_graph.capture(model, inputs)["nodes"])
    except Exception:  # it computes with values as it is built, or keeps a tensor that is no buffer
        with torch.no_grad():
            return len(hone_graph.capture(*built(path))["nodes"])


def attempt(path):
    """(nodes, None) or (None, the sentence with which Hone declines the task)."""
    try:
        return capture(path), None
    except hone_graph.Declined as error:
        return None, str(error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=int, default=180, help="of one task")
    parser.add_argument("--md", type=pathlib.Path, help="a table of the tasks without a graph")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tasks = tasks_of(options.folder, lambda path: options.only in path)
    begun, lacking, unsaid = time.time(), [], 0
    capture_one()
    for path in tasks:
        name = str(path.relative_to(options.folder))
        answer, trouble = apart(lambda: attempt(path), options.seconds)
        nodes, why = answer or (None, trouble)
        if why:
            lacking.append((name, why))
            unsaid += trouble is not None
        print("%s  %s" % (name, why or "%d nodes" % nodes), flush=True)
    print("%d of %d tasks are captured, %.0f s" % (len(tasks) - len(lacking), len(tasks), time.time() - begun))
    if options.md:
        rows = ["| `%s` | %s |" % (name, why.replace("|", "\\|")) for name, why in lacking]
        options.md.write_text("\n".join(["| task | why it has no graph |", "|---|---|", *rows]) + "\n")
    return 1 if unsaid else 0


if __name__ == "__main__":
    sys.exit(main())
