"""Tests the embedded expert with the real judge: every proposal for a few small tasks must be right. It need not be faster. Also
tests recognition on the worker's real reports.

Every candidate is linted, and run alone as a user would run it (its own check against Model must agree). The judge takes most of
the time, because it compiles every candidate again in its sandbox. It therefore gets each library recipe on two tasks and the
recurrent recipe on one task of each form; recurrent_cpu_test.py tests the kernel behind all of them. --all judges everything.

Usage: expert_test.py --hone BINARY --tool EXPERT_TOOL [--python INTERPRETER-WITH-TORCH] [--device cuda] [--only WORD] [--all]
[--keep FOLDER] [TASK...]
Prints one line per verdict; exit code 1 when any was not allowed, 77 without torch.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import runtime_text

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEAD = """import torch
import torch.nn as nn
"""
TASKS = {
    "small_gru": (ROOT / "tasks/small_gru.py", {"cpu/persistent", "library/cpu_jit_freeze"}),
    "gemm": (ROOT / "tasks/small_gemm_bias_relu.py", {"library/cpu_packed_weights", "library/cpu_jit_freeze"}),
    "norm": (ROOT / "tasks/small_layer_norm.py", {"library/cpu_jit_freeze", "cpu/fused_graph"}),
    "stateful": (ROOT / "tests/adversarial/tasks/stateful.py", set()),
    "cnn": (HEAD + """
class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)

class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(inplace=True))
        self.blocks = nn.Sequential(Block(channels), Block(channels))
        self.head = nn.Linear(channels, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean(dim=(2, 3)))

def get_inputs():
    return [torch.rand(2, 3, 32, 32)]

def get_init_inputs():
    return [32]
""", {"library/folded_channels_last", "library/cpu_jit_freeze"}),
    "lstm_last": (HEAD + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(20, 36, 2, batch_first=True)
        self.fc = nn.Linear(36, 5)

    def forward(self, x):
        out, state = self.lstm(x)
        dropped = self.fc(out[:, 0])
        return self.fc(out[:, -1, :]), state[1]

def get_inputs():
    return [torch.rand(3, 25, 20)]

def get_init_inputs():
    return []
""", {"cpu/persistent"}),
    "lstm_projected": (HEAD + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(20, 36, 2, proj_size=12, bidirectional=True)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return out, h, c

def get_inputs():
    return [torch.rand(25, 3, 20)]

def get_init_inputs():
    return []
""", {"cpu/persistent"}),
    "bidirectional": (HEAD + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(16, 24, 2, bidirectional=True)

    def forward(self, x):
        out, h = self.rnn(x)
        return torch.cat((h[-2], h[-1]), dim=1)

def get_inputs():
    return [torch.rand(18, 5, 16)]

def get_init_inputs():
    return []
""", {"cpu/persistent"}),
    "loop": (HEAD + """
class Model(nn.Module):
    def __init__(self, features, hidden, out):
        super().__init__()
        self.i2h = nn.Linear(features + hidden, hidden)
        self.h2o = nn.Linear(hidden, out)

    def forward(self, x, h0):
        hidden = h0
        outputs = []
        for t in range(x.size(1)):
            hidden = torch.tanh(self.i2h(torch.cat((x[:, t], hidden), dim=1)))
            outputs.append(self.h2o(hidden))
        return torch.stack(outputs, dim=1), hidden

def get_inputs():
    return [torch.rand(4, 30, 40), torch.rand(4, 24)]

def get_init_inputs():
    return [40, 24, 12]
""", {"cpu/persistent"}),
    "split_loop": (HEAD + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.ih, self.hh = nn.Linear(12, 20), nn.Linear(20, 20)

    def forward(self, x):
        h = torch.zeros(x.size(1), 20)
        ys = []
        for x_t in x:
            h = torch.relu(self.ih(x_t) + self.hh(h))
            ys.append(h)
        return torch.stack(ys)

def get_inputs():
    return [torch.rand(20, 4, 12)]

def get_init_inputs():
    return []
""", {"cpu/persistent"}),
    "lstm_cell_loop": (HEAD + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(12, 20)
        self.out = nn.Linear(20, 7)

    def forward(self, x, h, c):
        ys = []
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
            ys.append(self.out(h))
        return torch.stack(ys), c

def get_inputs():
    return [torch.rand(20, 4, 12), torch.rand(4, 20), torch.rand(4, 20)]

def get_init_inputs():
    return []
""", {"cpu/persistent"}),
    "gru_cell_last": (HEAD + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(12, 20, bias=False)

    def forward(self, x):
        h = torch.zeros(x.size(0), 20)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t, :], h)
        return h

