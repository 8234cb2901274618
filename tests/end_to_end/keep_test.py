"""Tests the commands that shrink the store and move runs between machines: `hone gc`, `hone archive`, `hone import FILE`.

Usage: keep_test.py --hone BINARY [--only WORD]
"""

import gzip
import io
import json
import pathlib
import shutil
import signal
import sqlite3
import sys
import tarfile

from pipeline_house import ACCEPTED, CANNOT, QUICK, REJECTED, SMALL_SOFTMAX, USAGE, main, require, require_equal, wait_for
from runs_test import ONE_CALL, broken_seed, program

OLD = "2020-01-01T00:00:00Z"


def change(house, sql, *values):
    store = sqlite3.connect(house.folder / "data" / "hone.db", timeout=20)
    with store:
        store.execute("PRAGMA foreign_keys=ON")
        store.execute(sql, values)
    store.close()


def archived(house):
    """a run packed here and taken in elsewhere: the same bytes each time, the same rows and files there, known when it comes again"""
    house.optimize(SMALL_SOFTMAX, broken_seed(house), *ONE_CALL).expect(REJECTED)
    run = house.last()
    said = house.run("archive", "last", "a.tar.gz", "--json").expect(ACCEPTED).json()
    house.run("archive", run.name, "a.tar.gz").expect(USAGE, "--force")
    house.run("archive", "R1", "b.tar.gz").expect(ACCEPTED, "hone import b.tar.gz")
    packed = (house.folder / "a.tar.gz").read_bytes()
    require_equal((house.folder / "b.tar.gz").read_bytes() == packed, True, "the same bytes")
    with tarfile.open(house.folder / "a.tar.gz") as tar:  # any tar opens it
        names = tar.getnames()
        require({"task.py", "store/run.json", "store/candidate.jsonl", "folder/code/seed0.py", "folder/run.json"} <= set(names), "members: %s" % names)
        require_equal(tar.extractfile("task.py").read().decode(), SMALL_SOFTMAX.read_text(), "the task")
    require_equal(said["files"], sum(name.startswith("folder/") for name in names), "files")

    there = {"HONE_DATA": str(house.folder / "there")}
    show = lambda env=None: house.run("show", run.name, "--json", "-v", env=env).expect(ACCEPTED).json()
    taken = house.run("import", "a.tar.gz", "--out", "taken", "--json", env=there).expect(ACCEPTED).json()
    require_equal((taken["id"], taken["run"], taken["known"]), ("R1", run.name, False), "what was taken in")
    before, after = show(), show(there)
    require_equal(after["candidates"], before["candidates"], "candidates")
    require_equal(after["decisions"], before["decisions"], "decisions")
    files = lambda folder: {str(path.relative_to(folder)): path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}
    require_equal(files(taken["folder"]), files(run.folder), "files")
    house.run("import", "a.tar.gz", env=there).expect(ACCEPTED, "R1", "already")
    house.run("import", "a.tar.gz").expect(ACCEPTED, "R1", "already")
    house.run("archive", "R1", "c.tar.gz", env=there).expect(ACCEPTED)
    require_equal((house.folder / "c.tar.gz").read_bytes() == packed, True, "the same bytes from there")
    house.run("resume", "R1", env=there).expect(USAGE, "came from an archive")


def hostile(house):
    """files that pretend to be a run are refused with a sentence, and nothing is written"""
    def tar(*members):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as out:
            for member, content in members:
                member.size = len(content)
                out.addfile(member, io.BytesIO(content))
        return buffer.getvalue()

    def link(name, target):
        member = tarfile.TarInfo(name)
        member.type, member.linkname = tarfile.SYMTYPE, target
        return member
    manifest = json.dumps({"format": "hone-run", "version": 1, "schema": 1, "members": {}}).encode()
    cases = {
        "climbs": (tar((tarfile.TarInfo("../../outside.py"), b"x")), "leads elsewhere"),
        "absolute": (tar((tarfile.TarInfo("/tmp/outside.py"), b"x")), "leads elsewhere"),
        "link": (tar((link("folder", "/etc"), b"")), "not a plain file"),
        "empty manifest": (gzip.compress(tar((tarfile.TarInfo("hone-run.json"), manifest))), "no object"),
        "bomb": (gzip.compress(tar((tarfile.TarInfo("hone-run.json"), bytes(300 << 20))), 1), "larger than a run can be"),
        "text": (b"hello\n" * 1000, "no archive of a run"),
        "nothing": (b"", "no archive of a run"),
    }
    for name, (content, says) in cases.items():
        (house.folder / "hostile").write_bytes(content)
        outcome = house.run("import", "hostile").expect(CANNOT, says)
        require("Traceback" not in outcome.err and outcome.err.count("\n") == 1, "%s: %s" % (name, outcome.err))
    require_equal(house.rows("SELECT * FROM run"), [], "runs")
    require(not (house.folder / "runs").exists(), "something was written")


