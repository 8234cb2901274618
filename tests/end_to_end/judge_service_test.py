"""Tests the judge as a service: `hone serve --judge` with a fake judge (tests/fakes/fake_judge.py), and with the real one.

Usage: judge_service_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD]
"""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading

from judge_clients import CANDIDATE, ROOT, TOKEN, Client, JudgeServer, attack, judged, many
from pipeline_house import main, require, require_equal, wait_for


def environment(house, **more):
    return house.environment({"FAKE_JUDGE_LOG": str(house.folder / "judged"), **more})


@contextlib.contextmanager
def serving(house, *flags, env=None, stand_in=True):
    server = JudgeServer(house.hone, environment(house, **(env or {})), *flags, stand_in=stand_in, cwd=house.folder)
    try:
        yield server
    finally:
        code, err = server.stop() if server.process.poll() is None else (0, "")
    require_equal(code, 0, "exit code of serve (%s)" % err[-300:])
    require("a bug in hone" not in err, err[-500:])


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def log(house):
    return house.folder / "judged"


def expect(answer, status, *words):
    require_equal(answer[0], status, "status of %s" % json.dumps(answer[1])[:300])
    for word in words:
        require(word in json.dumps(answer[1]), "%r is not in %s" % (word, json.dumps(answer[1])[:400]))
    return answer[1]


def nothing_lost_or_judged_twice(house):
    """16 clients ask about 200 candidates, every tenth of them twice; a worker dies now and then"""
    died = house.folder / "died"
    sources = [CANDIDATE % ("number %d" % i) for i in range(180)]
    sources[50] += "# fake: die-once=%s\n" % died
    sources += sources[:20]
    with serving(house, "--workers", 4, "--sessions", 4, "--queue", 64) as server:
        jobs = many(server.port, sources, 16)
        for source, job in zip(sources, jobs):
            require_equal((job["state"], job["result"]["reason"]), ("done", "faster"), "job of %r" % source[-30:])
        status, metrics = Client(server.port).ask("GET", "/metrics")
        require_equal(status, 200, "metrics")
        require("hone_judge_verdicts_total 180\n" in metrics and "hone_judge_lost_workers_total 1\n" in metrics, metrics[-1500:])
        expect(Client(server.port).ask("GET", "/api/runs"), 200, "runs")  # the dashboard works as well
    counts = judged(log(house))
    require_equal(len(counts), 180, "candidates that were judged")
    require_equal({k: n for k, n in counts.items() if n != 1}, {sha(sources[50]): 2}, "asked more than once")
    require(died.exists(), "no worker died")


def hostile_requests_do_no_harm(house):
    """105 huge, malformed, slow and unauthorised requests, beside honest ones; memory stays flat"""
    with serving(house, "--workers", 2, "--sessions", 2) as server:
        many(server.port, [CANDIDATE % ("warm %d" % i) for i in range(20)], 4)
        attack(server.port, 42, at_once=8)
        before = server.rss_kb()
        honest = []
        thread = threading.Thread(target=lambda: honest.extend(many(server.port, [CANDIDATE % ("beside %d" % i) for i in range(30)], 4)))
        thread.start()
        answers = attack(server.port, 105, at_once=16)
        thread.join()
        require_equal([job["state"] for job in honest], ["done"] * 30, "honest jobs")
        for (kind, status), count in answers.items():
            code = status.split()[1] if status.startswith("HTTP/1.1 ") else status
            wanted = {"huge length": "413", "huge body": "413", "huge chunked": "413", "huge head": "431", "wrong token": "401", "wrong token, huge body": "401",
                      "no token": "401", "token in the address": "401", "wrong host": "421", "nested": "400", "deep list": "400", "not JSON": "400",
                      "half JSON": "400", "broken UTF-8": "400", "wrong types": "400", "path as a task": "400", "no such job": "404", "two lengths": "400"}
            require(code in (wanted.get(kind, code), "dropped"), "%s: %s (%d times)" % (kind, status, count))
            require(not code.startswith("2"), "%s was accepted" % kind)
        grown = server.rss_kb() - before
        require(grown < 16 * 1024, "the server grew by %d KiB" % grown)


