"""`torch.compile(model, backend="hone")`: each graph that Dynamo finds is optimised by itself.

A graph that Hone cannot speed up runs as it was: in eager mode, or compiled by inductor with `options={"fallback": "inductor"}`. So does every graph
that is trained, that has dynamic shapes without a stored answer, or that a replacement could not stand in for (_subgraph.py). An exception inside
Hone never reaches the program: the original graph runs, with one warning. Nothing about speed or correctness is decided here; `hone.optimize` asks
the program.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import torch
from torch import fx

from . import _subgraph
from ._binary import HoneError

__all__ = ["Subgraph", "backend", "subgraphs"]

Compiled = Callable[..., Any]

_FALLBACKS = ("eager", "inductor")
# One graph serves several instances of a class and, with dynamic shapes, several sizes. This many are looked up; others run the original.
_MOST_ANSWERS = 64


@dataclasses.dataclass
class Subgraph:
    """What became of one graph that torch.compile handed over.

    `outcome` is `optimised`, or the way in which the original runs: `eager` or `inductor`. `why` says why in one sentence.

    >>> Subgraph(1, 12, "eager", "It is trained.")
    <Subgraph 1: 12 operators, eager: It is trained.>
    """

    number: int
    operators: int
    outcome: str
    why: str
    answer: Any = None  # result of `hone.optimize` (`fast.hone`), if it was called
    calls: int = 0  # number of calls of the optimised graph

    def __repr__(self) -> str:
        return "<Subgraph %d: %d operators, %s: %s>" % (self.number, self.operators, self.outcome, self.why)


_seen: List[Subgraph] = []
_seen_lock = threading.Lock()
_warned: "set[str]" = set()


def subgraphs() -> List[Subgraph]:
    """What became of every graph that `torch.compile(..., backend="hone")` handed over in this process, in order.

    >>> import torch, hone
    >>> model = torch.compile(torch.nn.Linear(3, 2), backend="hone")
    >>> model(torch.ones(1, 3)).sum().backward()                      # gradients: the original runs
    >>> hone.subgraphs()[-1]
    <Subgraph 1: 1 operators, eager: Its inputs or parameters require gradients; Hone optimises inference, under torch.no_grad().>
    """
    with _seen_lock:
        return list(_seen)


@dataclasses.dataclass(frozen=True)
class _Options:
    fallback: str = "eager"
    budget: Any = "60s"
    target: Optional[str] = None
    progress: Any = None

    @classmethod
    def of(cls, options: Optional[Mapping[str, Any]]) -> _Options:
        given = dict(options or {})
        fallback = given.get("fallback", cls.fallback)
        if fallback not in _FALLBACKS:
            raise HoneError("The option fallback=%r of the backend hone is not known; take %s." % (fallback, " or ".join(_FALLBACKS)))
        known = [field.name for field in dataclasses.fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise HoneError("The option %r of the backend hone is not known; take %s." % (unknown[0], ", ".join(known)))
        return cls(**given)


def backend(graph: fx.GraphModule, example_inputs: Sequence[Any], *, options: Optional[Mapping[str, Any]] = None, mode: Optional[str] = None) -> Compiled:
    """The backend `hone` of torch.compile. Users name it; Dynamo calls it.

    >>> import torch
    >>> model = torch.compile(torch.nn.Linear(3, 2), backend="hone", options={"fallback": "inductor", "budget": "30s"})
    """
    chosen = _Options.of(options)
    record = Subgraph(0, sum(node.op.startswith("call_") for node in graph.graph.nodes), chosen.fallback, "")
    with _seen_lock:
        record.number = len(_seen) + 1
        _seen.append(record)
    needs_gradients = torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in (*example_inputs, *graph.parameters())
    )
    runner: Optional[_Runner] = None
    try:
        with _outside_of_dynamo():
            if needs_gradients:
                record.why = "Its inputs or parameters require gradients; Hone optimises inference, under torch.no_grad()."
            elif all(isinstance(value, torch.Tensor) for value in example_inputs):
                runner = _Runner(graph, example_inputs, chosen, record, search=True)
                if runner.find(example_inputs) is not None:
                    record.outcome = "optimised"
                    return runner
                runner = None
            elif all(isinstance(value, (torch.Tensor, int, torch.SymInt)) for value in example_inputs):
                record.why = "Its shapes are dynamic; only those with a stored answer use it."
                runner = _Runner(graph, example_inputs, chosen, record, search=False)
            else:
                record.why = "It has inputs that are neither tensors nor sizes."
    except Exception as error:  # the user's program must continue
        runner = None
        record.why = "Hone failed on it: %s" % _sentence(error)
        _warn_once(record.why, "torch.compile(backend='hone'): a graph of %d operators runs as it was. %s" % (record.operators, record.why))
    original = _original(graph, example_inputs, chosen.fallback, mode)
    if runner is None:
        return original
    runner.original = original
    return runner


class _Runner:
    """A graph at run time: selects the answer for the weights and sizes of a call, or runs the original."""

    def __init__(self, graph: fx.GraphModule, inputs: Sequence[Any], options: _Options, record: Subgraph, search: bool) -> None:
        self.original: Compiled = graph.forward
        self._graph, self._options, self._record, self._search = graph, options, record, search
        self._layout = _subgraph.Layout.of(graph, inputs)
        self._lock = threading.Lock()
        # Modules hold their weights, so that no other tensor gets the same address. None: the original runs.
        self._answers: Dict[Any, Tuple[_subgraph.Lifted, Optional[Compiled]]] = {}

    def __call__(self, *inputs: Any) -> Any:
        if torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in inputs):
            return self.original(*inputs)
        key = self._key(inputs)
        found = self._answers.get(key)
        fast = found[1] if found is not None else self._for_call(key, inputs)
        if fast is None:
            return self.original(*inputs)
        try:
            result = fast(*self._tensors(inputs))
        except Exception as error:
            self._answers[key] = (self._answers[key][0], None)
            why = "The optimised graph failed: %s" % _sentence(error)
            _warn_once(why, "torch.compile(backend='hone'): the original graph runs from now on. %s" % why)
            return self.original(*inputs)
        self._record.calls += 1
        return result

    def find(self, inputs: Sequence[Any]) -> Optional[Compiled]:
        """Finds the answer for this call and stores it. The caller handles exceptions."""
        reason = _subgraph.why_not(self._graph, inputs)
        if reason:
            self._record.why = "A replacement could behave differently: %s." % reason
            return None
        module = _subgraph.Lifted(self._graph, self._layout, inputs)
        fast, answer, why = _answer(module, self._tensors(inputs), self._options, self._search)
        if self._record.answer is None or fast is not None:
            self._record.answer = answer
        if self._search:
            self._record.why = why
        self._answers[self._key(inputs)] = (module, fast)
        return fast

    def _for_call(self, key: Any, inputs: Sequence[Any]) -> Optional[Compiled]:
        """Handles another instance of the class with other weights, or other sizes. The answer for a known graph is in the cache."""
        with self._lock:
            if key in self._answers:
                return self._answers[key][1]
            if len(self._answers) >= _MOST_ANSWERS:
                return None
            try:
                with _outside_of_dynamo():
                    fast = self.find(inputs)
            except Exception as error:
                fast = None
                why = "Hone failed on it: %s" % _sentence(error)
                _warn_once(why, "torch.compile(backend='hone'): a call runs as it was. %s" % why)
            if key not in self._answers:
                self._answers[key] = (_subgraph.Lifted(self._graph, self._layout, inputs), None)
            return fast

    def _key(self, inputs: Sequence[Any]) -> Any:
        state = tuple([id(inputs[place]) for place in self._layout.state])
        if self._search:
            return state
        sizes = tuple([tuple(value.shape) if isinstance(value, torch.Tensor) else value for value in [inputs[place] for place in self._layout.rest]])
        return state, sizes

    def _tensors(self, inputs: Sequence[Any]) -> List[Any]:
        return [inputs[place] for place in self._layout.rest if isinstance(inputs[place], torch.Tensor)]


def _answer(module: _subgraph.Lifted, inputs: Sequence[Any], options: _Options, search: bool) -> Tuple[Optional[Compiled], Any, str]:
    """The optimised module, what is known about it, and one sentence. No module if PyTorch is kept."""
    from ._optimize import optimize
    from ._trace import Refused

    try:
        fast = optimize(module, tuple(inputs), budget=options.budget, target=options.target, progress=options.progress, search=search)
    except Refused as refused:  # not worth a warning, unlike other errors
        return None, None, str(refused)
    report = fast.hone  # type: ignore[union-attr]
    if report.status == "faster":
        return fast, report, "%.2fx as fast as the best PyTorch baseline, with %s." % (report.vs_best, report.recipe)
    return None, report, str(report.reason)


def _original(graph: fx.GraphModule, inputs: Sequence[Any], fallback: str, mode: Optional[str]) -> Compiled:
    if fallback == "inductor":
        try:
            from torch._inductor.compile_fx import compile_fx

            patches = torch._inductor.list_mode_options(mode) if mode and mode != "default" else None
            return compile_fx(graph, inputs, config_patches=patches)  # type: ignore[no-any-return,arg-type]
        except Exception as error:
            _warn_once("inductor", "torch.compile(backend='hone'): inductor failed on a graph, which runs in eager mode. %s" % _sentence(error))
    return graph.forward


@contextlib.contextmanager
def _outside_of_dynamo() -> Iterator[None]:
    """Isolates Hone's exports and runs from the trace that Dynamo is making and from the program's random numbers."""
    from torch._guards import tracing

    with tracing(None), torch.inference_mode(False), torch.no_grad(), torch.random.fork_rng(devices=_devices()):
        yield


def _devices() -> List[int]:
    return list(range(torch.cuda.device_count())) if torch.cuda.is_available() and torch.cuda.is_initialized() else []


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text[:300] if isinstance(error, HoneError) else ("%s: %s" % (type(error).__name__, text[:300]))


def _warn_once(key: str, message: str) -> None:
    with _seen_lock:
        if key in _warned:
            return
        _warned.add(key)
    warnings.warn(message, RuntimeWarning, stacklevel=2)
