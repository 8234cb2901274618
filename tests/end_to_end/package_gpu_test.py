"""The Python package and suites on a CUDA device: what the tests on a CPU cannot show.

  wrapped    the module of hone.optimize on the device, with a stored answer: keyword arguments, weights that change, shapes, training, copies
  backend    torch.compile(backend="hone"): a graph break, another batch size, a graph that is kept
  searched   hone.optimize with the real program: a GRU with keyword arguments, found again by a second process, and an MLP
  judged     hone.judge and hone.Session: a right, a wrong and a crashing candidate
  suites     two suites with --devices 0 at once, which name the GPU differently: the lock by its UUID, and never two timings at once

Usage: package_gpu_test.py --hone BINARY [--case NAME]... [--device cpu]
Exit code 1 when anything failed, 77 without a CUDA device. `--device cpu` tries this file itself where there is no GPU.
It needs torch and the program, no network and nothing else; about two minutes on an H200.
"""

import argparse
import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from unittest import mock

import torch_python

torch_python.need_torch()
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

QUICK = ["--compile", "never", "--judge-at-most", "1"]
BUDGET = "60s"
LONGEST_S = 130  # no case starts after this time
STARTED = time.time()
DEVICE = "cuda"


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def close(got, wanted, limit=5e-3):
    """Allows TF32 in the original or the candidate, but no other computation."""
    require(got.shape == wanted.shape and got.dtype == wanted.dtype and got.device == wanted.device, "another form: %s" % (got,))
    got, wanted = got.detach(), wanted.detach()
    error = float((got.double() - wanted.double()).norm() / wanted.double().norm().clamp_min(1e-12))
    require(error <= limit, "the results differ by %.2e" % error)


class Small(nn.Module):
    """A GRU with keyword arguments, one of them optional."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(64, 64, batch_first=True)
        self.head = nn.Linear(64, 16)

    def forward(self, x, *, start=None, keep=None):
        y, last = self.rnn(x, start)
        if keep is not None:
            y = y * keep[..., None]
        return {"y": self.head(y), "last": last}


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256), nn.LayerNorm(256))

    def forward(self, x):
        return self.layers(x)


class Broken(nn.Module):
    """Two graphs: Dynamo breaks between them."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        x = self.one(x).relu()
        torch._dynamo.graph_break()
        return self.two(x).tanh()


def gru_call():
    torch.manual_seed(1)
    model = Small().to(DEVICE).eval()
    return model, (torch.randn(4, 64, 64, device=DEVICE),), {"start": torch.randn(1, 4, 64, device=DEVICE), "keep": torch.rand(4, 64, device=DEVICE)}


class Stands:
    """Replaces a run of the program: the captured Model itself as ModelNew, which counts its calls."""

    counting = "\n\nCALLS = []\n\n\nclass ModelNew(Model):\n    def forward(self, *inputs):\n        CALLS.append(1)\n        return super().forward(*inputs)\n"

    def __init__(self):
        self.runs = 0

    def run(self, words, progress, environment):
        from hone import _run

        self.runs += 1
        folder = pathlib.Path(words[words.index("--out") + 1])
        folder.mkdir(parents=True)
        require(words[words.index("--target") + 1] == DEVICE, "the target: %s" % words)
        (folder / "best.py").write_text(pathlib.Path(words[1]).read_text() + self.counting)
        (folder / "run.json").write_text(json.dumps({"status": "done", "run": "stand-in", "result": "accepted", "best": "stand.in", "outcome": "", "candidates": [{"key": "stand.in", "verdict": "accepted"}],
                                                     "speedup": {"vs_best": 2.0, "vs_eager": 2.0, "best_baseline": "eager"}}))
        return _run.Ended(0, "")

    @staticmethod
    def calls(fast):
        answer = fast._hone["answers"][-1]
        return len(sys.modules[type(answer.model).__module__].CALLS)