def get_inputs():
    return [torch.rand(4, 20, 12)]

def get_init_inputs():
    return []
""", {"cpu/persistent"}),
}

# The same form of task as another one that is judged.
LIKE_OTHERS = {"lstm_projected", "bidirectional", "split_loop", "gru_cell_last"}
MOST_DIFFERENCE = 1e-5  # between Model and ModelNew in the candidate's own check, both in float32

# Runs in the interpreter with torch, one process for all tasks: what ReferenceSession would pass to the expert.
FACTS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch, hone_card, hone_graph, hone_worker
for number, path in enumerate(sys.argv[2:]):
    module = hone_worker.load_file(path, "hone_task%d" % number)
    init = module.get_init_inputs()
    model = (module.Model(**init) if isinstance(init, dict) else module.Model(*init)).eval()
    card = hone_card.card(model, module.get_inputs())
    facts = {name: card[name] for name in ("module_list", "recurrent_modules")}
    found = {"card": card, "facts": facts, "torch": torch.__version__}
    # A capture takes seconds; fused kernels have tests of their own.
    if path.endswith("small_layer_norm.py") or any(not fact["cell"] for fact in card["recurrent_modules"]):
        found["graph"] = hone_graph.checked(model, lambda index: module.get_inputs(), lambda: torch.manual_seed(0), 1 << 30)
    print(json.dumps(found))
"""
# Runs every candidate's own check in one interpreter. Prints a line of JSON for each: its output and its error.
ALONE = """
import contextlib, io, json, runpy, sys, traceback
for path in sys.argv[1:]:
    said, problem = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(path, run_name="__main__")
    except BaseException:
        problem = traceback.format_exc()[-600:]
    print(json.dumps({"said": said.getvalue(), "problem": problem}), flush=True)
"""


def run(command, **more):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def facts_of(options, tasks):
    """What the worker reports of each task."""
    found = run([options.python, "-c", FACTS, ROOT / "worker", *tasks])
    lines = found.stdout.splitlines()
    if found.returncode != 0 or len(lines) < len(tasks):
        raise SystemExit("%s does not run:\n%s" % (tasks[min(len(lines), len(tasks) - 1)], found.stderr[-2000:]))
    return [json.loads(line) for line in lines[-len(tasks):]]


def propose(options, name, task, folder, found=None):
    """Writes the proposals of one task; returns the expert's answer."""
    found = found or facts_of(options, [task])[0]
    cores = len(os.sched_getaffinity(0))
    inputs = {
        "task": str(task), "card": found["card"], "facts": found["facts"], "device": options.device,
        "ceilings": {"memory_bytes_per_s": 1e10, "float32_flops_per_s": 5e10},
        "machine": {"cores": cores, "threads": cores, "torch": found["torch"], "has_compile": False, "gxx": True,
                    "sm": 90, "tf32_allowed": False},
    }
    if "graph" in found:
        inputs["graph"] = found["graph"]
    (folder / "inputs.json").write_text(json.dumps(inputs))
    made = run([options.tool, folder / "inputs.json", folder])
    if made.returncode != 0:
        raise SystemExit("%s: the expert failed: %s" % (name, made.stderr))
    return json.loads((folder / "answer.json").read_text())


def before_judging(options, candidates, kernels):
    """The error in each file before it is judged, or None. Kernels are compiled once, into a folder of the test."""
    wrong = {}
    for path in candidates:
        lint = run([options.hone, "lint", path])
        if lint.returncode != 0 or ": warning:" in lint.stdout:
            wrong[path] = "lint: " + lint.stdout[-600:]
    alone = run([options.python, "-c", ALONE, *candidates], env={**os.environ, "PYTHONWARNINGS": "ignore", "HONE_KERNEL_CACHE": str(kernels)})
    answers = [json.loads(line) for line in alone.stdout.splitlines()]
    for index, path in enumerate(candidates):
        answer = answers[index] if index < len(answers) else {"said": "", "problem": "the interpreter ended: " + alone.stderr[-600:]}
        differences = [float(line.split()[-1]) for line in answer["said"].splitlines() if "relative difference to Model" in line]
        if answer["problem"]:
            wrong.setdefault(path, "its own __main__ fails: " + answer["problem"])
        elif not differences or not max(differences) <= MOST_DIFFERENCE:
            wrong.setdefault(path, "its own check does not agree: " + answer["said"][-600:])
    return wrong


