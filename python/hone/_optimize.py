"""hone.optimize: from a module and example inputs to a faster module.

    optimize(model, args=(), kwargs=None, *, budget=None, target=None, proposer=None, progress=None, fallback=False, again=False, options=())

One call is traced (_trace.py). If the disk has an answer for its graph, that is used. If not, the module is captured as a task folder
(_capture.py), the program `hone` searches for a faster one (_run.py), and its result is stored (_cache.py) and wrapped (_fast.py).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import weakref
from typing import Any, Sequence

import torch
from torch import nn

from . import _cache, _capture, _fast, _run, _trace, _trees
from ._binary import HoneError
from ._report import Report

# The Fast module of each original that is still in use, to which further shapes are added.
_made: "weakref.WeakValueDictionary[int, _fast.Fast]" = weakref.WeakValueDictionary()

_FINAL = ("accepted", "kept_pytorch", "none_right", "nothing_tried")


def optimize(model: nn.Module, args: Any = (), kwargs: "dict[str, Any] | None" = None, *, budget: Any = None, target: "str | None" = None,
             proposer: "str | None" = None, progress: "_run.Progress" = None, fallback: bool = False, again: bool = False,
             options: Sequence[str] = (), search: bool = True) -> nn.Module:
    """Returns a module with the same call and the same state_dict that is faster for inputs like these, where Hone finds one.

    model     any torch.nn.Module on a CPU or a CUDA device; also one that optimize returned, to add an answer for other shapes
    args      the positional arguments of a call: a tuple or list, one tensor, or a dict of keyword arguments
    kwargs    the keyword arguments of that call
    budget    longest time to search: "60s", "5m" or seconds. The default is no limit
    target    "cpu", "cuda" or "triton"; the default follows the module's device
    proposer  where candidates come from, as in `hone optimize --proposer`; the default is Hone's own recipes
    progress  None or True: show the program's progress; False: be silent; a function: call it with each line
    fallback  True: a module that Hone cannot take is returned as it is, with the reason in `.hone`, instead of a HoneError
    again     True: ignore a stored answer and search again
    options   further options of `hone optimize`, such as ["--compile", "never"]
    search    False: use an answer that is stored, and keep the original if there is none

    The module that is returned shares its parameters with `model`. It runs the original for other shapes and dtypes, in training mode, and where
    gradients are wanted. `.hone` says what was done. An answer is stored on disk, so the next process finds it without a search.

    >>> import torch, hone
    >>> model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
    >>> fast = hone.optimize(model, (torch.randn(4, 8),), budget="1s", progress=False)
    >>> with torch.no_grad():
    ...     tuple(fast(torch.randn(4, 8)).shape)
    (4, 8)
    >>> sorted(fast.state_dict()) == sorted(model.state_dict())
    True
    >>> fast.hone.status in ("faster", "kept")
    True
    """
    original = model.original if isinstance(model, _fast.Fast) else model
    if not isinstance(original, nn.Module) or isinstance(original, torch.jit.ScriptModule):
        raise HoneError("hone.optimize takes a torch.nn.Module, not a %s; wrap a function in a module." % type(model).__name__)
    if hasattr(original, "_orig_mod"):
        raise HoneError("The module was compiled by torch.compile; give the original to hone.optimize.")
    seconds = _run.seconds_of(budget)
    if kwargs is None and isinstance(args, dict):
        args, kwargs = (), args
    args = (args,) if isinstance(args, torch.Tensor) else tuple(args)
    fast = _made.get(id(original))
    if fast is None or fast.original is not original:
        fast = _made[id(original)] = _fast.Fast(original)
    try:
        with torch.inference_mode(False):
            _answer(fast, args, dict(kwargs or {}), seconds, target, proposer, progress, again, list(options), search)
    except Exception as error:
        if not fallback:
            raise
        reason = str(error) if isinstance(error, HoneError) else "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])
        fast._add(None, Report(status="declined", reason=reason))
    return fast


def _target_of(asked: "str | None", device: torch.device) -> str:
    if device.type not in ("cpu", "cuda"):
        raise HoneError("The module is on the device %s; Hone knows cpu and cuda." % device)
    if asked is None:
        return device.type
    if asked not in ("cpu", "cuda", "triton"):
        raise HoneError('target=%r is not "cpu", "cuda" or "triton".' % (asked,))
    if (asked == "cpu") != (device.type == "cpu"):
        raise HoneError("target=%r does not fit a module on %s; move the module and its inputs first." % (asked, device))
    return asked


def _device_of(model: nn.Module, leaves: "list[torch.Tensor]") -> torch.device:
    found = [*model.parameters(), *model.buffers(), *leaves]
    return found[0].device if found else torch.device("cpu")


def _answer(fast: "_fast.Fast", args: tuple, kwargs: "dict[str, Any]", budget: "float | None", target: "str | None", proposer: "str | None",
            progress: "_run.Progress", again: bool, options: "list[str]", search: bool) -> None:
    """Finds the answer for one call and adds it to `fast`."""
    original = fast.original
    args, kwargs = _fast.canonical(original.forward, args, kwargs)
    leaves: "list[torch.Tensor]" = []
    spec = _trees.flatten((args, kwargs), leaves)
    device = _device_of(original, leaves)
    target = _target_of(target, device)
    traced = _trace.trace(original, args, kwargs)
    folder = _cache.Folder(_cache.key_of(traced.graph, device, [target, proposer or "expert", options]))
    about = ", ".join(_trees.shape_text(tensor) for tensor in leaves) or "no tensors"
    stored = None if again else folder.read()
    cached = stored is not None and _is_enough(stored, budget)
    if not cached and not search:
        fast._add(None, Report(inputs=about, status="kept", reason="no answer is stored for these shapes"))
        return
    if not cached:
        stored = _search(original, traced, folder, device, budget, progress, again,
                         ["--target", target, *(["--proposer", proposer] if proposer else []), *options])
    assert stored is not None
    if stored["status"] == "declined":
        raise _trace.Refused(stored["reason"])
    report = Report(inputs=about, cached=cached, **{name: value for name, value in stored.items() if name not in ("inputs", "cached")})
    best = folder.file("best.py") if stored["status"] == "faster" else ""
    constants = folder.file("task", "constants.pt") if stored["constants"] else ""
    answer = _fast.Answer((spec, tuple([_trees.tensor_key(tensor) for tensor in leaves])), stored["used_inputs"], traced.template, traced.out_spec, best, constants,
                          stored["prefix"])
    if best:
        _check(answer, original, traced, stored, report)
    fast._add(answer, report)


def _is_enough(stored: "dict[str, Any]", budget: "float | None") -> bool:
    """Whether a stored answer suffices: the run was complete, or it had at least the time that is allowed now."""
    return bool(stored.get("complete")) or budget is not None and (stored.get("budget") or 0) >= budget


def _search(original: nn.Module, traced: "_trace.Traced", folder: "_cache.Folder", device: torch.device, budget: "float | None",
            progress: "_run.Progress", again: bool, options: "list[str]") -> "dict[str, Any]":
    """Captures the module, runs `hone` on it and stores the result. Only one process at a time does this; the others find the answer
    afterwards."""
    def waiting() -> None:
        if progress is not False:
            print("hone: another process works on the same module; waiting for its answer", file=sys.stderr, flush=True)

    with folder.locked(waiting):
        stored = folder.read()
        if stored is not None and not again and _is_enough(stored, budget):
            return stored
        facts = None if again else _read_facts(folder)
        began = folder.last_run() if facts is not None else ""
        if began and (_run.read_result(began) or {}).get("status") == "done":
            began = ""  # the old run could not decide, so a new one is needed
        if facts is None:
            shutil.rmtree(folder.file("task"), ignore_errors=True)
            try:
                captured = _capture.capture(original, traced, folder.file("task"), _capture.safe_name(type(original).__name__))
            except _trace.Refused as refused:
                answer = {"status": "declined", "reason": str(refused), "complete": True}
                folder.write(answer)
                return answer
            facts = {"path": captured.path, "used_inputs": captured.used_inputs, "constants": bool(captured.constants), "random": captured.random, "prefix": captured.prefix}
            _write_facts(folder, facts)
        return _run_program(folder, facts, began, device, budget, progress, options)


def _write_facts(folder: "_cache.Folder", facts: "dict[str, Any]") -> None:
    with open(folder.file("task.json"), "w", encoding="utf-8") as file:
        json.dump(facts, file)


def _read_facts(folder: "_cache.Folder") -> "dict[str, Any] | None":
    """The facts that an earlier process captured. None if there are none, or their files are missing."""
    try:
        with open(folder.file("task.json"), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and os.path.exists(str(found.get("path"))) else None


def _environment(device: torch.device) -> "dict[str, str]":
    """Makes the judge use the module's own GPU, because it uses the first one that it sees."""
    environment = dict(os.environ)
    if device.type == "cuda":
        index = device.index if device.index is not None else torch.cuda.current_device()
        seen = [name for name in environment.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
        environment["CUDA_VISIBLE_DEVICES"] = seen[index] if index < len(seen) else str(index)
    return environment


def _run_program(folder: "_cache.Folder", facts: "dict[str, Any]", began: str, device: torch.device, budget: "float | None",
                 progress: "_run.Progress", options: "list[str]") -> "dict[str, Any]":
    limit = ["--max-minutes", "%.6g" % (budget / 60 if budget is not None else 0)]
    run = began or folder.next_run()
    words = ["resume", run, *limit] if began else ["optimize", facts["path"], "--out", run, "--python", sys.executable, *limit, *options]
    started = time.monotonic()
    try:
        ended = _run.run(words, progress, _environment(device))
        if began and (ended.code > 1 or _run.read_result(run) is None):  # the store or the folder has lost the run, or it cannot be resumed
            run = folder.next_run()
            ended = _run.run(["optimize", facts["path"], "--out", run, "--python", sys.executable, *limit, *options], progress, _environment(device))
    except KeyboardInterrupt:
        print("hone: stopped; call hone.optimize again with the same arguments, or run `hone resume %s`, to go on" % run, file=sys.stderr, flush=True)
        raise
    result = _run.read_result(run)
    if ended.code > 1 or result is None:
        reason = str((result or {}).get("outcome") or ended.said)
        raise HoneError("hone could not optimise the module: %s" % reason.replace("hone: ", "", 1))
    answer = _answer_of(result, run, budget, time.monotonic() - started)
    answer.update(used_inputs=facts["used_inputs"], constants=facts["constants"], random=facts["random"], prefix=facts["prefix"])
    if answer["status"] == "faster":
        # Written at once, because another process may read it now.
        copy = folder.file("best.py.%d" % os.getpid())
        shutil.copyfile(os.path.join(run, "best.py"), copy)
        os.replace(copy, folder.file("best.py"))
    folder.write(answer)
    return answer


def _answer_of(result: "dict[str, Any]", run: str, budget: "float | None", seconds: float) -> "dict[str, Any]":
    """The part of run.json that is stored."""
    candidates = [one for one in result.get("candidates") or [] if isinstance(one, dict)]
    best = next((one for one in candidates if one.get("key") == result.get("best")), None) if result.get("best") else None
    # If the machine was too busy, or a task could not be judged, the next run may end differently.
    open_ended = best is None and (result.get("result") not in _FINAL or any(one.get("verdict") == "inconclusive" for one in candidates))
    answer: "dict[str, Any]" = {
        "status": "faster" if best is not None else "kept", "reason": str(result.get("outcome") or ""), "run": str(result.get("run") or ""), "run_folder": run,
        "seconds": float(result.get("seconds") or seconds), "budget": budget, "complete": result.get("status") == "done" and not open_ended,
    }
    if best is not None:
        record = result.get("speedup") or {}
        answer.update(baseline=str(record.get("best_baseline") or ""), vs_best=float(record.get("vs_best") or best.get("vs_best") or 0), vs_eager=float(record.get("vs_eager") or best.get("vs_eager") or 0),
                      ci=best.get("ci95"), error=float(best.get("error") or 0), limit=float(best.get("limit") or 0), recipe=str(best.get("key") or ""))
    return answer


def _check(answer: "_fast.Answer", original: nn.Module, traced: "_trace.Traced", stored: "dict[str, Any]", report: Report) -> None:
    """Runs the answer once in this process and compares it with the module's own result. An answer that fails here is not used."""
    problem = ""
    try:
        answer.load(original)
        with _trace.inference(original):
            got = answer.run(_trace.copies_of(traced.leaves))
        for one, expected in zip(got, traced.outputs):
            exact = expected.dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128) or not expected.is_floating_point()
            allowed = max(1e-3 if exact else 3e-2, 10 * float(stored.get("limit") or 0))
            if not stored.get("random") and _capture.distance(one, expected) > allowed:
                problem = "its result differs from the module's own on the inputs given"
        if len(got) != len(traced.outputs):
            problem = "it returns %d tensors instead of %d" % (len(got), len(traced.outputs))
    except Exception as error:
        problem = "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:200])
    if problem:
        answer.why_not = problem
        report.status, report.reason = "kept", "the accepted candidate does not work in this process (%s)" % problem
