#!/usr/bin/env python3
"""The judge service under load: 64 clients and 2,000 candidates, then 1,000 hostile requests beside honest ones.

  bench/judge_service_load.py --hone build/release/hone [--clients 64] [--candidates 2000] [--hostile 1000] [--workers 8] [--keep FOLDER]

The judge is a stand-in (tests/fakes/fake_judge.py, through HONE_JUDGE_COMMAND) that answers at once, so that the service itself is what
is measured. Every fifth candidate is asked about twice, every hundredth loses its worker once, and halfway a worker is killed with
SIGKILL. Prints figures; exit code 1 if anything was lost, judged twice, or if the server grew or broke.
"""

import argparse
import contextlib
import hashlib
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
from judge_clients import CANDIDATE, Client, JudgeServer, attack, judged, many  # noqa: E402


def sources_of(candidates, folder):
    """Different candidates, and in another order a fifth of them again."""
    rng = random.Random(7)
    different = [CANDIDATE % ("candidate %d, %s" % (i, "x" * rng.randrange(2000))) for i in range(candidates)]
    for i in range(0, candidates, 100):
        different[i] += "# fake: die-once=%s\n" % (folder / ("died%d" % i))
    asked = different + rng.sample(different, candidates // 5)
    rng.shuffle(asked)
    return different, asked


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--candidates", type=int, default=2000)
    parser.add_argument("--hostile", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--keep", help="leave the data in this folder")
    args = parser.parse_args()
    folder = pathlib.Path(args.keep or tempfile.mkdtemp(prefix="hone-judge-load-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    problems = []

    def check(good, sentence):
        if not good:
            problems.append(sentence)

    env = {**os.environ, "HONE_DATA": str(folder / "data"), "FAKE_JUDGE_LOG": str(folder / "judged")}
    server = JudgeServer(args.hone, env, "--workers", args.workers, "--sessions", args.workers, "--queue", 256, "--token-jobs", 128, "--token-rate", 0)
    try:
        different, asked = sources_of(args.candidates, folder)
        killer = threading.Thread(target=kill_one_halfway, args=(server, folder / "judged", args.candidates // 2))
        killer.start()
        begin = time.monotonic()
        jobs = many(server.port, asked, args.clients)
        took = time.monotonic() - begin
        killer.join()
        check(all(job["state"] == "done" for job in jobs), "%d jobs ended without a verdict" % sum(job["state"] != "done" for job in jobs))
        check(len({job["id"] for job in jobs}) == args.candidates, "%d names of jobs" % len({job["id"] for job in jobs}))
        counts = judged(folder / "judged")
        check(len(counts) == args.candidates, "%d candidates were judged" % len(counts))
        lost = {hashlib.sha256(each.encode()).hexdigest() for each in different if "die-once" in each}
        twice = {key for key, n in counts.items() if n > 1} - lost
        # The killed worker may have had a candidate in hand; that one was begun twice and answered once.
        check(len(twice) <= 1, "%d candidates were judged twice" % len(twice))
        check(all(counts[key] == 2 for key in lost - twice), "a lost worker was not tried again once")
        print("%d questions about %d candidates from %d clients: %.1f s, %.0f a second" % (len(asked), args.candidates, args.clients, took, len(asked) / took))

        attack(server.port, 105)  # buffers of the allocator are as large as they get
        before = server.rss_kb()
        honest = []
        beside = threading.Thread(target=lambda: honest.extend(many(server.port, [CANDIDATE % ("beside %d" % i) for i in range(200)], 8)))
        beside.start()
        begin = time.monotonic()
        answers = attack(server.port, args.hostile, at_once=64)
        took = time.monotonic() - begin
        beside.join()
        after = server.rss_kb()
        check(sum(answers.values()) == args.hostile, "%d answers" % sum(answers.values()))
        check(not any(status.split()[1:2] and status.split()[1].startswith(("2", "5")) for _, status in answers), "a hostile request was accepted or broke something")
        check(len(honest) == 200 and all(job["state"] == "done" for job in honest), "honest jobs beside the attack were lost")
        check(after - before < 32 * 1024, "the server grew from %d to %d KiB" % (before, after))
        print("%d hostile requests: %.1f s; memory %d KiB before, %d KiB after" % (args.hostile, took, before, after))
        for (kind, status), count in sorted(answers.items()):
            print("  %-24s %-50s %d" % (kind, status[:50], count))
        status, metrics = Client(server.port).ask("GET", "/metrics")
        check(status == 200, "no metrics")
        print("".join(line + "\n" for line in str(metrics).splitlines() if line.startswith("hone_judge_")), end="")
    finally:
        code, err = server.stop(signal.SIGINT)
        check(code == 0 and "a bug in hone" not in err, "the server ended with %d: %s" % (code, err[-300:]))
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    for sentence in problems:
        print("WRONG: " + sentence)
    return 1 if problems else 0


def kill_one_halfway(server, log, when):
    while sum(judged(log).values()) < when and server.process.poll() is None:
        time.sleep(0.05)
    with contextlib.suppress(OSError, IndexError):
        os.kill(server.children()[0], signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