def answers_and_mistakes(house):
    """every answer is JSON; a mistake is one sentence"""
    with serving(house, "--token-jobs", 3) as server:
        client = Client(server.port)
        good = {"task": "small_softmax", "candidate": CANDIDATE % "a"}
        job = expect(client.ask("POST", "/evaluate?wait=50", good), 200, "done")
        require_equal(sorted(job["result"]), sorted(["has_code", "stage", "builds", "runs", "correct", "trials", "trials_right", "error_over_limit", "vs_eager",
                                                     "vs_best", "ci95", "best_baseline", "verdict", "reason", "detail", "cheat"]), "members of the result")
        require("seeds" not in job["verdict"]["provenance"], "the seeds are told")
        same = expect(client.ask("POST", "/evaluate", good), 200)
        require_equal(same["id"], job["id"], "the same question")
        require(expect(client.ask("POST", "/evaluate?wait=50", {**good, "options": {"trials": 6}}), 200)["id"] != job["id"], "other options are the same job")
        reply = "Sure.\n```python\n%s```\nIt is fast." % good["candidate"]
        require_equal(expect(client.ask("POST", "/evaluate", {"task": "small_softmax", "reply": reply}), 200)["id"], job["id"], "the code of a reply")
        empty = expect(client.ask("POST", "/evaluate", {"task": "small_softmax", "reply": "I would rather not."}), 200, "no-code")
        require_equal((empty["result"]["has_code"], empty["verdict"]), (False, None), "a reply without code")
        listed = expect(client.ask("GET", "/jobs?limit=2"), 200)["jobs"]
        require_equal(len(listed), 2, "listed jobs")
        expect(client.ask("GET", "/jobs?state=odd"), 400, "state must be")
        expect(client.ask("GET", "/jobs?limit=many"), 400, "limit must be")
        expect(client.ask("GET", "/jobs/" + "0" * 64), 404, "no such job")
        expect(client.ask("GET", "/jobs/abc"), 404, "64 hexadecimal")
        expect(client.ask("PUT", "/evaluate", b"{}"), 405, "POST")
        expect(client.ask("POST", "/evaluate", good, **{"Content-Type": "text/plain"}), 415, "application/json")
        expect(client.ask("POST", "/evaluate?wait=long", {**good, "candidate": CANDIDATE % "b"}), 400, "seconds")
        expect(client.ask("POST", "/evaluate", {**good, "task": "no_such_task"}), 404, "no task no_such_task")
        expect(client.ask("POST", "/evaluate", {"task_source": "class Model: pass", "candidate": "x"}), 400, "--allow-task-source")
        expect(Client(server.port, "x" * 30).ask("POST", "/evaluate", good), 401, "Bearer")
        refused = client.evaluate(CANDIDATE % "c" + "# fake: refuse=invalid\n")
        require_equal((refused["state"], refused["error"]["kind"], refused["attempts"]), ("failed", "invalid", 1), "a question that is wrong")
        noise = client.evaluate(CANDIDATE % "d" + "# fake: noise\n")
        require_equal((noise["state"], noise["error"]["kind"], noise["attempts"]), ("failed", "infrastructure", 3), "an answer that is no verdict")
        unsure = CANDIDATE % "e" + "# fake: verdict=inconclusive reason=machine-busy\n"
        client.evaluate(unsure)
        client.evaluate(unsure)
        client.evaluate(unsure, again=True)
        require_equal(judged(log(house))[sha(unsure)], 2, "an undecided candidate is judged again only if asked to")


def limits_of_tokens(house):
    """a token sees its own jobs; queue, jobs in flight and requests a minute are bounded, with Retry-After"""
    tokens = house.write("tokens", "# clients\nalice %s\nbob %s\n" % ("a" * 32, "b" * 32))
    os.chmod(tokens, 0o600)
    gate = house.folder / "gate"
    hold = "# fake: hold=%s\n" % gate
    with serving(house, "--token-file", tokens, "--queue", 3, "--token-jobs", 3, "--workers", 1, env={"HONE_JUDGE_TOKEN": TOKEN}) as server:
        alice, bob = Client(server.port, "a" * 32), Client(server.port, "b" * 32)
        expect(Client(server.port).ask("GET", "/jobs"), 401)

        def ask(client, number):
            return client.ask("POST", "/evaluate", {"task": "small_softmax", "candidate": CANDIDATE % number + hold})

        running = expect(ask(alice, 0), 202)
        wait_for("the first to run", lambda: expect(alice.ask("GET", "/jobs/" + running["id"]), 202)["state"] == "running")
        first = expect(ask(alice, 1), 202, "queued")
        require_equal(first["position"], 1, "position")
        expect(ask(alice, 2), 202)
        expect(ask(alice, 3), 429, "token-full")
        require(int(alice.retry_after) >= 1, "Retry-After: %s" % alice.retry_after)
        expect(bob.ask("GET", "/jobs/" + first["id"]), 404)
        expect(bob.ask("DELETE", "/jobs/" + first["id"]), 404)
        expect(ask(bob, 1), 202)  # now bob sees it too
        expect(ask(bob, 4), 202)
        expect(ask(bob, 5), 429, "queue-full")
        expect(alice.ask("DELETE", "/jobs/" + first["id"]), 200, "cancelled")
        expect(bob.ask("GET", "/jobs/" + first["id"]), 202, "queued")
        expect(bob.ask("DELETE", "/jobs/" + first["id"]), 200)
        expect(bob.ask("GET", "/jobs/" + first["id"]), 200, "cancelled")
        expect(alice.ask("DELETE", "/jobs/" + running["id"]), 200)
        expect(alice.ask("GET", "/jobs/%s?wait=50" % running["id"]), 200, "cancelled")
        gate.touch()
        require_equal(bob.evaluate(CANDIDATE % 4 + hold)["state"], "done", "a job behind a cancelled one")
    require_equal(judged(log(house))[sha(CANDIDATE % 1 + hold)], 0, "a cancelled job was judged")
    with serving(house, "--token-rate", 60) as server:
        client = Client(server.port)
        statuses = [client.ask("GET", "/jobs")[0] for _ in range(70)]
        require(statuses[:60] == [200] * 60 and 429 in statuses[60:], "statuses %s" % statuses[55:])
        require(int(client.retry_after) >= 1, "Retry-After: %s" % client.retry_after)


