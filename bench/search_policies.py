#!/usr/bin/env python3
"""Which search policy is better: the real Spine in a made-up world (tests/search_world.h documents its distributions).

    python3 bench/search_policies.py [--tool build/release/tests/hone_search_tool] [--seeds 50] [--worlds even,rugged] [--json]

For each world and policy, over the same seeds: the median best speed-up so far after N calls and after a sum of dollars, and against
the default classic pipeline the median ratio with a 95% bootstrap interval. A run that ended earlier keeps its last value.
`classic` is the default pipeline, which ends by itself; `classic-seeds` has so many seeds that it spends its calls as well.
"""
import argparse
import concurrent.futures
import json
import math
import random
import statistics
import subprocess

CALLS = 80
AT_CALLS = (4, 8, 12, 20, 40, 80)
AT_DOLLARS = (0.1, 0.2, 0.4, 0.8, 1.5)
BASE = {"proposer": "llm", "seeds": 2, "patience": 100000, "breadth": 1, "budget": {"calls": CALLS}}
POLICIES = {
    "classic": {},
    "classic-seeds": {"seeds": 64},
    "population": {"search": "population"},
    "population-4-wide": {"search": "population", "breadth": 4},
    "population-3-replies": {"search": "population", "replies": 3},
}
WORLDS = ("even", "hard", "rugged", "smooth")


def run(tool, world, seed, options):
    out = subprocess.run([tool, "policy", world, str(seed), json.dumps({**BASE, **options})], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


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
            "geomean_ratio": math.exp(statistics.fmean(math.log(r) for r in ratios))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/release/tests/hone_search_tool")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    results = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for world in args.worlds.split(","):
            stories = {name: list(pool.map(lambda seed: run(args.tool, world, seed, POLICIES[name]), seeds))
                       for name in args.policies.split(",")}
            base = stories["classic"]
            results[world] = {
                name: {"calls": {n: compare(own, base, lambda s: at_calls(s, n)) for n in AT_CALLS},
                       "dollars": {d: compare(own, base, lambda s: at_dollars(s, d)) for d in AT_DOLLARS},
                       "calls_made": statistics.median(len(s["best"]) for s in own)}
                for name, own in stories.items()}
            if not args.json:
                show(world, results[world], args.seeds)
    if args.json:
        print(json.dumps(results))


def show(world, policies, seeds):
    print(f"\nWorld '{world}', {seeds} seeds: median best so far (median ratio to classic, 95% interval)")
    for unit, points in (("calls", AT_CALLS), ("dollars", AT_DOLLARS)):
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
    main()
