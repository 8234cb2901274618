"""Records what prompt_golden_test.cpp plays: for each class of task a short run of `hone optimize` with the real judge on a CPU, over
replies that are written down here. Of a run the context, the replies and the verdicts are kept; what names the machine is not.

Usage: record_prompt_runs.py --hone BINARY [--only WORD] [--tries N]

A run in which the machine was too busy for a verdict is made again, at most N times in all (3).

Then: HONE_UPDATE_GOLDEN=1 build/release/tests/hone_prompt_golden_test, and read what changed in prompts/.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))


def example(page):
    """The complete example that Hone's own knowledge shows for a CPU."""
    import knowledge_house

    return knowledge_house.example(page, "cpu")


def task(text):
    return "import torch\nimport torch.nn as nn\n\n\n" + textwrap.dedent(text).strip() + "\n"


def reply(words, source):
    return "%s\n```python\n%s\n```\n" % (words, source.strip())


TASKS = {
    "attention": task("""
        class Model(nn.Module):
            def forward(self, q, k, v):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


        def get_inputs():
            return [torch.randn(2, 4, 256, 64) for _ in range(3)]


        def get_init_inputs():
            return []
        """),
    "conv": task("""
        class Model(nn.Module):
            def __init__(self, channels):
                super().__init__()
                self.conv = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
                self.bn = nn.BatchNorm2d(channels)

            def forward(self, x):
                return torch.relu(self.bn(self.conv(x)))


        def get_inputs():
            return [torch.randn(4, 32, 56, 56)]


        def get_init_inputs():
            return [32]
        """),
    "elementwise": task("""
        class Model(nn.Module):
            def __init__(self, columns):
                super().__init__()
                self.bias = nn.Parameter(torch.zeros(columns))

            def forward(self, x, g):
                return torch.tanh(x + self.bias) * torch.sigmoid(g)


        def get_inputs():
            return [torch.randn(512, 1024), torch.randn(512, 1024)]


        def get_init_inputs():
            return [1024]
        """),
    "gemm": task("""
        class Model(nn.Module):
            def __init__(self, inputs, outputs):
                super().__init__()
                self.linear = nn.Linear(inputs, outputs)

            def forward(self, x):
                return torch.relu(self.linear(x))


        def get_inputs():
            return [torch.randn(256, 512)]


        def get_init_inputs():
            return [512, 512]
        """),
    "norm": task("""
        class Model(nn.Module):
            def __init__(self, columns):
                super().__init__()
                self.norm = nn.LayerNorm(columns)

            def forward(self, x):
                return self.norm(x)


        def get_inputs():
            return [torch.randn(512, 768)]


        def get_init_inputs():
            return [768]
        """),
    "recurrent": (ROOT / "tasks" / "small_gru.py").read_text(),
    "reduction": (ROOT / "tasks" / "small_softmax.py").read_text(),
    "scan": task("""
        class Model(nn.Module):
            def forward(self, x):
                return torch.cumsum(x, dim=-1)


        def get_inputs():
            return [torch.randn(256, 4096)]


        def get_init_inputs():
            return []
        """),
}

BY_HAND = {
    "attention": """
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        scores = torch.matmul(q * q.shape[-1] ** -0.5, k.transpose(-2, -1))
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        return torch.matmul(torch.softmax(scores.masked_fill_(later, float("-inf")), dim=-1), v)
""",
    "conv": """
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        scale = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)
        weight = self.conv.weight * scale[:, None, None, None]
        bias = self.bn.bias - self.bn.running_mean * scale
        return torch.relu_(torch.nn.functional.conv2d(x, weight, bias, padding=1, groups=x.shape[1]))
""",
    "gemm": """
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x):
        return torch.addmm(self.linear.bias, x, self.linear.weight.t()).relu_()
""",
    "recurrent": """
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        states = []
        for layer in range(self.gru.num_layers):
            w_ih, w_hh, b_ih, b_hh = self.gru._flat_weights[4 * layer : 4 * layer + 4]
            gates, h, outputs = torch.nn.functional.linear(x, w_ih, b_ih), h0[layer], []
            for step in gates:
                r_i, z_i, n_i = step.chunk(3, 1)
                r_h, z_h, n_h = torch.nn.functional.linear(h, w_hh, b_hh).chunk(3, 1)
                z = torch.sigmoid(z_i + z_h)
                n = torch.tanh(n_i + torch.sigmoid(r_i + r_h) * n_h)
                h = (1 - z) * n + z * h
                outputs.append(h)
            x = torch.stack(outputs)
            states.append(h)
        return x, torch.stack(states)
""",
    "reduction": """
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        exps = torch.exp(x - torch.amax(x, dim=1, keepdim=True))
        return exps / exps.sum(dim=1, keepdim=True)
""",
}


def analysis(method, plan, kind, loop):
    return json.dumps({
        "worth_optimizing": True, "reason": "it is slower than eager PyTorch", "bottleneck": "launches of small operators", "optimisation_method": method,
        "modification_plan": plan, "expected_speedup": 3, "implementation_complexity": "medium", "kernel_type": kind, "time_loop": loop,
    })  # fmt: skip


