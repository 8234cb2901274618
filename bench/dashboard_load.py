#!/usr/bin/env python3
"""The dashboard over a large store: 2,000 runs and 100,000 candidates by default.

  bench/dashboard_load.py --hone build/release/hone [--runs 2000] [--candidates 100000] [--viewers 50] [--seconds 60] [--keep FOLDER]

Beside them a suite of 64 population searches with 220 candidates each.
Fills a store through SQLite with the schema that hone itself made, asks for every page over a connection of its own, as a browser would,
and then lets viewers follow one run while a writer adds to it as a run does. What viewers cost the run is told by the writer's own
transactions, with and without them, in turns. Prints a table; exit code 1 when a page that has a limit is over it.
"""

import argparse
import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LIMITS_MS = {"/runs": 200, "/runs/R{run}": 300, "/runs/R{search}": 300, "/suites/searches": 300}
SEARCHES = 64  # runs of one suite, each a population search
VERDICTS = (("accepted", "faster"), ("rejected", "wrong-output"), ("rejected", "build-failed"), ("rejected", "slower"), ("no_difference", "no-difference"))


def fill(path, runs, candidates):
    """Rows of the size that real ones have: some kilobytes of source, more of verdict."""
    store = sqlite3.connect(path)
    store.execute("PRAGMA synchronous=OFF")
    source = "import torch\n" + "x = x + 1  # a line of a candidate, as long as lines are\n" * 90
    verdict = json.dumps({"gates": {"build": "pass"}, "card": {"flops": 1e9}, "provenance": {"device": "GPU", "torch": "2.11", "seeds": [{"case": "c%d" % i} for i in range(60)]},
                          "measurement": {"timing": {"contestants": [{"name": n, "median_us": 100.0, "round_us": [100.0 + i / 7 for i in range(60)]}
                                                                     for n in ("candidate", "eager", "cudagraph", "compile")]}}})
    suites = [store.execute("INSERT INTO suite (name, created, options) VALUES (?, '2026-01-31T00:00:00Z', '{}')", ("suite%d" % i,)).lastrowid for i in range(10)]
    each = candidates // runs
    for number in range(runs):
        won = number % 3 != 0
        run = store.execute(
            "INSERT INTO run (name, created, finished, status, task, task_path, task_sha256, task_source, target, device, proposer, model, folder, options, card, outcome, "
            "best_key, vs_best, vs_eager, seconds, suite_id) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            ("run%05d" % number, "2026-01-%02dT%02d:00:00Z" % (number % 28 + 1, number % 24), "2026-01-31T00:00:00Z", "done", "%d_Task" % (number % 250), "/t.py", "ab" * 32,
             source, "cuda", "GPU %d" % (number % 4), ("expert", "llm")[number % 2], ("", "some-model")[number % 2], "/runs/%d" % number,
             '{"seeds":2,"budget":{"tokens":100000}}', json.dumps({"card": {"operators": {"op%d" % i: i for i in range(80)}}}), "seed0 is faster", "key0" if won else "",
             1 + number % 17 / 10 if won else 0, 2.0, 600.0, suites[number % 10])).lastrowid
        rows = []
        for i in range(each):
            word, reason = VERDICTS[(number + i) % 5]
            rows.append((run, "key%d" % i, "" if i < 4 else "key%d" % (i // 4), "seed", "llm", "a title", "2026-01-31T00:00:00Z", source, "cd" * 32, "gemm", "[]", "null", 0.0,
                         word, reason, "what went wrong, in a sentence or two", "kernel", 1 + i % 30 / 20, 1.0, 3.0, 2.0, 100.0, 1e-7, 1e-6, 20.0, verdict))
        store.executemany("INSERT INTO candidate (run_id, key, parent_key, phase, proposer, title, created, source, sha256, kernel_class, findings, facts, predicted_us, verdict, "
                          "reason, detail, kind, vs_best, ci_low, ci_high, vs_eager, candidate_us, error, error_limit, seconds, json) VALUES (%s)" % ",".join("?" * 26), rows)
        store.executemany("INSERT INTO call (run_id, key, created, call_type, status, model, system, prompt, reply, thinking, finish_reason, error, prompt_tokens, completion_tokens, "
                          "estimated, cost_usd, price_known, seconds, attempts) VALUES (?,?,'','seed','answered','m','',?,'reply','','','',3000,900,0,0.01,1,9,1)",
                          [(run, "key%d" % i, source) for i in range(4)])
        store.executemany("INSERT INTO console (run_id, created, line) VALUES (?, '2026-01-31T00:00:00Z', ?)", [(run, "line %d of what the run said" % i) for i in range(150)])
        store.executemany("INSERT INTO decision (run_id, key, created, phase, text, json) VALUES (?, ?, '', 'tuning', 'decided', 'null')", [(run, "d%d" % i) for i in range(12)])
    store.commit()
    store.close()


def fill_searches(path, candidates=220):
    """One suite of population searches: one or two parents per candidate, one call each, a third of them failed. Gives the first run."""
    draw, first = random.Random(7), 0
    store = sqlite3.connect(path)
    suite = store.execute("INSERT INTO suite (name, created, options) VALUES ('searches', '2026-01-31T00:00:00Z', '{}')").lastrowid
    for number in range(SEARCHES):
        run = store.execute("INSERT INTO run (name, created, finished, status, task, task_path, task_sha256, task_source, target, device, proposer, model, folder, options, card, "
                            "result, outcome, best_key, vs_best, vs_eager, seconds, suite_id) VALUES (?, '2026-01-31T00:00:00Z', '2026-01-31T04:00:00Z', 'done', ?, '/t.py', ?, '', 'cuda', 'GPU', "
                            "'llm', 'some-model', '', '{}', 'null', 'accepted', 'gen is faster', '', 2.0, 2.0, 9000.0, ?)", ("search%02d" % number, "%d_Search" % number, "ab" * 32, suite)).lastrowid
        first = first or run
        right, best, rows, calls = [], ("", 0.0), [], []
        for i in range(candidates):
            phase = "seed" if i < 6 or not right else draw.choice(("improve", "improve", "combine", "restart"))
            parents = draw.sample(right[-12:], min(len(right), {"improve": 1, "combine": 2}.get(phase, 0)))
            speed = 0.0 if draw.random() < 0.35 else max([one[1] for one in parents] + [1.1]) * draw.uniform(0.97, 1.06)
            key = "gen%d.%s" % (i, phase)
            family = parents[0][2] if parents else ("persistent_recurrent", "gemm", "elementwise")[i % 3]
            if speed:
                right.append((key, speed, family))
                best = max(best, (key, speed), key=lambda one: one[1])
            created = "2026-01-31T%02d:%02d:00Z" % (i // 60, i % 60)
            rows.append((run, key, *([one[0] for one in parents] + ["", ""])[:2], phase, "llm", "a title of some words", created, "import torch\n" * 200, "cd" * 32, family, "[]", "null", 0.0,
                         *(("accepted", "faster") if speed else ("rejected", "wrong-output")), "", "kernel", speed, speed * 0.98, speed * 1.02, speed, 100.0, 1e-7, 1e-6, 20.0, "{}"))
            calls.append((run, key, created, phase, "x" * 20000))
        store.executemany("INSERT INTO candidate (run_id, key, parent_key, other_parent_key, phase, proposer, title, created, source, sha256, kernel_class, findings, facts, predicted_us, "
                          "verdict, reason, detail, kind, vs_best, ci_low, ci_high, vs_eager, candidate_us, error, error_limit, seconds, json) VALUES (%s)" % ",".join("?" * 27), rows)
        store.executemany("INSERT INTO call (run_id, key, created, call_type, status, model, system, prompt, reply, thinking, finish_reason, error, prompt_tokens, completion_tokens, "
                          "estimated, cost_usd, price_known, seconds, attempts) VALUES (?,?,?,?,'answered','some-model','',?,'reply','','stop','',9000,2000,0,0.01,1,9,1)", calls)
        store.execute("UPDATE run SET best_key=?, vs_best=? WHERE id=?", (*best, run))
    store.commit()
    store.close()
    return first


def ask(port, path):
    begin = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    reply = connection.getresponse()
    size = len(reply.read())
    connection.close()
    if reply.status != 200:
        sys.exit("%s: status %d" % (path, reply.status))
    return (time.perf_counter() - begin) * 1e3, size


def cpu_seconds(pid):
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Viewer(threading.Thread):
    """Reads events until it is told to stop."""

    def __init__(self, port, run):
        super().__init__(daemon=True)
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.socket.sendall(b"GET /runs/R%d/events HTTP/1.1\r\nHost: localhost\r\n\r\n" % run)
        self.reply = self.socket.makefile("rb")
        self.bytes = self.events = 0

    def run(self):
        with contextlib.suppress(OSError, ValueError):
            while True:
                line = self.reply.readline()
                if not line:
                    return
                self.bytes += len(line)
                self.events += line.startswith(b"event:")

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


def write(store, run, seconds, per_second):
    """Console lines and candidates, each its own transaction; milliseconds of each."""
    took, end, number = [], time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        begin = time.perf_counter()
        if number % 10 == 0:
            store.execute("UPDATE candidate SET verdict='accepted', vs_best=?, seconds=? WHERE run_id=? AND key=?", (1 + number % 50 / 10, number, run, "key%d" % (number // 10 % 40)))
            store.execute("UPDATE run SET seconds=? WHERE id=?", (number, run))
        else:
            store.execute("INSERT INTO console (run_id, created, line) VALUES (?, '', ?)", (run, "line %d" % number))
        store.commit()
        took.append((time.perf_counter() - begin) * 1e3)
        time.sleep(max(0.0, 1 / per_second - (time.perf_counter() - begin)))
    return took


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", required=True)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--candidates", type=int, default=100000)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60, help="of watching, in turns with as long without")
    parser.add_argument("--keep", help="a folder for the store; filled once, used again")
    args = parser.parse_args()
    folder = pathlib.Path(args.keep or tempfile.mkdtemp(prefix="hone-load-"))
    folder.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ, HONE_DATA=str(folder))
    subprocess.run([args.hone, "runs"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    store = sqlite3.connect(folder / "hone.db", timeout=30)
    store.execute("PRAGMA synchronous=NORMAL")
    if store.execute("SELECT count(*) FROM run").fetchone()[0] < args.runs:
        begin = time.monotonic()
        fill(folder / "hone.db", args.runs, args.candidates)
        print("filled in %.0f s" % (time.monotonic() - begin))
    found = store.execute("SELECT min(run.id) FROM run JOIN suite ON suite.id = suite_id WHERE suite.name = 'searches'").fetchone()[0]
    search = found or fill_searches(folder / "hone.db")
    print("%d runs, %d candidates, %.2f GB; load of the machine %.1f over %d cores%s" % (
        store.execute("SELECT count(*) FROM run").fetchone()[0], store.execute("SELECT count(*) FROM candidate").fetchone()[0],
        (folder / "hone.db").stat().st_size / 1e9, os.getloadavg()[0], os.cpu_count(), " (busy: times are too long)" if os.getloadavg()[0] > os.cpu_count() / 2 else ""))
    server = subprocess.Popen([args.hone, "serve", "--port", "0"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    failed = False
    try:
        port = int(server.stdout.readline().rpartition(":")[2].strip().rstrip("/"))
        run = args.runs // 2
        paths = ["/runs", "/runs?sort=speed", "/runs?q=17_Task&sort=seconds", "/runs?page=30", "/runs/R%d" % run, "/runs/R%d/candidates/key7" % run, "/leaderboard", "/tasks/17_Task",
                 "/devices", "/suites", "/suites/suite3", "/runs/R%d" % search, "/runs/R%d/report" % search, "/suites/searches", "/runs?q=search+17_Search", "/compare?run=R5&run=R255", "/metrics", "/api/runs", "/api/runs/R%d" % run]
        print("%-36s %9s %9s %9s %9s" % ("page", "first ms", "median ms", "worst ms", "kB"))
        for path in paths:
            times, size = [], 0
            for _ in range(11):
                took, size = ask(port, path)
                times.append(took)
            limit = {key.format(run=run, search=search): value for key, value in LIMITS_MS.items()}.get(path)
            over = limit is not None and statistics.median(times) > limit
            failed |= over
            print("%-36s %9.1f %9.1f %9.1f %9.0f%s" % (path, times[0], statistics.median(times[1:]), max(times), size / 1e3,
                                                      "" if limit is None else "   limit %d: %s" % (limit, "OVER" if over else "kept")))
        # A run that goes on holds its lock; here the bench does.
        store.execute("UPDATE run SET status='running' WHERE id=?", (run,))
        store.commit()
        (folder / "locks").mkdir(exist_ok=True)
        with open(folder / "locks" / ("run%d.lock" % run), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            without, with_viewers, used, seen = [], [], 0.0, []
            for _ in range(3):
                without += write(store, run, args.seconds / 3, 20)
                viewers = [Viewer(port, run) for _ in range(args.viewers)]
                for viewer in viewers:
                    viewer.start()
                before = cpu_seconds(server.pid)
                with_viewers += write(store, run, args.seconds / 3, 20)
                used += cpu_seconds(server.pid) - before
                seen += [viewer.events for viewer in viewers]
                for viewer in viewers:
                    viewer.close()
        print("\n%-36s %9s %9s %9s" % ("the run's own transactions, ms", "median", "95%", "99%"))
        for name, values in (("nobody watches", without), ("%d viewers" % args.viewers, with_viewers)):
            print("%-36s %9.3f %9.3f %9.3f" % (name, statistics.median(values), quantile(values, 0.95), quantile(values, 0.99)))
        print("server: %.1f s of CPU in %.0f s of watching; events per viewer %d to %d" % (used, args.seconds, min(seen), max(seen)))
        print("load of the machine %.1f over %d cores" % (os.getloadavg()[0], os.cpu_count()))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=20)
        store.close()
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