def wrapped(house):
    import hone

    stands = Stands()
    with mock.patch("hone._run.run", stands.run):
        model, args, kwargs = gru_call()
        other = copy.deepcopy(model)
        fast = hone.optimize(model, args, kwargs, progress=False)
        require(fast.hone.status == "faster", repr(fast.hone))
        with torch.no_grad():
            before = stands.calls(fast)
            for changed in (False, True):
                if changed:
                    for one in (model, other):
                        one.rnn.weight_hh_l0.mul_(0.5)
                        one.head.weight = nn.Parameter(one.head.weight * 2)
                got, wanted = fast(*args, **kwargs), other(*args, **kwargs)
                require(list(got) == ["y", "last"], "the form of the answer")
                close(got["y"], wanted["y"])
                close(got["last"], wanted["last"])
            require(stands.calls(fast) == before + 2, "the answer did not run")
            wide = torch.randn(7, 64, 64, device=DEVICE)
            close(fast(wide)["y"], other(wide)["y"])
        fast.train()
        warnings.simplefilter("ignore", UserWarning)  # the warning says that training runs the original
        close(fast(*args, **kwargs)["y"], other.train()(*args, **kwargs)["y"])
        fast(*args, **kwargs)["y"].sum().backward()
        require(model.head.weight.grad is not None, "training does not reach the parameters")
        require(stands.calls(fast) == before + 2, "the answer ran for another shape or in training mode")
        fast.eval()
        twin = copy.deepcopy(fast)
        with torch.no_grad():
            close(twin(*args, **kwargs)["y"], fast(*args, **kwargs)["y"])
        require(twin._hone["answers"][0].model is not None and twin.head.weight is not fast.head.weight, "a copy stands on its own")
        again = hone.optimize(gru_call()[0], args, kwargs, progress=False)
        require(again.hone.cached and stands.runs == 1, "a second instance searched anew")
        mlp, x = Mlp().to(DEVICE).eval(), torch.randn(128, 256, device=DEVICE)
        fast = hone.optimize(mlp, x, progress=False)
        with torch.no_grad():
            for _ in range(2):
                close(fast(x), mlp(x))
                mlp.layers[0].bias.add_(1)
        require(stands.calls(fast) >= 2, "the answer for the MLP did not run")


def backend(house):
    import hone
    from hone import _backend

    if "hone" not in torch._dynamo.list_backends():
        torch._dynamo.register_backend(_backend.backend, name="hone")  # the entry point of an installed package does this
    stands = Stands()
    torch.manual_seed(2)
    model = Broken().to(DEVICE).eval()
    with mock.patch("hone._run.run", stands.run), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        compiled = torch.compile(model, backend="hone", options={"progress": False})
        for batch in (8, 8, 24, 40, 8):
            x = torch.randn(batch, 64, device=DEVICE)
            close(compiled(x), model(x))
        model.one.weight.mul_(3)
        close(compiled(x), model(x))
    first, second, *dynamic = hone.subgraphs()
    require(first.outcome == second.outcome == "optimised" and stands.runs == 2, "the two graphs: %s" % hone.subgraphs())
    require(dynamic and all(one.outcome == "eager" for one in dynamic), "other batch sizes run the original: %s" % hone.subgraphs())
    # With the real program and no time to find anything, the user's program continues.
    torch._dynamo.reset()
    with torch.no_grad():
        kept = Mlp().to(DEVICE).eval()
        x = torch.randn(32, 256, device=DEVICE)
        close(torch.compile(kept, backend="hone", options={"progress": False, "budget": "3s"})(x), kept(x))
    print("  " + str(hone.subgraphs()[-1]))


SECOND = """
import sys, time, torch
sys.path.insert(0, %r)
import package_gpu_test as test, hone
test.DEVICE = %r
model, args, kwargs = test.gru_call()
model(*args, **kwargs)  # the start of the device is not Hone's
began, wall = time.process_time(), time.perf_counter()
fast = hone.optimize(model, args, kwargs, budget=test.BUDGET, options=test.QUICK)
print(fast.hone.cached, fast.hone.status, time.process_time() - began, time.perf_counter() - wall)
with torch.no_grad():
    other = test.copy.deepcopy(model)
    for one in (model, other):
        one.rnn.weight_ih_l0.mul_(0.25)
        one.head.bias.add_(1)
    for name, value in other(*args, **kwargs).items():
        test.close(fast(*args, **kwargs)[name], value)
"""


