#!/usr/bin/env python3
"""Which search policy is better: the real Spine in a made-up world (tests/search_world.h documents its distributions).

    python3 bench/search_policies.py [--tool build/release/tests/hone_search_tool] [--seeds 50] [--worlds even,rugged] [--http] [--json]

For each world and policy, over the same seeds: the median best speed-up so far after N calls and after a sum of dollars, and against
the classic pipeline the median ratio with a 95% bootstrap interval. A run that ended earlier keeps its last value.
With --http the model is the real HTTP client before the scripted server (search_server.py). Each run is then made with the stand-in
as well, and has to be the same: best and dollars after every call, operators, and how it ended.
--require medians: in each world the median ratio of `population` to `classic` is above 1 at 20, 40 and 80 calls and at least 1 at 8.
--require margin: for a few seeds, in which the median of one world may be off by chance. Over all worlds together, the geometric mean of the
ratios is above MARGINS with 99% confidence, and its median at 8 calls is at least 1.
Exit code: 0, 1 if a run failed or differs over HTTP, 3 if what is required does not hold.
`classic` is `--search classic`, which ends by itself; `classic-seeds` has so many seeds that it spends its calls as well.
"""
import argparse
import concurrent.futures
import json
import math
import random
import statistics
import subprocess
import sys

import search_server

CALLS = 80
AT_CALLS = (4, 8, 12, 20, 40, 80)
AT_DOLLARS = (0.1, 0.2, 0.4, 0.8, 1.5)
# At 8 calls the search has hardly begun. Choosing parents at random comes to 1.09 and 1.36 at 20 and 40 calls, restarts alone to 0.94 and 1.09.
MARGINS = {8: 0.95, 20: 1.05, 40: 1.35}
CONFIDENCE = 2.576  # standard errors
DOES_NOT_HOLD = 3
BASE = {"proposer": "llm", "seeds": 2, "patience": 100000, "breadth": 1}
POLICIES = {
    "classic": {},
    "classic-seeds": {"seeds": 64},
    "population": {"search": "population"},
    "population-4-wide": {"search": "population", "breadth": 4},
    "population-3-replies": {"search": "population", "replies": 3},
}
WORLDS = ("even", "hard", "rugged", "smooth")


class Differs(Exception):
    pass


