"""The CPU table of recurrent tasks: Hone's cpu/persistent candidate against PyTorch at its best number of threads.

  bench/recurrent_cpu.py [--tasks 39,40,41,42,35,36,37,38,34] [--seconds 18]

Each side lives in a process of its own and is stopped while the other one runs, so that neither's idle threads cost the other anything.
Calls alternate in random order; the ratio is the median over rounds, its interval a paired bootstrap over them. Peak is what a loop of
fused multiply-adds in registers reaches here (Hone's own, of which its floors are made), on one core and on all; the floor is the task's FLOPs at that peak,
also per step of the serial chain (steps x layers; both directions run side by side). Before it is timed, a candidate is compared with
float64: its error must not exceed twice PyTorch's own. The verdict that counts is `hone bench`; this prints what it rests on.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
from expert_test import propose  # noqa: E402

TASKS = "39,40,41,42,35,36,37,38,34"
# Hone's own measurement (src/evaluation/fma_peak.cpp), as a program.
PEAK = r"""
#include <cstdio>
#include <cstdlib>
#include "evaluation/fma_peak.h"
int main(int, char** argv) { std::printf("%.3f\n", hone::MeasureFmaPeak(std::atoi(argv[1])).at("float32") / 1e9); }
"""
# One side: answers "threads N" and "call N" (seconds for N calls) on its pipes, and "errors" with relative errors per output.
SIDE = r"""
import importlib.util, sys, time
import torch

def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module

task, path = load(sys.argv[1], "task"), sys.argv[2]
torch.manual_seed(7)
init = task.get_init_inputs()
reference = (task.Model(**init) if isinstance(init, dict) else task.Model(*init)).eval()
inputs = task.get_inputs()
model = reference
if path:
    made = load(path, "candidate").ModelNew
    model = (made(**init) if isinstance(init, dict) else made(*init)).eval()
    model.load_state_dict(reference.state_dict())

def flat(out):
    return [t for part in out for t in flat(part)] if isinstance(out, (tuple, list)) else [out]

def error(of, truth):
    return max(float((a.double() - b).norm() / b.norm().clamp_min(1e-30)) for a, b in zip(of, truth))

with torch.no_grad():
    print("ready", flush=True)
    for line in sys.stdin:
        word, number = (line.split() + ["0"])[:2]
        if word == "threads":
            torch.set_num_threads(int(number))
            model(*inputs)
            print("ok", flush=True)
        elif word == "call":
            begin = time.perf_counter()
            for _ in range(int(number)):
                model(*inputs)
            print(time.perf_counter() - begin, flush=True)
        elif word == "errors":
            torch.manual_seed(11)
            own, torchs = flat(model(*inputs)), None
            torch.manual_seed(11)
            torchs = flat(reference(*inputs))
            torch.manual_seed(11)
            truth = flat(reference.double()(*(t.double() if torch.is_tensor(t) and t.is_floating_point() else t for t in inputs)))
            reference.float()
            print(error(own, truth), error(torchs, truth), flush=True)
