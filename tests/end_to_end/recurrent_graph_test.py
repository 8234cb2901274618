"""Which outputs of recurrent modules are left out, and that leaving them out changes no answer: modules written in the ways people write
them, captured by the worker, and the candidates of cpu/persistent that follow from their graphs.

Usage: recurrent_graph_test.py --tool EXPERT_TOOL [--only WORD]     (HONE_UPDATE_GOLDEN=1 writes tests/golden/recurrent_graphs.json)

src/codegen/recurrent_graph_test.cpp says what each graph of the golden file has to give; here the worker must still capture graphs that
give the same. Every candidate is compared with Model in the call that was captured, with another batch, in train mode, and in calls that
take another branch: there all outputs are computed. Exit code 1 when something differs, 77 without torch.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch_python

torch_python.need_torch()
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "worker"))
import hone_card
import hone_graph
import hone_worker

GOLDEN = ROOT / "tests/golden/recurrent_graphs.json"
GRU, LSTM = "nn.GRU(8, 16)", "nn.LSTM(8, 16)"
FIRST = "nn.GRU(8, 16, batch_first=True)"
STEPS_FIRST, BATCH_FIRST = "torch.rand(12, batch, 8)", "torch.rand(batch, 12, 8)"

# name: (rnn, inputs, forward and what goes with it, further calls). `forward` alone stands for a method of Model.
CASES = {
    "unpacks_a_pair_of_states": ("nn.LSTM(8, 16, 2)", STEPS_FIRST + ", torch.rand(2, batch, 16), torch.rand(2, batch, 16)", """
    def forward(self, x, h0, c0):
        out, (h, c) = self.rnn(x, (h0, c0))
        return out, c
"""),
    "subscripts_the_result": (GRU, STEPS_FIRST, """
    def forward(self, x):
        return self.rnn(x)[0]
"""),
    "subscripts_the_result_for_the_state": (GRU, STEPS_FIRST, """
    def forward(self, x):
        return self.fc(self.rnn(x)[1][-1])
"""),
    "cell_state_of_a_nested_subscript": (LSTM, STEPS_FIRST, """
    def forward(self, x):
        return self.rnn(x)[1][1]
"""),
    "last_step_batch_first": (FIRST, BATCH_FIRST, """
    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1, :])
"""),
    "last_step_without_the_last_colon": (FIRST, BATCH_FIRST, """
    def forward(self, x):
        out, _ = self.rnn(x)
        out = self.norm(out[:, -1])
        return self.head(out)
"""),
    "last_of_the_batch_is_not_the_last_step": (GRU, STEPS_FIRST, """
    def forward(self, x):
        out, _ = self.rnn(x)
        return out[:, -1, :]
"""),
    "last_step_sequence_first": (GRU, STEPS_FIRST, """
    def forward(self, x):
        output, hidden = self.rnn(x)
        return self.fc(output[-1])
"""),
    "last_step_by_ellipsis": (FIRST, BATCH_FIRST, """
    def forward(self, x):
        y = self.rnn(x)[0]
        return y[..., -1, :]
