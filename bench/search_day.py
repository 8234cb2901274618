#!/usr/bin/env python3
"""A day's work of the population search in one process: the real Spine and the real HTTP client before the scripted server.

    python3 bench/search_day.py [--tool build/release/tests/hone_search_tool] [--tasks 64] [--calls 200] [--refuse-each 0] [--stand-in]

Half of the tasks end by a budget of calls, half by money for about as many; half make four steps side by side. It holds the budgets against
the record, and the record against what the server says it billed; prints memory, time and the size of the database. Exit code 1 if a
budget was exceeded, a bill differs, a call was asked twice or memory grew by more than a tenth from the first quarter to the last.
The model and the judge are made up (tests/search_world.h). With --stand-in they answer inside the process, without HTTP.
--refuse-each N: the server answers each Nth request with HTTP 503.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import search_server

LEAST_RUNS_FOR_MEMORY = 16  # fewer say nothing about growth


def runs_of_day(args, folder, base):
    """A line a run as hone_search_tool prints them, as they come."""
    words = [args.tool, "day", str(args.tasks), str(args.calls), str(folder), *([base] if base else [])]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode != 0:
        sys.exit("the tool ended with %d" % process.returncode)


def exceeded_budgets(runs):
    for run in runs:
        if run["max_calls"] and run["calls"] != run["max_calls"]:
            yield "%s made %d calls of %d" % (run["run"], run["calls"], run["max_calls"])
        if run["max_dollars"] and not run["dollars_before_last"] < run["max_dollars"] <= run["dollars"]:
            yield "%s spent $%.4f of $%.4f, $%.4f before its last call" % (run["run"], run["dollars"], run["max_dollars"], run["dollars_before_last"])


def wrong_bills(runs, bills):
    for run in runs:
        bill = bills.get(run["tag"], {"calls": 0, "completion_tokens": 0})
        if (bill["calls"], bill["completion_tokens"]) != (run["calls"], run["completion_tokens"]):
            yield "%s has %d calls and %d tokens on record, and the bill is %s" % (run["run"], run["calls"], run["completion_tokens"], bill)
        dollars = bill["completion_tokens"] * 10 / 1e6
        if abs(dollars - run["dollars"]) >= 0.005:
            yield "%s has $%.4f on record, and the bill is $%.4f" % (run["run"], run["dollars"], dollars)


def slope(values):
    """Of the line of least squares, per run."""
    if len(values) < 2:
        return 0.0
    middle, mean = (len(values) - 1) / 2, statistics.fmean(values)
    return sum((i - middle) * (v - mean) for i, v in enumerate(values)) / sum((i - middle) ** 2 for i in range(len(values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/release/tests/hone_search_tool")
    parser.add_argument("--tasks", type=int, default=64)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--refuse-each", type=int, default=0)
    parser.add_argument("--stand-in", action="store_true")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        base = None if args.stand_in else stack.enter_context(search_server.made_up_server(args.tool))
        began, runs = time.monotonic(), []
        for run in runs_of_day(args, folder, base and "%s/s/program:%d" % (base, args.refuse_each)):
            runs.append(run)
            if sys.stderr.isatty():
                print("\r%d of %d runs, %.0f s" % (len(runs), args.tasks, time.monotonic() - began), end="", file=sys.stderr)
        troubles = list(exceeded_budgets(runs))
        if base:
            troubles += wrong_bills(runs, search_server.billed(base))
            troubles += ["asked twice: %s %s" % call for call in search_server.calls_asked_twice(base)] if not args.refuse_each else []
        troubles += show(runs, folder / "hone.db", time.monotonic() - began)
    for trouble in troubles:
        print(trouble)
    return 1 if troubles else 0


def show(runs, database, seconds):
    """Prints the figures; gives what is wrong with memory."""
    calls, dollars = sum(run["calls"] for run in runs), sum(run["dollars"] for run in runs)
    by_calls = [run for run in runs if run["max_calls"]]
    by_money = [run for run in runs if run["max_dollars"]]
    print("%d runs, %d calls, $%.2f, %.0f s" % (len(runs), calls, dollars, seconds))
    print("%d runs with a budget of calls: %d calls of %d" % (len(by_calls), sum(run["calls"] for run in by_calls), sum(run["max_calls"] for run in by_calls)))
    if by_money:
        print("%d runs with a budget of money: over it by $%.4f at most" % (len(by_money), max(run["dollars"] - run["max_dollars"] for run in by_money)))
    asking = sum(run["asking_seconds"] for run in runs)
    per_call = [1000 * run["seconds"] / run["calls"] for run in runs]
    quarter = max(1, len(runs) // 4)
    print("time per call: %.1f ms, %.1f ms of them waiting for the answer (first quarter %.1f ms, last quarter %.1f ms)" %
          (1000 * sum(run["seconds"] for run in runs) / calls, 1000 * asking / calls, statistics.fmean(per_call[:quarter]), statistics.fmean(per_call[-quarter:])))
    resident = [run["resident_kib"] / 1024 for run in runs]
    first, last = statistics.fmean(resident[:quarter]), statistics.fmean(resident[-quarter:])
    second_half = resident[len(resident) // 2:]
    print("resident memory: %.1f MiB in the first quarter, %.1f MiB in the last, %+.1f KiB a run in the second half" % (first, last, 1024 * slope(second_half)))
    size = sum(path.stat().st_size for path in database.parent.glob(database.name + "*"))
    files = sum(len(names) for _, _, names in os.walk(database.parent)) - 1
    print("database: %.1f MiB, %.1f KiB a call; %d files beside it" % (size / 2**20, size / 1024 / calls, files))
    return ["memory grew from %.1f to %.1f MiB" % (first, last)] if len(runs) >= LEAST_RUNS_FOR_MEMORY and last > 1.1 * first else []


if __name__ == "__main__":
    sys.exit(main())
