"""A module's state is restored before every compared call, and ties are broken anew in every nearby run.

Runs the worker's own files (hone_truth.py, hone_ties.py) without the program.
"""

import collections
import pathlib
import sys
import unittest

import torch_python

torch_python.need_torch()
import torch  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker"))

import hone_ties  # noqa: E402
import hone_truth  # noqa: E402


class Keeps(torch.nn.Module):
    """Keeps something in every way that Snapshot knows."""

    def __init__(self):
        super().__init__()
        self.register_buffer("moved", torch.zeros(2))
        self.register_buffer("replaced", torch.zeros(2))
        self.register_buffer("absent", None)
        self.plain, self.calls, self.past = torch.zeros(2), 0, []
        self.named, self.last = {"sum": torch.zeros(2)}, collections.deque(maxlen=3)
        self.generator = torch.Generator().manual_seed(3)

    def forward(self, x):
        self.moved += x
        self.replaced = self.replaced + x
        self.absent = x if self.absent is None else self.absent + x
        self.plain = self.plain + x
        self.calls += 1
        self.past.append(x)
        self.last.append(x)
        self.named["sum"] += x
        self.named["calls"] = self.calls
        self.later = getattr(self, "later", 0) + x
        kept = self.moved + self.replaced + self.absent + self.plain + self.calls + sum(self.past) + sum(self.last)
        return kept + self.named["sum"] + self.later + torch.rand(2, generator=self.generator)


class StateTest(unittest.TestCase):
    def test_every_call_starts_from_the_same_state(self):
        model, x = Keeps(), torch.tensor([1.0, 2.0])
        snapshot = hone_truth.Snapshot(model)
        first, second = model(x), model(x)
        self.assertFalse(torch.equal(first, second))
        for _ in range(3):
            snapshot.restore()
            self.assertTrue(torch.equal(model(x), first))
            self.assertTrue(torch.equal(model(x), second))

    def test_a_buffer_keeps_its_address(self):
        model = Keeps()
        snapshot, before = hone_truth.Snapshot(model), (model.moved, model.replaced)
        model(torch.ones(2))
        snapshot.restore()
        self.assertTrue(model.moved is before[0] and model.replaced is before[1])

    def test_a_wide_run_answers_a_later_call(self):
        class Adds(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("sum", torch.zeros(2))

            def forward(self, x):
                self.sum += x
                return self.sum.clone()

        x = torch.tensor([1.0, 2.0])
        answer = hone_truth.run_wide(hone_truth.wide_model(Adds()), [x], lambda: None, earlier=2)
        self.assertEqual(answer.tolist(), [3.0, 6.0])

    def test_equal_values_are_ordered_otherwise_in_other_runs_and_different_ones_never(self):
        ties = torch.cat([torch.zeros(6), torch.full((6,), -1e9)])
        for order in (lambda t: t.topk(3)[1], lambda t: t.argmax(), lambda t: torch.sort(t)[1], lambda t: t.max(0)[1], torch.argmin):
            seen = set()
            for seed in range(6):
                with hone_ties.BreakTies(torch.Generator().manual_seed(seed)):
                    seen.add(str(order(ties.double()).tolist()))
            self.assertGreater(len(seen), 1)
        near = torch.tensor([1.0, 1.0 + 2.0 ** -23, 1.0 - 2.0 ** -24]).double()  # neighbours of float32
        for seed in range(6):
            with hone_ties.BreakTies(torch.Generator().manual_seed(seed)):
                self.assertEqual(near.argsort().tolist(), [2, 0, 1])
                self.assertEqual(float(near.max()), 1.0 + 2.0 ** -23)  # without a dimension nothing is ordered


if __name__ == "__main__":
    unittest.main()
