"""Tests the worker's stress regimes, mutants and followed draws (hone_nature, hone_stress, hone_draws, hone_truth) without a
parent.

Exit code 1 if a check fails, 77 without torch.
"""

import os
import pathlib
import sys
import unittest

import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker"))
import hone_nature
import hone_stress
import hone_truth
import hone_wire


def seeded(seed=1):
    return torch.Generator().manual_seed(seed)


def examples():
    torch.manual_seed(0)
    uniform, normal = torch.rand(64, 64), torch.randn(64, 64)
    return {
        "free": uniform,
        "upper": uniform.triu(),
        "lower": uniform.tril(),
        "diagonal": torch.diag(torch.rand(8)),
        "symmetric": normal + normal.T,
        "definite": uniform @ uniform.T + torch.eye(64),
        "probabilities": uniform.softmax(-1),
        "log-probabilities": uniform.log_softmax(-1),
        "unit": uniform / uniform.norm(dim=-1, keepdim=True),
        "sorted": uniform.flatten().sort()[0],
        "sparse": F.relu(normal),
        "constant": torch.zeros(3, 4),
    }


class Nature(unittest.TestCase):
    def test_what_is_near_differs_by_rounding_and_keeps_its_kind(self):
        for kind, tensor in [*examples().items(), ("symmetric", torch.complex(torch.eye(4), torch.zeros(4, 4))), ("kept", torch.eye(4))]:
            moved = [hone_nature.near(tensor, seeded(seed)) for seed in range(1, 4)]
            for one in moved:
                self.assertLessEqual(float((one - tensor).abs().max()), 1e-6 * float(tensor.abs().max()), kind)
                self.assertTrue(torch.equal(one == 0, tensor == 0), kind)
                self.assertEqual(hone_nature.nature(one), hone_nature.nature(tensor))
            changes = not all(torch.equal(one, tensor) for one in moved)
            self.assertEqual(changes, kind not in ("constant", "kept"), kind)
        self.assertTrue(torch.equal(hone_nature.near(torch.arange(5), seeded()), torch.arange(5)))

    def test_every_kind_is_known_again_and_kept(self):
        for kind, tensor in examples().items():
            self.assertEqual(hone_nature.nature(tensor), kind)
            drawn = hone_nature.draw(tensor, seeded())
            self.assertEqual((drawn.shape, drawn.dtype), (tensor.shape, tensor.dtype))
            self.assertFalse(torch.equal(drawn, tensor), kind)
            if kind not in ("free", "constant"):
                self.assertEqual(hone_nature.nature(drawn), kind)

    def test_labels_masks_and_indices_stay(self):
        for tensor in (
            torch.randint(0, 10, (32,)), torch.rand(8, 8) > 0.5, (torch.randint(0, 2, (32, 4)) * 2 - 1).float(),
            F.one_hot(torch.randint(0, 5, (32,))).float(), torch.tensor([0.0, float("-inf")]).repeat(8),
        ):
            self.assertIs(hone_nature.draw(tensor, seeded()), tensor)

    def test_constant_masks_and_integers_move_within_their_range(self):
        for value in (
            torch.ones(8, 6, dtype=torch.bool), torch.zeros(8, 6, dtype=torch.bool), torch.full((16,), 40), torch.zeros(16, dtype=torch.int32),
            torch.ones(4, 4, dtype=torch.uint8), torch.tensor(True), torch.tensor(6), torch.tensor([0]), torch.full((5,), -100), torch.ones(1, 2),
        ):
            for seed in range(20):
                drawn = hone_nature.draw(value, seeded(seed), "constants")
                self.assertEqual((drawn.shape, drawn.dtype), (value.shape, value.dtype))
                self.assertFalse(torch.equal(drawn, value), value)
                if value.dtype != torch.float32:
                    self.assertLessEqual(float(drawn.double().abs().max()), max(1.0, float(value.double().abs().max())))
                    if value.numel() > 1:
                        self.assertTrue(torch.equal(drawn[..., 0], value[..., 0]))
        kept = torch.ones(4, dtype=torch.bool)
        self.assertIs(hone_nature.draw(kept, seeded(), "wide", whole=False), kept)
        self.assertIs(hone_nature.draw(kept, seeded(), "own"), kept)

    def test_positive_keeps_the_sign_and_the_range(self):
        drawn = hone_nature.draw(torch.rand(1000), seeded(), "positive")
        self.assertTrue(0 <= float(drawn.min()) and float(drawn.max()) <= 1)
        self.assertGreaterEqual(float(hone_nature.draw(torch.rand(1000) * 9, seeded(), "positive").min()), 0)
        self.assertLess(float(hone_nature.draw(torch.rand(1000), seeded(), "wide").min()), -1)

    def test_strides_are_kept_and_can_be_changed(self):
        tensor = torch.rand(8, 6).t()
        self.assertEqual(hone_nature.draw(tensor, seeded()).stride(), tensor.stride())
        contiguous = torch.rand(4, 5, 6)
        moved = hone_nature.permute_memory(contiguous)
        self.assertTrue(torch.equal(moved, contiguous) and not moved.is_contiguous())

    def test_a_batch_is_resized_only_where_the_output_follows(self):
        x, weight = torch.rand(16, 4), torch.rand(4, 4)
        for more, size in ((False, 9), (True, 25)):
            resized = hone_nature.resize_batch([x, weight], [torch.empty(16, 2)], more)
            self.assertEqual([tuple(t.shape) for t in resized], [(size, 4), (4, 4)])
            self.assertIsNone(hone_nature.resize_batch([x], [torch.empty(())], more))
            self.assertIsNone(hone_nature.resize_batch([x[:1]], [torch.empty(1, 2)], more))