"""),
    "last_step_by_select_after_contiguous": (FIRST, BATCH_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return y.contiguous().select(1, -1)
"""),
    "last_step_unbatched": (FIRST, "torch.rand(8 + batch, 8)", """
    def forward(self, x):
        y, _ = self.rnn(x)
        return y[-1]
"""),
    "last_step_of_both_directions": ("nn.LSTM(8, 8, 2, bidirectional=True, batch_first=True)", BATCH_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return self.fc(y[:, -1])
"""),
    "last_step_counted_from_the_front": (FIRST, BATCH_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return y[:, x.size(1) - 1] + y.narrow(1, y.size(1) - 1, 1).squeeze(1) + y[:, y.shape[1] - 1 :, :].flatten(1)
"""),
    "last_step_out_of_parts": (GRU, STEPS_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return y.split(5)[-1][-1] + y.chunk(3)[2][-1] + y.unbind(0)[-1] + y.transpose(0, 1)[:, -1] + y.permute(1, 2, 0)[..., -1]
"""),
    "last_step_over_the_length": (FIRST, BATCH_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return y[:, -1] / y.size(1) * len(y)
"""),
    "last_step_written_in_place": (GRU, STEPS_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return y[-1].mul_(2)
"""),
    "first_step": (GRU, STEPS_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return y[0] + y[-1]
"""),
    "view_of_the_sequence": (GRU, STEPS_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return y.view(x.size(0), -1)[-1]
"""),
    "head_on_all_steps_read_at_the_last": (FIRST, BATCH_FIRST, """
    def forward(self, x):
        y, _ = self.rnn(x)
        return self.fc(y)[:, -1]
"""),
    "mean_over_time_reads_all_of_it": (FIRST, BATCH_FIRST, """
    def forward(self, x):
        out, _ = self.rnn(x)
        return out.mean(dim=1)
"""),
    "shape_of_what_nobody_reads": (LSTM, STEPS_FIRST, """
    def forward(self, x):
        out, (h, c) = self.rnn(x)
        assert isinstance(h, torch.Tensor) and h.dtype == c.dtype and h.device == x.device and h.dim() == c.ndim
        return out / (h.size(0) * c.shape[2] + len(c) + h.numel())
"""),
    "a_dropped_view": (GRU, STEPS_FIRST, """
    def forward(self, x):
        out, h = self.rnn(x)
        unused = out[-1]
        return h
"""),
    "computed_and_dropped": (GRU, STEPS_FIRST, """
    def forward(self, x):
        out, h = self.rnn(x)
        attention = torch.softmax(self.fc(out), dim=0)
        return h
"""),
    "a_dropped_head": ("nn.LSTM(8, 16, batch_first=True)", BATCH_FIRST, """
    def forward(self, x):
        out, (h, c) = self.rnn(x)
        dropped = self.fc(out[:, -1, :])
        return h
"""),
    "both_concatenated": (LSTM, STEPS_FIRST, """
    def forward(self, x):
        _, (h, c) = self.rnn(x)
        return torch.cat([h[-1], c[-1]], dim=-1)
"""),
    "in_a_dict": (LSTM, STEPS_FIRST, """
    def forward(self, x):
        out, state = self.rnn(x)
        return {"last": out[-1], "state": [state[1]]}
"""),
    "zeros_as_state": (GRU, STEPS_FIRST, """
    def forward(self, x):
        h0 = torch.zeros(1, x.size(1), 16, device=x.device)
        _, h = self.rnn(x, h0)
        return h.squeeze(0)
"""),
    "state_from_a_method": (LSTM, STEPS_FIRST, """
    def init_hidden(self, batch):
        return (torch.zeros(1, batch, 16), torch.full((1, batch, 16), 0.0))

    def forward(self, x):
        out, state = self.rnn(x, self.init_hidden(x.size(1)))
        return out
"""),
    "state_in_a_buffer": (GRU, STEPS_FIRST, """
    def forward(self, x):
        return self.rnn(x, self.start.expand(1, x.size(1), 16).contiguous())[0]
"""),
    "state_and_zeros": (LSTM, STEPS_FIRST + ", torch.rand(batch, 16)", """
    def forward(self, x, h):
        return self.rnn(x, (h.unsqueeze(0), torch.zeros_like(h).unsqueeze(0)))[0]
"""),
    "state_in_a_tuple": (LSTM, STEPS_FIRST + ", (torch.rand(1, batch, 16), torch.rand(1, batch, 16))", """
    def forward(self, x, state):
        return self.rnn(x, state)[1][0]
"""),
    "state_computed": (GRU, STEPS_FIRST + ", torch.rand(1, batch, 16)", """
    def forward(self, x, h):
        return self.rnn(x, h.tanh())[1]
"""),
    "state_drawn": (GRU, STEPS_FIRST, """
    def forward(self, x):
        return self.rnn(x, torch.randn(1, x.size(1), 16))[1]
"""),
    "state_kept_in_the_module": (GRU, STEPS_FIRST, """
    def forward(self, x):
        out, h = self.rnn(x)
        self.kept = h
        return self.fc(out)
"""),
    "a_branch_on_the_given_state": (GRU, STEPS_FIRST, """
    def forward(self, x, state=None):
        if state is None:
            return self.rnn(x)[1]
        out, h = self.rnn(x, hx=state)
        return out
""", "(x, torch.rand(1, 4, 16))", "(x, None)"),
    "a_flag": (GRU, STEPS_FIRST + ", True", """
    def forward(self, x, last, factor=2.0, whole=False):
        out, h = self.rnn(x)
        return out[-1] * factor if last and not whole else (out, h)
""", "(x, False)", "(x, True, 3.0)", "(x, last=False)", "(x, True, whole=True)"),
    "a_branch_on_the_batch": (GRU, STEPS_FIRST, """
    def forward(self, x):
        out, h = self.rnn(x)
        return out[-1] if x.size(1) == 4 else out
"""),
    "a_branch_on_training": (LSTM, STEPS_FIRST, """
    def forward(self, x):
        out, (h, c) = self.rnn(x)
        return (out, c) if self.training else h
"""),
    "collected_in_a_list": (GRU, "torch.rand(3, 12, batch, 8)", """
    def forward(self, x):
        parts = []
        for i in range(3):
            out, h = self.rnn(x[i])
            parts.append(out[-1])
        return torch.stack(parts)
"""),
    "two_calls_that_differ": (GRU, STEPS_FIRST, """
    def forward(self, x):
        out, h = self.rnn(x)
        return self.rnn(x.flip(0), h)[0][-1] + h
"""),
    "handed_to_a_function": (GRU, STEPS_FIRST, """
    def forward(self, x):
        call = lambda module, *rest: module(*rest)
        return torch.relu(call(self.rnn, x)[1])
"""),
    "a_helper_method": ("nn.RNN(8, 16, nonlinearity='relu')", STEPS_FIRST, """
    def encode(self, x):
        out, h = self.rnn(x)
        return out, h

    def forward(self, x):
        out, h = self.encode(x)
        return torch.relu(h[-1])
"""),
    "called_under_two_names": (GRU, STEPS_FIRST, """
    def forward(self, x):
        return self.other(x)[1]
"""),
    "never_called": (GRU, STEPS_FIRST, """
    def forward(self, x):
        return self.fc(self.second(x)[0][-1])
"""),
    "packed": (GRU, STEPS_FIRST, """
    def forward(self, x):
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.full((x.size(1),), 9))
        _, h = self.rnn(packed)
        return h
