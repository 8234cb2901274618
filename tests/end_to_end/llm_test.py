"""`hone optimize --proposer llm` with a server that misbehaves on request: no run is lost, no key leaks, and the output says what to do.

Usage: llm_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD]
"""

import contextlib
import csv
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from pipeline_house import (ACCEPTED, CANNOT, HERE, QUICK, REJECTED, SLOW_ROWS, SMALL_SOFTMAX, USAGE, Skipped, fenced, main, patience, require,
                            require_equal, wait_for, waits)

KEY = "sk-e2e-5f3c9a17d2b84e60"
# Rejected at import, because these tests are about calls and not about verdicts.
BROKEN = fenced("import torch, no_such_module\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x")
# Rejected for its answers, which needs no clock.
WRONG = fenced("import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return 2 * torch.softmax(x, dim=1)")
OPENING = ("--seeds", "1", "--repairs", "0", "--no-analysis", "--no-tuning")
ONE_CALL = (*OPENING, "--search", "classic")


def ask(house, base, *flags, model="fake", task=SMALL_SOFTMAX, **more):
    return house.optimize(task, "llm", "--model", model, "--api-base", base, *flags, env={"HONE_API_KEY": KEY}, **more)


def check_secret(house, *outcomes):
    """The key is in no file of the run, the store or the cache, and was not printed."""
    for outcome in outcomes:
        require(KEY not in outcome.out + outcome.err, "the key was printed")
    require_equal(house.files_with(KEY.encode()), [], "files that hold the key")


def check_listed(house, run):
    """The run is in the store and can be found."""
    house.integrity()
    require(run.name in house.run("runs").expect(ACCEPTED).out, "hone runs does not list it")
    house.run("show", run.name).expect(ACCEPTED, run.name)


def replies(house):
    house.write("replies/001_seed.txt", BROKEN)
    return house.folder / "replies"


# scenario, model, flags, how the call ends, number of requests to the server (None: any), a word in the output
# src/model/http_model_test.cpp has a row for every server error with both interfaces. This tests how they reach a run, and the run's flags.
TROUBLES = [
    ("429", "claude-fake", (), "answered", 2, "HTTP 429, waiting"),
    ("stall", "fake", ("--idle-timeout", "1"), "answered", 2, "timeout, waiting"),
    ("length", "fake", (), "answered", None, "cut off by length"),
]


def troubles_overcome(house):
    """a refusal, a stall and a reply that is cut off: it is said, and the run goes on"""
    with house.server("--replies", replies(house)) as server:
        for number, (scenario, model, flags, status, asked, words) in enumerate(TROUBLES):
            tag = "t%d" % number
            outcome = ask(house, server.base("%s@%s" % (scenario, tag)), "--out", house.folder / tag, *ONE_CALL, *flags, model=model)
            what = "%s, %s" % (scenario, model)
            outcome.expect(REJECTED, words)
            run = house.last()
            require_equal((run.status, run.calls["seed0"]["status"]), ("done", status), what)
            log = [entry for entry in server.log() if entry["tag"] == tag]
            require(asked in (None, len(log)), "%s: the server was asked %d times" % (what, len(log)))
            require(all(entry["key_right"] and entry["has_key"] for entry in log), what + ": a request without the key")
            require_equal({entry["api"] for entry in log}, {"anthropic" if "claude" in model else "openai"}, what)
            reason = run.verdict("seed0")[1]
            require_equal(reason, "no-code" if scenario == "length" else "import-failed", what)
            check_secret(house, outcome)
            check_listed(house, run)


# default scenario of the server, how the call ends, words that say what to do. The other failures are rows of src/model/http_model_test.cpp.
DEFEATS = [
    ("wrong-key", "wrong_key", ("HTTP 401", "HONE_API_KEY")),
    ("empty:0", "bad_reply", ("the model returned an empty reply",)),
]


