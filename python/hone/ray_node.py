"""The work of a Ray node for `hone suite --on ray`: it keeps the program and the tasks in a cache folder, named by their hashes,
runs `hone optimize` with a separate store, and returns the run as the archive that `hone archive` writes.

Nothing here decides about verdicts. System faults (no disk, a killed process, a lost GPU) are distinguished from completed runs by
the kind of the program's error: the driver retries a fault elsewhere, but never a verdict.

The program and the tasks are in the cache folder, which nodes may share. Runs are in a temporary folder: they contain a store, which
does not belong on a network file system, and no other node may mistake them for its own.

This file is sent by value: it imports only the standard library and, inside functions, Ray.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import io
import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import tarfile
import tempfile
import time
from typing import Any, Dict, Optional

LEAST_FREE_BYTES = 512 << 20
DONE, KEPT, FAILED = 0, 1, 3  # exit codes of `hone optimize` after which there is a run
# Kinds of error that concern the task or the command, so that another node would report the same. The others concern the machine.
ABOUT_THE_TASK = ("usage", "invalid", "not_found")
FACTS_S = 600.0  # facts of a node are collected again after this time

Job = Dict[str, Any]
Answer = Dict[str, Any]


class Fault(Exception):
    """The system failed, not the task."""


def cache_folder() -> pathlib.Path:
    """Hone's cache folder on this node (HONE_CACHE, XDG_CACHE_HOME), with a subfolder for Ray."""
    named = os.environ.get("HONE_CACHE")
    if named:
        return pathlib.Path(named) / "ray"
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hone" / "ray"


def work_folder() -> pathlib.Path:
    """The folder of this node's active runs: on its own disk, and not shared."""
    folder = pathlib.Path(tempfile.gettempdir()) / ("hone-ray-%d" % os.getuid())
    folder.mkdir(mode=0o700, exist_ok=True)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise Fault("%s belongs to another user; set TMPDIR to another folder" % folder)
    return folder


def here() -> str:
    """Identifies this machine since its boot, and the PID namespace, because two containers may share a folder."""
    try:
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
        return hashlib.sha256((boot + os.readlink("/proc/self/ns/pid")).encode()).hexdigest()[:12]
    except OSError:
        return "unknown"


def fetch(shipment: Dict[str, Any]) -> bytes:
    """The bytes of a shipment from the cluster's object store, verified against the driver's hash."""
    import ray

    content = bytes(ray.get(shipment["refs"][0]))
    if hashlib.sha256(content).hexdigest() != shipment["sha256"]:
        raise Fault("what arrived is not what was sent (its hash differs)")
    return content


def kept_program(shipment: Dict[str, Any], fetched: Any = fetch) -> pathlib.Path:
    """The program, fetched once per node: the first worker fetches it, the others wait for the lock."""
    folder = cache_folder() / ("program-" + shipment["sha256"][:32])
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "hone"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists() or hashlib.sha256(program.read_bytes()).hexdigest() != shipment["sha256"]:
            handle, name = tempfile.mkstemp(prefix="hone.", dir=folder)  # another node may have the same process id
            fresh = pathlib.Path(name)
            with os.fdopen(handle, "wb") as file:
                file.write(fetched(shipment))
            fresh.chmod(0o755)
            fresh.rename(program)
            with open(folder / "fetched.log", "a") as log:
                log.write("%s %d\n" % (socket.gethostname(), os.getpid()))
    return program


