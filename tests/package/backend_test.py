"""torch.compile(model, backend="hone"): what the graphs get, and that a working program continues whatever happens inside Hone.

Most cases replace the search by a fake that returns the given module, so that they claim nothing about speed. `Answers` replaces only
the program: capture, cache and the called module are real.
"""

from __future__ import annotations

import argparse
import copy
import os
import pathlib
import sys
import tempfile
import unittest
import warnings
from typing import Any, Callable, List, Optional
from unittest import mock

import torch
from torch import nn

import hone
from hone import _backend

torch.set_num_threads(1)


class Asked:
    """A fake search: records its arguments, and returns what `make` makes of the module."""

    def __init__(self, make: Optional[Callable[[nn.Module], Any]] = None) -> None:
        self.modules: List[nn.Module] = []
        self.inputs: List[Any] = []
        self.searches: List[bool] = []
        self.make = make or (lambda module: module)

    def __call__(self, module: Any, inputs: Any, options: Any, search: bool) -> Any:
        self.searches.append(search)
        if not search and inputs[0].shape not in [one[0].shape for one in self.inputs]:
            return None, None, "no answer is stored"
        self.modules.append(module)
        self.inputs.append(inputs)
        return self.make(module), "what is known", "It is faster."


class Case(unittest.TestCase):
    def setUp(self) -> None:
        torch._dynamo.reset()
        torch.manual_seed(0)
        _backend._seen.clear()
        _backend._warned.clear()

    def compiled(self, model: Any, asked: Any, **options: Any) -> Any:
        patch = mock.patch.object(_backend, "_answer", asked)
        patch.start()
        self.addCleanup(patch.stop)
        return torch.compile(model, backend=_backend.backend, **options)

    def same(self, compiled: Any, model: Any, *inputs: Any) -> None:
        with torch.no_grad():
            torch.testing.assert_close(compiled(*copy.deepcopy(inputs)), model(*copy.deepcopy(inputs)))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.norm = nn.BatchNorm1d(4)
        self.factor = torch.full((4,), 2.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x).relu()
        return self.norm(x) * self.factor