def searched(house):
    import hone

    model, args, kwargs = gru_call()
    began = time.time()
    fast = hone.optimize(model, args, kwargs, budget=BUDGET, progress=False, options=QUICK)
    print("  GRU, %.0f s: %s" % (time.time() - began, " ".join(repr(fast.hone).split())))
    require(fast.hone.status in ("faster", "kept") and fast.hone.run, repr(fast.hone))
    with torch.no_grad():
        wanted = model(*args, **kwargs)
        for name, value in fast(*args, **kwargs).items():
            close(value, wanted[name])
    said = subprocess.run([sys.executable, "-c", SECOND % (str(pathlib.Path(__file__).parent), DEVICE)], capture_output=True, text=True, timeout=120)
    require(said.returncode == 0, said.stderr[-2000:])
    cached, status, spent, wall = said.stdout.split()
    print("  second process: %s, %s, %.2f s of processor time, %.2f s" % (cached, status, float(spent), float(wall)))
    require((cached, status) == ("True", fast.hone.status), said.stdout)
    require(float(spent) < 1, "the second process takes %s s of processor time" % spent)
    torch.manual_seed(3)
    mlp, x = Mlp().to(DEVICE).eval(), torch.randn(128, 256, device=DEVICE)
    left = LONGEST_S - (time.time() - STARTED)
    if left < 10:
        print("  MLP: not searched, the time is over")
        return
    began = time.time()
    fast = hone.optimize(mlp, x, budget=left, progress=False, options=QUICK)
    print("  MLP, %.0f s: %s" % (time.time() - began, " ".join(repr(fast.hone).split())))
    with torch.no_grad():
        close(fast(x), mlp(x))


SOFTMAX = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        e = torch.exp(x - x.max(dim=-1, keepdim=True).values)\n        return e / e.sum(dim=-1, keepdim=True)\n"


def judged(house):
    import hone

    task = str(ROOT / "tasks" / "small_softmax.py")
    with hone.Session(task, target=DEVICE, check_only=True, save=False) as session:
        right = session.judge(SOFTMAX)
        require(right.right and right.reason == "speed-not-judged", "a right candidate: %s" % right)
        wrong = session.judge(SOFTMAX.replace("return e /", "return 1.01 * e /"))
        require((wrong.verdict, wrong.reason) == ("rejected", "wrong-output"), "a wrong candidate: %s" % wrong)
        dead = session.judge(SOFTMAX.replace("return e /", "import os; os.abort()\n        return e /"))
        require((dead.verdict, dead.reason) == ("rejected", "crashed"), "a candidate that crashes: %s" % dead)
        require(session.judge(SOFTMAX + "# again\n").right and session.restarts == 0, "the session ended with the candidate")
    mlp, x = Mlp().to(DEVICE).eval(), torch.randn(128, 256, device=DEVICE)
    verdict = hone.judge(mlp, SOFTMAX, args=(x,), target=DEVICE, check_only=True, save=False)
    require(not verdict.right, "a candidate for another task: %s" % verdict)


def holders(lock):
    """Process ids that hold this file exclusively, as the kernel lists them."""
    found = []
    for line in pathlib.Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if "->" not in words and words[1] == "FLOCK" and words[3] == "WRITE" and words[5].endswith(":%d" % lock.st_ino):
            found.append(int(words[4]))
    return found


