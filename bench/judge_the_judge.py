"""The judge judged: PyTorch against itself, many times. Every verdict should be no_difference; the spread
of vs_best is what the judge cannot see, and the figure behind the interval's fixed width.

  bench/judge_the_judge.py --hone build/release/hone --task tasks/small_gru.py --times 20 [--target cpu|cuda]
Each verdict comes from a fresh hone process, so that differences between processes count as well.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from time_to_verdict import ROOT, copy_of


GRAPH = """
class ModelNew(nn.Module):
    \"\"\"The reference captured in a CUDA graph: what the ladder's best rung is on most small tasks.\"\"\"

    def __init__(self, *arguments):
        super().__init__()
        self.__dict__["model"] = Model(*arguments)
        self.graph = None

    def state_dict(self, *args, **kwargs):
        return self.model.state_dict(*args, **kwargs)

    def load_state_dict(self, *args, **kwargs):
        return self.model.load_state_dict(*args, **kwargs)

    def _apply(self, change, *args, **kwargs):
        self.model._apply(change)
        return self

    def forward(self, *inputs):
        if self.graph is None:
            self.static = [value.clone() for value in inputs]
            for _ in range(3):
                self.model(*self.static)
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = self.model(*self.static)
        for slot, value in zip(self.static, inputs):
            slot.copy_(value)
        self.graph.replay()
        return self.out
"""


def graph_of(task, folder, number):
    path = pathlib.Path(folder) / ("graph_%d_of_%s.py" % (number, task.stem))
    path.write_text(task.read_text() + GRAPH + "\n# copy %d\n" % number)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", default=str(ROOT / "build/release/hone"))
    parser.add_argument("--task", default="tasks/small_gru.py")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--per-process", type=int, default=1, help="verdicts per hone process")
    parser.add_argument("--graph", action="store_true", help="the candidate is a CUDA graph of the reference")
    parser.add_argument("--extra", nargs="*", default=[], help="more flags for hone bench, without their dashes: sandbox=none")
    arguments = parser.parse_args()
    arguments.extra = ["--" + flag for flag in arguments.extra]
    task = ROOT / arguments.task
    ratios, verdicts, widths = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        while len(ratios) < arguments.times:
            copies = [str((graph_of if arguments.graph else copy_of)(task, folder, len(ratios) + i)) for i in range(min(arguments.per_process, arguments.times - len(ratios)))]
            done = subprocess.run([arguments.hone, "bench", str(task), *copies, "--target", arguments.target, "--json", "--no-save", "--again", "--compile", "never", *arguments.extra],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if not done.stdout:
                raise SystemExit(done.stderr)
            for line in done.stdout.splitlines():
                record = json.loads(line)
                verdicts.append(record["verdict"])
                speed = record["speedup"] or {"vs_best": float("nan"), "vs_eager": float("nan"), "ci95": [0, 0]}
                ratios.append(speed["vs_best"])
                low, high = speed["ci95"]
                widths.append(high - low)
                print("%-14s vs_eager %.4f  vs_best %.4f of %-10s interval %.3f to %.3f  %s" % (
                    record["verdict"], speed["vs_eager"], speed["vs_best"], speed.get("best_baseline"), low, high, record["detail"][:80]), flush=True)
    print("%s on %s: %d of %d no_difference; vs_best median %.4f, from %.4f to %.4f, standard deviation %.4f; interval width median %.4f" % (
        task.stem, arguments.target, verdicts.count("no_difference"), len(verdicts), statistics.median(ratios), min(ratios), max(ratios),
        statistics.pstdev(ratios), statistics.median(widths)))


if __name__ == "__main__":
    main()
