"""Two Hone processes on one store for a minute, each taking folder after folder of kernels in (`hone import`: a row per file and one for
the run, each its own transaction), while a third lists and a fourth packs runs. Every row that an import promised by its exit code must be there.

  bench/store_contention.py [--hone build/release/hone] [--seconds 60] [--files 25]

Exit code 1 when a row is lost or doubled, an import fails, or the store is not whole.
"""

import argparse
import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
KERNEL = "import torch\n\nWRITER, NUMBER = %r, %d\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", default=str(ROOT / "build/release/hone"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--files", type=int, default=25)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = dict(os.environ, HONE_DATA=str(folder / "data"))
        deadline = time.monotonic() + arguments.seconds
        imports, problems, slowest, others = {"one": 0, "two": 0}, [], {"one": 0.0, "two": 0.0}, {"lists": 0, "archives": 0}

        def hone(*words):
            done = subprocess.run([arguments.hone, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=folder)
            if done.returncode != 0:
                problems.append("%s: %s" % (" ".join(map(str, words)), done.stderr.strip()))

        def write(writer):
            kernels = folder / writer
            kernels.mkdir()
            for number in range(arguments.files):
                (kernels / ("kernel%d.py" % number)).write_text(KERNEL % (writer, number))
            while time.monotonic() < deadline:
                begin = time.monotonic()
                hone("import", kernels)
                slowest[writer] = max(slowest[writer], time.monotonic() - begin)
                imports[writer] += 1

        def read(what, *words):
            time.sleep(1)
            while time.monotonic() < deadline:
                hone(*words)
                others[what] += 1
                time.sleep(0.2)
        threads = [threading.Thread(target=write, args=(writer,)) for writer in imports]
        threads.append(threading.Thread(target=read, args=("lists", "runs", "-n", 50)))
        threads.append(threading.Thread(target=read, args=("archives", "archive", "R1", "packed.tar.gz", "--force")))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with contextlib.closing(sqlite3.connect(folder / "data" / "hone.db")) as store:
            whole = store.execute("PRAGMA integrity_check").fetchone()[0]
            runs = dict(store.execute("SELECT task, count(*) FROM run GROUP BY task"))
            candidates = store.execute("SELECT count(*) FROM candidate").fetchone()[0]
        promised = sum(imports.values()) * arguments.files
        lost = promised - candidates
        print("| seconds | imports, one + two | rows promised | rows there | slowest import | lists, archives meanwhile | load |\n|---|---|---|---|---|---|---|")
        print("| %.0f | %d + %d | %d | %d | %.1f s | %d, %d | %.1f |" % (arguments.seconds, imports["one"], imports["two"], promised + sum(imports.values()),
              candidates + sum(runs.values()), max(slowest.values()), others["lists"], others["archives"], os.getloadavg()[0]))
        for problem in problems[:5]:
            print(problem)
        return 0 if not problems and lost == 0 and whole == "ok" and runs == imports else 1


if __name__ == "__main__":
    sys.exit(main())
