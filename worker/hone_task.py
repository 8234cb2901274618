"""Explains what is wrong with a task: file, line, and the change to make, in one sentence.

Only the reference worker uses this file. PyTorch's own messages name tensors and operators, but the author of a task needs to
know which line to change. Each check here returns nothing or raises TaskProblem. `explain` turns an exception that the task
raised into a TaskProblem. Nothing here runs during a timing.
"""

import ast
import builtins
import dataclasses
import inspect
import io
import os
import sys
import traceback

import torch

import hone_wire

_MOST_TENSORS = 4096  # as the parent reads them


class TaskProblem(Exception):
    """A complete message: `FILE:LINE: what is wrong; what to change.`"""


class TaskSource:
    """The positions of definitions in a task file. A file that does not parse has only its first line."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.folder = os.path.dirname(self.path)
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                self.tree = ast.parse(file.read())
        except (SyntaxError, ValueError, OSError):
            self.tree = ast.Module(body=[], type_ignores=[])

    def node(self, *names):
        """The function or class called names[-1] inside names[0]…, or None."""
        body = self.tree.body
        found = None
        for name in names:
            found = next((item for item in body if isinstance(item, (ast.FunctionDef, ast.ClassDef)) and item.name == name), None)
            if found is None:
                return None
            body = found.body
        return found

    def line(self, *names):
        found = self.node(*names)
        return found.lineno if found is not None else 1

    def return_line(self, *names):
        """The last `return` of a function, else the function itself."""
        found = self.node(*names)
        if found is None:
            return self.line(*names[:-1]) if len(names) > 1 else 1
        returns = [item.lineno for item in ast.walk(found) if isinstance(item, ast.Return)]
        return max(returns) if returns else found.lineno

    def modules(self):
        """Classes of the file that derive from something called Module."""
        return [
            item for item in self.tree.body
            if isinstance(item, ast.ClassDef) and any("Module" in ast.dump(base) for base in item.bases)
        ]

    def problem(self, line, what, change):
        return TaskProblem("%s:%d: %s; %s." % (self.path, line, what, change))


def _kind(value):
    if isinstance(value, torch.Tensor):
        return "a bare tensor"
    if value is None:
        return "None"
    name = type(value).__name__
    return "%s %s" % ("an" if name[:1] in "aeiou" else "a", name)


def _parameters(function):
    """(positional names, names that must be given, keyword-only names without a default, takes *args) of a bound function."""
    positional, needed, keyword_only, star = [], [], [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional.append(parameter.name)
            if parameter.default is parameter.empty:
                needed.append(parameter.name)
        elif parameter.kind == parameter.VAR_POSITIONAL:
            star = True
        elif parameter.kind == parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            keyword_only.append(parameter.name)
    return positional, needed, keyword_only, star


def _count(number, word):
    return "%d %s%s" % (number, word, "" if number == 1 else "s")


# Checks, in the order a session meets them


def check_module(source, module):
    """The three names of the KernelBench convention."""
    if not isinstance(getattr(module, "Model", None), type):
        others = source.modules()
        if hasattr(module, "Model"):
            raise source.problem(1, "Model is %s, not a class" % _kind(module.Model), "define `class Model(torch.nn.Module)`")
        if others:
            raise source.problem(others[-1].lineno, "the file defines no class Model", "rename class %s to Model" % others[-1].name)
        raise source.problem(1, "the file defines no class Model", "define `class Model(torch.nn.Module)` with a forward method")
    if not callable(getattr(module, "get_inputs", None)):
        raise source.problem(
            source.line("Model"), "the file defines no function get_inputs",
            "add `def get_inputs():` that returns the list of forward's arguments",
        )


def check_init_inputs(source, values):
    if isinstance(values, (list, tuple, dict)):
        return
    raise source.problem(
        source.return_line("get_init_inputs"), "get_init_inputs returns %s" % _kind(values),
        "return a list of the constructor's arguments (or a dict of its keyword arguments)",
    )


def check_constructor(source, kind, arguments):
    """The constructor takes what get_init_inputs returns."""
    try:
        signature = inspect.signature(kind)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(**arguments) if isinstance(arguments, dict) else signature.bind(*arguments)
    except TypeError as error:
        if source.node("get_init_inputs") is None:
            raise source.problem(
                source.line("Model", "__init__"), "Model's constructor needs arguments (%s) and the file defines no get_init_inputs" % error,
                "add `def get_init_inputs():` that returns them as a list",
            ) from None
        given = "the keywords %s" % ", ".join(map(str, arguments)) if isinstance(arguments, dict) else _count(len(arguments), "value")
        raise source.problem(
            source.return_line("get_init_inputs"), "get_init_inputs returns %s, but Model takes %s (%s)" % (given, signature, error),
            "return exactly the constructor's arguments",
        ) from None


def check_model(source, model):
    if isinstance(model, torch.nn.Module):
        return
    raise source.problem(
        source.line("Model"), "class Model is not a torch.nn.Module", "derive it: `class Model(torch.nn.Module)`, and call super().__init__()"
    )


def check_inputs(source, made, model=None):
    """get_inputs returns the positional arguments of forward."""
    line = source.return_line("get_inputs")
    if isinstance(made, dict):
        names = ", ".join(str(name) for name in made)
        raise source.problem(line, "get_inputs returns a dict (%s)" % names, "return the values as a list in the order of forward's parameters")
    if isinstance(made, torch.Tensor):
        raise source.problem(line, "get_inputs returns a bare tensor", "return a list, `[x]`, also for a single input")
    if made is None or isinstance(made, (str, bytes, bool, int, float)) or not hasattr(made, "__iter__"):
        raise source.problem(line, "get_inputs returns %s" % _kind(made), "return the list of forward's arguments")
    made = list(made)
    for index, value in enumerate(made):
        if isinstance(value, torch.Tensor) and value.device.type == "meta":
            raise source.problem(line, "input %d is on the meta device and has no values" % index, "make it without device=; Hone moves inputs itself")
    for tensor in hone_wire.tensors_of(made):
        if tensor.layout != torch.strided:
            raise source.problem(
                line, "get_inputs returns a tensor of layout %s, which Hone cannot pass on" % str(tensor.layout)[len("torch."):],
                "return its indices and values, and make the sparse tensor of them in forward",
            )
        if str(tensor.dtype)[len("torch."):] not in hone_wire.DTYPES:
            raise source.problem(line, "get_inputs returns a tensor of dtype %s, which Hone cannot pass on" % tensor.dtype, "convert it in forward instead")
    if model is not None:
        check_forward(source, model, made)
    return made


def check_written(source, inputs):
    """Inputs are sent separately, so a write into one input would not be visible through another that shares its memory."""
    places = [(*_bytes_of(tensor), index) for index, value in enumerate(inputs) for tensor in hone_wire.tensors_of([value]) if tensor.numel()]
    for at, (begin, end, index) in enumerate(places):
        for other, last, second in places[:at]:
            if begin < last and other < end:
                raise source.problem(
                    source.return_line("get_inputs"), "forward writes into its inputs, and inputs %d and %d share memory" % (second, index),
                    "return a clone() of one of them",
                )


def _bytes_of(tensor):
    length = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride()))
    return tensor.data_ptr(), tensor.data_ptr() + length * tensor.element_size()


def check_forward(source, model, inputs):
    """forward takes the inputs by position."""
    forward = model.forward
    try:
        positional, needed, keyword_only, star = _parameters(forward)
    except (TypeError, ValueError):
        return
    line = source.line("Model", "forward")
    if keyword_only:
        raise source.problem(
            line, "forward takes %s by keyword only" % ", ".join(keyword_only),
            "remove the `*` from its signature: Hone passes what get_inputs returns by position",
        )
    if len(inputs) < len(needed) or (len(inputs) > len(positional) and not star):
        raise source.problem(
            source.return_line("get_inputs"),
            "get_inputs returns %s, but forward takes %s (%s)" % (_count(len(inputs), "value"), _count(len(positional), "argument"), ", ".join(positional)),
            "return one value for each",
        )


def check_output(source, out):
    """Every output must be comparable."""
    line = source.return_line("Model", "forward")
    tensors, odd = [], []

    def visit(node):
        if isinstance(node, torch.Tensor):
            tensors.append(node)
        elif isinstance(node, (list, tuple)):
            for item in node:
                visit(item)
        elif isinstance(node, dict):
            for item in node.values():
                visit(item)
        elif hasattr(node, "to_tuple"):
            visit(node.to_tuple())
        elif node is not None and not isinstance(node, (bool, int, float, complex, str)):
            odd.append(node)

    visit(out)
    if odd:
        kind = type(odd[0]).__name__
        if dataclasses.is_dataclass(odd[0]):
            names = ["out." + field.name for field in dataclasses.fields(odd[0])]
            fields = "(%s,)" % names[0] if len(names) == 1 else "(%s)" % ", ".join(names)
            raise source.problem(line, "forward returns the dataclass %s, which Hone cannot compare" % kind, "return its fields as a tuple: %s" % fields)
        raise source.problem(
            line, "forward returns %s, which Hone cannot compare" % _kind(odd[0]), "return tensors, or tuples, lists and dicts of tensors"
        )
    strange = [str(tensor.dtype)[len("torch."):] for tensor in tensors if str(tensor.dtype)[len("torch."):] not in hone_wire.DTYPES]
    if strange:
        raise source.problem(line, "forward returns a tensor of dtype %s, which Hone cannot compare" % strange[0], "convert it, to float32 or int64 say")
    if any(tensor.layout != torch.strided for tensor in tensors):
        raise source.problem(line, "forward returns a sparse tensor, which Hone cannot time", "return its to_dense()")
    if len(tensors) > _MOST_TENSORS:
        raise source.problem(line, "forward returns %d tensors, and Hone compares at most %d" % (len(tensors), _MOST_TENSORS), "stack them")
    if not tensors:
        raise source.problem(line, "forward returns no tensor (%s), so there is nothing to judge" % _kind(out), "return the result as a tensor")


# Exceptions that the task raised

_WHERE = {
    "load": ("at import", ()), "init_inputs": ("in get_init_inputs", ("get_init_inputs",)), "build": ("in Model's constructor", ("Model", "__init__")),
    "make_inputs": ("in get_inputs", ("get_inputs",)), "run": ("in forward", ("Model", "forward")), "stress": ("in get_stress", ("get_stress",)),
}
_MAIN = 'move it under `if __name__ == "__main__":`'


def _place(source, error, verb):
    """The deepest frame in the task's own files: (file, line, text of the line)."""
    place = None
    for frame in traceback.extract_tb(error.__traceback__):
        name = os.path.abspath(frame.filename)
        if name == source.path or (name.startswith(source.folder + os.sep) and "site-packages" not in name and "hone_" not in os.path.basename(name)):
            place = (name, frame.lineno, frame.line or "")
    return place or (source.path, source.line(*_WHERE[verb][1]) if _WHERE[verb][1] else 1, "")