"""


class Side:
    def __init__(self, python, task, candidate, env):
        self.process = subprocess.Popen([python, "-c", SIDE, str(task), str(candidate or "")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit("%s: %s does not run" % (task, candidate or "the task"))

    def ask(self, words):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        self.process.send_signal(signal.SIGSTOP)
        if not answer:
            raise SystemExit("a side ended while it was asked to " + words)
        return answer

    def call(self, count):
        return float(self.ask("call %d" % count)[0]) / count

    def end(self):
        self.process.kill()
        self.process.wait()


def peak(folder, threads):
    """GFLOP/s of fused multiply-adds on so many threads, the best of three."""
    source, program, hone = folder / "peak.cpp", folder / "peak", ROOT / "src"
    if not program.exists():
        source.write_text(PEAK)
        subprocess.run(["g++", "-std=c++20", "-O2", "-I", str(hone), "-pthread", str(source), str(hone / "evaluation/fma_peak.cpp"), "-o", str(program)], check=True)
    return max(float(subprocess.run([str(program), str(threads)], stdout=subprocess.PIPE, text=True, check=True).stdout) for _ in range(3))


def interval(top, bottom):
    """The ratio of medians with its 95% interval, rounds resampled in pairs."""
    rng = random.Random(1)
    found = []
    for _ in range(2000):
        picks = [rng.randrange(len(top)) for _ in top]
        found.append(statistics.median(top[i] for i in picks) / statistics.median(bottom[i] for i in picks))
    found.sort()
    return statistics.median(top) / statistics.median(bottom), found[50], found[1949]


def chain(inputs):
    """(steps, layers) of the serial chain."""
    modules = [m for m in inputs["facts"].get("recurrent_modules") or [] if m.get("calls")]
    if modules:
        module = modules[0]
        return module["input_shape"][1 if module.get("batch_first") else 0], module["num_layers"]
    shape = inputs["card"]["inputs"][0]["shape"]
    return max(shape[:2]), 1


def best_threads(side, cores):
    times = {}
    for threads in range(1, cores + 1):
        side.ask("threads %d" % threads)
        times[threads] = min(side.call(1) for _ in range(2))
    best = min(times, key=times.get)
    side.ask("threads %d" % best)
    return best


def measure(options, task, folder, env, cores, peaks):
    answer = propose(options, task.stem, task, folder)
    files = {proposal["recipe"]: folder / proposal["file"] for proposal in answer.get("proposals") or []}
    if "cpu/persistent" not in files:
        return "| %s | not offered: %s |" % (task.stem, [d["why"] for d in answer["declined"] if d["recipe"] == "cpu/persistent"]), False
    inputs = json.loads((folder / "inputs.json").read_text())
    sides = [Side(options.python, task, None, env), Side(options.python, task, files["cpu/persistent"], env)]
    try:
        sides[1].ask("threads %d" % cores)
        own, torchs = map(float, sides[1].ask("errors"))
        if own > 2 * torchs + 1e-6:
            return "| %s | WRONG: error %.1e where PyTorch's is %.1e |" % (task.stem, own, torchs), False
        threads = best_threads(sides[0], cores)
        counts = [max(1, round(0.05 / side.call(1))) for side in sides]
        rng, times, deadline = random.Random(0), ([], []), time.monotonic() + options.seconds
        while len(times[0]) < 5 or (time.monotonic() < deadline and len(times[0]) < 60):
            for index in rng.sample((0, 1), 2):
                times[index].append(sides[index].call(counts[index]))
    finally:
        for side in sides:
            side.end()
    ratio, low, high = interval(times[0], times[1])
    flops, (steps, layers) = inputs["card"]["flops"], chain(inputs)
    seconds = statistics.median(times[1])
    floor = flops / (peaks[cores] * 1e9)
    return "| %s | %.1f ms (%d) | %.2f ms | **%.2fx** [%.2f, %.2f] | %.0f | %.0f %% | %.2f ms | %.2f us x %d x %d | %.1e (%.1e) | %d |" % (
        task.stem, 1e3 * statistics.median(times[0]), threads, 1e3 * seconds, ratio, low, high, flops / seconds / 1e9,
        100 * flops / seconds / 1e9 / peaks[cores], 1e3 * floor, 1e6 * floor / (steps * layers), steps, layers, own, torchs, len(times[0])), True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=TASKS, help="numbers of tasks")
    parser.add_argument("--seconds", type=float, default=18, help="of interleaved calls per task, at the most")
    parser.add_argument("--tool", default=str(ROOT / "build/release/tests/hone_expert_tool"))
    parser.add_argument("--python", default=str(pathlib.Path.home() / ".local/share/hone/python/bin/python3"))
    options = parser.parse_args()
    options.device = "cpu"
    cores = len(os.sched_getaffinity(0))
    began, good = time.monotonic(), True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # One folder for kernels: the source is the same for all tasks, so that it is compiled once.
        env = dict(os.environ, HONE_KERNEL_CACHE=str(folder / "kernels"), PYTHONWARNINGS="error::RuntimeWarning")
        peaks = {}
        for threads in sorted({1, cores}):
            peaks[threads] = peak(folder, threads)
        print("FMA peak, float32: %.0f GFLOP/s on one core, %.0f on %d; load %.1f\n" % (peaks[1], peaks[cores], cores, os.getloadavg()[0]))
        print("| task | PyTorch (threads) | Hone | ratio [95 %] | GFLOP/s | of peak | floor | floor per step x steps x layers | error (PyTorch's) | rounds |")
        print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for number in options.tasks.split(","):
            task = next(iter(sorted(ROOT.glob("tasks/%s_*.py" % number))), None)
            if task is None:
                raise SystemExit("there is no task " + number)
            at = folder / task.stem
            at.mkdir()
            line, fine = measure(options, task, at, env, cores, peaks)
            good &= fine
            print(line, flush=True)
    print("\n%.0f s in all, load %.1f at the end" % (time.monotonic() - began, os.getloadavg()[0]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
