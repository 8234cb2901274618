"""A task that cannot be judged gets one sentence: its file, the line, and the change to make.

The table runs in one interpreter, with the same `answer` function as the worker's own loop. Three cases run
the program itself, to check that the sentence reaches the user and has no prefix.

Usage: task_errors_test.py --hone BINARY
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from torch_python import need_torch

need_torch()

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "worker"))
import hone_worker  # noqa: E402

GOOD = """import torch

class Model(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, size)

    def forward(self, x):
        return torch.relu(self.linear(x))

def get_inputs():
    return [torch.randn(4, 8)]

def get_init_inputs():
    return [8]
"""


def change(old, new):
    assert old in GOOD, old
    return GOOD.replace(old, new)


# name: (the task, the line to name, required words)
BAD = {
    "dict from get_inputs": (change("return [torch.randn(4, 8)]", 'return {"x": torch.randn(4, 8)}'), 12, ["returns a dict (x)", "as a list"]),
    "bare tensor from get_inputs": (change("return [torch.randn(4, 8)]", "return torch.randn(4, 8)"), 12, ["a bare tensor", "`[x]`"]),
    "None from get_inputs": (change("return [torch.randn(4, 8)]", "torch.randn(4, 8)"), 11, ["returns None", "return the list"]),
    "keyword-only forward": (change("def forward(self, x)", "def forward(self, *, x)"), 8, ["x by keyword only", "remove the `*`"]),
    "too many inputs": (change("[torch.randn(4, 8)]", "[torch.randn(4, 8), 3]"), 12, ["returns 2 values, but forward takes 1 argument (x)"]),
    "strange dtype out": (change("torch.relu(self.linear(x))", "self.linear(x).to(torch.uint16)"), 9, ["dtype uint16", "cannot compare", "float32"]),
    "strange dtype in": (change("[torch.randn(4, 8)]", "[torch.randn(4, 8).to(torch.float8_e5m2)]"), 12, ["float8_e5m2", "in forward"]),
    "sparse input": (change("[torch.randn(4, 8)]", "[torch.randn(4, 8).to_sparse()]"), 12, ["layout sparse_coo", "indices and values"]),
    "inputs in one memory, and written": (
        change("[torch.randn(4, 8)]", "(lambda a: [a, a[:2]])(torch.randn(4, 8))").replace("forward(self, x)", "forward(self, x, y)").replace(
            "torch.relu(self.linear(x))", "self.linear(x.mul_(2)) + y.sum()"
        ), 12, ["inputs 0 and 1 share memory", "clone()"],
    ),
    "sparse output": (change("torch.relu(self.linear(x))", "torch.relu(self.linear(x)).to_sparse()"), 9, ["a sparse tensor", "to_dense()"]),
    "too many tensors": (change("torch.relu(self.linear(x))", "[x[0]] * 5000"), 9, ["5000 tensors", "stack them"]),
    "dataclass output": (
        "import dataclasses\n" + change("class Model(", "@dataclasses.dataclass\nclass Pair:\n    a: object\n    b: object\n\nclass Model(").replace(
            "return torch.relu(self.linear(x))", "return Pair(self.linear(x), x)"), 15, ["the dataclass Pair", "(out.a, out.b)"]),
    "dataclass of one field": (
        "import dataclasses\n" + change("class Model(", "@dataclasses.dataclass\nclass Single:\n    y: object\n\nclass Model(").replace(
            "return torch.relu(self.linear(x))", "return Single(self.linear(x))"), 14, ["the dataclass Single", "as a tuple: (out.y,)"]),
    "dataclass inside a tuple": (
        "import dataclasses\n" + change("class Model(", "@dataclasses.dataclass\nclass Pair:\n    a: object\n\nclass Model(").replace(
            "return torch.relu(self.linear(x))", "return x, Pair(self.linear(x))"), 14, ["the dataclass Pair", "cannot compare"]),
    "no tensor": (change("return torch.relu(self.linear(x))", "return 3"), 9, ["returns no tensor (an int)", "as a tensor"]),
    "argparse at import": (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('size')\nargs = parser.parse_args()\n" + GOOD, 4,
        ["SystemExit: 2", "has no command line"]),
    "sys.exit at import": ("import sys\nsys.exit(4)\n" + GOOD, 2, ["SystemExit: 4", "__main__"]),
    "input() at import": ("size = int(input())\n" + GOOD, 1, ["EOFError", "cannot read from the terminal"]),
    "no Model": (change("class Model(", "class Net("), 3, ["no class Model", "rename class Net to Model"]),
    "nothing at all": ("", 1, ["no class Model", "define `class Model(torch.nn.Module)`"]),
    "Model that is no class": (GOOD + "\nModel = 7\n", 1, ["Model is an int, not a class"]),
    "Model not a module": (
        change("class Model(torch.nn.Module)", "class Model").replace("        super().__init__()\n", ""), 3, ["not a torch.nn.Module", "derive it"]),
    "no get_inputs": (change("def get_inputs", "def inputs"), 3, ["no function get_inputs", "def get_inputs():"]),
    "get_inputs with parameters": (change("def get_inputs()", "def get_inputs(batch)"), 11, ["without arguments"]),
    "too many init inputs": (change("return [8]", "return [8, 8]"), 15, ["returns 2 values", "(size)", "exactly the constructor's arguments"]),
    "no get_init_inputs": (change("def get_init_inputs", "def other"), 4, ["defines no get_init_inputs"]),
    "bare init input": (change("return [8]", "return 8"), 15, ["returns an int", "a list of the constructor's arguments"]),
    "inputs on a device that is not there": (
        change("torch.randn(4, 8)", "torch.randn(4, 8, device='cuda:7')"), 12, ["in get_inputs", "name no device"]),
    "inputs without values": (change("torch.randn(4, 8)", "torch.randn(4, 8, device='meta')"), 12, ["meta device", "without device="]),
    "missing package": ("import no_such_package_at_all\n" + GOOD, 1, ["no_such_package_at_all", "install", "or remove the import"]),
    "syntax error": (GOOD + "\ndef broken(:\n", 17, ["does not parse", "SyntaxError"]),
    "constructor raises": (change("super().__init__()", "super().__init__(); 1 / 0"), 5, ["ZeroDivisionError in Model's constructor"]),
    "forward raises": (change("return [8]", "return [9]"), 9, ["RuntimeError in forward", "shapes"]),
    "file that is not there": ("DATA = open('no_such_file.txt').read()\n" + GOOD, 1, ["FileNotFoundError at import", "make the data in the task"]),
    "file of another folder": ("DATA = open('beside.txt').read()\n" + GOOD, 1, ["relative to the current folder", "os.path.dirname(__file__)"]),
}


def memory_file():
    return os.memfd_create("test")


def ask(worker, verb, **message):
    descriptor = memory_file()
    try:
        return hone_worker.answer(worker, {"verb": verb, **message}, [descriptor])
    finally:
        os.close(descriptor)


def first_problem(path, number):
    """What a session requests first, in its order; the first error, or None."""
    worker = hone_worker.Worker("reference", "cpu")
    for verb, message in (
        ("load", {"path": str(path), "name": "task_%d" % number, "class": "Model"}), ("init_inputs", {}),
        ("build", {"slot": "default", "class": "Model", "seed": 1}), ("make_inputs", {"inputs": "one", "seed": 1, "slot": "default"}),
        ("run", {"slot": "default", "inputs": "one", "seed": 1, "fresh": True}),
    ):
        reply = ask(worker, verb, **message)
        if not reply["ok"]:
            return reply.get("error", reply)
    return None


def beside_of(path):
    worker = hone_worker.Worker("reference", "cpu")
    ask(worker, "load", path=str(path), name="with_files", **{"class": "Model"})
    return ask(worker, "build", slot="default", seed=1, **{"class": "Model"})["beside"]


class Table:
    def __init__(self):
        self.failed = 0

    def check(self, name, right, said):
        if not right:
            self.failed += 1
            print("FAILED  %s: %s" % (name, said))


def check_table(table, folder):
    (folder / "beside.txt").write_text("words")
    for number, (name, (text, line, words)) in enumerate(BAD.items()):
        path = folder / ("task_%d.py" % number)
        path.write_text(text)
        problem = first_problem(path, number) or {}
        said = problem.get("message", "no problem was seen")
        table.check(name, problem.get("type") == "TaskProblem", problem.get("type", "") + ": " + said)
        table.check(name, said.startswith("%s:%d: " % (path, line)), "not at line %d: %s" % (line, said))
        table.check(name, said.endswith(".") and "\n" not in said and ";" in said, "not one sentence: " + said)
        for word in words:
            table.check(name, word in said, "does not say %r: %s" % (word, said))
    good = folder / "good.py"
    good.write_text(GOOD)
    table.check("a good task", first_problem(good, len(BAD)) is None, first_problem(good, len(BAD)))


def check_folder(table, folder):
    """What a task loads from its own folder is known, with the line."""
    (folder / "own_helper.py").write_text("SIZE = 8\n")
    (folder / "numbers.txt").write_text("8\n")
    task = folder / "with_files.py"
    task.write_text(
        "import os\nfrom own_helper import SIZE\n" + GOOD.replace(
            "super().__init__()\n", "super().__init__()\n        open(os.path.join(os.path.dirname(__file__), 'numbers.txt')).close()\n"))
    found = sorted(entry["text"] for entry in beside_of(task))
    expected = ["%s:2 imports own_helper.py" % task, "%s:8 reads numbers.txt" % task]
    table.check("files of the task's folder", found == expected, found)
    plain = folder / "plain.py"
    plain.write_text(GOOD)
    table.check("no files", beside_of(plain) == [], beside_of(plain))


def run_hone(hone, folder, *words):
    env = {key: value for key, value in os.environ.items() if not key.startswith("HONE_")}
    env.update(HONE_DATA=str(folder / "data"), HONE_CACHE=str(folder / "cache"), HONE_PYTHON=sys.executable)
    return subprocess.run([hone, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, cwd=folder)


def check_program(table, hone, folder):
    for name in ("dict from get_inputs", "argparse at import"):
        text, line, words = BAD[name]
        path = folder / "whole.py"
        path.write_text(text)
        done = run_hone(hone, folder, "show", str(path), "--target", "cpu")
        table.check("hone show, " + name, done.returncode == 3, "exit code %d: %s" % (done.returncode, done.stdout))
        for word in ["%s:%d: " % (path, line), *words]:
            table.check("hone show, " + name, word in done.stdout, "does not say %r: %s" % (word, done.stdout))
        table.check("hone show, " + name, len(re.findall(re.escape(str(path)), done.stdout)) == 1, "names the file twice: " + done.stdout)
    # A candidate made from a task with a sibling import fails because of the task.
    candidate = folder / "elsewhere" / "candidate.py"
    candidate.parent.mkdir()
    candidate.write_text((folder / "with_files.py").read_text().replace("class Model(", "class ModelNew("))
    done = run_hone(hone, folder, "bench", str(folder / "with_files.py"), str(candidate), "--target", "cpu", "--compile", "never", "--no-save")
    for word in ("import-failed", "with_files.py:2 imports own_helper.py", "Move what is needed into the task file"):
        table.check("hone bench, sibling import", word in " ".join(done.stdout.split()), "does not say %r: %s" % (word, done.stdout))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone")
    options = parser.parse_args()
    table = Table()
    sys.stdin = open(os.devnull)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary).resolve()
        check_table(table, folder)
        check_folder(table, folder)
        if options.hone:
            check_program(table, options.hone, folder)
    print("%d bad tasks, %d claims failed" % (len(BAD), table.failed))
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