@contextlib.contextmanager
def kept_port():
    """A port without a listener. It stays bound, so that no other process gets it before or between the servers of a test."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", 0))
        yield s.getsockname()[1]


def defeats_survived(house):
    """a wrong key, and replies that stay bad: it is said, the run is kept, and resume goes on when the server behaves"""
    with kept_port() as port:
        for number, defeat in enumerate(DEFEATS):
            defeat_survived(house, port, number, *defeat)


def defeat_survived(house, port, number, scenario, status, words):
    with house.server("--port", port, "--default", scenario):
        outcome = ask(house, "http://127.0.0.1:%d" % port, "--out", house.folder / ("d%d" % number), *ONE_CALL, "-q")
    outcome.expect(CANNOT, "hone resume", *words)
    run = house.last()
    require_equal((run.status, run.calls["seed0"]["status"]), ("failed", status), scenario)
    check_secret(house, outcome)
    check_listed(house, run)
    with house.server("--port", port, "--replies", replies(house), "--key", KEY) as server:
        house.run("resume", run.name, "-q", env={"HONE_API_KEY": KEY}).expect(REJECTED, "no candidate was right")
        require_equal(len(server.log()), 1, "requests")
    run = house.named(run.name)
    require_equal((run.status, run.verdict("seed0")[1]), ("done", "import-failed"), "after resume")
    check_secret(house)


def nobody_there(house):
    """a server that is not there: said after a few attempts, and resume goes on once it is"""
    with kept_port() as port:
        outcome = ask(house, "http://127.0.0.1:%d" % port, *ONE_CALL, "--out", house.folder / "run")
        outcome.expect(CANNOT, "--api-base", "attempts", "hone resume")
        require_equal(house.last().status, "failed", "status")
        with house.server("--port", port, "--replies", replies(house)):
            house.run("resume", "last", env={"HONE_API_KEY": KEY}).expect(REJECTED)
    require_equal(house.last().status, "done", "status")
    check_secret(house, outcome)


def bad_certificate(house):
    """TLS with a certificate that nobody vouches for is refused, and the key is not sent"""
    openssl = shutil.which("openssl")
    if not openssl:
        raise Skipped("no openssl to make a certificate")
    cert, private = house.folder / "cert.pem", house.folder / "key.pem"
    subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(private), "-out", str(cert)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = house.folder / "requests.log"
    with house.server("--tls", cert, private, "--log", log, "--replies", replies(house)) as server:
        outcome = ask(house, server.base(scheme="https"), *ONE_CALL, "--out", house.folder / "run")
        outcome.expect(CANNOT, "certificate", "hone resume")
        require(not log.exists(), "a request was sent to a server that is not trusted")
        require_equal(house.last().calls["seed0"]["status"], "refused_tls", "the call")
        trusted = house.run("resume", "last", env={"HONE_API_KEY": KEY, "SSL_CERT_FILE": str(cert)})
        trusted.expect(REJECTED)
    check_secret(house, outcome, trusted)


def keys_in_files(house):
    """a key file that others can read is refused; a private one works and is not copied anywhere"""
    with tempfile.TemporaryDirectory() as elsewhere, house.server("--replies", replies(house), "--key", KEY) as server:
        file = pathlib.Path(elsewhere, "key")
        file.write_text(KEY + "\n")
        file.chmod(0o644)
        flags = ("--model", "fake", "--api-base", server.base(), *ONE_CALL, "--out", house.folder / "run")
        house.optimize(SMALL_SOFTMAX, "llm", "--api-key-file", file, *flags).expect(USAGE, "chmod 600")
        require_equal(house.rows("SELECT name FROM run"), [], "runs in the store")
        file.chmod(0o600)
        outcome = house.optimize(SMALL_SOFTMAX, "llm", "--api-key-file", file, *flags).expect(REJECTED)
        check_secret(house, outcome)
        house.optimize(SMALL_SOFTMAX, "llm", "--api-key-env", "NO_SUCH_KEY", *flags).expect(USAGE, "NO_SUCH_KEY")
        house.optimize(SMALL_SOFTMAX, "llm").expect(USAGE, "--model")


@waits
def budgets(house):
    """tokens, money and evaluations end a run with its best so far; usage.csv says what was used"""
    with house.server("--replies", HERE / "replays" / "tuning") as server:
        prices = house.write("prices.json", '{"fake": {"input": 1000000, "output": 0}}')
        for flags, words, cost in [(("--max-evaluations", "1", "--search", "classic"), "the budget of 1 evaluation is spent", None),
                                   (("--max-tokens", "50"), "the budget of 50 tokens is spent", None),
                                   (("--max-usd", "5", "--prices", prices), "the budget of $5 is spent", 11.0)]:
            # The first run judges the candidate; the others find its verdict in the store.
            outcome = ask(house, server.base("fine@" + flags[0][2:]), "--seeds", "1", "--repairs", "0", "--out", house.folder / flags[0], *flags, task=SLOW_ROWS, again=False)
            outcome.expect(ACCEPTED, words, "hone resume")
            run = house.last()
            require_equal((run.status, run.best_key), ("stopped", "seed0"), flags[0])
            with open(pathlib.Path(run.folder, "usage.csv"), newline="") as file:
                rows = list(csv.DictReader(file))
            require_equal([row["key"] for row in rows], list(run.calls), "usage.csv")
            require_equal((rows[0]["prompt_tokens"], rows[0]["estimated"]), ("11", "false"), "usage.csv")
            if cost:
                require_equal((float(rows[0]["cost_usd"]), rows[0]["price_known"]), (cost, "true"), "usage.csv")
            else:
                require_equal(rows[0]["price_known"], "false", "usage.csv")
            check_secret(house, outcome)
        house.best_is_importable(run)  # all three runs have the same best
        # `hone bench` recognises the file that the run wrote.
        known = house.run("bench", SLOW_ROWS, pathlib.Path(run.folder, "best.py"), *QUICK).expect(ACCEPTED)
        require(known.out.startswith("taken from the store: R1 seed0 of "), known.out[:200])


def money_without_a_price(house):
    """--max-usd is refused before a run begins or goes on if the price of one of its models is not known, and holds where all are"""
    unknown = "no price is known for %s, so --max-usd cannot hold: give --prices FILE, or use --max-tokens or --max-calls"
    one = house.write("one.json", '{"fake": {"input": 1, "output": 2}}')
    free = house.write("free.json", '{"fake": {"input": 0, "output": 0}, "cheap": {"input": 0, "output": 0}}')
    with house.server("--replies", replies(house)) as server:
        base = server.base("fine")
        ask(house, base, *OPENING, "--max-usd", "1").expect(USAGE, unknown % "fake")
        ask(house, base, *OPENING, "--max-usd", "1", "--model-repair", "cheap", "--prices", one).expect(USAGE, unknown % "cheap")
        house.optimize(SMALL_SOFTMAX, "expert+exec:cat", "--max-usd", "1").expect(USAGE, "no price is known for exec:cat", "use --max-tokens or --max-calls")
        house.optimize(SMALL_SOFTMAX, "agent:true", "--max-usd", "1").expect(USAGE, "--max-usd cannot hold")
        house.run("suite", SMALL_SOFTMAX, "--proposer", "llm", "--model", "fake", "--api-base", base, "--max-usd", "1", *QUICK).expect(USAGE, unknown % "fake")
        require_equal((house.rows("SELECT * FROM run") + house.rows("SELECT * FROM suite"), server.log()), ([], []), "runs, suites and requests before the price is known")

        # A price of 0 is known: a server of one's own.
        ask(house, base, *OPENING, "--max-usd", "1", "--model-repair", "cheap", "--prices", free, "--out", house.folder / "free").expect(REJECTED)

        # A run without a limit of money may get one later, with the prices.
        ask(house, server.base("not-found"), *ONE_CALL, "--out", house.folder / "run").expect(CANNOT)
        asked = len(server.log())
        house.run("resume", "last", "--api-base", base, "--max-usd", "1", env={"HONE_API_KEY": KEY}).expect(USAGE, unknown % "fake")
        require_equal((house.last().status, len(server.log())), ("failed", asked), "after the refusal")
        house.run("resume", "last", "--api-base", base, "--max-usd", "1", "--prices", one, env={"HONE_API_KEY": KEY}).expect(REJECTED)
    require_equal([call["price_known"] for call in house.last().calls.values()], [1], "the prices of its calls")


def changed_on_resume(house):
    """resume takes another address, model or budget than the run had, and keeps them"""
    with house.server("--replies", replies(house)) as server:
        ask(house, server.base("not-found"), *ONE_CALL, "--max-evaluations", "1",
            "--out", house.folder / "run").expect(CANNOT, "asked for model 'fake'")
        house.run("resume", "last", "--api-base", server.base("fine"), "--model", "other", "--max-evaluations", "5",
                  env={"HONE_API_KEY": KEY}).expect(REJECTED)
        require_equal(server.log()[-1]["model"], "other", "the model that was asked")
    options = json.loads(house.last().options)
    require_equal((options["model"]["model"], options["budget"]["evaluations"], options["seeds"]), ("other", 5, 1), "what is kept")
    check_secret(house)


def minutes(house):
    """--max-minutes ends a run whose server keeps silent"""
    with house.server() as server:
        begin = time.monotonic()
        outcome = ask(house, server.base("silent"), *OPENING, "--max-minutes", "0.2", "--out", house.folder / "run")
        outcome.expect(REJECTED, "the budget of 12 s is spent", "nothing tried")
        seconds = time.monotonic() - begin
        require(seconds < 12 + patience(48), "it took %.0f s" % seconds)
    require_equal(house.last().status, "stopped", "status")


def estimated_usage(house):
    """a server that does not tell its usage: it is estimated, and marked so"""
    with house.server("--replies", replies(house)) as server:
        ask(house, server.base("no-usage"), *ONE_CALL, "--out", house.folder / "run").expect(REJECTED)
    call = house.last().calls["seed0"]
    require(call["estimated"] == 1 and call["prompt_tokens"] > 200 and call["completion_tokens"] > 10, "usage: %s" % call)
    house.run("show", "last").expect(ACCEPTED, "partly estimated", "price not known")


def seeds_overlap(house):
    """three seeds are asked for at the same time: a server that answers none of them before it has all three answers"""
    with house.server("--replies", replies(house)) as server:
        ask(house, server.base("together:3"), "--seeds", "3", "--repairs", "0", "--no-analysis", "--no-tuning", "--search", "classic", "--out", house.folder / "run").expect(REJECTED)
        require_equal(len(server.log()), 3, "requests")
    run = house.last()
    require_equal({key: row["status"] for key, row in run.calls.items()}, dict.fromkeys(("seed0", "seed1", "seed2"), "answered"), "calls")


# A reply of 1000 tokens a second after it was asked for.
SLOW_THINKER = r"""
import json, sys, time
for line in sys.stdin:
    json.loads(line)
    time.sleep(1)
    print(json.dumps({"text": "no file", "prompt_tokens": 10, "completion_tokens": 1000}), flush=True)
