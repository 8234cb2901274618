"""Tests worker/hone_answers.py: which answers of timed calls have the expected form, and how the others are
described.

Exit code 1 if a check fails, 77 without torch.
"""

import pathlib
import sys
import unittest

import torch_python

torch_python.need_torch()
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker"))
import hone_answers
import hone_wire


class Output:
    """Like the output classes of other libraries."""

    def __init__(self, *values):
        self.values = values

    def to_tuple(self):
        return self.values


def form_of(tree):
    return hone_answers.Form(hone_wire.lay_out(tree, lambda tensor, offset: None)[0])


class Forms(unittest.TestCase):
    def test_tensors_come_in_the_order_of_the_description(self):
        tree = {"y": torch.zeros(2, 3), "aux": torch.ones(4), "n": (3, 0.5, None)}
        tensors, numbers = form_of(tree).take({"n": [4, 1.5, None], "aux": torch.ones(4), "y": torch.zeros(2, 3)})
        self.assertEqual([list(one.shape) for one in tensors], [[4], [2, 3]])
        self.assertEqual(numbers, [4, 1.5])
        self.assertEqual([list(one.shape) for one in hone_wire.tensors_of(tree)], [[4], [2, 3]])
        self.assertEqual([leaf["shape"] for leaf in hone_answers.leaves_of(hone_wire.lay_out(tree, lambda *_: None)[0])], [[4], [2, 3]])

    def test_objects_that_become_tuples_count_as_such(self):
        form = form_of(Output(torch.zeros(2), 1.0))
        self.assertIsNotNone(form.take(Output(torch.zeros(2), 2.0)))
        self.assertIsNotNone(form.take((torch.zeros(2), 2.0)))
        self.assertEqual(len(hone_wire.tensors_of(Output(torch.zeros(2)))), 1)
        self.assertIsNone(form_of((torch.zeros(2), 1.0)).take(Output(torch.zeros(2), 2.0)), "nobody could index it")

    def test_keys_layouts_and_complex_numbers_are_part_of_the_form(self):
        form = form_of({0: torch.zeros(2), "z": 1 + 2j})
        self.assertEqual(form.take({"z": 3 - 4j, 0: torch.ones(2)})[1], [3.0, -4.0])
        for other in ({"0": torch.zeros(2), "z": 1j}, {0: torch.zeros(2).to_sparse(), "z": 1j}, {0: torch.zeros(2), "z": (0.0, 1.0)}):
            self.assertIsNone(form.take(other), other)
        self.assertEqual(hone_wire._build(hone_wire.lay_out({3: 1 + 2j}, None)[0], None, "cpu"), {3: 1 + 2j})

    def test_the_owner_of_the_memory_is_named(self):
        import hone_worker

        x, layer = torch.zeros(4), torch.nn.Linear(2, 2)
        owner_of = hone_worker._owners([{"x": x}], layer)
        self.assertEqual([owner_of(one) for one in (x[1:], x.clone(), layer.weight.t(), torch.zeros(0))], ["input", None, "parameter", None])

    def test_another_form_is_none(self):
        form = form_of({"a": torch.zeros(2), "b": None, "c": 1})
        for other in (
            {"a": torch.zeros(3), "b": None, "c": 1}, {"a": torch.zeros(2).double(), "b": None, "c": 1}, {"a": torch.zeros(2), "b": 0, "c": 1},
            {"a": torch.zeros(2), "c": 1}, (torch.zeros(2), None, 1), {"a": torch.zeros(2), "b": None, "c": float("nan")},
            {"a": torch.zeros(2), "b": None, "c": True}, None, torch.zeros(2),
        ):
            self.assertIsNone(form.take(other), other)

    def test_what_cannot_be_read_is_described_without_values(self):
        tree, tensors, size = hone_answers.describe([torch.zeros(2, dtype=torch.uint16)])
        self.assertEqual((tree["kind"], tensors, size), ("opaque", [], 0))


if __name__ == "__main__":
    unittest.main()