class Breaks(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layers[0](x)
        torch._dynamo.graph_break()
        return self.layers[1](x)


class Graphs(Case):
    def test_parameters_are_inside_the_module_under_their_own_names(self) -> None:
        model, asked = Net().eval(), Asked()
        compiled = self.compiled(model, asked)
        self.same(compiled, model, torch.randn(3, 4))
        self.assertEqual(len(asked.modules), 1)
        state = dict(asked.modules[0].named_parameters())
        self.assertEqual(set(state), set(dict(model.named_parameters())))
        for name, value in model.named_parameters():
            self.assertIs(state[name], value)
        self.assertEqual(set(dict(asked.modules[0].named_buffers())), {"norm.running_mean", "norm.running_var", "factor"})
        self.assertEqual([tuple(value.shape) for value in asked.inputs[0]], [(3, 4)])
        self.assertEqual([one.outcome for one in hone.subgraphs()], ["optimised"])

    def test_changed_weights_are_used(self) -> None:
        model = Net().eval()
        compiled = self.compiled(model, Asked())
        x = torch.randn(3, 4)
        self.same(compiled, model, x)
        with torch.no_grad():
            model.layers[0].weight.mul_(3)
            model.factor.add_(1)
        self.same(compiled, model, x)
        model.layers[1].weight = nn.Parameter(torch.randn(4, 4))
        self.same(compiled, model, x)

    def test_another_instance_gets_its_own_weights(self) -> None:
        asked = Asked()
        first, second, x = Net().eval(), Net().eval(), torch.randn(3, 4)
        with torch.no_grad():
            second.factor.mul_(5)
        compiled_first = self.compiled(first, asked)
        compiled_second = torch.compile(second, backend=_backend.backend)
        for _ in range(2):
            self.same(compiled_first, first, x)
            self.same(compiled_second, second, x)
        self.assertEqual(len(asked.modules), 2)
        self.assertIs(dict(asked.modules[1].named_parameters())["layers.1.bias"], second.layers[1].bias)

    def test_a_graph_break_makes_several_graphs(self) -> None:
        model, asked = Breaks().eval(), Asked()
        self.same(self.compiled(model, asked), model, torch.randn(3, 4))
        self.assertEqual([sorted(dict(one.named_parameters())) for one in asked.modules],
                         [["layers.0.bias", "layers.0.weight"], ["layers.1.bias", "layers.1.weight"]])
        self.assertEqual([one.number for one in hone.subgraphs()], [1, 2])

    def test_dicts_keywords_and_nested_outputs(self) -> None:
        class Tree(Net):
            def forward(self, batch: Any, *, scale: Any = None) -> Any:
                x = self.layers[0](batch["x"])
                return {"y": x if scale is None else x * scale, "z": [None, (x.sum(), 3)]}

        model, asked = Tree().eval(), Asked()
        compiled = self.compiled(model, asked)
        with torch.no_grad():
            batch = {"x": torch.randn(2, 4)}
            for scale in (torch.tensor(2.0), torch.tensor(3.0)):
                torch.testing.assert_close(compiled(batch, scale=scale), model(batch, scale=scale))
        self.assertEqual(len(asked.modules), 1)


class Declined(Case):
    def outcome(self, model: nn.Module, *inputs: Any) -> str:
        asked = Asked()
        compiled = self.compiled(model, asked)
        self.same(compiled, model, *inputs)
        self.assertEqual(asked.modules, [])
        (record,) = hone.subgraphs()
        self.assertEqual(record.outcome, "eager")
        return record.why

    def module(self, function: Callable[..., Any]) -> nn.Module:
        class Wrapped(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("count", torch.zeros(4))

            def forward(self, *inputs: Any) -> Any:
                return function(self, *inputs)

        return Wrapped().eval()

    def test_writes_into_an_input(self) -> None:
        model, asked = self.module(lambda self, x: x.add_(1).exp()), Asked()
        compiled = self.compiled(model, asked)
        one = torch.zeros(4)
        compiled(one)
        torch.testing.assert_close(one, torch.ones(4))
        self.assertEqual(asked.modules, [])
        self.assertIn("writes into one of its inputs", hone.subgraphs()[0].why)

    def test_writes_into_a_buffer(self) -> None:
        model = self.module(lambda self, x: self.count.add_(x).exp())
        compiled = self.compiled(model, Asked())
        for _ in range(3):
            compiled(torch.ones(4))
        torch.testing.assert_close(model.count, torch.full((4,), 3.0))

    def test_an_output_that_is_a_view_of_an_input(self) -> None:
        self.assertIn("shares memory", self.outcome(self.module(lambda self, x: (x.exp(), x.view(2, 2))), torch.randn(4)))

    def test_outputs_that_share_memory(self) -> None:
        def halves(self: Any, x: torch.Tensor) -> Any:
            y = x.exp()
            return y[:2], y[2:]

        self.assertIn("shares memory", self.outcome(self.module(halves), torch.randn(4)))

    def test_random_numbers(self) -> None:
        asked = Asked()
        self.compiled(self.module(lambda self, x: x + torch.rand_like(x)), asked)(torch.zeros(4))
        self.assertEqual(asked.modules, [])
        self.assertIn("random numbers", hone.subgraphs()[0].why)

    def test_autocast(self) -> None:
        model, asked = Net().eval(), Asked()
        compiled = self.compiled(model, asked)
        with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
            self.assertEqual(compiled(torch.randn(3, 4)).dtype, model(torch.randn(3, 4)).dtype)
        self.assertEqual(asked.modules, [])

    def test_dynamic_shapes_search_nothing_and_the_first_shape_keeps_its_answer(self) -> None:
        model, asked = Net().eval(), Asked()
        compiled = self.compiled(model, asked)
        for batch in (3, 5, 7, 3, 5, 3):
            self.same(compiled, model, torch.randn(batch, 4))
        self.assertEqual([one.outcome for one in hone.subgraphs()], ["optimised", "eager"])
        self.assertIn("dynamic", hone.subgraphs()[1].why)
        self.assertEqual(asked.searches, [True, False, False, False], "once for the first shape; then each shape is looked up once")
        self.assertEqual([one.calls for one in hone.subgraphs()], [1, 2])

    def test_sizes_that_are_computed_with(self) -> None:
        model, asked = self.module(lambda self, x: x.reshape(x.shape[0] * 2, 2).exp() * x.shape[0]), Asked()
        compiled = self.compiled(model, asked, dynamic=True)
        for batch in (3, 5, 3):
            self.same(compiled, model, torch.randn(batch, 4))
        self.assertEqual(asked.searches, [False, False])

    def test_training_runs_the_original(self) -> None:
        model, asked = Net(), Asked()
        twin = copy.deepcopy(model)
        compiled = self.compiled(model, asked)
        x = torch.randn(6, 4)
        for net in (compiled, twin):
            net.train()
            optimizer = torch.optim.SGD(net.parameters(), 0.1)
            for _ in range(2):
                optimizer.zero_grad()
                net(x).square().sum().backward()
                optimizer.step()
        for one, other in zip(model.state_dict().values(), twin.state_dict().values()):
            torch.testing.assert_close(one, other)
        self.assertEqual(asked.modules, [])
        compiled.eval()
        self.same(compiled, model, x)
        self.assertEqual(len(asked.modules), 1, "after training, inference is optimised")

    def test_gradients_of_the_input(self) -> None:
        model, asked = Net().eval().requires_grad_(False), Asked()
        x = torch.randn(3, 4, requires_grad=True)
        self.compiled(model, asked)(x).sum().backward()
        self.assertIsNotNone(x.grad)
        self.assertEqual(asked.modules, [])


class NeverFails(Case):
    def words(self, said: Any) -> List[str]:
        return [str(one.message) for one in said if "backend='hone'" in str(one.message)]

    def test_an_exception_in_the_search_is_one_warning(self) -> None:
        def fails(module: Any, inputs: Any, options: Any, search: bool) -> Any:
            raise ValueError("a bug in Hone")

        model = Breaks().eval()
        compiled = self.compiled(model, fails)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.same(compiled, model, torch.randn(3, 4))
        self.assertEqual(len(self.words(said)), 1, said)
        self.assertIn("runs as it was. Hone failed on it: ValueError: a bug in Hone", self.words(said)[0])

    def test_an_exception_in_the_answer_is_one_warning(self) -> None:
        def broken(module: nn.Module) -> Any:
            def fast(*inputs: Any) -> Any:
                raise RuntimeError("no kernel image is available")

            return fast

        model = Net().eval()
        compiled = self.compiled(model, Asked(broken))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(3):
                self.same(compiled, model, torch.randn(3, 4))
        self.assertEqual(len(self.words(said)), 1, said)
        self.assertIn("no kernel image", self.words(said)[0])

    def test_no_program(self) -> None:
        model = Net().eval()
        with mock.patch.dict("os.environ", {"HONE_BINARY": "/nowhere/hone"}):
            compiled = torch.compile(model, backend=_backend.backend)
            with self.assertWarnsRegex(RuntimeWarning, "HONE_BINARY=/nowhere/hone is not a program"):
                self.same(compiled, model, torch.randn(3, 4))

    def test_inference_mode(self) -> None:
        model, asked = Net().eval(), Asked()
        compiled = self.compiled(model, asked)
        with torch.inference_mode():
            x = torch.randn(3, 4)
            torch.testing.assert_close(compiled(x), model(x))
        self.assertEqual(len(asked.modules), 1)

    def test_the_random_numbers_of_the_program_stay(self) -> None:
        def draws(module: Any, inputs: Any, options: Any, search: bool) -> Any:
            torch.rand(100)
            return None, None, "PyTorch is kept."

        model = Net().eval()
        compiled = self.compiled(model, draws)
        torch.manual_seed(7)
        self.same(compiled, model, torch.ones(3, 4))
        got = torch.rand(1)
        torch.manual_seed(7)
        torch.testing.assert_close(got, torch.rand(1))

    def test_fallback_to_inductor(self) -> None:
        def kept(module: Any, inputs: Any, options: Any, search: bool) -> Any:
            return None, None, "PyTorch is kept."

        def inductor(graph: Any, inputs: Any, config_patches: Any = None) -> Any:
            return graph.forward

        model = Net().eval()
        # Replaces the real module, whose import takes seconds.
        called = mock.Mock(side_effect=inductor)
        with mock.patch.dict(sys.modules, {"torch._inductor.compile_fx": mock.Mock(compile_fx=called)}):
            self.same(self.compiled(model, kept, options={"fallback": "inductor"}), model, torch.randn(3, 4))
            self.assertEqual(called.call_count, 1)
            torch._dynamo.reset()
            called.side_effect = RuntimeError("no compiler")
            with self.assertWarnsRegex(RuntimeWarning, "inductor failed on a graph"):
                self.same(self.compiled(model, kept, options={"fallback": "inductor"}), model, torch.randn(3, 4))

    def test_fallback_to_the_real_inductor(self) -> None:
        from torch._inductor import config, metrics

        def kept(module: Any, inputs: Any, options: Any, search: bool) -> Any:
            return None, None, "PyTorch is kept."

        model = Net().eval()
        metrics.reset()
        with config.patch(force_disable_caches=True), warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*inductor failed.*")
            self.same(self.compiled(model, kept, options={"fallback": "inductor"}), model, torch.randn(3, 4))
        self.assertGreater(metrics.generated_kernel_count, 0)

    def test_an_unknown_option_is_named(self) -> None:
        for options, words in (({"falback": "eager"}, "'falback'"), ({"fallback": "magic"}, "fallback='magic'")):
            with self.assertRaisesRegex(Exception, words):
                torch.compile(Net(), backend=_backend.backend, options=options)(torch.randn(2, 4))


class Searches:
    """Replaces only the program: every search accepts the task itself as the candidate. Capture, cache and the call are real."""

    def __init__(self) -> None:
        self.words: List[List[str]] = []

    def run(self, words: Any, progress: Any, environment: Any) -> Any:
        self.words.append(list(words))
        run = pathlib.Path(words[words.index("--out") + 1])
        run.mkdir(parents=True)
        source = pathlib.Path(words[1]).read_text(encoding="utf-8").replace("class Model(", "class ModelNew(")
        assert "class ModelNew(" in source
        (run / "best.py").write_text(source, encoding="utf-8")
        return mock.Mock(code=0, said="")

    def read_result(self, run: str) -> Any:
        best = {"key": "stand.in", "verdict": "accepted", "vs_best": 2.0, "ci95": [1.9, 2.1], "vs_eager": 3.0, "error": 1e-7, "limit": 1e-6}
        return {"status": "done", "result": "accepted", "best": "stand.in", "candidates": [best], "run": "R1", "seconds": 1.0}


class Answers(Case):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.searches = Searches()
        for patch in (
            mock.patch.dict(os.environ, {"HONE_DATA": folder.name}),
            mock.patch("hone._run.run", self.searches.run),
            mock.patch("hone._run.read_result", self.searches.read_result),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def test_one_search_serves_instances_sizes_and_the_next_compilation(self) -> None:
        model, other = Net().eval(), Net().eval()
        compiled = torch.compile(model, backend=_backend.backend, options={"budget": "5s", "progress": False})
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            for batch in (3, 5, 3, 3):
                self.same(compiled, model, torch.randn(batch, 4))
        first, dynamic = hone.subgraphs()
        self.assertEqual((first.outcome, dynamic.outcome, first.calls, dynamic.calls), ("optimised", "eager", 1, 2), hone.subgraphs())
        self.assertEqual(first.why, "2.00x as fast as the best PyTorch baseline, with stand.in.")
        self.assertFalse(first.answer.cached)
        self.assertTrue(dynamic.answer.cached)
        self.assertEqual(len(self.searches.words), 1)
        self.assertIn("--max-minutes", self.searches.words[0])
        torch._dynamo.reset()
        with torch.no_grad():
            other.factor.mul_(7)
            other.layers[0].weight.add_(1)
        self.same(torch.compile(other, backend=_backend.backend, options={"budget": "5s", "progress": False}), other, torch.randn(3, 4))
        self.assertEqual(hone.subgraphs()[-1].outcome, "optimised", hone.subgraphs()[-1])
        self.assertEqual((len(self.searches.words), hone.subgraphs()[-1].calls), (1, 1), "found on disk")

    def test_shapes_that_depend_on_values_are_declined_without_a_warning(self) -> None:
        class Sparse(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.nonzero(x).float().exp()

        model = Sparse().eval()
        with mock.patch("torch._dynamo.config.capture_dynamic_output_shape_ops", True), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            with torch.no_grad():
                x = torch.tensor([0.0, 1.0, 2.0])
                torch.testing.assert_close(torch.compile(model, backend=_backend.backend)(x), model(x))
        self.assertEqual(self.searches.words, [])
        self.assertIn("depend on values", hone.subgraphs()[0].why)

    def test_a_program_that_fails_is_one_warning(self) -> None:
        def fails(words: Any, progress: Any, environment: Any) -> Any:
            return mock.Mock(code=3, said="hone: the disk is full")

        model = Net().eval()
        with mock.patch("hone._run.run", fails), mock.patch("hone._run.read_result", lambda run: None):
            with self.assertWarnsRegex(RuntimeWarning, "runs as it was. Hone failed on it: hone could not optimise the module: the disk is full"):
                self.same(torch.compile(model, backend=_backend.backend), model, torch.randn(3, 4))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--hone", default=os.environ.get("HONE_BINARY"))
    known, rest = parser.parse_known_args()
    os.environ["HONE_BINARY"] = os.path.abspath(known.hone)
    unittest.main(argv=[sys.argv[0], *rest])