"""


def budget_shared(house):
    """calls go side by side as long as the most they can cost fits into --max-usd, and one at a time where it does not or is not known"""
    thinker = shlex.join([sys.executable, str(house.write("thinker.py", SLOW_THINKER))])
    prices = house.write("prices.json", '{"fake": {"input": 0, "output": 1000}}')
    with house.server("--program", thinker) as server:
        # A reply costs a dollar, and so much is reserved for each where its length is limited.
        for tag, limit, side_by_side in [("limited", ("--max-output-tokens", "1000"), 3), ("unlimited", (), 1)]:
            outcome = ask(house, server.base("program@" + tag), "--seeds", "6", "--repairs", "0", "--no-analysis", "--no-tuning", "--max-usd", "3.5",
                          "--prices", prices, *limit, "--out", house.folder / tag)
            outcome.expect(REJECTED, "the budget of $3.5 is spent")
            run = house.last()
            # Three fit at first; then one goes alone and crosses the budget.
            require_equal(server.read("side-by-side")[tag], side_by_side, "%s: requests at once" % tag)
            require_equal(server.read("billed")[tag]["calls"], 4, "%s: calls" % tag)
            require_equal(sorted(row["status"] for row in run.calls.values()), ["answered"] * 4, "%s: calls on record" % tag)
            require_equal(sum(row["cost_usd"] for row in run.calls.values()), 4.0, "%s: the bill" % tag)


def killed_and_resumed(house):
    """kill -9 while a candidate is judged: resume does not ask the server again"""
    house.write("wrong/001_seed.txt", WRONG)
    with house.server("--replies", house.folder / "wrong") as server:
        process = house.start("optimize", SMALL_SOFTMAX, "--proposer", "llm", "--model", "fake", "--api-base", server.base("fine"), *QUICK,
                              *ONE_CALL, "--out", house.folder / "run", env={"HONE_API_KEY": KEY})
        wait_for("candidate in the store", lambda: (house.folder / "run" / "code" / "seed0.py").exists(), process=process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        require_equal(house.last().verdict("seed0"), ("", ""), "the candidate when the run was killed")
        house.run("resume", "last", "-q", env={"HONE_API_KEY": KEY}).expect(REJECTED)
        require_equal(len(server.log()), 1, "requests")
    require_equal(house.last().verdict("seed0"), ("rejected", "wrong-output"), "the candidate after resume")


def thinking_apart(house):
    """thinking is kept apart from the reply and counted"""
    with house.server("--replies", replies(house)) as server:
        ask(house, server.base("thinking"), *ONE_CALL, "--out", house.folder / "run").expect(REJECTED)
    call = house.last().calls["seed0"]
    require_equal((call["reply"], call["thinking"]), ("the answer", "the thought"), "reply and thinking")
    require_equal((house.folder / "run" / "llm" / "seed0.thinking.txt").read_text(), "the thought", "the file")


def several_replies(house):
    """three replies to one request are three candidates of one call, a killed run does not ask again, and a recording of them plays back"""
    for number, reply in enumerate((BROKEN, WRONG, "Nothing but words.", WRONG), 1):
        house.write("several/%03d_seed.txt" % number, reply)
    with house.server("--replies", house.folder / "several") as server:
        outcome = ask(house, server.base("fine@one"), "--out", house.folder / "one", "--replies", "4", "--search-seed", "7", *ONE_CALL)
        outcome.expect(REJECTED, "seed0: 2 of 4 replies are candidates; reply 3 has no file that can be judged, reply 4 repeats reply 2")
        run = house.last()
        require_equal([entry["body"].get("n") for entry in server.log()], [4], "what the server was asked")
        require_equal({key: run.verdict(key)[1] for key in run.candidates if key != "zero"},
                      {"seed0": "import-failed", "seed0~2": "wrong-output"}, "the candidates")
        require_equal(json.loads(run.options)["search_seed"], "7", "the seed of the search")
        call = run.calls["seed0"]
        require_equal((len(run.calls), len(json.loads(call["more_replies"])), call["prompt_tokens"]), (1, 3, 11), "the call")
        check_listed(house, run)
        require("seed0~2" in house.run("show", run.name).out, "hone show does not name the second reply")
        told = house.run("explain", run.name, "--json").expect(ACCEPTED).json()
        rows = {row["candidate"]: row for row in told["timeline"]}
        require(rows["seed0"]["tokens"] > 0 and rows["seed0~2"]["tokens"] == 0, "a call's tokens stand beside one candidate: %r" % rows)
        effects = {one["part"]: one["effect"] for one in told["counterfactuals"]}
        require_equal((effects["class_check"], effects["replies"]), ("never_used", "same_best"), "what each part was worth: %r" % effects)
        require("===== 2 of 4 =====" in pathlib.Path(run.folder, "llm", "seed0.reply.txt").read_text(), "the replies of the call")
        check_secret(house, outcome)

        house.run("export-replay", run.name, house.folder / "recorded").expect(ACCEPTED, "4 replies in", "--replies 4")
        house.optimize(SMALL_SOFTMAX, "replay:%s" % (house.folder / "recorded"), "--replies", "4", "--out", house.folder / "again", *ONE_CALL).expect(REJECTED)
        again = house.last()
        require_equal([(c["key"], c["sha256"], c["reason"]) for c in again.candidates.values()],
                      [(c["key"], c["sha256"], c["reason"]) for c in run.candidates.values()], "what was played back")
        require_equal(again.calls["seed0"]["prompt_tokens"], 11, "the prompt is counted once")
        house.run("archive", run.name, house.folder / "run.hone.tar.gz").expect(ACCEPTED)

    with house.server("--replies", house.folder / "several") as server:
        process = house.start("optimize", SMALL_SOFTMAX, "--proposer", "llm", "--model", "fake", "--api-base", server.base("fine"), "--again", *QUICK,
                              *ONE_CALL, "--replies", "4", "--out", house.folder / "killed", env={"HONE_API_KEY": KEY})
        wait_for("the call", lambda: house.rows("SELECT 1 FROM call JOIN run ON run.id=run_id WHERE folder=?", str(house.folder / "killed")), process=process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        house.run("resume", "last", "-q", env={"HONE_API_KEY": KEY}).expect(REJECTED)
        require_equal(len(server.log()), 1, "requests")
        resumed = house.last()
        require_equal({key: (row["sha256"], row["reason"]) for key, row in resumed.candidates.items()},
                      {key: (row["sha256"], row["reason"]) for key, row in run.candidates.items()}, "the candidates of the resumed run")
        require_equal(set(resumed.decisions) - {"seconds"}, set(run.decisions) - {"seconds"}, "its decisions")
    ask(house, "http://127.0.0.1:9", "--replies", "0").expect(USAGE, "--replies")
    ask(house, "http://127.0.0.1:9", "--request-extra", '{"n": 3}').expect(USAGE, "--replies")


def two_models(house):
    """repairs go to a second server without the first one's key; an effort that its model refuses is left out, once and with a line"""
    for number, kind in enumerate(("seed", "seed_repair", "seed_repair"), 1):
        house.write("%s/%03d_%s.txt" % (kind, number, kind), BROKEN.replace("no_such_module", "no_such_module_%d" % number))
    with house.server("--replies", house.folder / "seed", "--key", KEY) as first, house.server("--replies", house.folder / "seed_repair") as second:
        def play(name, *flags, **env):
            return house.optimize(SMALL_SOFTMAX, "llm", "--model", "strong", "--api-base", first.base("fine@" + name), "--api-key-env", "FIRST_KEY", "--model-repair",
                                  "cheap", "--api-base-repair", second.base("refuse-effort@" + name), "--reasoning-effort", "high", "--request-extra", '{"top_p": 0.9}',
                                  "--seeds", "1", "--repairs", "2", "--no-analysis", "--no-tuning", "--search", "classic", "--out", house.folder / name, *flags, env={"FIRST_KEY": KEY, **env})

        outcome = play("a").expect(REJECTED, "cheap takes no --reasoning-effort high, which is left out from now on")
        run = house.last()
        require_equal([(call["key"], call["status"]) for call in run.calls.values()],
                      [("seed0", "answered"), ("seed0.repair1", "answered"), ("seed0.repair2", "answered")], "calls")
        require_equal([(e["model"], e["body"].get("reasoning_effort"), e["has_key"] and e["key_right"]) for e in first.log()], [("strong", "high", True)], "the first server")
        require_equal([(e["model"], e["body"].get("reasoning_effort"), e["body"].get("top_p"), e["has_key"]) for e in second.log()],
                      [("cheap", "high", 0.9, False), ("cheap", None, 0.9, False), ("cheap", None, 0.9, False)], "the second server")
        check_secret(house, outcome)

        # A key, an effort and fields of its own. What was chosen for it is not left out in silence.
        play("b", "--api-key-env-repair", "SECOND_KEY", "--request-extra-repair", "{}", "--reasoning-effort-repair", "low",
             SECOND_KEY="sk-of-the-second").expect(CANNOT, "takes no --reasoning-effort low")
        mine = [e for e in second.log() if e["tag"] == "b"]
        require_equal([(e["body"].get("reasoning_effort"), e["body"].get("top_p"), e["has_key"]) for e in mine], [("low", None, True)], "with options of its own")
        require_equal(house.files_with(b"sk-of-the-second"), [], "files that hold the second key")
        house.run("resume", "last", "--reasoning-effort-repair", "high", "--api-base-repair", second.base("fine@c"), "-q",
                  env={"FIRST_KEY": KEY, "SECOND_KEY": "x"}).expect(REJECTED)
        require_equal({e["body"].get("reasoning_effort") for e in second.log() if e["tag"] == "c"}, {"high"}, "after resume")
    house.optimize(SMALL_SOFTMAX, "exec:cat", "--model-repair", "cheap").expect(USAGE, "--model-repair is for --proposer llm")
    house.optimize(SMALL_SOFTMAX, "llm", "--model", "m", "--reasoning-effort-repair", "low").expect(USAGE, "--reasoning-effort-repair needs --model-repair")


