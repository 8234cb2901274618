"""Time to verdict: how long the judge takes for a task's first and second candidate, and how much of it is
Hone's own (everything but the reference's and the candidate's compute, imports and compilers).

  bench/time_to_verdict.py --hone build/release/hone [--target cpu|cuda] [--tasks small_gemm_bias_relu 39_GRU]
The candidate is the reference itself under another name, the slowest honest case to judge: nothing is
rejected early, and it is never faster.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def copy_of(task, folder, number):
    """The task's own module as ModelNew."""
    source = re.sub(r"\bModel\b", "ModelNew", task.read_text())
    path = pathlib.Path(folder) / ("copy_%d_of_%s.py" % (number, task.stem))
    path.write_text(source + "\n# copy %d\n" % number)
    return path


def measure(hone, task, target, folder, extra, verbose):
    copies = [copy_of(task, folder, i) for i in (1, 2)]
    flags = ["--target", target, "--json", "--no-save", "--again", *extra]
    start = time.monotonic()
    subprocess.run([hone, "bench", str(task), str(copies[0]), *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    alone = time.monotonic() - start
    command = [hone, "bench", str(task), *map(str, copies), *flags]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    arrivals, records = [], []
    for line in process.stdout:
        arrivals.append(time.monotonic() - start)
        records.append(json.loads(line))
    process.wait()
    if len(records) != 2:
        raise SystemExit("%s: %s" % (task.stem, process.stderr.read()))
    first, second = arrivals[0], arrivals[1] - arrivals[0]  # the first of two also waits for the second's interpreter
    facts = [record["provenance"] for record in records]
    compute = [f["reference_seconds"] + f["candidate_seconds"] for f in facts]
    compute[0] += facts[0]["prepare_reference_seconds"]
    verdicts = "/".join(record["verdict"] for record in records)
    share = [max(0.0, 1 - spent / wall) * 100 for spent, wall in zip(compute, (first, second))]
    if verbose:
        for name, record in zip(("first", "second"), facts):
            print("  %s: prepare %.1f, %s" % (name, record["prepare_seconds"], {k: round(v, 2) for k, v in record["phases"].items()}))
    print("| %-22s | %6.1f s | %6.1f s | %3.0f %% | %3.0f %% | %s |" % (task.stem, alone, second, share[0], share[1], verdicts), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", default=str(ROOT / "build/release/hone"))
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--tasks", nargs="*", default=["small_gemm_bias_relu", "small_gru", "39_GRU"])
    parser.add_argument("--compile", default="auto")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    print("| task | first verdict | second | Hone's share, first | second | verdicts |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.tasks:
            measure(arguments.hone, ROOT / "tasks" / (name + ".py"), arguments.target, folder, ["--compile", arguments.compile], arguments.verbose)


if __name__ == "__main__":
    main()