class Adapter(nn.Module):
    """LoRA's second factor is zero, a layer scale is tiny, a temperature is one number."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(16, 16)
        self.a = nn.Parameter(torch.randn(4, 16))
        self.b = nn.Parameter(torch.zeros(16, 4))
        self.scale = nn.Parameter(torch.full((16,), 1e-6))
        self.temperature = nn.Parameter(torch.tensor(1.0))
        self.unused = nn.Parameter(torch.randn(3))

    def forward(self, x):
        return (self.base(x) + x @ self.a.t() @ self.b.t()) / self.temperature + self.scale * x


class Weights(unittest.TestCase):
    def test_zero_tiny_and_constant_parameters_move(self):
        for regime in ("stress", "stress-mild", "stress-small"):
            model = Adapter()
            hone_stress.change_model(regime, model, seeded())
            self.assertGreater(float(model.b.detach().std()), 0.02, regime)
            self.assertGreater(float(model.scale.detach().min()), 1e-3, regime)
            self.assertNotEqual(float(model.temperature), 1.0, regime)

    def test_constant_buffers_move_if_a_candidate_is_given_them(self):
        for regime, moves in (("stress", True), ("stress-small", True), ("stress-kept", False)):
            model = nn.Module()
            model.register_buffer("weight", torch.ones(6))
            model.register_buffer("mask", torch.ones(6, dtype=torch.bool))
            model.register_buffer("private", torch.ones(6), persistent=False)
            model.register_buffer("table", torch.arange(6.0))
            before = {name: value.clone() for name, value in model.named_buffers()}
            hone_stress.change_model(regime, model, seeded())
            moved = {name for name, value in model.named_buffers() if not torch.equal(value, before[name])}
            self.assertEqual(moved, {"weight", "mask"} if moves else set(), regime)
            self.assertEqual(set(hone_stress.defaults_of(model)), {"weight", "mask"} - moved)

    def test_whoever_ignores_a_constant_that_nobody_moved_is_not_noticed(self):
        model = nn.Module()
        model.register_buffer("weight", torch.ones(6))
        defaults = {"weight": torch.ones(6)}
        for another in (False, True):
            with hone_stress.mutated_parameter("weight", model, defaults, another):
                self.assertEqual(torch.equal(model.weight, torch.ones(6)), not another)

    def test_a_mutant_of_a_parameter_is_put_back(self):
        default, model = Adapter(), Adapter()
        hone_stress.change_model("stress", model, seeded())
        before = {name: value.detach().clone() for name, value in model.named_parameters()}
        defaults, x = hone_stress.tunable(default), torch.randn(8, 16)
        with torch.no_grad():
            right = model(x)
            for name in defaults:
                with hone_stress.mutated_parameter(name, model, defaults):
                    moved = not torch.equal(model(x), right)
                self.assertEqual(moved, name != "unused", name)
        for name, value in model.named_parameters():
            self.assertTrue(torch.equal(value, before[name]), name)

    def test_one_backward_pass_finds_the_parameters_that_matter(self):
        default, model = Adapter(), Adapter()
        hone_stress.change_model("stress", model, seeded())
        found = hone_stress.sensitivities(model, [torch.randn(8, 16)], hone_stress.tunable(default), seeded())
        self.assertNotIn("unused", found)
        for name in ("base.weight", "b", "scale", "temperature"):
            self.assertGreater(found[name], 1e-4, name)


class RecurrentGradients(unittest.TestCase):
    def test_a_recurrent_layer_is_differentiated_and_stays_as_it_was(self):
        model, other = (nn.GRU(6, 5, 2, dropout=0.5).eval() for _ in range(2))
        seen = []
        model.register_forward_hook(lambda layer, *_: seen.append((layer.training, layer.dropout)))
        found = hone_stress.sensitivities(model, [torch.randn(7, 3, 6, generator=seeded())], hone_stress.tunable(other), seeded())
        self.assertEqual(seen, [(True, 0.0)])  # the only mode in which cuDNN differentiates it
        self.assertEqual((model.training, model.dropout), (False, 0.5))
        self.assertEqual(set(found), {name for name, _ in model.named_parameters()})


class Mutants(unittest.TestCase):
    def test_an_ignored_input_always_differs(self):
        for value in (torch.rand(5), torch.zeros(3), torch.ones(()), torch.ones(4, dtype=torch.bool), 0.5):
            changed = hone_stress.mutate("input-0-ignored", [value], seeded())[0]
            same = torch.equal(changed, value) if isinstance(value, torch.Tensor) else changed == value
            self.assertFalse(same, value)

    def test_whoever_ignores_a_constant_computes_with_it(self):
        own, moved = torch.ones(6, dtype=torch.bool), torch.tensor([True, False] * 3)
        self.assertTrue(torch.equal(hone_stress.mutate("input-0-ignored", [moved], seeded(), [own])[0], own))
        self.assertTrue(torch.equal(hone_stress.mutate("input-0-ignored", [own], seeded(), [own])[0], own))
        for value in (own, torch.full((4,), 9), torch.zeros(3)):
            self.assertFalse(torch.equal(hone_stress.mutate("input-0-replaced", [value], seeded(), [value])[0], value))

    def test_inputs_come_first_and_numbers_count(self):
        names = hone_stress.mutants(nn.Identity(), [torch.rand(4, 4, 4), 0.5, 3], {"weight": None})
        self.assertEqual(names[:2], ["input-0-ignored", "input-1-ignored"])
        self.assertEqual(names[-1], "parameter:weight")


class EveryDraw(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(32, 32)

    def forward(self, x):
        y = self.linear(x)
        y = F.dropout(y, 0.3, True) + torch.bernoulli(torch.sigmoid(y)) + torch.rand_like(y)
        y = y + F.dropout2d(y[None, :, :, None], 0.5, True)[0, :, :, 0] + torch.empty_like(y).bernoulli_(0.3)
        y = y + torch.randint(0, 5, y.shape) + F.rrelu(y, training=True) + torch.poisson(y.abs()) + torch.randperm(32)
        y = y + torch.normal(y, 1.0) + torch.distributions.Normal(y, 1.0).sample() + F.gumbel_softmax(y)
        return y * torch.multinomial(y.softmax(-1), 3).float().mean()


class Draws(unittest.TestCase):
    def test_the_float64_run_draws_the_same_numbers(self):
        torch.manual_seed(5)
        model, x = EveryDraw(), torch.randn(16, 32)
        with torch.no_grad():
            torch.manual_seed(3)
            narrow = model(x)
            wide = hone_truth.run_wide(hone_truth.wide_model(model), [x], lambda: torch.manual_seed(3))
        self.assertEqual(wide.dtype, torch.float64)
        self.assertLess(float((narrow - wide).norm() / wide.norm()), 1e-6)
        self.assertEqual(torch.get_default_dtype(), torch.float32)

    def test_jitter_breaks_ties_and_nothing_else(self):
        x = torch.tensor([[1.0, 1.0, 0.0], [3.0, 1.0, 0.0]])
        first = {int(hone_truth.jittered([x], 1e-6, seeded(seed))[0][0].argmax()) for seed in range(20)}
        second = {int(hone_truth.jittered([x], 1e-6, seeded(seed))[0][1].argmax()) for seed in range(20)}
        self.assertEqual((first, second), ({0, 1}, {0}))


class Wire(unittest.TestCase):
    def test_overwriting_keeps_addresses_and_takes_numbers_and_new_shapes(self):
        def written(tree):
            descriptor = os.memfd_create("test")
            return hone_wire.write_tree(tree, descriptor), descriptor

        kept = torch.zeros(4)
        tree = [kept, 0.5, {"h": torch.zeros(2)}, None, float("inf")]
        new = [torch.ones(4), 0.75, {"h": torch.ones(3)}, None, float("-inf")]
        description, descriptor = written(new)
        out = hone_wire.overwrite_tree(tree, description, descriptor, "cpu")
        self.assertEqual(out[0].data_ptr(), kept.data_ptr())
        self.assertTrue(torch.equal(kept, torch.ones(4)) and torch.equal(out[2]["h"], torch.ones(3)))
        self.assertEqual((out[1], out[3], out[4]), (0.75, None, float("-inf")))
        os.close(descriptor)


class Fixed(unittest.TestCase):
    """Tensors that get_inputs returns unchanged under every seed."""

    def test_masks_indices_and_matrices_move(self):
        causal = torch.ones(8, 8).tril()
        for tensor in (
            causal.bool(), causal, torch.full((8, 8), float("-inf")).triu(1), torch.eye(8), torch.arange(12), torch.arange(3.0),
            torch.tensor([0, 0, 1, 1, 2]), torch.tensor([[3, 1, 2], [0, 2, 1]]),
        ):
            moved = [hone_nature.draw(tensor, seeded(seed), fixed=True) for seed in range(4)]
            self.assertFalse(all(torch.equal(one, tensor) for one in moved), tensor)
            for one in moved:
                self.assertEqual((one.shape, one.dtype), (tensor.shape, tensor.dtype))
            self.assertIs(hone_nature.draw(tensor, seeded(), whole=False, fixed=True), tensor)

    def test_no_row_is_masked_entirely_and_order_is_kept(self):
        for seed in range(8):
            mask = hone_nature.draw(torch.ones(8, 8).tril().bool(), seeded(seed), fixed=True)
            self.assertTrue(bool(mask.any(-1).all()))
            offsets = hone_nature.draw(torch.tensor([0, 3, 7, 12]), seeded(seed), fixed=True)
            self.assertEqual((int(offsets[0]), int(offsets[-1])), (0, 12))
            self.assertTrue(bool((offsets[1:] >= offsets[:-1]).all()))

    def test_few_sorted_numbers_are_known_by_several_draws(self):
        edges = [torch.randn(6, generator=seeded(seed)).sort()[0] for seed in range(3)]
        self.assertEqual(hone_nature.common_nature(edges), "sorted")
        self.assertEqual(hone_nature.common_nature([torch.linspace(0.1, 0.9, 4)] * 3), "sorted")
        self.assertEqual(hone_nature.common_nature([torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0.3, 0.1, 0.7])]), "free")

    def test_hermitian_matrices_stay_hermitian(self):
        a = torch.randn(6, 6, dtype=torch.complex64, generator=seeded())
        for tensor, kind in ((a + a.mH, "symmetric"), (a @ a.mH + torch.eye(6), "definite"), (a, "free")):
            self.assertEqual(hone_nature.nature(tensor), kind)
            self.assertEqual(hone_nature.nature(hone_nature.draw(tensor, seeded())), kind)

    def test_whoever_ignores_a_fixed_input_computes_with_what_it_always_was(self):
        own, moved = torch.eye(4), torch.rand(4, 4)
        self.assertTrue(torch.equal(hone_stress.mutate("input-0-ignored", [moved], seeded(), [own], {0})[0], own))

    def test_parameters_that_were_not_drawn_lose_their_structure(self):
        def build(seed):
            torch.manual_seed(seed)
            model = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6))
            nn.init.eye_(model[0].weight)
            return model

        model = build(1)
        drawn = model[1].weight.detach().clone()
        hone_stress.change_model("stress-small", model, seeded(), build(2))
        off = model[0].weight.detach() * (1 - torch.eye(6))
        self.assertGreater(float(off.abs().max()), 0.01)
        self.assertTrue(torch.equal(model[1].weight, drawn))


class RareValues(unittest.TestCase):
    def test_zeros_nan_and_infinity_are_put_in_and_the_rest_stays(self):
        x = torch.randn(8, 64, generator=seeded())
        zeros = hone_nature.with_zeros(x)
        self.assertTrue(bool((zeros[4] == 0).all()))
        self.assertEqual(int((zeros[0] == 0).sum()), 7)
        self.assertTrue(torch.equal(zeros[zeros != 0], x[zeros != 0]))
        self.assertTrue(bool(hone_nature.with_nan(x).isnan().any()))
        infinite = hone_nature.with_infinity(x)
        self.assertEqual({float(v) for v in infinite[infinite.isinf()]}, {float("inf"), float("-inf")})
        self.assertEqual(float(hone_nature.enlarge(x)[0, 0]), float(x[0, 0] * 1e6))

    def test_probabilities_stay_probabilities_and_indices_stay(self):
        p = torch.softmax(torch.randn(6, 40, generator=seeded()), -1)
        made = hone_nature.with_zeros(p)
        self.assertEqual(hone_nature.nature(made), "probabilities")
        self.assertTrue(bool((made == 0).any()))
        indices = torch.arange(8).view(4, 2)
        for change in hone_stress.RARE:
            self.assertIsNone(hone_stress.transform_inputs(change, [indices], []))

    def test_only_finite_floating_answers_count(self):
        nan = [torch.tensor([1.0, float("nan")])]
        self.assertTrue(hone_stress.stays_finite(torch.nan_to_num, nan))
        self.assertFalse(hone_stress.stays_finite(torch.relu, nan))
        self.assertFalse(hone_stress.stays_finite(torch.argmax, nan))

    def test_whole_floats_move_and_integers_stay(self):
        x = torch.randn(4, 4, generator=seeded())
        self.assertEqual(hone_stress.change_inputs([x, 1.0, 0.0, 3, True], seeded())[1:], [0.75, 0.125, 3, True])
        self.assertEqual(hone_stress.change_inputs([x, 1.0, 0.5], seeded(), regime="stress-kept")[1:], [1.0, 0.375])
        self.assertEqual(hone_stress.mutate("input-1-ignored", [x, 0.75], seeded(), [x, 1.0])[1], 1.0)


class Mixed(unittest.TestCase):
    def test_rows_differ_in_size_and_one_is_held(self):
        x = torch.randn(8, 16, 4, generator=seeded())
        made = hone_nature.mixed(x)
        self.assertTrue(torch.equal(made[0], x[0]))
        self.assertGreater(float(made[1].abs().max()), 100)
        self.assertLess(float(made[2].abs().max()), 0.1)
        self.assertTrue(torch.equal(made[3, 2], made[3, 15]))
        by_batch = hone_nature.mixed(x, rows=1)
        self.assertTrue(torch.equal(by_batch[:, 0], x[:, 0]))
        self.assertTrue(torch.equal(by_batch[2, 3], by_batch[7, 3]))
        indices = torch.arange(8).view(4, 2)
        self.assertIs(hone_nature.mixed(indices), indices)


class Casts(unittest.TestCase):
    def test_a_cast_inside_does_not_make_the_truth_coarse(self):
        class Casting(nn.Module):
            def forward(self, x):
                y = x.float() @ x.to(torch.float32).t()
                return torch.softmax(y, -1, dtype=torch.float32).half().float() + torch.zeros(8, dtype=torch.float32)

        x = torch.randn(8, 8, generator=seeded())
        wide = x.double()
        got = hone_truth.run_wide(Casting(), [x], lambda: None)
        self.assertEqual(got.dtype, torch.float64)
        self.assertLess(float((got - torch.softmax(wide @ wide.t(), -1)).abs().max()), 1e-12)

    def test_dropout_of_scores_and_between_layers_is_followed(self):
        class Attention(nn.Module):
            def forward(self, x):
                return F.scaled_dot_product_attention(x, x, x, dropout_p=0.3)

        class Layers(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(8, 8, 3, dropout=0.4, bidirectional=True)

            def forward(self, x):
                self.rnn.train()
                return self.rnn(x)[0]

        class Gamma(nn.Module):
            def forward(self, x):
                return torch.distributions.Gamma(1 + x.abs(), torch.ones_like(x)).sample()

        for model in (Attention(), Layers(), Gamma()):
            x = torch.randn(4, 6, 8, generator=seeded())
            with torch.no_grad():
                torch.manual_seed(5)
                narrow = model(x)
                wide = hone_truth.run_wide(hone_truth.wide_model(model), [x], lambda: torch.manual_seed(5))
            self.assertLess(float((narrow - wide).norm() / wide.norm()), 1e-5, type(model).__name__)


if __name__ == "__main__":
    unittest.main()