def replies_of(name):
    """Replies by the key of their call, and how many seeds there are."""
    first = "One pass over the data in a C++ kernel."
    if name == "elementwise":
        wrong = example(name).replace("std::exp(-g[at])", "std::exp(g[at])")
        return {"seed0": reply(first, wrong), "seed0.repair1": reply("The sign of the exponent was wrong.", example(name))}, 1
    if name == "norm":
        return {"seed0": reply(first, example(name).replace("/ columns", "/ (columns - 1)"))}, 1
    if name == "scan":
        return {"seed0": reply(first, example(name))}, 1
    if name == "reduction":
        plan = analysis("one pass that keeps a running maximum and sum", "a C++ kernel, a row per thread", "reduction", "none")
        return {"seed0": reply("Three operators.", BY_HAND[name]), "seed0.analysis": plan, "seed0.algorithm": reply(first, example(name))}, 1
    if name == "recurrent":
        plan = analysis("one persistent kernel", "the time loop inside one C++ call for all layers", "persistent_recurrent", "inside_kernel")
        unrolled = BY_HAND[name].replace("h = (1 - z) * n + z * h", "h = torch.lerp(h, n, z)")
        return {"seed0": reply("Gates by hand.", BY_HAND[name]), "seed0.analysis": plan, "seed0.algorithm": reply("Fewer operators a step.", unrolled)}, 1
    found = {"seed0": reply(first, example(name))}
    if name in BY_HAND:
        found["seed1"] = reply("The library's own operators, with less around them.", BY_HAND[name])
    return found, len(found)


PROPOSER = """
import json, os, sys
replies = json.load(open(sys.argv[1]))
sys.stdin.read()
print(replies.get(os.environ["HONE_CALL_KEY"], "nothing more"))
"""

# Of the context and of a verdict: what prompts can depend on. Machines are named by no file of the repository.
CONTEXT = ("card", "facts", "device", "machine", "best_rung", "best_us")
RECORD = ("verdict", "kind", "reason", "detail", "speedup", "error", "gates", "launches")


def record(hone, name):
    """True if the judge settled every candidate."""
    replies, seeds = replies_of(name)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / (name + ".py")).write_text(TASKS[name])
        (folder / "replies.json").write_text(json.dumps(replies))
        (folder / "proposer.py").write_text(PROPOSER)
        command = "%s %s %s" % (sys.executable, folder / "proposer.py", folder / "replies.json")
        repairs = sum(".repair" in key for key in replies)
        words = ["optimize", str(folder / (name + ".py")), "--proposer", "exec:" + command, "--target", "cpu", "--compile", "never", "--baselines", "eager",
                 "--trials", "5", "--seeds", str(seeds), "--repairs", str(repairs), "--no-tuning", "--max-calls", str(len(replies)),
                 "--out", str(folder / "run"), "-q"]  # fmt: skip
        if "seed0.analysis" not in replies:
            words.append("--no-analysis")
        env = {**os.environ, "HONE_DATA": str(folder / "data")}
        done = subprocess.run([hone, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode not in (0, 1):
            sys.exit("%s: exit code %d\n%s" % (name, done.returncode, done.stdout))
        store = sqlite3.connect(folder / "data" / "hone.db")
        context = json.loads(store.execute("SELECT card FROM run").fetchone()[0])
        rows = store.execute("SELECT key, source, json FROM candidate WHERE key != 'zero' ORDER BY key").fetchall()
    context = {part: context[part] for part in CONTEXT if part in context}
    context["name"] = context["device"]["name"] = "CPU of the golden runs"
    if isinstance(context.get("machine"), dict):
        context["machine"] = {"device": "cpu"}
    context["facts"] = {}
    candidates = []
    for key, source, verdict in rows:
        verdict = json.loads(verdict)
        kept = {part: verdict[part] for part in RECORD if part in verdict}
        kept["provenance"] = {"target": verdict["provenance"]["target"]}
        kept["measurement"] = {"profile": (verdict.get("measurement") or {}).get("profile")}
        candidates.append({"key": key, "source": source, "record": kept})
        print("%s %s: %s, %s %s" % (name, key, verdict["verdict"], verdict["reason"], verdict.get("detail", "")[:100]), flush=True)
    settled = all(one["record"]["verdict"] != "inconclusive" for one in candidates)
    story = {"task": TASKS[name], "seeds": seeds, "context": context, "replies": replies, "candidates": candidates}
    (HERE / "prompt_runs").mkdir(exist_ok=True)
    (HERE / "prompt_runs" / (name + ".json")).write_text(json.dumps(story, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return settled


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--tries", type=int, default=3)
    options = parser.parse_args()
    hone = str(pathlib.Path(options.hone).resolve())
    for name in TASKS:
        if options.only in name and not any(record(hone, name) for _ in range(options.tries)):
            print("%s: the machine was too busy; the last run is kept" % name, flush=True)


if __name__ == "__main__":
    main()
