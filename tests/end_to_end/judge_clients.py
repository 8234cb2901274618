"""Shared by tests and the load test of the judge service: a server with its token, plain requests, and clients that send well-formed and
hostile requests from many threads. Uses only Python's standard library."""

import collections
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "a-token-for-tests-0123456789"
STAND_IN = "%s %s" % (sys.executable, ROOT / "tests" / "fakes" / "fake_judge.py")
CANDIDATE = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x  # %s\n"


class JudgeServer:
    """`hone serve --judge` as a child. `env` holds HONE_DATA and, for a fake judge, FAKE_JUDGE_LOG."""

    def __init__(self, hone, env, *flags, stand_in=True, cwd=None):
        env = dict(env)
        env.setdefault("HONE_JUDGE_TOKEN", TOKEN)
        if stand_in:
            env["HONE_JUDGE_COMMAND"] = STAND_IN
        self.process = subprocess.Popen([hone, "serve", "--judge", "--port", "0", "--tasks", str(ROOT / "tasks"), "--target", "cpu", *map(str, flags)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=cwd,
                                        start_new_session=True)
        address = self.process.stdout.readline().strip()
        if not address:
            raise RuntimeError("hone serve --judge did not start: " + self.process.stderr.read()[-600:])
        self.url = address.rstrip("/")
        self.port = int(self.url.rpartition(":")[2])

    def stop(self, how=signal.SIGINT):
        """Ends it and returns the exit code and the output."""
        self.process.send_signal(how)
        err = self.process.communicate(timeout=120)[1]
        return self.process.returncode, err

    def rss_kb(self):
        for line in pathlib.Path("/proc/%d/status" % self.process.pid).read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0

    def children(self):
        """The process ids of its workers."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError, IndexError):
                if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == self.process.pid:
                    found.append(int(entry.name))
        return found


class Client:
    """One connection; JSON in, status and JSON out."""

    def __init__(self, port, token=TOKEN):
        self.port, self.token, self.connection = port, token, None

    def ask(self, method, path, body=None, **headers):
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        sent = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json", **headers}
        for attempt in range(2):  # an idle connection may have been closed
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
                self.connection.request(method, path, data, sent)
                reply = self.connection.getresponse()
                text = reply.read()
                self.retry_after = reply.headers.get("Retry-After")
                return reply.status, json.loads(text) if text.startswith((b"{", b"[")) else text.decode()
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt:
                    raise
        return None

    def evaluate(self, candidate, task="small_softmax", wait=50, **more):
        """Repeats the request until the job has ended, and waits if the server says so."""
        body = {"task": task, "candidate": candidate, **more}
        path, method = "/evaluate?wait=%g" % wait, "POST"
        while True:
            status, job = self.ask(method, path, body)
            if status == 429:
                time.sleep(min(1.0, float(self.retry_after)))
                continue
            if status not in (200, 202):
                raise RuntimeError("status %s: %s" % (status, job))
            if job["state"] in ("done", "failed", "cancelled"):
                return job
            path, method, body = "/jobs/%s?wait=%g" % (job["id"], wait), "GET", None


def judged(log):
    """How often the fake judge was asked about each candidate."""
    lines = pathlib.Path(log).read_text().splitlines() if os.path.exists(log) else []
    return collections.Counter(line.split()[2] for line in lines if line.startswith("judge "))


def many(port, sources, clients):
    """Judges every source with this many clients at once; returns the jobs in the order of the sources."""
    local = threading.local()

    def one(source):
        if not hasattr(local, "client"):
            local.client = Client(port)
        return local.client.evaluate(source)

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        return list(pool.map(one, sources))


def raw(port, data, seconds=10, slowly=False):
    """Sends bytes; returns the status line, or "dropped" if the server closed without one."""
    with contextlib.suppress(OSError):
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as link:
            with contextlib.suppress(OSError):  # the server may close while a large body is being sent
                if slowly:
                    for byte in data:
                        link.sendall(bytes([byte]))
                        time.sleep(0.02)
                else:
                    link.sendall(data)
            with contextlib.suppress(OSError):
                got = link.recv(4096)
                if got:
                    return got.split(b"\r\n")[0].decode(errors="replace")
    return "dropped"


def hostile_requests(count, seed=1):
    """(name, bytes, slowly): huge, malformed, slow, and with a wrong token."""
    rng = random.Random(seed)

    def post(body, token=TOKEN, length=None, more=""):
        head = "POST /evaluate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
        head += "Authorization: Bearer %s\r\nContent-Length: %d\r\n%s\r\n" % (token, len(body) if length is None else length, more)
        return head.encode() + body

    good = json.dumps({"task": "small_softmax", "candidate": CANDIDATE % "hostile"}).encode()
    kinds = [
        ("huge length", lambda: post(b"", length=10 ** 12), False),
        ("huge body", lambda: post(b"[" * (5 << 20)), False),
        ("huge chunked", lambda: post(b"", more="").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"500000\r\n" + b"x" * 0x500000, False),
        ("huge head", lambda: b"GET /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 100000 + b"\r\n\r\n", False),
        ("wrong token", lambda: post(good, token="wrong-token-" + str(rng.random())), False),
        ("wrong token, huge body", lambda: post(b"x" * (1 << 20), token="wrong" * 5), False),
        ("no token", lambda: post(good).replace(b"Authorization", b"X-Nothing"), False),
        ("token in the address", lambda: b"GET /jobs?token=" + TOKEN.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", False),
        ("wrong host", lambda: post(good).replace(b"Host: 127.0.0.1", b"Host: evil.example"), False),
        ("nested", lambda: post(b'{"task": "a", "options": ' + b'{"a":' * 100000), False),
        ("deep list", lambda: post(b"[" * 200000), False),
        ("not JSON", lambda: post(bytes(rng.randrange(256) for _ in range(300))), False),
        ("half JSON", lambda: post(good[:rng.randrange(1, len(good))]), False),
        ("broken UTF-8", lambda: post(good.replace(b"hostile", b"\xff\xfe")), False),
        ("wrong types", lambda: post(json.dumps({"task": ["a"], "candidate": {"b": 1}}).encode()), False),
        ("path as a task", lambda: post(json.dumps({"task": "../../etc/passwd", "candidate": "x"}).encode()), False),
        ("no such job", lambda: b"GET /jobs/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n"
         % (b"../" * 20 + b"x", TOKEN.encode()), False),
        ("two lengths", lambda: post(good, more="Content-Length: 3\r\n"), False),
        ("garbage", lambda: bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400))) + b"\r\n\r\n", False),
        ("cut off", lambda: post(good)[:rng.randrange(10, 200)], True),
        ("slow head", lambda: b"GET /jobs HTTP/1.1\r\nHost: 127", True),
    ]
    for number in range(count):
        name, make, slowly = kinds[number % len(kinds)]
        yield name, make(), slowly


def attack(port, count, at_once=32):
    """Sends hostile requests from many threads; counts answers by kind and status line."""
    answers = collections.Counter()
    lock = threading.Lock()

    def one(request):
        name, data, slowly = request
        status = raw(port, data, seconds=3 if slowly else 30, slowly=slowly)
        with lock:
            answers[name, status] += 1

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, hostile_requests(count)))
    return answers
