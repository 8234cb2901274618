"""What the pipeline itself costs: Hone's own time per candidate in a replayed run, and listing 1,000 stored runs.

  bench/pipeline_overhead.py --hone build/release/hone [--candidates 12] [--lists 20]

Own time is the wall time of the run less the preparation of the reference, the model's seconds and what the candidates' and the
reference's workers computed (imports and compilers included). It is split into what passes outside the judge (prompts, static analysis,
store, files, decisions) and what passes in it beyond the workers' compute. A worker's import, done while another candidate is judged,
counts as compute, so the second part is a lower bound. Both are wall time, which a busy machine stretches; the processor time of Hone's own process
stands beside them. Exit code 1 when a candidate costs 150 ms or more, or the list 100 ms or more.
"""

import argparse
import contextlib
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TASK = ROOT / "tasks" / "small_softmax.py"
LIMIT_MS, LIST_LIMIT_MS = 150, 100
# Wrong in its last element, so that it passes every step before the comparison and no clock is involved.
WRONG = """```python
import torch
import torch.nn as nn

NUMBER = %d


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.softmax(x, dim=1)
        y[-1, -1] += 1
        return y
```
"""


def run(hone, env, *words):
    begin = time.monotonic()
    done = subprocess.run([hone, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    return time.monotonic() - begin, done


def processor_seconds(pid):
    """Of that process alone, without its children."""
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rows(data, sql):
    with contextlib.closing(sqlite3.connect(data / "hone.db")) as store:
        store.row_factory = sqlite3.Row
        return [dict(row) for row in store.execute(sql)]


def overhead(hone, env, folder, count):
    """Own milliseconds per candidate: outside the judge, and inside."""
    replies = folder / "replies"
    replies.mkdir()
    for number in range(count):
        (replies / ("%03d_seed.txt" % number)).write_text(WRONG % number)
    words = ("optimize", TASK, "--again", "--proposer", "replay:%s" % replies, "--seeds", count, "--repairs", 0, "--no-analysis",
             "--target", "cpu", "--compile", "never", "--baselines", "eager", "--out", folder / "run", "-q")
    begin, processor = time.monotonic(), 0.0
    with open(folder / "said", "w") as said:
        process = subprocess.Popen([hone, *map(str, words)], stdout=said, stderr=said, env=env)
        while process.poll() is None:
            with contextlib.suppress(OSError):
                processor = max(processor, processor_seconds(process.pid))
            time.sleep(0.02)
    wall = time.monotonic() - begin
    if process.returncode != 1:
        raise SystemExit((folder / "said").read_text())
    data = pathlib.Path(env["HONE_DATA"])
    judged = rows(data, "SELECT seconds, json FROM candidate WHERE json != ''")
    calls = rows(data, "SELECT total(seconds) s FROM call")[0]["s"]
    if len(judged) != count:
        raise SystemExit("%d verdicts where %d are expected" % (len(judged), count))
    facts = [json.loads(row["json"])["provenance"] for row in judged]
    outside = wall - facts[0]["prepare_seconds"] - calls - sum(row["seconds"] for row in judged)
    inside = [max(0.0, row["seconds"] - fact["candidate_seconds"] - fact["reference_seconds"]) for row, fact in zip(judged, facts)]
    return 1e3 * outside / count, 1e3 * statistics.median(inside), wall, 1e3 * processor / count


def listing(hone, env, lists):
    """Milliseconds to list 1,000 runs, the median of several times."""
    data = pathlib.Path(env["HONE_DATA"])
    with contextlib.closing(sqlite3.connect(data / "hone.db")) as store:
        names = [row[1] for row in store.execute("PRAGMA table_info(run)") if row[1] not in ("id", "name")]
        for number in range(1000):
            store.execute("INSERT INTO run (name, {0}) SELECT 'copy{1}', {0} FROM run WHERE id = 1".format(", ".join(names), number))
        store.commit()
    times = []
    for _ in range(lists):
        seconds, done = run(hone, env, "runs", "-n", 1000)
        if len(done.stdout.splitlines()) != 1000:
            raise SystemExit("%d lines\n%s" % (len(done.stdout.splitlines()), done.stderr))
        times.append(1e3 * seconds)
    return statistics.median(times), max(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", default=str(ROOT / "build/release/hone"))
    parser.add_argument("--candidates", type=int, default=12)
    parser.add_argument("--lists", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = json.loads(subprocess.run([arguments.hone, "doctor", "--json"], stdout=subprocess.PIPE, text=True).stdout)["python"]["program"]
        env = dict(os.environ, HONE_DATA=str(folder / "data"), HONE_PYTHON=found)
        outside, inside, wall, processor = overhead(arguments.hone, env, folder, arguments.candidates)
        print("| own time per candidate, outside the judge | in the judge (median) | Hone's processor time per candidate | candidates | the whole run | load |\n|---|---|---|---|---|---|")
        print("| %.0f ms | %.0f ms | %.0f ms | %d | %.1f s | %.1f |" % (outside, inside, processor, arguments.candidates, wall, os.getloadavg()[0]))
        median, worst = listing(arguments.hone, env, arguments.lists)
        print("1,000 runs listed in %.0f ms (median of %d; the slowest %.0f ms)" % (median, arguments.lists, worst))
    return 0 if outside + inside < LIMIT_MS and median < LIST_LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
