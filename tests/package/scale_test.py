#!/usr/bin/env python3
"""Tests shards and devices of `hone suite` with the program. Its tasks cannot be loaded, so that a run costs one start of Python: the
claims are about which runs exist where, not about verdicts.

Usage: scale_test.py --hone BINARY
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BROKEN = "import torch\nclass Model(torch.nn.Module):\n    pass\nraise RuntimeError('task %d is broken')\n"


def require(condition, what):
    if not condition:
        raise SystemExit("FAILED: %s" % what)


class House:
    def __init__(self, hone, path):
        self.hone, self.path = str(pathlib.Path(hone).resolve()), path
        self.tasks = path / "tasks"
        self.tasks.mkdir()
        for i in range(3):
            (self.tasks / ("%d_t.py" % (i + 1))).write_text(BROKEN % i)

    def run(self, *arguments, store="home", code=None):
        env = {**os.environ, "HONE_DATA": str(self.path / store)}
        done = subprocess.run([self.hone, *arguments], capture_output=True, text=True, env=env, cwd=self.path, timeout=300)
        require(code is None or done.returncode == code, "hone %s: exit %d instead of %s\n%s%s" % (" ".join(arguments), done.returncode, code, done.stdout, done.stderr))
        return done

    def refused(self, words, *arguments, code=2):
        done = self.run("suite", str(self.tasks), *arguments, code=code)
        lines = [line for line in done.stderr.splitlines() if line]
        require(len(lines) == 1 and words in lines[0], "%s: expected one sentence with %r, got\n%s" % (arguments, words, done.stderr))


def bad_input(house):
    house.refused("is not K/N", "--shard", "4/3", "--name", "x")
    house.refused("numbered from 1", "--shard", "0/3", "--name", "x")
    house.refused("needs --name", "--shard", "1/3")
    house.refused("leave it out with --target cpu", "--devices", "0", "--target", "cpu")
    house.refused("timings on parts of one processor", "--devices", "cpu:2")
    if not any(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        house.refused("no NVIDIA GPU can be used here", "--devices", "0,1", code=3)
    house.refused("neither ray nor ray:HOST:PORT", "--on", "slurm")
    house.refused("neither ray nor ray:HOST:PORT", "--on", "ray:10.0.0.1")
    house.refused("Ray Client addresses", "--on", "ray:ray://10.0.0.1:10001")
    house.refused("leave out --devices, --jobs and --shard", "--on", "ray", "--jobs", "3")
    house.refused("--on ray starts no agents", "--on", "ray", "--proposer", "agent:true")


def shards(house):
    """Three tasks in two shards, each with its own store, merged into one."""
    for shard, tasks in (("1/2", ["1_t", "3_t"]), ("2/2", ["2_t"])):
        store = "shard" + shard[0]
        command = ("suite", "tasks", "--name", "nightly", "--shard", shard, "--target", "cpu", "--quiet", "--json", "--out", store + "-runs")
        done = json.loads(house.run(*command, store=store, code=3).stdout)
        require([row["task"] for row in done["rows"]] == tasks, "shard %s ran %s" % (shard, done["rows"]))
        require(done["missing_shards"] == [2 if shard == "1/2" else 1], "the shard's own table names the others: %s" % done["missing_shards"])
        house.run("archive", "nightly", store + ".hone.tar.gz", store=store, code=0)
    first = json.loads(house.run("import", "shard1.hone.tar.gz", "--json", code=0).stdout)
    require(first["added"] == 2 and first["missing_shards"] == [2], "first import: %s" % first)
    table = house.run("report", "nightly", "--md").stdout
    require("shard 2 of 2 is missing" in table, "the table does not name the missing shard:\n" + table)
    house.run("import", "shard1.hone.tar.gz", "shard2.hone.tar.gz", code=0)
    for _ in range(2):  # importing again changes nothing
        table = json.loads(house.run("resume", "nightly", "--table", "--json").stdout)
        require([row["task"] for row in table["rows"]] == ["1_t", "2_t", "3_t"] and table["missing"] == [], "merged: %s" % table)
        again = [json.loads(line) for line in house.run("import", "shard2.hone.tar.gz", "shard1.hone.tar.gz", "--json", code=0).stdout.splitlines()]
        require([line["added"] for line in again] == [0, 0], "a second import added runs: %s" % again)
    # The same command again, as a requeued array job gives it: nothing is duplicated.
    done = json.loads(house.run("suite", "tasks", "--name", "nightly", "--shard", "2/2", "--target", "cpu", "--quiet", "--json", "--out", "shard2-runs", store="shard2").stdout)
    require(len(done["rows"]) == 1, "a requeued shard made runs again: %s" % done["rows"])
    (house.tasks / "4_t.py").write_text(BROKEN % 4)
    said = house.run("suite", "tasks", "--name", "nightly", "--shard", "1/2", store="shard2", code=2).stderr
    require("other tasks or another number of shards" in said, "a shard of other tasks joined: " + said)
    done = house.run("import", "shard1.hone.tar.gz", str(house.tasks / "1_t.py"), code=3)
    require("1_t.py" in done.stderr, "a file that is no archive: " + done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-scale-") as folder:
        house = House(options.hone, pathlib.Path(folder))
        bad_input(house)
        shards(house)
    print("ok")


if __name__ == "__main__":
    sys.exit(main())
