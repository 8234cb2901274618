"""The GPU table of recurrent tasks: what `hone optimize` finds with the expert alone, judged by Hone's own judge against PyTorch's best.

  bench/recurrent_gpu.py [--tasks 39,40,35,36,37,41,42,38,34,33] [--compile never|auto|always] [--hone BINARY] [--json FILE]

Every row is a verdict of the judge: blocks of the candidate and of every rung alternate in one run, and the ratio comes with its interval. A step is the
kernel's time over its serial chain: steps + layers - 1 where layers run as a wavefront, steps x layers where both directions of a layer must be
done before the next. The floor is that chain at the least a step can take inside a cluster: waiting for the peers' states, the dependent products, the
gates and one push, about 0.5 us (docs/RECIPES.md). 33 has no chain; its floor is three products at the rate of the tensor cores.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TASKS = "39,40,35,36,37,41,42,38,34,33"
STEP_FLOOR_US = 0.5
SPLIT_GEMM_FLOOR_US = 1310.0  # 1.03 TFLOP at 790 TFLOP/s
CHAINS = {"39": (512, 6, False), "40": (512, 6, False), "35": (512, 6, False), "36": (512, 6, False), "37": (512, 6, False), "41": (512, 6, True), "42": (512, 6, True), "38": (512, 6, True), "34": (256, 1, False)}  # fmt: skip


def chain_of(number):
    """(serial steps, how they come about), or None."""
    if number not in CHAINS:
        return None
    steps, layers, both = CHAINS[number]
    return (steps * layers, "%d x %d" % (steps, layers)) if both else (steps + layers - 1, "%d + %d" % (steps, layers - 1))


def row(number, task, one):
    chain = chain_of(number)
    us = one["candidate_us"]
    if chain:
        step, floor = "%.2f us x (%s)" % (us / chain[0], chain[1]), STEP_FLOOR_US * chain[0]
    else:
        step, floor = "-", SPLIT_GEMM_FLOOR_US
    return "| %s | %s | %s %.1fx (%.1f to %.1f) | %.0fx | %.0f us | %s | %.0f us | %.1e / %.1e |" % (
        task, one["key"].replace(".", "/", 1), one["verdict"], one["vs_best"], *one["ci95"], one["vs_eager"], us, step, floor, one["error"], one["limit"])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=TASKS, help="numbers of tasks")
    parser.add_argument("--compile", default="auto", choices=("never", "auto", "always"), help="torch.compile as a baseline")
    parser.add_argument("--hone", default=str(ROOT / "build/release/hone"))
    parser.add_argument("--json", help="keep the runs' own records here")
    options = parser.parse_args()
    began, kept, good = time.monotonic(), {}, True
    print("| task | recipe | verdict, vs_best (95%) | vs_eager | time | a step x its chain | floor | error / limit |\n|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, XDG_DATA_HOME=os.path.join(folder, "data"))
        for number in options.tasks.split(","):
            task = next(iter(sorted(ROOT.glob("tasks/%s_*.py" % number))), None)
            if task is None:
                raise SystemExit("there is no task " + number)
            judged = "2" if number == "39" else "1"  # 39 at float32 level as well
            words = [options.hone, "optimize", str(task), "--again", "--target", "cuda", "--judge-at-most", judged, "--compile", options.compile, "--json", "-q", "--out", os.path.join(folder, task.stem)]
            done = subprocess.run(words, env=env, capture_output=True, text=True)
            if done.returncode not in (0, 1):
                print("%s: %s" % (task.stem, done.stderr.strip()[-500:]), file=sys.stderr)
                return done.returncode
            run = kept[task.stem] = json.loads(done.stdout)
            own = [c for c in run["candidates"] if c["key"].startswith("cuda.") and c["vs_best"] > 0 and c["candidate_us"] > 0]
            good &= bool(own) and all(c["verdict"] == "accepted" for c in own)
            for one in own:
                print(row(number, task.stem, one), flush=True)
            if not own:
                print("| %s | %s |" % (task.stem, run["outcome"]), flush=True)
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps(kept))
    device = next(iter(kept.values()))["device"] if kept else "no device"
    print("\n%s, %.0f s in all, torch.compile: %s" % (device, time.monotonic() - began, options.compile))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