def survives_kill_and_restart(house):
    """kill -9 of a worker, of the server with jobs queued and running, and Ctrl-C: every job ends with one verdict"""
    gate = house.folder / "gate"
    sources = [CANDIDATE % ("r%d" % i) + "# fake: hold=%s\n" % gate for i in range(6)]
    server = JudgeServer(house.hone, environment(house), "--workers", 2, cwd=house.folder)
    client = Client(server.port)
    ids = [expect(client.ask("POST", "/evaluate", {"task": "small_softmax", "candidate": each}), 202)["id"] for each in sources]
    wait_for("two to be judged", lambda: sum(judged(log(house)).values()) >= 2)
    victim = server.children()[0]
    os.kill(victim, signal.SIGKILL)
    wait_for("the job of the killed worker to be tried again", lambda: sum(judged(log(house)).values()) >= 3)
    second = subprocess.run([house.hone, "serve", "--judge", "--port", "0", "--tasks", str(ROOT / "tasks"), "--target", "cpu"], env=environment(house, HONE_JUDGE_TOKEN=TOKEN),
                            capture_output=True, text=True, timeout=120)
    require(second.returncode == 3 and "another hone serve --judge uses" in second.stderr, second.stderr[-300:])
    server.stop(signal.SIGKILL)
    server = JudgeServer(house.hone, environment(house), "--workers", 1, cwd=house.folder)
    client = Client(server.port)
    for each in ids:
        expect(client.ask("GET", "/jobs/" + each), 202)
    code, err = server.stop()
    require_equal(code, 0, "Ctrl-C with jobs (%s)" % err[-300:])
    gate.touch()
    with serving(house, "--workers", 2) as server:
        client = Client(server.port)
        for each in ids:
            job = expect(client.ask("GET", "/jobs/%s?wait=50" % each), 200, "done")
            require(job["attempts"] <= 3, "attempts: %s" % job["attempts"])
    before = sum(judged(log(house)).values())
    with serving(house) as server:
        for source, each in zip(sources, ids):
            require_equal(Client(server.port).evaluate(source)["id"], each, "the job of a finished candidate")
    require_equal(sum(judged(log(house)).values()), before, "a finished job was judged again")


