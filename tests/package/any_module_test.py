"""Tests any module: capture as a task, the module that hone.optimize returns, stored answers, and FILE.py:NAME on the command line.

Most cases need no judge: an answer is stored by hand (the captured Model itself, as ModelNew), and the wrapper around it is tested.
Three cases run the program: a search with a tiny budget, a recurrent module that Hone's recipes recognise, and `hone bench
FILE.py:NAME --check-only`.

Usage: any_module_test.py --hone BINARY
"""

import argparse
import collections
import copy
import dataclasses
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import torch
from torch import nn

import hone
from hone import _cache, _capture, _fast, _module_file, _natures, _optimize, _run, _trace, _trees

Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Result:
    y: torch.Tensor
    more: object = None


class Nested(nn.Module):
    """Keyword arguments, a dict, a dataclass, a named tuple, None, plain values, the input itself, a parameter and several dtypes."""

    def __init__(self):
        super().__init__()
        self.low = nn.Linear(8, 8).bfloat16()
        self.steps = nn.Parameter(torch.arange(8), requires_grad=False)
        self.scales = nn.ParameterList([nn.Parameter(torch.randn(8)), nn.Parameter(torch.randn(8))])
        self.register_buffer("table", torch.randn(40, 8), persistent=False)
        self.unused = nn.Linear(2, 2)

    def forward(self, x, *, parts, keep=None, flag=True):
        y = self.low(x) * self.steps + self.scales[1] + self.table[:4]
        if keep is not None:
            y = y * keep[:, None]
        return Result(y, Pair({"count": parts["n"][0] + 1, "none": None, "flag": flag}, [x, self.steps, 3, "text", y]))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 20)
        self.head.weight = self.table.weight

    def forward(self, ids):
        return self.head(self.table(ids))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Dropout(), nn.Flatten(), nn.Linear(64, 4))

    def forward(self, image):
        with torch.no_grad():
            image = image * 2
        return self.net(image).softmax(-1)


class Writes(nn.Module):
    def forward(self, x):
        x.add_(1)
        return x * 2


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return x + self.calls