def judge(options, task, candidates):
    """One (problem or None, verdict line) per candidate."""
    # Whether a candidate is right does not depend on its speed.
    command = [options.hone, "bench", task, *candidates, "--json", "--no-save", "--again", "--check-only", "--target", options.device, "--python", options.python]
    bench = run(command)
    lines = bench.stdout.splitlines()
    for index in range(len(candidates)):
        if index >= len(lines):
            yield "no verdict: " + bench.stderr[-600:], "no verdict"
            continue
        verdict = json.loads(lines[index])
        speedup, error = verdict.get("speedup") or {}, verdict.get("error") or {}
        line = "%s (%s), kind %s, vs_best %s, error %s of %s" % (
            verdict["verdict"], verdict.get("reason", ""), verdict.get("kind"),
            *("%.3g" % value if isinstance(value, (int, float)) else "-"
              for value in (speedup.get("vs_best"), error.get("candidate"), error.get("limit"))),
        )
        fine = verdict.get("reason") == "speed-not-judged"  # right, and nothing was timed
        yield (None if fine else verdict.get("detail", "")), line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--python", default=str(pathlib.Path.home() / ".local/share/hone/python/bin/python"))
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--only", default="", help="tasks or recipes whose name contains this")
    parser.add_argument("--all", action="store_true", help="judge library recipes on every task, not on two")
    parser.add_argument("--keep", help="write the proposals here and leave them")
    parser.add_argument("tasks", nargs="*", help="task files instead of the built-in ones")
    options = parser.parse_args()
    if run([options.python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"]).returncode != 0:
        print("no torch in " + options.python)
        return 77
    tasks = {pathlib.Path(path).stem: (pathlib.Path(path).resolve(), set()) for path in options.tasks} or TASKS
    failed, judged = 0, {}
    with tempfile.TemporaryDirectory() as temporary:
        folders, paths = {}, {}
        for name, (source, _) in tasks.items():
            folders[name] = pathlib.Path(options.keep or temporary) / name
            folders[name].mkdir(parents=True, exist_ok=True)
            paths[name] = source
            if isinstance(source, str):
                paths[name] = folders[name] / "task.py"
                paths[name].write_text('"""A task of the expert\'s own test."""\n' + source)
        facts = dict(zip(tasks, facts_of(options, list(paths.values()))))
        chosen = {}
        for name, (_, expected) in tasks.items():
            answer = propose(options, name, paths[name], folders[name], facts[name])
            print("%s: %s" % (name, answer["recognised"]), flush=True)
            offered = {proposal["recipe"] for proposal in answer.get("proposals") or []}
            if options.device == "cpu" and not expected <= offered:
                failed += 1
                print("FAILED  %s: not offered: %s; declined: %s" % (name, expected - offered, answer.get("declined")))
            chosen[name] = [p for p in answer.get("proposals") or [] if options.only in "%s %s" % (name, p["recipe"])]
        files = [folders[name] / p["file"] for name in tasks for p in chosen[name]]
        runtime = runtime_text.runtime_text(runtime_text.CPU)
        for path in (path for path in files if path.stem == "cpu_persistent" and runtime not in path.read_text()):
            failed += 1
            print("FAILED  %s: its runtime is not the one that runtime_text.py puts together" % path)
        broken = before_judging(options, files, pathlib.Path(temporary) / "kernels")
        print("%d candidates linted and run alone, %d of them not right" % (len(files), len(broken)), flush=True)
        for name in tasks:
            at = folders[name]
            wanted = [p for p in chosen[name] if at / p["file"] not in broken]
            if not options.all:
                wanted = [p for p in wanted if (judged.get(p["recipe"], 0) < 2 if p["recipe"].startswith("library/") else name not in LIKE_OTHERS)]
            for proposal in wanted:
                judged[proposal["recipe"]] = judged.get(proposal["recipe"], 0) + 1
            verdicts = dict(zip([p["file"] for p in wanted], judge(options, paths[name], [at / p["file"] for p in wanted]))) if wanted else {}
            for proposal in chosen[name]:
                problem, line = verdicts.get(proposal["file"], (broken.get(at / proposal["file"]), "not judged"))
                failed += problem is not None
                if problem is not None or proposal["file"] in verdicts:
                    print("%s  %s %s: %s%s" % ("ok" if problem is None else "FAILED", name, proposal["recipe"], line,
                                               "" if problem is None else "\n" + problem), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