def _raised_in(error, module):
    return any(frame.filename.endswith(module) for frame in traceback.extract_tb(error.__traceback__))


def _change(source, verb, error, text):
    """The change that an exception requires, or general advice."""
    message = str(error)
    if isinstance(error, ModuleNotFoundError):
        missing = (error.name or "").split(".")[0]
        return "install %s for %s, or remove the import" % (missing, sys.executable)
    if isinstance(error, ImportError):
        return "correct the name, or install a release that has it"
    if isinstance(error, SystemExit):
        if _raised_in(error, "argparse.py"):
            return "a task has no command line: use constants, or parse arguments under `if __name__ == \"__main__\":`"
        return "remove the call that ends the program, or " + _MAIN
    if isinstance(error, EOFError):
        return "a task cannot read from the terminal: use a constant, or " + _MAIN
    if isinstance(error, FileNotFoundError) and error.filename:
        name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)
        if not os.path.isabs(name) and os.path.exists(os.path.join(source.folder, name)):
            return "the path is relative to the current folder: read os.path.join(os.path.dirname(__file__), %r), best in get_init_inputs" % name
        return "make the data in the task itself, or give the path of a file that exists"
    lowered = message.lower()
    if isinstance(error, (RuntimeError, AssertionError, NotImplementedError)) and any(word in lowered for word in ("cuda", "nvidia", "device")) and "out of memory" not in lowered:
        return "name no device in the task: Hone moves the model and the inputs (in forward, use x.device)"
    if "out of memory" in lowered or isinstance(error, MemoryError):
        return "make the inputs or the model smaller: PyTorch itself does not fit here"
    if isinstance(error, TypeError) and verb in ("init_inputs", "make_inputs") and "positional argument" in message:
        return "Hone calls it without arguments: give every parameter a default"
    if verb == "run":
        return "correct forward, or the shapes that get_inputs and get_init_inputs return"
    return "correct this line" if text else "correct the task"