def collected(house):
    """gc says what it would remove and leaves it; with --yes it goes, but not what runs, is best or is somebody else's"""
    house.optimize(SMALL_SOFTMAX, broken_seed(house), *ONE_CALL).expect(REJECTED)
    old = house.last()
    pathlib.Path(old.folder, "my_notes.txt").write_text("mine")
    change(house, "UPDATE run SET created=?, finished=?", OLD, OLD)
    # Rows with special roles: the best of a task, and one whose folder belongs to the user.
    columns = "created, finished, status, task, task_path, task_sha256, task_source, target, proposer, options"
    for name, folder in (("best", "/nowhere/best"), ("shared", str(house.folder))):
        change(house, "INSERT INTO run (name, folder, %s) SELECT ?, ?, %s FROM run WHERE id=1" % (columns, columns), name, folder)
    change(house, "UPDATE run SET task='other', best_key='seed0', vs_best=2 WHERE name='best'")
    change(house, "INSERT INTO verdict (created, task, candidate, target, device, verdict, reason, vs_best, vs_eager, json) "
           "VALUES (?, 't', 'c', 'cpu', 'd', 'rejected', 'slower', 0.5, 0.5, '{}')", OLD)
    asked = house.folder / "asked"
    process = house.start("optimize", SMALL_SOFTMAX, "--proposer", program(house, "slow.py", "open(%r, 'a').write(key)\ntime.sleep(120)" % str(asked)), *QUICK, *ONE_CALL)
    wait_for("question", asked.exists, process=process)
    would = house.run("gc", "--older-than", "0", "--json").expect(ACCEPTED).json()
    require_equal((would["removed"], would["runs"], would["verdicts"]), (False, 2, 1), "what it would do")
    require_equal(would["kept"], {"running": 1, "best of its task and device": 1}, "what it would keep")
    require(would["rows"] > 5 and would["row_bytes"] > 1000 and would["files"] >= 4 and would["file_bytes"] > 1000, "sizes: %s" % would)
    require_equal(len(house.rows("SELECT * FROM run")), 4, "runs after a dry run")
    outcome = house.run("gc", "--older-than", "0", "--yes").expect(ACCEPTED, "deleted 2 runs and 1 verdict:", "folder kept", "while a run is in progress")
    require("my_notes" not in outcome.out, outcome.out)
    require_equal(sorted(row["name"] for row in house.rows("SELECT name FROM run WHERE status<>'running'")), ["best"], "runs that stay")
    for table in ("call", "candidate", "decision", "console"):
        require_equal(house.rows("SELECT * FROM %s WHERE run_id=?" % table, old.id), [], table)
    require_equal([path.name for path in pathlib.Path(old.folder).iterdir()], ["my_notes.txt"], "the folder")
    require(asked.exists() and (house.folder / "slow.py").exists(), "somebody's folder was touched")
    process.send_signal(signal.SIGINT)
    house.finish(process, 60)
    require_equal(house.last().status, "stopped", "the run that was at work")
    house.integrity()
    house.run("gc", "--older-than", "0", "--yes").expect(ACCEPTED, "size of the store: ")


def everything_of(house, folder):
    files = {str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None) for path in pathlib.Path(folder).rglob("*")}
    return files, [house.rows("SELECT * FROM " + table) for table in ("run", "candidate", "call", "decision", "console", "verdict")]


