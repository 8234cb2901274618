"""Judges the candidates of tests/adversarial and compares each verdict with what its header asks for.

Candidates of one task go through one `hone bench`, as a user with many candidates would run it. Usage:
  run_adversarial.py --hone BINARY [--target cpu|cuda|triton] [--task PATH] [--timed yes|no] [--only NAME] [--list-tasks]
Exit code 0 when every verdict is as expected; 77 (skipped) when the target needs a GPU that is not there.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def headers(path):
    found = {}
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("# hone-test:"):
            key, _, value = line[len("# hone-test:"):].partition("=")
            found[key.strip()] = value.split("  ")[0].strip()
    return found


def candidates():
    folder = ROOT / "tests" / "adversarial"
    for path in sorted(list(folder.glob("*.py")) + list((folder / "honest_tasks").rglob("*.py"))):
        found = headers(path)
        if "task" in found:
            yield path, found


def timed(expect):
    """Whether the clock has a say in what is expected: such a candidate is judged on a machine that does nothing else."""
    return expect["expect"] in ("accepted", "not_accepted") or "slower" in expect.get("reason", "")


def problem(expect, record):
    """None when the record is what the header asks for."""
    verdict, reason = record["verdict"], record["reason"]
    wanted = expect["expect"]
    reasons = expect.get("reason", "").split("|")
    if wanted == "rejected" and (verdict != "rejected" or reason not in reasons):
        return "wanted rejected for %s" % expect["reason"]
    if wanted == "accepted" and verdict != "accepted":
        return "wanted accepted"
    if wanted == "correct" and verdict == "rejected" and reason != "slower":
        return "wanted a correct one"
    if wanted == "not_accepted" and verdict == "accepted":
        return "must not be accepted"
    if "kind" in expect and record.get("kind") and record["kind"] != expect["kind"]:
        return "wanted kind %s, got %s" % (expect["kind"], record["kind"])
    return None


def judge(hone, task, target, chosen, timeout):
    command = [hone, "bench", task, *[str(path) for path, _ in chosen], "--target", target, "--json", "--no-save", "--again", "--timeout", timeout, *os.environ.get("HONE_TEST_FLAGS", "").split()]
    command += ["--build-timeout", "40", "--compile", "never", "--no-lint"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    failures = []
    for (path, expect), record in zip(chosen, lines):
        wrong = problem(expect, record)
        speed = (record.get("speedup") or {}).get("vs_best")
        print("%-4s %-34s %-14s %-24s %8s %6.1fs %s" % (
            "FAIL" if wrong else "ok", path.stem, record["verdict"], record["reason"],
            "%.2fx" % speed if speed else "-", record["provenance"]["seconds"], wrong or ""))
        if wrong:
            print("       " + record["detail"][:600].replace("\n", "\n       "))
            failures.append(path.stem)
    if len(lines) != len(chosen):
        print("FAIL: %d verdicts for %d candidates; exit %d\n%s" % (len(lines), len(chosen), done.returncode, done.stderr[-3000:]))
        failures += [path.stem for path, _ in chosen[len(lines):]]
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--task")
    parser.add_argument("--only")
    parser.add_argument("--timed", choices=("yes", "no"), help="only candidates whose verdict is, or is not, about speed")
    parser.add_argument("--slow", action="store_true", help="include candidates marked slow")
    parser.add_argument("--list-tasks", action="store_true")
    arguments = parser.parse_args()
    groups = {}
    for path, expect in candidates():
        if expect.get("target", "cpu") != arguments.target or (arguments.only and not any(word in path.stem for word in arguments.only.split(","))):
            continue
        if expect.get("slow") == "yes" and not arguments.slow:
            continue
        if arguments.timed and timed(expect) != (arguments.timed == "yes"):
            continue
        if not arguments.task or expect["task"] == arguments.task:
            groups.setdefault((expect["task"], expect.get("timeout", "8")), []).append((path, expect))
    if arguments.list_tasks:
        print(";".join(sorted({task + (":timed" if timed(expect) else "") for (task, _), chosen in groups.items() for _, expect in chosen})), end="")
        return 0
    if arguments.target == "cuda" and not os.path.exists("/dev/nvidia0"):
        print("skipped: no NVIDIA GPU here")
        return 77
    failures, total = [], 0
    for (task, timeout), chosen in sorted(groups.items()):
        print("== " + task)
        failures += judge(arguments.hone, task, arguments.target, chosen, timeout)
        total += len(chosen)
        sys.stdout.flush()
    print("%d of %d as expected" % (total - len(failures), total))
    return 1 if failures or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