def broken(number):
    """A file of its own each time; none gets past its import, so that no verdict needs a clock."""
    return BROKEN.replace("```python\n", "```python\n# design %d\n" % number)


REFUSAL = "I'm sorry, but I can't help with writing code that replaces parts of other software."
CPP = "```cpp\n#include <torch/extension.h>\nstruct ModelNew : torch::nn::Module {\n  torch::Tensor forward(torch::Tensor x) { return x.softmax(1); }\n};\n```"
TWO_FILES = ("kernels.py:\n" + fenced("import torch\n\n\ndef rows(x):\n    return torch.softmax(x, dim=1)") + "\nmodel.py:\n" +
             fenced("import torch\nfrom kernels import rows\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return rows(x)"))
KERNEL_BESIDE = ("kernel.cu:\n```cuda\n__global__ void rows(float* x) {}\n```\nmodel.py:\n" +
                 fenced("import os\nimport torch\nfrom torch.utils.cpp_extension import load\n\nHERE = os.path.dirname(os.path.abspath(__file__))\n"
                        "rows = load(name='rows', sources=[os.path.join(HERE, 'kernel.cu')])\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return rows.rows(x)"))
HALF = "```python\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.softmax(x, dim="

# reply to a call, reply when it was asked once more, what was said to the model in between, what became of the candidate
BAD_REPLIES = [
    ("seed0", REFUSAL, broken(1), "You declined. This is performance work on the user's own PyTorch module", "import-failed"),
    ("seed0.repair1", CPP, broken(2), "Your last reply was not a Python file. Source in C++ or CUDA has to be a string", "import-failed"),
    ("seed0.repair2", TWO_FILES, broken(3), "the one with ModelNew imports kernels.py. Only one file is taken", "import-failed"),
    ("seed0.repair3", broken(3), broken(4), "Your last reply is the same file as before, which was rejected (import-failed)", "import-failed"),
    ("seed0.repair4", KERNEL_BESIDE, broken(5), "the one with ModelNew reads kernel.cu. Only one file is taken", "import-failed"),
    ("seed0.repair5", HALF, HALF, "Your last reply ended before the Python file was complete", "import-failed"),
]


