"""What the programs over folders of KernelBench's tasks share: their order, loading a task, and work in a process of its own."""

import importlib.util
import os
import pickle
import re
import signal


def order(path):
    """A key that sorts 2_x before 10_x."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]


def tasks_of(folder, wanted):
    """The paths of the tasks below a folder that `wanted`, a function of the path as text, accepts."""
    return sorted((path for path in folder.rglob("*.py") if wanted(str(path)) and "class Model" in path.read_text()), key=order)


def load(path, name="task"):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(task, module_class):
    given = task.get_init_inputs() if hasattr(task, "get_init_inputs") else []
    named = len(given) == 2 and isinstance(given[1], dict) and not given[0]
    return (module_class(**given[1]) if named else module_class(*given)).eval()


def apart(work, seconds):
    """(the answer of `work`, None) or (None, a sentence), from a process of its own: a task may change torch, run for long or fail hard."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        os.close(reader)
        try:
            answer = (work(), None)
        except BaseException as error:
            answer = (None, "%s: %s" % (type(error).__name__, str(error).split("\n")[0]))
        with os.fdopen(writer, "wb") as out:
            pickle.dump(answer, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as source:
        text = source.read()
    os.waitpid(child, 0)
    return pickle.loads(text) if text else (None, "it took more than %d s, or its process died" % seconds)


def capture_one():
    """Imports what torch.export imports for its first graph, once for all processes. `worker` must be on sys.path."""
    import hone_graph
    import torch

    with torch.no_grad():
        hone_graph.capture(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval(), [torch.rand(2, 2)])