"""),
    "an_inherited_forward": (GRU, STEPS_FIRST, """
    def forward(self, x):
        return self.rnn(x)[0]


class Base(Model):
    pass


class Model(Base):
    pass
"""),
    "a_sequential": ("nn.Sequential(nn.GRU(8, 16, batch_first=True), Last(), nn.Linear(16, 2))", BATCH_FIRST, """
    def forward(self, x):
        return self.rnn(x)
"""),
    "a_stack_in_a_list": ("nn.ModuleList([nn.GRU(8, 16), nn.GRU(16, 16)])", STEPS_FIRST, """
    def forward(self, x):
        for layer in self.rnn:
            x, h = layer(x)
        return h
"""),
    "an_encoder_and_a_decoder": ("nn.ModuleDict({'encoder': nn.LSTM(8, 16), 'decoder': nn.LSTM(8, 16)})", STEPS_FIRST + ", torch.rand(5, batch, 8)", """
    def forward(self, x, y):
        out, state = self.rnn["encoder"](x)
        out, _ = self.rnn["decoder"](y, state)
        return self.fc(out)
"""),
}

TASK = '''"""A recurrent module that is read in one way."""
import torch
import torch.nn as nn


class Last(nn.Module):
    def forward(self, pair):
        out, state = pair
        return out[:, -1]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = %s
        self.fc, self.norm, self.head = nn.Linear(16, 3), nn.LayerNorm(16), nn.Sequential(nn.Linear(16, 4), nn.ReLU())
        self.register_buffer("start", torch.rand(1, 1, 16))
%s%s

def get_inputs(batch=4):
    return [%s]


def get_init_inputs():
    return []
'''
TASKS = ("35_LSTM", "36_LSTMHn", "37_LSTMCn", "38_LSTMBidirectional", "39_GRU", "40_GRUHidden", "41_GRUBidirectional", "42_GRUBidirectionalHidden", "small_gru")
MORE = {"called_under_two_names": "        self.other = self.rnn\n", "never_called": "        self.second = nn.GRU(8, 16)\n"}
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED  " + text, flush=True)


def load(path, name):
    """A file as a module. Tasks of the repository get sequences short enough for a test."""
    module = hone_worker.load_file(str(path), name)
    if hasattr(module, "sequence_length"):
        module.sequence_length = 16
    return module


def captured(path, name):
    """What the worker reports of a task."""
    module = load(path, "hone_case_" + name)
    torch.manual_seed(1)
    model = module.Model(*module.get_init_inputs()).eval()
    card = hone_card.card(model, module.get_inputs())
    found = {"facts": {key: card[key] for key in ("module_list", "recurrent_modules")}}
    try:
        found["graph"] = hone_graph.checked(model, lambda index: module.get_inputs(), lambda: torch.manual_seed(0), 1 << 30)
        found["graph"]["note"] = ""
    except hone_graph.Declined as declined:
        found["why_no_graph"] = str(declined)
    return card, json.loads(json.dumps(found))


def answer(tool, path, folder, card, found):
    inputs = {"task": str(path), "card": card, "device": "cpu", "machine": {"cores": 2, "threads": 2, "torch": torch.__version__, "gxx": True}, **found}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "inputs.json").write_text(json.dumps(inputs))
    subprocess.run([tool, folder / "inputs.json", folder], check=True)
    return json.loads((folder / "answer.json").read_text())


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for item in (value.values() if isinstance(value, dict) else value) for leaf in leaves(item)]


def is_left_out(output):
    """Not computed, or one step that represents all."""
    return [leaf for leaf in leaves(output) if type(leaf) is not torch.Tensor or 0 in leaf.stride()] != []


def check_candidate(name, file, calls):
    """ModelNew returns what Model returns in every call, and leaves outputs out only in the captured one."""
    module = load(file, "hone_candidate_" + name)
    torch.manual_seed(2)
    model, new = (kind(*module.get_init_inputs()).eval() for kind in (module.Model, module.ModelNew))
    new.load_state_dict(model.state_dict())
    inputs = module.get_inputs()
    kinds = [("the captured call", True, lambda m: m(*inputs)), ("train mode", False, lambda m: m(*inputs))]
    if name in CASES:
        other = module.get_inputs(3)
        kinds.append(("a call with another batch", True, lambda m: m(*other)))
    kinds += [("m" + call, True, lambda m, call=call: eval("m" + call, {"m": m, "x": inputs[0], "torch": torch})) for call in calls]
    kinds += kinds[:1]
    seen = []
    for part in new.modules():
        if isinstance(part, torch.nn.RNNBase):
            part.register_forward_hook(lambda part, inputs, output: seen.append(is_left_out(output)))
    for text, evaluates, run in kinds:
        model.train(not evaluates), new.train(not evaluates)
        with torch.no_grad():
            torch.manual_seed(3)
            own = leaves(run(model))
            torch.manual_seed(3)
            seen.clear()
            got = leaves(run(new))
        same = len(own) == len(got) and all(type(b) is torch.Tensor and a.shape == b.shape and float((a - b).abs().max()) < 1e-5 for a, b in zip(own, got))
        expect(same, "%s: ModelNew differs from Model in %s" % (name, text))
        restricted = text == "the captured call" and hasattr(module.ModelNew.forward, "__wrapped__")
        expect(any(seen) == restricted, "%s: outputs are %sleft out in %s" % (name, "" if any(seen) else "not ", text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    update = bool(os.environ.get("HONE_UPDATE_GOLDEN"))
    written = {}
    warnings.filterwarnings("error", message="Hone's recurrent kernel is not used")  # a fallback to PyTorch would show nothing
    with tempfile.TemporaryDirectory() as temporary:
        os.environ.setdefault("HONE_KERNEL_CACHE", temporary + "/kernels")
        for name in (*CASES, *TASKS):
            if options.only not in name:
                continue
            folder, path, calls = pathlib.Path(temporary) / name, ROOT / "tasks" / (name + ".py"), ()
            folder.mkdir()
            if name in CASES:
                rnn, inputs, forward, *calls = CASES[name]
                path = folder / "task.py"
                path.write_text(TASK % (rnn, MORE.get(name, ""), forward, inputs))
            card, found = captured(path, name)
            fresh = answer(options.tool, path, folder / "fresh", card, found)
            written[name] = {"source": path.read_text(), **found}
            if not update:
                expect(name in golden, name + ": not in the golden file")
                known = {key: value for key, value in golden.get(name, {}).items() if key != "source"}
                kept = fresh if known == found else answer(options.tool, path, folder / "kept", card, known)
                expect(kept["plan"] == fresh["plan"], "%s: the graph gives\n  %s\nand the golden one gives\n  %s" % (name, fresh["plan"], kept["plan"]))
            offered = [proposal["file"] for proposal in fresh.get("proposals") or [] if proposal["recipe"] == "cpu/persistent"]
            expect(bool(offered) != (name == "packed"), name + ": cpu/persistent is for all but packed sequences")
            for file in offered:
                check_candidate(name, folder / "fresh" / file, calls)
            print("%-42s %s" % (name, fresh["recognised"]), flush=True)
    if update:
        written = {name: written.get(name) or golden[name] for name in (*CASES, *TASKS) if name in written or name in golden}
        GOLDEN.write_text("{\n" + ",\n".join("%s: %s" % (json.dumps(name), json.dumps(case)) for name, case in written.items()) + "\n}\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