def replies_that_are_no_answer(house):
    """a refusal in prose, another language, several files, the same file and half a file in one run: each is asked again once, with what was wrong"""
    for number, (key, first, second, _, _) in enumerate(BAD_REPLIES):
        for part, reply in enumerate((first, second)):
            house.write("bad/%03d_%s.txt" % (2 * number + part, "seed_repair" if "repair" in key else "seed"), reply)
    with house.server("--replies", house.folder / "bad") as server:
        outcome = ask(house, server.base(), "--seeds", "1", "--repairs", str(len(BAD_REPLIES) - 1), "--no-analysis", "--no-tuning", "--search", "classic", "--out", house.folder / "run")
        outcome.expect(REJECTED, "no candidate was right")
        asked = [entry["call_key"] for entry in server.log()]
    run = house.last()
    wanted = [key + again for key, *_ in BAD_REPLIES for again in ("", ".again")]
    require_equal(asked, wanted, "what the server was asked")
    require_equal({key: row["status"] for key, row in run.calls.items()}, dict.fromkeys(wanted, "answered"), "calls")
    require_equal({key: run.verdict(key)[1] for key in run.candidates if key != "zero"}, {key: reason for key, *_, reason in BAD_REPLIES}, "candidates")
    for key, first, second, said, _ in BAD_REPLIES:
        require(said not in run.calls[key]["prompt"], "%s: %r is said too early" % (key, said))
        again = run.calls[key + ".again"]["prompt"]
        require(said in again.split("\n\n")[0], "%s: it is not said first: %r" % (key, again[:300]))
        require_equal(run.candidates[key]["source"].strip(), second.strip("\n").replace("```python\n", "").replace("\n```", ""), "%s: the file" % key)
    check_listed(house, run)
    check_secret(house, outcome)


CASES = [several_replies, two_models, replies_that_are_no_answer, troubles_overcome, defeats_survived, nobody_there, bad_certificate, keys_in_files, budgets, money_without_a_price, changed_on_resume, minutes,
         estimated_usage, seeds_overlap, budget_shared,
         killed_and_resumed, thinking_apart]

if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))