def starts_only_as_it_should(house):
    """a token always; beyond loopback one of yours; no tasks is a mistake; without --judge nothing changes"""
    env = environment(house)
    env.pop("HONE_JUDGE_TOKEN", None)

    def refused(*flags, **more):
        done = subprocess.run([house.hone, "serve", "--judge", "--port", "0", "--target", "cpu", *map(str, flags)], env={**env, **more}, capture_output=True, text=True, timeout=120)
        require_equal(done.returncode, 2, "exit code (%s)" % done.stderr[-200:])
        return done.stderr

    require("needs a token of yours" in refused("--host", "0.0.0.0", "--tasks", ROOT / "tasks"), "a server that others reach, without a token")
    require("no tasks" in refused(), "no tasks")
    require("no such folder" in refused("--tasks", "/no/such/folder"), "a folder that is not there")
    require("16 to 512" in refused("--tasks", ROOT / "tasks", HONE_JUDGE_TOKEN="short"), "a short token")
    readable = house.write("tokens", "x" * 32)
    os.chmod(readable, 0o644)
    require("chmod 600" in refused("--tasks", ROOT / "tasks", "--token-file", readable), "a token file that others can read")
    process = subprocess.Popen([house.hone, "serve", "--judge", "--port", "0", "--target", "cpu", "--tasks", str(ROOT / "tasks")], env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    port = int(process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
    name, _, token = process.stdout.readline().strip().partition("=")
    require(name == "HONE_JUDGE_TOKEN" and len(token) == 48, "the generated token: %s" % name)
    expect(Client(port, token).ask("GET", "/jobs"), 200)
    expect(Client(port).ask("GET", "/jobs"), 401)
    process.send_signal(signal.SIGINT)
    require(token not in process.communicate(timeout=120)[1], "the token is printed twice")
    plain = subprocess.Popen([house.hone, "serve", "--port", "0"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    port = int(plain.stdout.readline().strip().rstrip("/").rpartition(":")[2])
    require_equal(Client(port).ask("POST", "/evaluate", {})[0], 405, "POST /evaluate without --judge")
    require_equal(Client(port).ask("GET", "/api/runs")[0], 200, "the dashboard without --judge")
    plain.send_signal(signal.SIGINT)
    plain.communicate(timeout=120)


RIGHT = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        e = torch.exp(x - x.max(dim=-1, keepdim=True).values)\n        return e / e.sum(dim=-1, keepdim=True)\n"
WRONG = RIGHT.replace("return e / e.sum(dim=-1, keepdim=True)", "return e / (e.sum(dim=-1, keepdim=True) + 1)")
BROKEN = RIGHT.replace("def forward(self, x):", "def __init__(self):\n        raise RuntimeError('no')\n\n    def forward(self, x):")


def judges_for_real(house):
    """the real judge: stages of right, wrong and broken candidates; a killed worker; the store of verdicts; a task as source"""
    options = {"check_only": True}
    with serving(house, "--compile", "never", "--baselines", "eager", "--allow-task-source", stand_in=False) as server:
        client = Client(server.port)
        first = expect(client.ask("POST", "/evaluate", {"task": "small_softmax", "candidate": RIGHT, "options": options}), 202)
        wait_for("a worker", server.children)
        os.kill(server.children()[0], signal.SIGKILL)
        right = client.evaluate(RIGHT, options=options)
        require_equal((right["id"], right["state"], right["attempts"]), (first["id"], "done", 2), "a killed worker (%s)" % right["error"])
        result = right["result"]
        require_equal([result[each] for each in ("has_code", "builds", "runs", "correct", "trials_right", "cheat", "stage", "reason")],
                      [True, True, True, True, 1.0, False, "correct", "speed-not-judged"], "a right candidate")
        require(result["error_over_limit"] <= 1 and right["verdict"]["gates"]["correct"] == "pass", "the verdict: %s" % result)
        wrong = client.evaluate(WRONG, options=options)["result"]
        require_equal([wrong[each] for each in ("builds", "runs", "correct", "stage", "reason")], [True, True, False, "runs", "wrong-output"], "a wrong candidate")
        require(wrong["error_over_limit"] > 1 and wrong["trials_right"] < 1, "a wrong candidate: %s" % wrong)
        broken = client.evaluate(BROKEN, options=options)["result"]
        require_equal([broken[each] for each in ("builds", "correct", "stage", "trials_right")], [False, False, "code", 0.0], "a broken candidate: %s" % broken["detail"])
        status, metrics = client.ask("GET", "/metrics")
        require("hone_judge_sessions_started_total 2\n" in metrics, "one session should have judged all: " + metrics[-900:])
        bad = client.ask("POST", "/evaluate?wait=50", {"task_source": "import torch\nx = 1\n", "candidate": RIGHT, "options": options})
        job = expect(bad, 200, "failed")
        require(job["error"]["kind"] != "infrastructure" and job["attempts"] == 1, "a task without Model: %s" % job["error"])
        # Such a task belongs to a client, so it runs in the sandbox.
        secret, owned = house.folder / "secret.txt", house.folder / "owned"
        secret.write_text("nobody's business")
        for line in ("open(%r).read()" % str(secret), "open(%r, 'w')" % str(owned)):
            job = expect(client.ask("POST", "/evaluate?wait=50", {"task_source": "import torch\nraise RuntimeError(%s)\n" % line, "candidate": RIGHT, "options": options}), 200, "failed")
            require(secret.read_text() not in json.dumps(job) and "Error" in job["error"]["message"], "a task that reads or writes outside: %s" % job["error"])
        require(not owned.exists(), "a client's task wrote outside of the sandbox")
    for name in ("jobs.db", "jobs.db-wal", "jobs.db-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(house.folder / "data" / "judge" / name)
    with serving(house, "--compile", "never", "--baselines", "eager", stand_in=False) as server:
        again = Client(server.port).evaluate(WRONG, options=options)
        require(again["verdict"]["from_store"], "the verdict was not taken from the store: %s" % again["verdict"].get("from_store"))


CASES = [nothing_lost_or_judged_twice, hostile_requests_do_no_harm, answers_and_mistakes, limits_of_tokens, survives_kill_and_restart, starts_only_as_it_should,
         judges_for_real]

if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
