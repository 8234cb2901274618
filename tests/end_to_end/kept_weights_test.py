"""Candidates that keep a copy of the weights (frozen, packed, folded, in their own kernel) must compute with the module's current
weights, however those were changed. Tests every CPU recipe for a small network and a GRU. The candidates must also keep the rest of
the contract for later use (worker/hone_contract.py, docs/JUDGE.md).

Usage: kept_weights_test.py --tool build/release/tests/hone_expert_tool
Exit code 1 when a candidate answers with old weights, 77 without torch.
"""

import argparse
import pathlib
import runpy
import sys
import tempfile
import types
import warnings

import torch_python

torch_python.need_torch()
import expert_test
import torch
import torch.nn as nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker"))
import hone_contract
import hone_wire

TASKS = {
    "network": """import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.linear = nn.Linear(8, 5)
        self.scale = torch.ones(5)

    def forward(self, x):
        return self.linear(torch.relu(self.norm(self.convolution(x))).mean((2, 3))) * self.scale

def get_inputs():
    return [torch.rand(2, 3, 8, 8)]

def get_init_inputs():
    return []
""",
    "recurrent": """import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(8, 16)
        self.linear = nn.Linear(16, 5)

    def forward(self, x):
        return self.linear(self.gru(x)[0])

def get_inputs():
    return [torch.rand(6, 2, 8)]

def get_init_inputs():
    return []
""",
}
EXPECTED = {
    "network": {"library/cpu_jit_freeze", "library/cpu_packed_weights", "library/folded_channels_last"},
    "recurrent": {"cpu/persistent", "library/cpu_jit_freeze"},
}


def in_place(model):
    with torch.no_grad():
        model.linear.weight.mul_(2)


def through_data(model):
    model.linear.weight.data.mul_(2)


def through_numpy(model):
    model.linear.weight.detach().numpy()[:] *= 2


def new_data(model):
    model.linear.weight.data = torch.randn_like(model.linear.weight)


def loaded(model):
    model.load_state_dict({name: 1.5 * value for name, value in model.state_dict().items()})


def replaced(model):
    model.linear.weight = nn.Parameter(torch.randn_like(model.linear.weight))


def optimised(model):
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    torch.optim.SGD(model.parameters(), 0.01).step()


def under_inference_mode(model):
    with torch.inference_mode():
        model.linear.weight.mul_(2)


def other_layer(model):
    first = model.gru.weight_hh_l0 if hasattr(model, "gru") else model.convolution.weight
    first.data.add_(0.1)


def buffer(model):
    if hasattr(model, "norm"):
        model.norm.running_mean.add_(1)


def attribute(model):
    if hasattr(model, "scale"):
        model.scale.data.mul_(3)


CHANGES = (in_place, through_data, through_numpy, under_inference_mode, new_data, loaded, replaced, other_layer, buffer, attribute, optimised)


def check(path):
    """The error of one candidate."""
    task = runpy.run_path(str(path), run_name="candidate")
    torch.manual_seed(0)
    model, x, wrong = task["ModelNew"]().eval(), task["get_inputs"](), []
    plain = task["Model"]().eval()
    with torch.no_grad():
        model(*x)  # prepares
        for change in CHANGES:
            before = model(*x)
            change(model)
            plain.load_state_dict(model.state_dict())
            if hasattr(model, "scale"):
                plain.scale = model.scale
            want = plain(*x)
            if not torch.allclose(model(*x), want, atol=1e-5):
                wrong.append("%s: %s leaves it at its old weights" % (path.stem, change.__name__))
            elif change not in (buffer, attribute) and torch.allclose(before, want, atol=1e-5):
                wrong.append("%s: %s changes nothing, so this shows nothing" % (path.stem, change.__name__))
    # A trace of a recurrent layer is refused, because PyTorch warns that it keeps a size.
    if getattr(getattr(model, "hone_kept", None), "failed", False) and not hasattr(model, "gru"):
        wrong.append("%s runs the plain module" % path.stem)
    with torch.inference_mode():
        made = task["ModelNew"]().eval()
    with torch.no_grad():
        plain.load_state_dict(made.state_dict())
        if not torch.allclose(made(*x), plain(*x) if not hasattr(made, "scale") else plain(*x) / plain.scale * made.scale, atol=1e-5):
            wrong.append("%s: an instance made in inference mode is wrong" % path.stem)
    return wrong