def explain(source, verb, error):
    """The TaskProblem for an exception that the task raised, or the exception itself if the task did not cause it."""
    if isinstance(error, (TaskProblem, KeyboardInterrupt)) or verb not in _WHERE or source is None:
        return error
    if isinstance(error, SyntaxError):
        path = os.path.abspath(error.filename) if error.filename else source.path
        return TaskProblem("%s:%d: the file does not parse (%s: %s); correct this line." % (path, error.lineno or 1, type(error).__name__, error.msg))
    path, line, text = _place(source, error, verb)
    if isinstance(error, SystemExit):
        what = "the task ends the program %s (SystemExit: %s)" % (_WHERE[verb][0], error.code)
    else:
        said = " ".join(str(error).split())
        what = "%s %s%s" % (type(error).__name__, _WHERE[verb][0], ": " + said[:300] if said else "")
    return TaskProblem("%s:%d: %s; %s." % (path, line, what.rstrip("."), _change(source, verb, error, text)))


# What a task loads from its own folder. A candidate runs alone in a sandbox and cannot do so.


class Beside:
    """While entered, records files that the task reads from its folder and modules that it imports from there."""

    def __init__(self, source):
        self.source = source
        self.found = []

    def __enter__(self):
        self._modules = set(sys.modules)
        self._open, self._io_open = builtins.open, io.open

        def noting(file, *args, **kwargs):
            self._note_file(file)
            return self._open(file, *args, **kwargs)

        builtins.open = io.open = noting
        return self

    def __exit__(self, *_):
        builtins.open, io.open = self._open, self._io_open
        for name in set(sys.modules) - self._modules:
            file = getattr(sys.modules.get(name), "__file__", None)
            if file and os.path.abspath(file) != self.source.path and self._is_beside(file):
                self._add(self._import_line(name), "imports", os.path.abspath(file))

    def _is_beside(self, path):
        return os.path.abspath(path).startswith(self.source.folder + os.sep) and "site-packages" not in path

    def _note_file(self, file):
        if not isinstance(file, (str, bytes, os.PathLike)):
            return
        path = os.path.abspath(os.fsdecode(file))
        if path == self.source.path or path.endswith((".py", ".pyc")) or not self._is_beside(path):
            return
        frame = sys._getframe(2)
        while frame is not None and os.path.abspath(frame.f_code.co_filename) != self.source.path:
            frame = frame.f_back
        if frame is not None:
            self._add(frame.f_lineno, "reads", path)

    def _import_line(self, module):
        first = module.split(".")[0]
        for item in ast.walk(self.source.tree):
            if isinstance(item, ast.Import) and any(alias.name.split(".")[0] == first for alias in item.names):
                return item.lineno
            if isinstance(item, ast.ImportFrom) and (item.level or (item.module or "").split(".")[0] == first):
                return item.lineno
        return 1

    def _add(self, line, verb, path):
        text = "%s:%d %s %s" % (self.source.path, line, verb, os.path.basename(path))
        entry = {"text": text, "name": os.path.basename(path)}
        if entry not in self.found:
            self.found.append(entry)