class Branches(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x - 1


class Selects(nn.Module):
    def forward(self, x):
        return x[x > 0] * 2


class Opaque(nn.Module):
    def forward(self, x):
        return object()


def make(kind):
    torch.manual_seed(1)
    return kind().eval()


NESTED = (torch.ones(4, 8, dtype=torch.bfloat16) / 3,), {"parts": {"n": [torch.tensor(3)]}, "keep": torch.tensor([True, False, True, True])}


def tensors(value):
    leaves = []
    spec = _trees.flatten(value, leaves)
    return spec, leaves


class Case(unittest.TestCase):
    def same(self, got, expected):
        """Equal in structure, types, dtypes and values."""
        (spec, leaves), (wanted, values) = tensors(got), tensors(expected)
        self.assertEqual(spec, wanted)
        for one, other in zip(leaves, values):
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            self.assertLess(_capture.distance(one, other), 1e-6)

    def stored(self, model, args, kwargs=None, source=None, **changes):
        """Stores the captured Model as the answer for this call, as a run of `hone` would."""
        kwargs = kwargs or {}
        args, kwargs = _fast.canonical(model.forward, args, kwargs)
        traced = _trace.trace(model, args, kwargs)
        folder = _cache.Folder(_cache.key_of(traced.graph, torch.device("cpu"), ["cpu", "expert", []]))
        captured = _capture.capture(model, traced, folder.file("task"), "Captured")
        text = pathlib.Path(captured.path).read_text()
        pathlib.Path(folder.file("best.py")).write_text(text + (source or COUNTING))
        folder.write({"status": "faster", "complete": True, "vs_best": 2.0, "vs_eager": 3.0, "ci": [1.9, 2.1], "error": 1e-7, "limit": 2e-7, "recipe": "test.same",
                      "run": "R1", "run_folder": "", "seconds": 1.0, "used_inputs": captured.used_inputs, "constants": bool(captured.constants),
                      "random": captured.random, "prefix": captured.prefix, **changes})
        return folder

    def calls(self, fast):
        answer = fast._hone["answers"][-1]
        return sys.modules[type(answer.model).__module__].CALLS


COUNTING = """

CALLS = []


class ModelNew(Model):
    def forward(self, *inputs):
        CALLS.append(1)
        return super().forward(*inputs)
"""


class Capture(Case):
    def test_the_task_file_gives_the_modules_own_answers_and_names(self):
        cases = [(make(Nested), *NESTED), (make(Tied), (torch.randint(0, 20, (2, 5)),), {}), (make(Net), (torch.rand(2, 3, 4, 4),), {}),
                 (nn.LSTM(4, 6, bidirectional=True).eval(), (torch.randn(5, 2, 4),), {}), (nn.GRU(4, 6).eval(), (torch.randn(5, 2, 4), torch.randn(1, 2, 6)), {})]
        for model, args, kwargs in cases:
            with self.subTest(type(model).__name__), tempfile.TemporaryDirectory() as folder:
                args, kwargs = _fast.canonical(model.forward, args, kwargs)
                traced = _trace.trace(model, args, kwargs)
                captured = _capture.capture(model, traced, folder, "task")  # compares the file's answers with the module's
                built = _capture.load_file(captured.path, "captured_%d" % id(model))
                state = built.Model(*built.get_init_inputs()).state_dict()
                for name, value in state.items():
                    self.assertTrue(torch.equal(value, model.state_dict()[name[len(captured.prefix):]]), name)
                drawn = built.get_inputs()
                self.assertEqual([(one.shape, one.dtype) for one in drawn], [(traced.leaves[i].shape, traced.leaves[i].dtype) for i in captured.used_inputs])
                text = pathlib.Path(captured.path).read_text()
                if isinstance(model, nn.LSTM):
                    self.assertIn("self.module = nn.LSTM(4, 6", text)
                if isinstance(model, Net):
                    self.assertIn('self.net["1"] = nn.BatchNorm2d', text)
                    self.assertNotIn("dropout", text.lower())
                if isinstance(model, Nested):
                    self.assertNotIn("unused", text)

    def test_what_cannot_be_taken_is_refused_in_one_sentence_and_left_as_it_was(self):
        x = torch.randn(6)
        hooked = make(Net)
        hooked.net.register_forward_hook(lambda *_: None)
        image = torch.rand(2, 3, 4, 4)
        cases = [(Writes(), (x,), "changes its input 0 in place"), (Counts(), (x,), "the parameter or buffer calls in place"), (Branches(), (x,), "reads values of a tensor on the host"),
                 (Selects(), (x,), "depends on values"), (Opaque(), (x,), "returns a object"), (nn.Identity(), (x,), "returns no tensor that it computes"),
                 (nn.Linear(3, 3), (torch.randn(2, 4),), "fails on these inputs"), (hooked, (image,), "forward hooks"), (nn.Linear(6, 6), (), "fails on these inputs"),
                 (nn.LazyLinear(3), (x,), "not initialised"), (nn.Linear(4, 4), (torch.eye(4).to_sparse(),), "dense tensors")]
        for model, args, words in cases:
            with self.subTest(words):
                before = x.clone()
                with self.assertRaises(hone.HoneError) as caught:
                    hone.optimize(model, args, progress=False)
                self.assertIn(words, str(caught.exception))
                self.assertNotIn("\n", str(caught.exception))
                self.assertTrue(torch.equal(x, before))
                kept = hone.optimize(model, args, progress=False, fallback=True)
                self.assertEqual(kept.hone.status, "declined")
                self.assertIn(words, repr(kept.hone))
                if isinstance(model, Counts):
                    self.assertEqual(float(model.calls), 0)
                if isinstance(model, (Branches, Selects)):
                    self.same(kept(x), model(x))

    def test_inputs_are_drawn_like_the_ones_given(self):
        torch.manual_seed(0)
        causal = torch.ones(6, 6, dtype=torch.bool).tril()
        padded = torch.arange(8)[None] < torch.tensor([[3], [8], [5]])
        root = torch.randn(5, 5)
        cases = [
            (torch.randint(3, 900, (4, 50)), lambda t: 3 <= int(t.min()) and int(t.max()) < 900 and t.unique().numel() > 20),
            (torch.arange(12).expand(3, 12), lambda t: torch.equal(t, torch.arange(12).expand(3, 12))),
            (causal, lambda t: torch.equal(t, causal)),
            (padded, lambda t: bool((t[:, 1:] <= t[:, :-1]).all()) and bool(t[:, :3].all()) and bool(t[0].all())),
            (torch.rand(40) < 0.3, lambda t: t.dtype == torch.bool and 0 < int(t.sum()) < 40),
            (torch.zeros(2, 3), lambda t: not t.any()),
            (torch.full((3,), True), lambda t: bool(t.all())),
            (torch.randn(1000) * 5 + 100, lambda t: abs(float(t.mean()) - 100) < 2 and 4 < float(t.std()) < 6),
            (torch.rand(1000), lambda t: float(t.min()) >= 0 and float(t.max()) <= 1),
            (torch.randn(9, 7).softmax(-1), lambda t: torch.allclose(t.sum(-1), torch.ones(9))),
            (torch.randn(6, 6).tril(), lambda t: torch.equal(t, t.tril()) and not torch.equal(t, t.triu())),
            (root @ root.T + torch.eye(5), lambda t: int(torch.linalg.cholesky_ex(t)[1]) == 0),
            (torch.randn(8, dtype=torch.complex64), lambda t: t.dtype == torch.complex64),
            (torch.randn(64).half(), lambda t: t.dtype == torch.float16),
            (torch.zeros(0, 3), lambda t: t.shape == (0, 3)),
        ]
        for number, (example, holds) in enumerate(cases):
            with self.subTest(number):
                text, helper = _natures.expression(example)
                names = {"torch": torch}
                exec(_natures.HELPERS.get(helper, ""), names)
                drawn = [eval(text, names) for _ in range(2)]
                for one in drawn:
                    self.assertEqual((one.shape, one.dtype), (example.shape, example.dtype))
                    self.assertTrue(holds(one), text)
        self.assertIsNone(_natures.expression(torch.tensor([0.0, float("-inf"), 0.0])))


class Fast(Case):
    def test_calls_of_every_form_get_the_answer_in_the_modules_own_form(self):
        model = make(Nested)
        self.stored(model, *NESTED)
        fast = hone.optimize(model, *NESTED, progress=False)
        self.assertEqual((fast.hone.status, fast.hone.vs_best, fast.hone.ci, fast.hone.recipe, fast.hone.cached), ("faster", 2.0, (1.9, 2.1), "test.same", True))
        args, kwargs = NESTED
        ran = self.calls(fast)
        del ran[:]
        with torch.no_grad():
            for given in (kwargs, {**kwargs, "flag": True}, dict(reversed(list(kwargs.items())))):
                got = fast(*args, **given)
                self.same(got, model(*args, **given))
                self.assertIs(got.more.second[0], args[0])
                self.assertIs(got.more.second[1], model.steps)
                self.assertIs(got.y, got.more.second[4])
            self.same(fast(x=args[0], **kwargs), model(*args, **kwargs))
            self.assertEqual(len(ran), 4)
            # Other values, other shapes, another dtype or a missing argument run the original.
            self.same(fast(*args, **{**kwargs, "flag": False}), model(*args, **{**kwargs, "flag": False}))
            self.same(fast(*args, parts=kwargs["parts"]), model(*args, parts=kwargs["parts"]))
            self.same(fast(args[0][:, :8].clone(), parts={"n": [torch.tensor([3, 4])]}), model(args[0], parts={"n": [torch.tensor([3, 4])]}))
            for wrong in ((args[0].float(),), (args[0], args[0]), ()):
                with self.assertRaises(Exception) as expected:
                    model(*wrong, **kwargs)
                with self.assertRaises(type(expected.exception)):
                    fast(*wrong, **kwargs)
        self.assertEqual(len(ran), 4)

    def test_training_gradients_hooks_and_autocast_run_the_original(self):
        model, x = make(Net), torch.rand(2, 3, 4, 4)
        self.stored(model, (x,))
        fast = hone.optimize(model, x, progress=False)
        ran = self.calls(fast)
        del ran[:]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fast(x).sum().backward()
            fast(x)
            self.assertIsNotNone(model.net[0].weight.grad)
            fast.train()
            self.assertTrue(model.net[1].training)
            with torch.no_grad():
                fast(x)
            fast.eval()
        self.assertEqual(sum("torch.no_grad()" in str(one.message) for one in said), 1)
        self.assertEqual(sum("call .eval()" in str(one.message) for one in said), 1)
        with torch.no_grad():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                fast(x)
            hook = model.net.register_forward_hook(lambda *_: None)
            fast(x)
            hook.remove()
            self.assertEqual(len(ran), 0)
            self.same(fast(x), model(x))
            self.same(fast(x.clone().requires_grad_()), model(x))
        with torch.inference_mode():
            self.same(fast(x), model(x))
        self.assertEqual(len(ran), 3)

    def test_state_is_shared_and_changes_are_seen(self):
        model, x = make(Net), torch.rand(2, 3, 4, 4)
        self.stored(model, (x,))
        fast = hone.optimize(model, (x,), progress=False)
        self.assertEqual(list(fast.state_dict()), list(model.state_dict()))
        self.assertIs(fast.net[0].weight, model.net[0].weight)
        ran = self.calls(fast)
        del ran[:]
        torch.manual_seed(5)
        other = Net().eval()
        with torch.no_grad():
            fast.load_state_dict(other.state_dict())
            self.same(fast(x), other(x))
            model.net[5].weight.mul_(3)
            other.net[5].weight.mul_(3)
            self.same(fast(x), other(x))
            model.net[5].weight = nn.Parameter(torch.ones(4, 64))
            other.net[5].weight = nn.Parameter(torch.ones(4, 64))
            self.same(fast(x), other(x))
            self.assertEqual(len(ran), 3)
            model.net[5], kept = nn.Linear(64, 4, bias=False), model.net[5]
            self.same(fast(x), model(x))
            self.assertEqual(len(ran), 3)
            model.net[5] = kept
            parent = nn.Sequential(fast)
            parent.load_state_dict({"0." + name: value * 0 for name, value in model.state_dict().items()})
            self.assertEqual(float(model.net[5].weight.abs().sum()), 0)
            fast.double()
            self.assertEqual(fast(x.double()).dtype, torch.float64)
            self.assertEqual(len(ran), 3)

    def test_copies_and_pickles_stand_on_their_own(self):
        model, x = make(Net), torch.rand(2, 3, 4, 4)
        self.stored(model, (x,))
        fast = hone.optimize(model, (x,), progress=False)
        with torch.no_grad():
            expected = model(x)
            for twin in (copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))):
                self.same(twin(x), expected)
                self.assertIsNotNone(twin._hone["answers"][0].model)
                self.assertIs(twin.original.net[0].weight, twin.net[0].weight)
                twin.net[5].weight.zero_()
                twin.net[5].bias.zero_()
                self.assertLess(float((twin(x) - 0.25).abs().max()), 1e-6)
            self.same(fast(x), expected)

    def test_a_closure_is_optimised_copied_and_refused_by_pickle_in_one_sentence(self):
        class Local(nn.Module):
            def forward(self, y):
                return y * 2

        def holder():
            factor = torch.tensor([1.0, 2.0, 3.0])
            model = nn.Sequential(nn.Linear(3, 3)).eval()
            model[0].act = lambda y: y * factor
            model[0].register_module("inner", None)
            return model

        x = torch.randn(2, 3)
        for model, words in ((holder(), "0.act (Flow.test_a_closure"), (Local().eval(), "the class Flow.test_a_closure")):
            words = words.replace("Flow", type(self).__name__)
            self.stored(model, (x,))
            fast = hone.optimize(model, (x,), progress=False)
            with torch.no_grad():
                self.same(copy.deepcopy(fast)(x), model(x))
                self.same(fast(x), model(x))
            with self.assertRaises(hone.HoneError) as caught:
                pickle.dumps(fast)
            self.assertIn(words, str(caught.exception))
            self.assertIn("save fast.state_dict() instead", str(caught.exception))
            try:
                import ray
            except ImportError:
                continue
            with torch.no_grad():  # a pickler that stores functions by value
                self.same(pickle.loads(ray.cloudpickle.dumps(fast))(x), model(x))

    def test_several_shapes_have_one_answer_each(self):
        model, x = make(Net), torch.rand(2, 3, 4, 4)
        wide = torch.rand(5, 3, 4, 4)
        self.stored(model, (x,))
        self.stored(model, (wide,))
        fast = hone.optimize(model, (x,), progress=False)
        self.assertIs(hone.optimize(model, (wide,), progress=False), fast)
        self.assertIs(hone.optimize(fast, (wide,), progress=False), fast)
        self.assertEqual(len(fast.hone), 2)
        self.assertIn("float32[5, 3, 4, 4]", repr(fast.hone))
        with torch.no_grad():
            for one in (x, wide, wide[:3]):
                self.same(fast(one), model(one))

    def test_an_answer_that_fails_or_is_wrong_is_not_used(self):
        x = torch.rand(2, 3, 4, 4)
        wrong = "\n\nclass ModelNew(Model):\n    def forward(self, *inputs):\n        return super().forward(*inputs) * 1.5\n"
        late = "\n\nclass ModelNew(Model):\n    calls = 0\n    def forward(self, *inputs):\n        self.calls += 1\n        if self.calls > 1:\n            raise ValueError('late')\n        return super().forward(*inputs)\n"
        for number, (source, words) in enumerate([(wrong, "differs from the module's own"), ("\n\nraise ImportError('no kernel')\n", "no kernel")]):
            model = make(Net)
            model.net[3].p = 0.1 * number
            self.stored(model, (x,), source=source)
            fast = hone.optimize(model, (x,), progress=False)
            self.assertEqual(fast.hone.status, "kept")
            self.assertIn(words, fast.hone.reason)
            with torch.no_grad():
                self.same(fast(x), model(x))
        model = make(Net)
        self.stored(model, (x,), source=late)
        fast = hone.optimize(model, (x,), progress=False)
        with torch.no_grad(), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(3):
                self.same(fast(x), model(x))
        self.assertEqual(sum("late" in str(one.message) for one in said), 1)

    def test_a_better_answer_replaces_the_stored_one_at_once(self):
        """A reader of the folder finds the old file or the new one, never a part, while it is written."""
        model, x = make(Net), torch.rand(2, 3, 4, 4)
        folder = self.stored(model, (x,))
        best, old, seen = pathlib.Path(folder.file("best.py")), pathlib.Path(folder.file("best.py")).read_text(), []

        def run(words, progress, environment):
            made = pathlib.Path(words[words.index("--out") + 1])
            made.mkdir()
            (made / "best.py").write_text("the new one\n" * 1000)
            (made / "run.json").write_text(json.dumps({"status": "done", "result": "accepted", "best": "a", "candidates": [{"key": "a"}], "speedup": {"vs_best": 2, "best_baseline": "tf32"}}))
            return _run.Ended(0, "")

        def copy_slowly(source, target):
            text = pathlib.Path(source).read_text()
            for part in (text[:100], text):
                pathlib.Path(target).write_text(part)
                seen.append(best.read_text())

        facts = {"path": "task.py", "used_inputs": [0], "constants": False, "random": False, "prefix": ""}
        with mock.patch.object(_run, "run", run), mock.patch.object(shutil, "copyfile", copy_slowly):
            answer = _optimize._run_program(folder, facts, "", torch.device("cpu"), None, False, [])
        self.assertEqual(seen, [old, old])
        self.assertEqual(best.read_text(), "the new one\n" * 1000)
        self.assertEqual((answer["baseline"], answer["vs_best"]), ("tf32", 2.0))

    def test_the_report_prints_and_draws_itself(self):
        model, x = nn.Linear(3, 3).eval(), torch.randn(2, 3)
        self.stored(model, (x,), recipe="<b>odd</b>")
        report = hone.optimize(model, x, progress=False).hone
        self.assertIn("2.00x", repr(report))
        self.assertIn("1.00e-07 where 2.00e-07 is allowed", repr(report))
        self.assertIn("&lt;b&gt;odd", report._repr_html_())
        self.assertEqual(json.loads(json.dumps(report.to_dict()))["vs_best"], 2.0)

    def test_ipython_shows_the_report_as_a_table(self):
        try:
            from IPython.core.formatters import DisplayFormatter
        except ImportError:
            self.skipTest("this Python has no IPython")
        model, x, wide = nn.Linear(3, 4).eval(), torch.randn(2, 3), torch.randn(5, 3)
        self.stored(model, (x,), recipe="<b>odd</b>", baseline="tf32")
        fast = hone.optimize(model, x, progress=False)
        shown, _ = DisplayFormatter().format(fast.hone)
        self.assertIn("<table>", shown["text/html"])
        self.assertIn("&lt;b&gt;odd", shown["text/html"])
        self.assertIn("2.00x vs tf32", shown["text/plain"])
        self.stored(model, (wide,))
        hone.optimize(model, wide, progress=False)
        both, _ = DisplayFormatter().format(fast.hone)
        self.assertEqual(both["text/html"].count("<table>"), 2)