def run(tool, calls, world, seed, options, *base):
    options = {**BASE, "budget": {"calls": calls}, **options}
    out = subprocess.run([tool, "policy", world, str(seed), json.dumps(options), *base], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit("%s, seed %d: %s" % (world, seed, out.stderr.strip()))
    return json.loads(out.stdout)


def same(part, found, wanted, options):
    """Equal to the last digit. Of several replies a server bills the sum of their tokens, and the stand-in adds up dollars: their last digits differ."""
    if part == "dollars" and options.get("replies", 1) > 1:
        return [round(usd, 9) for usd in found] == [round(usd, 9) for usd in wanted]
    return found == wanted


def run_both_ways(tool, calls, world, seed, name, base):
    """Over HTTP, and compared with the stand-in on the same seed."""
    found, wanted = run(tool, calls, world, seed, POLICIES[name], base), run(tool, calls, world, seed, POLICIES[name])
    if len(found["best"]) < 2:
        raise Differs("%s, %s, seed %d: only %d calls" % (world, name, seed, len(found["best"])))
    for part in wanted:
        if not same(part, found[part], wanted[part], POLICIES[name]):
            raise Differs("%s, %s, seed %d: %s over HTTP is\n%s\nwhere the stand-in has\n%s" % (world, name, seed, part, found[part], wanted[part]))
    return found


def at_calls(story, calls):
    reached = story["best"][:calls]
    return reached[-1] if reached else 1.0


def at_dollars(story, dollars):
    reached = [best for best, spent in zip(story["best"], story["dollars"]) if spent <= dollars]
    return reached[-1] if reached else 1.0


def interval(ratios, draws=2000):
    """Of the median ratio."""
    source = random.Random(7)
    medians = sorted(statistics.median(source.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def compare(stories, base, value):
    ratios = [value(one) / value(other) for one, other in zip(stories, base)]
    low, high = interval(ratios)
    return {"median": statistics.median(value(one) for one in stories), "ratio": statistics.median(ratios), "low": low, "high": high,
            "geomean_ratio": math.exp(statistics.fmean(math.log(r) for r in ratios)), "ratios": ratios}


def medians_that_fail(results):
    """What does not hold of the medians of each world, as sentences."""
    for world, policies in results.items():
        for calls, figures in policies["population"]["calls"].items():
            if calls == 8 and figures["ratio"] < 1 or calls >= 20 and figures["ratio"] <= 1:
                yield "%s: the median ratio to classic at %d calls is %.3f (%.2f-%.2f)" % (world, calls, figures["ratio"], figures["low"], figures["high"])


def margins_that_fail(results):
    """The same over all worlds together."""
    measured = next(iter(results.values()))["population"]["calls"]
    for calls, margin in MARGINS.items():
        if calls not in measured:
            continue
        ratios = [ratio for policies in results.values() for ratio in policies["population"]["calls"][calls]["ratios"]]
        logs = [math.log(ratio) for ratio in ratios]
        mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
        low = math.exp(mean - CONFIDENCE * error)
        print("at %d calls: geometric mean %.3f, with 99%% confidence above %.3f; above %g is required" % (calls, math.exp(mean), low, margin))
        if low <= margin:
            yield "at %d calls the geometric mean of %d ratios to classic is %.3f, and above %.3f with 99%% confidence, not above %g" % (
                calls, len(ratios), math.exp(mean), low, margin)
        if calls == 8 and statistics.median(ratios) < 1:
            yield "at 8 calls the median ratio to classic is %.3f" % statistics.median(ratios)


REQUIRED = {"medians": medians_that_fail, "margin": margins_that_fail}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/release/tests/hone_search_tool")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--calls", type=int, default=CALLS, help="budget of a run")
    parser.add_argument("--require", choices=sorted(REQUIRED), help="exit with code 3 if population is not ahead of classic")
    parser.add_argument("--http", action="store_true", help="through the real HTTP client, and compared with the stand-in")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.require and (args.calls < 20 or "population" not in args.policies.split(",")):
        parser.error("--require needs the policy population and 20 calls or more")
    if not args.http:
        return measure(args, lambda world, seed, name: run(args.tool, args.calls, world, seed, POLICIES[name]))
    with search_server.made_up_server(args.tool) as base:
        made = []

        def run_one(world, seed, name):
            made.append(run_both_ways(args.tool, args.calls, world, seed, name, base + "/s/program"))
            return made[-1]
        try:
            code = measure(args, run_one)
        except Differs as reason:
            sys.exit(str(reason))
        answered = sum(bill["calls"] for bill in search_server.billed(base).values())
    calls = sum(len(story["best"]) for story in made)
    if answered != calls:
        sys.exit("the server answered %d calls, and %d are on record" % (answered, calls))
    print("Over HTTP: %d calls in %d runs, each as the stand-in's" % (calls, len(made)), file=sys.stderr)
    return code


def measure(args, run_one):
    """Runs every policy in every world on every seed, and shows the table. Returns the exit code."""
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    results = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for world in args.worlds.split(","):
            stories = {name: list(pool.map(lambda seed: run_one(world, seed, name), seeds))
                       for name in args.policies.split(",")}
            base = stories["classic"]
            results[world] = {
                name: {"calls": {n: compare(own, base, lambda s: at_calls(s, n)) for n in AT_CALLS if n <= args.calls},
                       "dollars": {d: compare(own, base, lambda s: at_dollars(s, d)) for d in AT_DOLLARS},
                       "calls_made": statistics.median(len(s["best"]) for s in own)}
                for name, own in stories.items()}
            if not args.json:
                show(world, results[world], args.seeds)
    if args.json:
        print(json.dumps(results))
    failed = list(REQUIRED[args.require](results)) if args.require else []
    for sentence in failed:
        print("Does not hold: " + sentence, file=sys.stderr)
    return DOES_NOT_HOLD if failed else 0


def show(world, policies, seeds):
    print(f"\nWorld '{world}', {seeds} seeds: median best so far (median ratio to classic, 95% interval)")
    for unit in ("calls", "dollars"):
        points = list(policies["classic"][unit])
        print("| policy | " + " | ".join(f"{n} calls" if unit == "calls" else f"${n:g}" for n in points) + " |")
        print("|---" * (len(points) + 1) + "|")
        for name, figures in policies.items():
            cells = []
            for point in points:
                one = figures[unit][point]
                against = "" if name == "classic" else f" ({one['ratio']:.2f}, {one['low']:.2f}-{one['high']:.2f})"
                cells.append(f"{one['median']:.2f}{against}")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        print()


if __name__ == "__main__":
    sys.exit(main())
