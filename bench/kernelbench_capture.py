"""How many tasks of a folder become graphs (docs/GRAPH.md), with one sentence for each that does not. Modules are built from fake tensors, so a
task needs no memory; one that cannot be built so is built from real ones. No graph is run against its module here.

Usage: kernelbench_capture.py FOLDER [--only WORD] [--seconds N] [--md FILE]
Exit code 1 when a task that has no graph is not declined with a sentence.
"""

import argparse
import importlib.util
import os
import pathlib
import pickle
import re
import signal
import sys
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "worker"))
import hone_graph
from torch._subclasses.fake_tensor import FakeTensorMode


def order(path):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]


def built(path):
    """The task's module and inputs."""
    spec = importlib.util.spec_from_file_location("task", path)
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    given = task.get_init_inputs()
    model = task.Model(**given[1]) if len(given) == 2 and isinstance(given[1], dict) and not given[0] else task.Model(*given)
    return model.eval(), task.get_inputs()


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


def apart(path, seconds):
    """(nodes, None) or (None, sentence, whether Hone said it), from a process of its own: a task may change torch, run for long or fail hard."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        os.close(reader)
        try:
            answer = (capture(path), None, True)
        except hone_graph.Declined as error:
            answer = (None, str(error), True)
        except BaseException as error:
            answer = (None, "%s: %s" % (type(error).__name__, str(error).split("\n")[0]), False)
        with os.fdopen(writer, "wb") as out:
            pickle.dump(answer, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as source:
        text = source.read()
    os.waitpid(child, 0)
    return pickle.loads(text) if text else (None, "it took more than %d s, or its process died" % seconds, False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=int, default=180, help="of one task")
    parser.add_argument("--md", type=pathlib.Path, help="a table of the tasks without a graph")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tasks = sorted((p for p in options.folder.rglob("*.py") if options.only in str(p) and "class Model" in p.read_text()), key=order)
    begun, lacking, unsaid = time.time(), [], 0
    with torch.no_grad():  # what torch.export imports for its first graph, once for all processes
        hone_graph.capture(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval(), [torch.rand(2, 2)])
    for path in tasks:
        name = str(path.relative_to(options.folder))
        nodes, why, said = apart(path, options.seconds)
        if why:
            lacking.append((name, why))
            unsaid += not said
        print("%s  %s" % (name, why or "%d nodes" % nodes), flush=True)
    print("%d of %d tasks are captured, %.0f s" % (len(tasks) - len(lacking), len(tasks), time.time() - begun))
    if options.md:
        rows = ["| `%s` | %s |" % (name, why.replace("|", "\\|")) for name, why in lacking]
        options.md.write_text("\n".join(["| task | why it has no graph |", "|---|---|", *rows]) + "\n")
    return 1 if unsaid else 0


if __name__ == "__main__":
    sys.exit(main())