class Bad(Case):
    def test_bad_arguments_get_one_sentence(self):
        x, model = torch.randn(2, 3), nn.Linear(3, 3)
        cases = [(lambda: hone.optimize(lambda y: y, (x,)), "takes a torch.nn.Module"), (lambda: hone.optimize(model, (x,), budget="soon"), "no length of time"),
                 (lambda: hone.optimize(model, (x,), budget=0), "no length of time"), (lambda: hone.optimize(model, (x,), target="tpu"), "is not"),
                 (lambda: hone.optimize(model, (x,), target="cuda"), "does not fit a module on cpu"),
                 (lambda: hone.optimize(model, (x,), proposer="replay:/nowhere", progress=False), "nowhere")]
        for act, words in cases:
            with self.subTest(words), self.assertRaises(hone.HoneError) as caught:
                act()
            self.assertIn(words, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))
        saved = os.environ["HONE_BINARY"]
        try:
            os.environ["HONE_BINARY"] = "/nowhere/hone"
            with self.assertRaises(hone.HoneError) as caught:
                hone.optimize(nn.Linear(3, 5), (x,))
        finally:
            os.environ["HONE_BINARY"] = saved
        self.assertIn("HONE_BINARY", str(caught.exception))

    def test_a_lack_of_memory_is_no_answer(self):
        """It is reported in one sentence and not stored: the next call tries again."""
        x = torch.randn(2, 3)

        def fails(error):
            def instead(*args, **kwargs):
                try:
                    raise error
                except type(error) as cause:  # as export wraps exceptions
                    raise RuntimeError("while exporting") from cause
            return instead

        for number, error in enumerate([torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), MemoryError(),
                                        RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory")]):
            model = nn.Linear(3, 5 + number).eval()
            for owner, name, words in ((torch.export, "export", "export the module"), (model, "forward", "call the module once more")):
                saved = getattr(owner, name)
                setattr(owner, name, fails(error))
                try:
                    with self.assertRaises(hone.HoneError) as caught:
                        hone.optimize(model, (x,), progress=False)
                finally:
                    setattr(owner, name, saved)
                self.assertIn("not enough memory to %s; free some" % words, str(caught.exception))
            traced = _trace.trace(model, (), {"input": x})
            self.assertIsNone(_cache.Folder(_cache.key_of(traced.graph, torch.device("cpu"), ["cpu", "expert", []])).read())

    def test_a_file_that_does_not_fit_gets_one_sentence(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "helper_of_mine.py").write_text("FACTOR = 2\n")
            path = folder / "my_code.py"
            path.write_text(MY_CODE)
            (folder / "broken_code.py").write_text("def f(:\n")
            cases = [
                (("gone.py", "Small", "make", ""), "There is no file"), (("broken_code.py", "Small", "make", ""), "does not parse"),
                (("my_code.py", "Smal", "make", ""), "its modules are Small"), (("my_code.py", "Small", "maker", ""), "its functions are build, sizes, make"),
                (("my_code.py", "Small", "", ""), "--inputs make_inputs"), (("my_code.py", "Small", "make", "(1, 2, 3)"), "--init"),
                (("my_code.py", "Small", "make", "not python"), "neither a function"), (("my_code.py", "Small", "fails", ""), "my_code.py:27: ValueError in fails: on purpose"),
                (("my_code.py", "ready", "make", "(3,)"), "leave --init out"), (("my_code.py", "WIDTH", "make", ""), "name a module"),
                (("my_code.py", "Small", "narrow", ""), "fails on these inputs"), (("my_code.py", "make", "make", ""), "not a torch.nn.Module"),
            ]
            for (file, *words), expected in cases:
                with self.subTest(expected), self.assertRaises(hone.HoneError) as caught:
                    _module_file.write_task(str(folder / file), *words, str(folder / "tasks"))
                self.assertIn(expected, str(caught.exception))
                self.assertNotIn("\n", str(caught.exception))
            for words in (("Small", "make", ""), ("Small", "named", "{'width': 6}"), ("Small", "both", "sizes"), ("ready", "make", ""), ("build", "one", "6")):
                with self.subTest(words):
                    task = _module_file.write_task(str(path), *words, str(folder / "tasks"))
                    self.assertNotIn("helper_of_mine", pathlib.Path(task).read_text())


MY_CODE = """import torch
from helper_of_mine import FACTOR
WIDTH = 6
class Small(torch.nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.layer = torch.nn.Linear(width, 4)
    def forward(self, x, scale=None):
        y = self.layer(x * FACTOR)
        return y if scale is None else y * scale
ready = Small()
def build(width):
    return Small(width)
def sizes():
    return (6,)
def make():
    return (torch.randn(3, 6),)
def one():
    return torch.randn(3, 6)
def named():
    return {"x": torch.randn(3, 6)}
def both():
    return [torch.randn(3, 6)], {"scale": torch.ones(3, 1)}
def narrow():
    return (torch.randn(3, 5),)
def fails():
    raise ValueError("on purpose")
"""


class Program(Case):
    def test_a_search_is_made_once_and_its_answer_is_found_by_the_next_process(self):
        torch.manual_seed(2)
        model, x = nn.GRU(16, 16).eval(), torch.randn(96, 1, 16)
        lines = []
        fast = hone.optimize(model, x, progress=lines.append, options=QUICK)
        report = fast.hone
        self.assertTrue(any("hone: " in line for line in lines), lines)
        run = _run.read_result(report.run_folder)
        found = {one["key"]: one for one in run["candidates"]}
        self.assertIn("cpu.persistent", found)
        # The judge decides whether it is faster, and a busy machine may prevent that. It must be right.
        self.assertIn(found["cpu.persistent"]["verdict"], ("accepted", "no_difference", "inconclusive"), found["cpu.persistent"])
        with torch.no_grad():
            self.same(fast(x), model(x))
        if report.status == "faster":
            self.assertGreater(report.vs_best, 1)
            self.assertGreater(report.limit, report.error)
        else:
            self.assertTrue(report.reason)
        if not report.complete:
            return  # inconclusive: the next call searches again
        code = ("import time, torch, hone; torch.manual_seed(3); model = torch.nn.GRU(16, 16).eval(); x = torch.randn(96, 1, 16)\n"
                "began = time.process_time(); fast = hone.optimize(model, x, options=%r); spent = time.process_time() - began\n"
                "print(fast.hone.cached, fast.hone.run, spent)" % (QUICK,))
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        cached, number, spent = said.stdout.split()
        self.assertEqual((cached, number), ("True", report.run), said.stderr)
        self.assertLess(float(spent), 1.0)  # processor time; 0.04 s on a quiet machine
        self.assertEqual(bool(report.baseline), report.status == "faster", repr(report))

    def test_an_interrupted_run_is_resumed_by_the_next_call(self):
        model, x = nn.Sequential(nn.Linear(6, 6), nn.Tanh()).eval(), torch.randn(2, 6)

        def interrupt_once(line):
            if not sent:
                sent.append(1)
                os.kill(os.getpid(), signal.SIGINT)

        sent = []
        with self.assertRaises(KeyboardInterrupt):
            hone.optimize(model, (x,), progress=interrupt_once, options=QUICK)
        runs = list(pathlib.Path(_cache.root()).glob("*/run1"))
        fast = hone.optimize(model, (x,), progress=False, options=QUICK, budget="1s")
        self.assertEqual(len(list(pathlib.Path(_cache.root()).glob("*/run2"))), 0)
        self.assertIn(fast.hone.status, ("kept", "faster"))
        self.assertIn(pathlib.Path(fast.hone.run_folder), [*runs, *pathlib.Path(_cache.root()).glob("*/run1")])
        again = hone.optimize(model, (x,), progress=False, options=QUICK, budget="1s")
        self.assertTrue(again.hone.cached)
        with torch.no_grad():
            self.same(fast(x), model(x))

    def test_the_command_line_takes_a_module_with_neighbours(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "helper_of_mine.py").write_text("FACTOR = 2\n")
            (folder / "my_code.py").write_text(MY_CODE)
            task = _module_file.write_task(str(folder / "my_code.py"), "Small", "both", "", str(folder / "tasks"))
            (folder / "same.py").write_text(pathlib.Path(task).read_text() + "\n\nclass ModelNew(Model):\n    pass\n")
            (folder / "wrong.py").write_text(pathlib.Path(task).read_text() + "\n\nclass ModelNew(Model):\n    def forward(self, *given):\n        return super().forward(*given) * 1.01\n")
            words = [os.environ["HONE_BINARY"], "bench", "my_code.py:Small", "--inputs", "both", "--target", "cpu", "--python", sys.executable, "--json", "--no-save", "--check-only"]
            said = subprocess.run([*words, "same.py", "wrong.py"], capture_output=True, text=True, cwd=folder)
            verdicts = [json.loads(line) for line in said.stdout.splitlines()]
            self.assertEqual([one["reason"] for one in verdicts], ["speed-not-judged", "wrong-output"], said.stderr)
            missing = subprocess.run([os.environ["HONE_BINARY"], "show", "my_code.py:Gone", "--inputs", "both", "--python", sys.executable, "--json"], capture_output=True, text=True, cwd=folder)
            self.assertEqual(missing.returncode, 2, missing.stderr)
            self.assertIn("defines no Gone; its modules are Small", missing.stderr)


QUICK = ["--compile", "never", "--judge-at-most", "1"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    known, rest = parser.parse_known_args()
    os.environ["HONE_BINARY"] = os.path.abspath(known.hone)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background ignores it
    with tempfile.TemporaryDirectory() as data:
        os.environ["HONE_DATA"] = data
        unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