def kept_bundle(shipment: Dict[str, Any], fetched: Any = fetch) -> pathlib.Path:
    """The tasks and, for a replay, the recorded replies, unpacked once per node."""
    folder = cache_folder() / ("tasks-" + shipment["sha256"][:32])
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(str(folder) + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            fresh = pathlib.Path(tempfile.mkdtemp(prefix="tasks.", dir=folder.parent))
            with tarfile.open(fileobj=io.BytesIO(fetched(shipment))) as tar:
                for member in tar.getmembers():
                    if not member.isfile() or member.name.startswith("/") or ".." in member.name.split("/"):
                        raise Fault("the bundle of tasks holds %r, which is no plain file" % member.name)
                    target = fresh / member.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source = tar.extractfile(member)
                    assert source is not None
                    target.write_bytes(source.read())
            fresh.rename(folder)
    return folder


def die_with_parent() -> None:
    """If Ray ends a worker, its `hone` ends too (PR_SET_PDEATHSIG), so that a retried task does not run twice for long."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def environment(data: pathlib.Path) -> Dict[str, str]:
    env = dict(os.environ)
    env["HONE_DATA"] = str(data)
    # Ray sets this to the reserved cores, which would change the PyTorch baselines.
    env.pop("OMP_NUM_THREADS", None)
    return env


def last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:400] if lines else "it printed nothing"


def kept_facts(program: pathlib.Path, node: str, python: str) -> pathlib.Path:
    """The file with the facts of this node since its boot, with its present driver."""
    try:
        driver = pathlib.Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        driver = ""
    name = hashlib.sha256(" ".join((node, str(program), python, here(), driver)).encode()).hexdigest()[:24]
    return work_folder() / ("facts-%s.json" % name)


def facts_of_node(program: pathlib.Path, node: str, python: str) -> Dict[str, Any]:
    """The facts that must be equal for times to be comparable, as `hone doctor` reports them. Cached for the node's other tasks."""
    kept = kept_facts(program, node, python)
    try:
        if time.time() - kept.stat().st_mtime < FACTS_S:
            return json.loads(kept.read_text())
    except (OSError, ValueError):
        pass
    command = [str(program), "doctor", "--json"] + (["--python", python] if python else [])
    said = subprocess.run(command, capture_output=True, text=True, timeout=120)
    try:
        doctor = json.loads(said.stdout)
    except ValueError:
        raise Fault("`hone doctor` failed: %s" % last_words(said.stderr))
    found = doctor.get("python") or {}
    facts = {
        "hone": doctor.get("version", ""),
        "Python": found.get("version", ""),
        "torch": found.get("torch", ""),
        "triton": found.get("triton", ""),
        "GPU driver": ", ".join(sorted({gpu["driver"] for gpu in doctor.get("gpus", [])})),
        "GPU": ", ".join(sorted({gpu["name"] for gpu in doctor.get("gpus", [])})),
        "CPU": doctor.get("cpu", {}).get("model", ""),
        "cores": str(doctor.get("cpu", {}).get("cores", "")),
    }
    fresh = kept.with_suffix(".%d" % os.getpid())
    fresh.write_text(json.dumps(facts))
    fresh.rename(kept)
    return facts


def differences(facts: Dict[str, Any], wanted: Dict[str, Any]) -> str:
    """'torch 2.12.0 where the others have 2.11.0', or nothing."""
    return ", ".join("%s %s where the others have %s" % (name, facts.get(name) or "none", value or "none") for name, value in wanted.items() if facts.get(name) != value)


def node_id() -> str:
    import ray

    return ray.get_runtime_context().get_node_id()


def probe(job: Job) -> Answer:
    """What this node has."""
    answer: Answer = {"node": node_id(), "host": socket.gethostname()}
    try:
        answer["facts"] = facts_of_node(kept_program(job["program"]), answer["node"], job["python"])
    except (Fault, OSError, subprocess.SubprocessError) as error:
        answer["fault"] = str(error)
    return answer


def remove_leftovers(folder: pathlib.Path) -> None:
    """Deletes working folders of dead workers on this machine, and outdated facts."""
    for old in folder.glob("work-%s-*" % here()):
        try:
            os.kill(int(old.name.split("-")[2]), 0)
        except (ValueError, IndexError, PermissionError):
            continue
        except ProcessLookupError:
            shutil.rmtree(old, ignore_errors=True)
    for old in folder.glob("facts-*.json"):
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > FACTS_S:
                old.unlink()


def why_broken(out: str, err: str) -> str:
    """The fault, if a failed program reports that the task was not the cause; empty if the run was completed."""
    try:
        error = json.loads(out).get("error")
    except (ValueError, AttributeError):
        return last_words(err)
    if not isinstance(error, dict) or error.get("kind") in ABOUT_THE_TASK:
        return ""
    return last_words(str(error.get("message", "")))


def optimize(job: Job, program: pathlib.Path, bundle: pathlib.Path, work: pathlib.Path) -> bytes:
    """Runs the task to its end and returns the run's archive."""
    options = dict(job["run"])
    if str(options.get("proposer", "")).startswith("replay:"):
        options["proposer"] = "replay:%s" % (bundle / "replay")
    (work / "options.json").write_text(json.dumps(options))
    env = environment(work / "data")
    # Keeps the file's name, which is the task's name.
    command = [str(program), "optimize", str(bundle / "tasks" / job["file"]), "--options", str(work / "options.json"), "--out", str(work / "run"), "--quiet", "--json"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=work, preexec_fn=die_with_parent)
    try:
        out, said = process.communicate()
    except BaseException:  # Ray cancels a task with an exception
        process.send_signal(signal.SIGINT)
        process.wait(30)
        raise
    if process.returncode < 0:
        raise Fault("`hone optimize` was ended by signal %d" % -process.returncode)
    if "No space left on device" in said or shutil.disk_usage(work).free < LEAST_FREE_BYTES // 8:
        raise Fault("the disk of this node is full")
    if process.returncode not in (DONE, KEPT, FAILED):
        raise Fault("`hone optimize` ended with %d: %s" % (process.returncode, last_words(said)))
    if process.returncode == FAILED:
        why = why_broken(out, said)
        if why:
            raise Fault(why)
    archive = work / "run.hone.tar.gz"
    packed = subprocess.run([str(program), "archive", "last", str(archive)], capture_output=True, text=True, env=env, cwd=work)
    if packed.returncode != 0:
        raise Fault(last_words(said) if process.returncode == FAILED else "`hone archive` failed: %s" % last_words(packed.stderr))
    return archive.read_bytes()


def run_task(job: Job, board: Any = None) -> Answer:
    """One task: {"archive": bytes}, {"fault": why} or {"differs": how}."""
    started = time.time()
    answer: Answer = {"node": node_id(), "host": socket.gethostname(), "task": job["name"]}
    if board is not None:
        board.started.remote(job["name"], job["attempt"], answer["node"])
    work: Optional[pathlib.Path] = None
    try:
        program = kept_program(job["program"])
        if job["facts"]:
            how = differences(facts_of_node(program, answer["node"], job["run"].get("judge", {}).get("python", "")), job["facts"])
            if how:
                return {**answer, "differs": how}
        bundle = kept_bundle(job["bundle"])
        folder = work_folder()
        remove_leftovers(folder)
        free = shutil.disk_usage(folder).free
        if free < LEAST_FREE_BYTES:
            raise Fault("only %d MiB are free in %s" % (free >> 20, folder))
        work = pathlib.Path(tempfile.mkdtemp(prefix="work-%s-%d-" % (here(), os.getpid()), dir=folder))
        answer["archive"] = optimize(job, program, bundle, work)
    except (Fault, OSError, subprocess.SubprocessError) as error:
        answer["fault"] = str(error)
        with contextlib.suppress(Fault, OSError):  # the node may have changed
            for facts in work_folder().glob("facts-*.json"):
                facts.unlink()
    finally:
        if work is not None:
            shutil.rmtree(work, ignore_errors=True)
    answer["seconds"] = time.time() - started
    return answer