def check_said(path):
    """Calls that a prepared candidate leaves to PyTorch: each is as PyTorch has it, and is said once."""
    task, wrong = runpy.run_path(str(path), run_name="candidate"), []
    torch.manual_seed(0)
    model, plain, x = task["ModelNew"]().eval(), task["Model"]().eval(), task["get_inputs"]()
    if not hasattr(model, "hone_kept"):
        return []
    plain.load_state_dict(model.state_dict())
    with torch.no_grad():
        model(*x)  # prepares
    if model.hone_kept.failed:
        return []

    def under_autocast(module):
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            return module(*x)

    for what, call in (("gradients", lambda module: module(*x)), ("autocast", under_autocast)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            got, want = call(model), call(plain)
            call(model)
        mine = [one for one in said if str(one.message).startswith("Hone")]
        if len(mine) != 1 or what not in str(mine[0].message) or mine[0].filename != __file__:
            wrong.append("%s: %s: said %s" % (path.stem, what, ["%s (%s)" % (one.message, one.filename) for one in mine]))
        if got.dtype != want.dtype or got.requires_grad != want.requires_grad or not torch.allclose(got, want, atol=1e-5):
            wrong.append("%s: %s: another answer than PyTorch's" % (path.stem, what))
    with warnings.catch_warnings(record=True) as said, torch.no_grad():
        warnings.simplefilter("always")
        model(*x)
        model.train()(*x)
    if said:
        wrong.append("%s: a warning without a reason: %s" % (path.stem, said[0].message))
    return wrong


class Here:
    """The parts of a worker that the steps of the contract need."""

    def __init__(self, model, inputs):
        self.models, self.inputs, self.device = {"default": model}, {"own": inputs}, torch.device("cpu")
        self.settings_before, self.synchronize, self.seed = None, lambda: None, torch.manual_seed


def check_contract(path):
    """The entries of the contract that do not concern weights, compared with the task's own module."""
    before = hone_contract.capture()
    task = runpy.run_path(str(path), run_name="candidate")
    sys.modules["candidate"] = types.ModuleType("candidate")  # where pickle looks for the classes
    vars(sys.modules["candidate"]).update(task)
    inputs, wrong, answers = task["get_inputs"](), [], []
    for kind in ("Model", "ModelNew"):
        torch.manual_seed(0)
        here = Here(task[kind]().eval(), inputs)
        here.settings_before = before
        contract, found = hone_contract.Contract(here), {}
        with torch.no_grad():
            here.models["default"](*inputs)  # prepares
            for step in ("deepcopy", "pickle"):
                said = contract.answer({"step": step, "slot": "default", "as": "made"}, [])
                found[step] = said.get("failed") or here.models["made"](*inputs)
            dim = 1 if hasattr(here.models["default"], "gru") else 0
            contract.answer({"step": "slice", "dim": dim, "full": 2, "size": 1, "inputs": "own", "as": "cut"}, [])
            found["batch_size"] = here.models["default"](*here.inputs["cut"])
        said = contract.answer({"step": "globals", "slot": "default", "inputs": "own", "seed": 1}, [])
        found["global_state"] = str((said.get("changed"), said.get("draws"), said.get("failed")))
        with tempfile.TemporaryFile() as out:
            said = contract.answer({"step": "gradients", "slot": "default", "inputs": "own", "seed": 1}, [out.fileno()])
            found["gradients"] = said.get("failed") or hone_wire.read_tree(said["tree"], out.fileno(), "cpu")
        answers.append(found)
    for name, want in answers[0].items():
        got = answers[1][name]
        if isinstance(want, str) or isinstance(got, str):
            same = isinstance(got, str) and isinstance(want, str) and got == want
        else:
            pairs = zip(got, want) if isinstance(got, list) else [(got, want)]
            same = all(torch.allclose(a, b, atol=1e-4) for a, b in pairs)
        if not same:
            wrong.append("%s: %s is broken: %s" % (path.stem, name, got if isinstance(got, str) else "other values"))
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options = parser.parse_args()
    options.python, options.device = sys.executable, "cpu"
    wrong, tried = [], 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paths = {}
        for name, text in TASKS.items():
            paths[name] = pathlib.Path(folder) / name / "task.py"
            paths[name].parent.mkdir()
            paths[name].write_text(text)
        for (name, path), found in zip(paths.items(), expert_test.facts_of(options, list(paths.values()))):
            answer = expert_test.propose(options, name, path, path.parent, found)
            offered = {p["recipe"]: p["file"] for p in answer["proposals"]}
            wrong += ["%s is not offered for %s" % (recipe, name) for recipe in EXPECTED[name] - set(offered)]
            for file in offered.values():
                tried += 1
                wrong += check(path.parent / file)
                wrong += check_contract(path.parent / file)
                wrong += check_said(path.parent / file)
    print("\n".join([*wrong, "%d candidates, %d wrong" % (tried, len(wrong))]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