def starter(process, known):
    """The known process from which this one descends."""
    for _ in range(20):
        if process in known:
            return process
        try:
            process = int(pathlib.Path("/proc/%d/stat" % process).read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return 0
    return 0


def suites(house):
    if DEVICE == "cuda":
        uuid = str(torch.cuda.get_device_properties(0).uuid)
        uuid = uuid if uuid.startswith("GPU-") else "GPU-" + uuid
        names, how = [None, uuid], ["--devices", "0"]
        lock = pathlib.Path("/tmp/hone-cuda-%s.lock" % uuid[len("GPU-"):])
    else:
        names, how, lock = [None, None], ["--target", "cpu"], pathlib.Path("/tmp/hone-cpu.lock")
    reply = house / "reply.txt"
    reply.write_text("```python\n%s```\n" % SOFTMAX)
    running = {}
    for number, name in enumerate(names):
        tasks = house / ("tasks%d" % number)
        tasks.mkdir()
        for task in ("a", "b"):  # different bytes, so that the two do not share a verdict
            (tasks / (task + "_softmax.py")).write_text((ROOT / "tasks" / "small_softmax.py").read_text() + "# %s %d\n" % (task, number))
        env = {**os.environ, "HONE_DATA": str(house / ("data%d" % number))}
        if name:
            env["CUDA_VISIBLE_DEVICES"] = name
        words = [os.environ["HONE_BINARY"], "suite", str(tasks), "--name", "s", *how, "--out", str(house / ("runs%d" % number)), "--proposer", "exec:cat %s" % reply, "--seeds", "1", "--repairs", "0",
                 "--no-analysis", "--no-tuning", "--search", "classic", *QUICK[:2], "--python", sys.executable, "--json", "--quiet"]
        process = subprocess.Popen(words, env=env, cwd=house, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running[process.pid] = process
    seen, most, turns, told = dict.fromkeys(running, 0), 0, [], {}
    readers = []
    for pid, process in running.items():
        readers.append(threading.Thread(target=lambda pid=pid, process=process: told.update({pid: process.communicate()})))
        readers[-1].start()
    listed = os.access("/proc/locks", os.R_OK)
    while any(process.poll() is None for process in running.values()):
        if listed and lock.exists():
            now = holders(lock.stat())
            most = max(most, len(now))
            for holder in now:
                suite = starter(holder, running)
                if suite:
                    seen[suite] += 1
                    if turns[-1:] != [suite]:
                        turns.append(suite)
        time.sleep(0.001)
    for reader in readers:
        reader.join()
    for pid, process in running.items():
        out, err = told[pid]
        require(process.returncode in (0, 1), "a suite: exit %d, %s" % (process.returncode, err[-1500:]))
        rows = json.loads(out)["rows"]
        require([row["status"] for row in rows] == ["done", "done"], "rows: %s" % rows)
    for number in range(2):  # each candidate was timed, so the lock was needed
        for run in sorted((house / ("runs%d" % number)).rglob("run.json")):
            candidates = [one for one in json.loads(run.read_text())["candidates"] if one.get("phase") != "zero"]
            require(candidates and candidates[0]["reason"] not in ("wrong-output", "build-failed", "crashed", "import-failed"), "candidates: %s" % candidates)
    require(lock.exists(), "there is no lock %s; those there are: %s" % (lock, sorted(map(str, pathlib.Path("/tmp").glob("hone-*.lock")))))
    if not listed:
        print("  /proc/locks cannot be read here: who held the lock when was not seen")
        return
    print("  %s was held in %d turns, samples by suite: %s" % (lock, len(turns), list(seen.values())))
    require(all(seen.values()), "a suite timed without this lock: %s" % seen)
    require(most == 1, "two held the lock at once")
    require(len(turns) >= 3, "the suites did not take turns: %d" % len(turns))


CASES = [wrapped, backend, judged, suites, searched]


def main():
    global DEVICE
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--case", action="append", choices=[case.__name__ for case in CASES])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    options = parser.parse_args()
    DEVICE = options.device
    if DEVICE == "cuda" and not torch.cuda.is_available():
        print("skipped: PyTorch sees no CUDA device here")
        return 77
    house = pathlib.Path(tempfile.mkdtemp(prefix="hone-package-gpu-"))
    os.environ.update(HONE_BINARY=os.path.realpath(options.hone), HONE_PYTHON=sys.executable, PYTHONPATH=str(ROOT / "python"))
    failures = 0
    for case in CASES:
        if options.case and case.__name__ not in options.case:
            continue
        folder = house / case.__name__
        folder.mkdir()
        os.environ["HONE_DATA"] = str(folder / "data")
        began = time.time()
        try:
            case(folder)
            word = "ok"
        except Exception as error:  # the other cases are still useful
            word = "FAILED: %s: %s" % (type(error).__name__, error)
            failures += 1
        print("%s: %s (%.1f s)" % (case.__name__, word, time.time() - began), flush=True)
    shutil.rmtree(house, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