def folders_of_users(house):
    """no run is put into a folder with files of the user's; resume of a finished run changes nothing; gc deletes nothing of the user's"""
    mine = house.folder / "kernels"
    for name in ("best.py", "run.json", "console.log", "usage.csv", "code/best.py"):
        house.write("kernels/" + name, "import torch  # mine\n")
    imported = ("import", mine, "--task", SMALL_SOFTMAX)
    house.run(*imported).expect(ACCEPTED, "2 files, not judged")
    # Earlier versions stored the user's folder as the folder of the run; `resume` then also changed its status and options.
    house.run(*imported).expect(ACCEPTED)
    change(house, "UPDATE run SET folder=? WHERE id=2", str(mine))
    house.run(*imported).expect(ACCEPTED)
    named = house.rows("SELECT name FROM run WHERE id=3")[0]["name"]
    (house.folder / named).mkdir()
    (house.folder / named / "best.py").write_text("mine")
    change(house, "UPDATE run SET folder=?, status='stopped', options='{\"budget\":{\"minutes\":3}}' WHERE id=3", str(house.folder / named))
    for folder, run in ((mine, "R1"), (mine, "R2"), (house.folder / named, "R3")):
        before = everything_of(house, folder)
        for flags in ((), ("--max-minutes", "5")):
            outcome = house.run("resume", run, *flags).expect(REJECTED, "%s is finished; nothing was changed" % run)
            require_equal(outcome.err.count("\n"), 1, "lines for the user")
        require(everything_of(house, folder) == before, "resume of %s has changed a file or a row" % run)

    house.optimize(SMALL_SOFTMAX, broken_seed(house), *ONE_CALL, "--out", "gone").expect(REJECTED)
    shutil.rmtree(house.folder / "gone")
    before = everything_of(house, mine)
    house.run("resume", "last").expect(REJECTED, "R4 is finished; nothing was changed")
    require(not (house.folder / "gone").exists() and everything_of(house, mine) == before, "resume of a run without its folder has changed something")

    house.optimize(SMALL_SOFTMAX, broken_seed(house), *ONE_CALL, "--out", mine).expect(USAGE, "has a best.py that no run wrote", "choose another folder with --out")
    require(everything_of(house, mine) == before, "a refused run has changed something")
    files = everything_of(house, mine)[0], everything_of(house, house.folder / named)[0]
    house.run("gc", "--older-than", "0", "--yes").expect(ACCEPTED, "deleted 4 runs")
    require_equal((everything_of(house, mine)[0], everything_of(house, house.folder / named)[0]), files, "the user's files")
    # Files that Hone wrote for an imported run are still deleted, and a run may take the place of an earlier one.
    house.run("import", mine, "--task", SMALL_SOFTMAX, "--judge", *QUICK, "-q")
    judged = pathlib.Path(house.last().folder)
    require((judged / "run.json").exists(), "an import that is judged has no folder")
    house.run("gc", "--older-than", "0", "--yes").expect(ACCEPTED, "deleted 1 run")
    require(not judged.exists(), "the files of a judged import stay")
    for _ in range(2):
        house.optimize(SMALL_SOFTMAX, broken_seed(house), *ONE_CALL, "--out", "again").expect(REJECTED)


def interrupted(house):
    """Ctrl-C in the middle: whole runs are gone, the others are whole, and the next gc ends it"""
    house.run("runs").expect(ACCEPTED)
    store = sqlite3.connect(house.folder / "data" / "hone.db")
    with store:
        for n in range(400):
            store.execute("INSERT INTO run (id, name, created, status, task, task_path, task_sha256, task_source, target, proposer, folder, options) "
                          "VALUES (?, ?, ?, 'done', 't', '', '', '', 'cpu', 'expert', ?, '{}')", (n + 1, "run%d" % n, OLD, str(house.folder / "runs" / ("run%d" % n))))
            store.execute("INSERT INTO console (run_id, created, line) VALUES (?, ?, ?)", (n + 1, OLD, "x" * 2000))
            house.write("runs/run%d/console.log" % n, "x" * 2000)
    store.close()
    process = house.start("gc", "--yes")
    count = lambda: house.rows("SELECT count(*) AS n FROM run")[0]["n"]
    wait_for("removal", lambda: count() < 390, process=process)
    process.send_signal(signal.SIGINT)
    house.finish(process, 30)
    left = {row["name"] for row in house.rows("SELECT name FROM run")}
    with_files = {path.name for path in (house.folder / "runs").iterdir()}
    require(with_files == left or with_files < left and len(left - with_files) == 1, "rows and folders differ: %s" % sorted(left ^ with_files)[:5])
    house.integrity()
    house.run("gc", "--yes").expect(ACCEPTED)
    require_equal((count(), list((house.folder / "runs").iterdir())), (0, []), "what is left")


if __name__ == "__main__":
    sys.exit(main([archived, hostile, collected, folders_of_users, interrupted], __doc__))
