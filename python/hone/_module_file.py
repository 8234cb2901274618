"""The Python half of `hone optimize FILE.py:NAME`: imports the file, builds the module and its inputs, and writes the task
folder.

The binary contains the package and starts `main` with FILE NAME INPUTS INIT FOLDER ANSWER. ANSWER is a file that gets {"task":
path} or {"error": one sentence}. The output of the user's code is not redirected.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import sys
import traceback
from typing import Any

import torch
from torch import nn

from . import _capture, _fast, _trace
from ._binary import HoneError


class UsageError(HoneError):
    """The request does not fit the file."""


def arguments_of(value: Any) -> "tuple[tuple, dict[str, Any]]":
    """(args, kwargs) from what a function of inputs returned: a tuple or list, a dict of keywords, (args, kwargs), or one value.

    >>> arguments_of((1, 2)), arguments_of({"a": 1}), arguments_of(((1,), {"a": 2})), arguments_of(3)
    (((1, 2), {}), ((), {'a': 1}), ((1,), {'a': 2}), ((3,), {}))
    """
    if isinstance(value, dict):
        return (), dict(value)
    if not isinstance(value, (tuple, list)):
        return (value,), {}
    if len(value) == 2 and isinstance(value[0], (tuple, list)) and isinstance(value[1], dict) and all(isinstance(key, str) for key in value[1]):
        return tuple(value[0]), dict(value[1])
    return tuple(value), {}


def _where(error: BaseException, path: str) -> str:
    """FILE:LINE of the deepest frame outside of installed packages."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if "site-packages" not in frame.filename and os.sep + "hone" + os.sep not in frame.filename and not frame.filename.startswith("<")]
    return "%s:%d" % (frames[-1].filename, frames[-1].lineno or 1) if frames else path


def _told(error: BaseException, doing: str, path: str) -> UsageError:
    if isinstance(error, SyntaxError):
        return UsageError("%s:%d: the file does not parse (%s); correct this line." % (error.filename or path, error.lineno or 1, error.msg))
    text = " ".join(str(error).split())[:300]
    return UsageError("%s: %s %s%s." % (_where(error, path), type(error).__name__, doing, ": " + text if text else ""))


def import_file(path: str) -> Any:
    """The file as a module. It can import its neighbours; a file of a package is imported as part of it."""
    path = os.path.abspath(path)
    folder, package = os.path.dirname(path), []
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, part = os.path.split(folder)
        package.insert(0, part)
    sys.path.insert(0, folder)
    arguments, sys.argv = sys.argv, [path]
    name = os.path.splitext(os.path.basename(path))[0]
    try:
        if package:
            importlib.import_module(".".join(package))
        return _capture.load_file(path, ".".join([*package, name]))
    except (Exception, SystemExit) as error:
        raise _told(error, "at import", path) from error
    finally:
        sys.argv = arguments


def _modules_of(module: Any) -> "list[str]":
    return [name for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == module.__name__]


def _functions_of(module: Any) -> "list[str]":
    return [name for name, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__]


def _find(module: Any, name: str, path: str, function: bool = False) -> Any:
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            others, what = (_functions_of(module), "function") if function else (_modules_of(module), "module")
            raise UsageError("%s defines no %s; %s." % (path, name, "its %ss are %s" % (what, ", ".join(others[:8])) if others else "it defines no " + what))
        found = getattr(found, part)
    return found


def _call(function: Any, arguments: "tuple[tuple, dict[str, Any]]", doing: str, path: str) -> Any:
    try:
        return function(*arguments[0], **arguments[1])
    except (Exception, SystemExit) as error:
        raise _told(error, doing, path) from error


def init_arguments(module: Any, init: str, path: str) -> "tuple[tuple, dict[str, Any]]":
    """The constructor's arguments: a function of the file, or a literal."""
    if not init:
        return (), {}
    if all(part.isidentifier() for part in init.split(".")) and init not in ("None", "True", "False"):
        return arguments_of(_call(_find(module, init, path, True), ((), {}), "in " + init, path))
    try:
        return arguments_of(ast.literal_eval(init))
    except (ValueError, SyntaxError):
        raise UsageError("--init %r is neither a function of %s nor a literal such as (64, 128) or {'width': 64}." % (init, path)) from None


def build(module: Any, name: str, init: str, path: str) -> nn.Module:
    """The module called NAME: an instance, a class, or a function that returns one."""
    found = _find(module, name, path)
    if isinstance(found, nn.Module):
        if init:
            raise UsageError("%s in %s is a module already; leave --init out." % (name, path))
        return found
    if not callable(found):
        raise UsageError("%s in %s is a %s; name a module, its class, or a function that returns it." % (name, path, type(found).__name__))
    made = _call(found, init_arguments(module, init, path), "when %s is built (see --init)" % name, path)
    if not isinstance(made, nn.Module):
        raise UsageError("%s in %s returns %r, not a torch.nn.Module." % (name, path, type(made).__name__))
    return made


def write_task(path: str, name: str, inputs: str, init: str, folder: str) -> str:
    """Captures FILE.py:NAME below `folder` and returns the task file."""
    if not os.path.isfile(path):
        raise UsageError("There is no file %s." % path)
    torch.manual_seed(0)
    module = import_file(path)
    model = build(module, name, init, path)
    if not inputs and not callable(getattr(module, "get_inputs", None)):
        raise UsageError("Name a function of %s that returns example inputs: --inputs make_inputs." % path)
    inputs = inputs or "get_inputs"
    function = _find(module, inputs, path, True)
    if not callable(function):
        raise UsageError("%s in %s is a %s, not a function." % (inputs, path, type(function).__name__))
    args, kwargs = arguments_of(_call(function, ((), {}), "in " + inputs, path))
    args, kwargs = _fast.canonical(model.forward, args, kwargs)
    traced = _trace.trace(model, args, kwargs)
    short = _capture.safe_name(name)
    content = _trace.digest_of([traced.graph, *sorted(_trace.state_of(model).items())])
    return _capture.capture(model, traced, os.path.join(folder, "%s-%s" % (short, content[:12])), short).path


def main(words: "list[str]") -> int:
    path, name, inputs, init, folder, answer = words
    try:
        said: "dict[str, Any]" = {"task": write_task(path, name, inputs, init, folder)}
    except HoneError as error:
        said = {"error": str(error), "usage": isinstance(error, UsageError)}
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(said, file)
    return 0 if "task" in said else 3
