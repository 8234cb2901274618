"""The dashboard in a real browser: `hone serve` over a store with hostile texts, and a replayed run that is followed live.

Usage: dashboard_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD] [--pictures FOLDER]

Skipped where there is no Chromium with its driver (Debian: chromium, chromium-driver).
"""

import contextlib
import fcntl
import functools
import json
import random
import re
import signal
import socket
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import webdriver
from pipeline_house import HERE, QUICK, SLOW_ROWS, Failed, Skipped, main, patience, require, require_equal, wait_for

EVIL = ("</pre></code></script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
        "<svg onload=window.hacked=3>\" onmouseover=\"window.hacked=4\x1b]0;owned\x07\x1b[31m'&amp;{{7*7}}\u202e")
EVIL_KEY = "seed1/<b>'\"&?#%"


@contextlib.contextmanager
def serving(house, *flags):
    """A server; yields its address. Ctrl-C must end it at once."""
    process = house.start("serve", "--port", "0", *flags)
    try:
        address = process.stdout.readline().strip()
        require(address.startswith("http://"), "no address: " + address + (process.stderr.read() if not address else ""))
        yield address.rstrip("/")
    finally:
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        outcome = house.finish(process)
        took = time.monotonic() - begin
    require_equal(outcome.code, 0, "exit code of serve (%s)" % outcome.err[-300:])
    require(took < patience(20), "Ctrl-C took %.1f s" % took)
    require("a bug in hone" not in outcome.err, outcome.err[-500:])


def get(address, **headers):
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=300) as reply:
            return reply.status, reply.read().decode(), reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


class Rows:
    """Rows written directly into the store of a house, as runs would write them."""

    def __init__(self, house):
        house.run("runs").expect(0)
        self.store = sqlite3.connect(house.folder / "data" / "hone.db")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.store.commit()
        self.store.close()

    def add(self, table, **row):
        return self.store.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, ",".join(row), ",".join("?" * len(row))), list(row.values())).lastrowid

    def run(self, name, **more):
        row = dict(name=name, created="2026-01-31T10:00:00Z", finished="2026-01-31T10:09:00Z", status="done", task="39_GRU", task_path="/tasks/39_GRU.py",
                   task_sha256="ab" * 32, task_source="class Model: pass", target="cuda", device="NVIDIA H200", proposer="expert", folder="/runs/" + name,
                   options=json.dumps({"budget": {"tokens": 9000, "evaluations": 5}}), outcome="seed0 is 2.00x as fast as the best PyTorch baseline", result="accepted", best_key="seed0",
                   vs_best=2.0, vs_eager=3.0, seconds=540.0)
        row.update(more)
        return self.add("run", **row)

    def candidate(self, run_id, key, torch="2.11.0", **more):
        record = {"gates": {"build": "pass", "trials": "pass"}, "speedup": {"best_baseline": "cudagraph", "best_us": 200.0},
                  "provenance": {"device": "NVIDIA H200", "torch": torch, "time": "2026-01-31T10:00:00Z", "system": "Linux", "cores": 16, "target": "cuda",
                                 "mutants": [{"name": "zeros", "told_apart": True, "regime": "default", "times_over_limit": 4e5},
                                             {"name": "time shuffled", "told_apart": False, "regime": "", "times_over_limit": 0.4}],
                                 "ladder": [{"name": "eager", "available": True}, {"name": "compile", "available": False, "why_not": "no compiler"}]},
                  "card": {"parameters": 12, "flops": 1e9, "floor_us": 12.0, "floor_bound": "memory", "modules": {"GRU": 1}},
                  "measurement": {"stdout": EVIL, "trials": [{"case": "case%d" % i, "outputs": [{"path": "output[0]", "distance": {"relative": 1e-7 * (i + 1), "worst": 1e-6},
                                                                                                "limit": 1e-6, "worst_limit": 1e-5}]} for i in range(5)],
                                  "timing": {"contestants": [{"name": name, "median_us": us, "round_us": [us * (1 + 0.01 * i) for i in range(12)]}
                                                             for name, us in (("candidate", 100.0), ("eager", 300.0), ("cudagraph", 200.0))]}}}
        row = dict(run_id=run_id, key=key, parent_key="", phase="seed", proposer="expert", title="one kernel per layer", created="2026-01-31T10:01:00Z",
                   source="import torch\n\nclass ModelNew:\n    pass\n", sha256="cd" * 32, kernel_class="persistent_recurrent", findings="[]", facts="null",
                   predicted_us=90.0, verdict="accepted", reason="faster", detail="", kind="kernel", vs_best=2.0, ci_low=1.9, ci_high=2.1, vs_eager=3.0,
                   candidate_us=100.0, error=1e-7, error_limit=1e-6, seconds=30.0, json=json.dumps(record))
        row.update(more)
        return self.add("candidate", **row)


def fill(house):
    """Adds runs in which every text is hostile, one of them killed, a suite, and enough plain runs for a second page."""
    with Rows(house) as rows:
        suite = rows.add("suite", name="level <i>3</i>", created="2026-01-31T00:00:00Z", options="{}")
        for i in range(60):
            one = rows.run("plain%02d" % i, task="%02d_Task" % i, vs_best=1 + i / 10, device="NVIDIA H200" if i % 2 else "a CPU")
            rows.candidate(one, "seed0", vs_best=1 + i / 10, ci_low=0.95 + i / 10, ci_high=1.05 + i / 10)
        evil = rows.run("evil " + EVIL, status="stopped", task="evil" + EVIL, task_source=EVIL, proposer="llm", model=EVIL, outcome=EVIL, suite_id=suite,
                        device="H200 " + EVIL)
        rows.candidate(evil, "seed0")
        rows.candidate(evil, EVIL_KEY, parent_key="seed0", title=EVIL, source="# " + EVIL + "\nx = 1\n", verdict="rejected", reason="wrong-output", detail=EVIL, vs_best=0,
                       findings=json.dumps([{"rule": "triton-race", "severity": "error", "line": 1, "column": 1, "message": EVIL, "fix": EVIL}]))
        rows.add("call", run_id=evil, key=EVIL_KEY, created="", call_type="seed", status="answered", model=EVIL, system="", prompt=EVIL, reply=EVIL, thinking=EVIL,
                 finish_reason="", error=EVIL, prompt_tokens=4000, completion_tokens=500, estimated=0, cost_usd=0.1, price_known=1, seconds=3, attempts=1)
        rows.add("decision", run_id=evil, key="d", created="2026-01-31T10:02:00Z", phase="tuning", text=EVIL, json="null")
        rows.add("console", run_id=evil, created="2026-01-31T10:02:00Z", line=EVIL)
        killed = rows.run("killed", status="running", finished="", best_key="", result="", outcome="", task="40_LSTM", suite_id=suite)
        rows.add("console", run_id=killed, created="2026-01-31T10:02:00Z", line="asking for seed0")
    return evil, killed


SOURCE = '''import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <cuda_runtime.h>
__global__ void add(float* out, const float* in, int n) {  // one thread an element
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1.5f;
}
"""


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x + 1.5
'''


def fill_results(house):
    """Adds one run for every result, several of one task over time, and a suite of them."""
    card = {"card": {"flops": 2e9, "least_bytes": 4e7, "floor_us": 20.0, "floor_bound": "arithmetic", "ceiling_flops_per_s": 1e14, "ceiling_bytes_per_s": 4e12}}
    with Rows(house) as rows:
        suite = rows.add("suite", name="night", created="2026-01-31T00:00:00Z", options="{}")
        ids = {}
        for i, (low, estimate, high, torch) in enumerate([(1.1, 1.2, 1.3, "2.11.0"), (1.9, 2.0, 2.1, "2.11.0"), (0.9, 2.4, 3.9, "2.11.0"), (3.9, 4.0, 4.1, "2.12.0")]):
            one = rows.run("won%d" % i, created="2026-01-%02dT10:00:00Z" % (i + 1), vs_best=estimate, card=json.dumps(card), suite_id=suite if i == 1 else None)
            rows.candidate(one, "seed0", torch=torch, vs_best=estimate, ci_low=low, ci_high=high, source=SOURCE)
            ids["won%d" % i] = one
        nothing = dict(best_key="", vs_best=1.0, vs_eager=0.0, suite_id=suite)
        ids["kept"] = rows.run("kept", task="40_kept", result="kept_pytorch", outcome="keep PyTorch: no correct candidate was faster than eager", **nothing)
        rows.candidate(ids["kept"], "seed0", verdict="rejected", reason="slower", vs_best=0.8, ci_low=0.7, ci_high=0.9)
        ids["failed"] = rows.run("failed", task="41_failed", status="failed", result="failed", outcome="the task does not load; so far: nothing is accepted", **nothing)
        ids["untried"] = rows.run("untried", task="42_untried", result="nothing_tried", outcome="nothing could be tried: the task imports helper.py, a file beside it", **nothing)
        rows.candidate(ids["untried"], "zero", phase="zero", verdict="baseline", reason="reference", vs_best=1.0)
        rows.add("decision", run_id=ids["untried"], key="declined:expert", created="2026-01-31T10:00:00Z", phase="expert", json="null",
                 text="expert: not proposed: the task imports helper.py, a file beside it")
        ids["wrong"] = rows.run("wrong", task="43_wrong", result="none_right", outcome="no candidate was right: 1 wrong-output", **nothing)
        rows.candidate(ids["wrong"], "seed0", verdict="rejected", reason="wrong-output", vs_best=0)
    return ids


def quiet(browser, base):
    """Requires that nothing was executed, no external address was requested, and no policy was violated."""
    require(not browser.run("return window.hacked || 0"), "a script of a stranger ran on " + browser.url)
    for url in browser.requested():
        require(url.startswith((base, "data:", "chrome", "about:")), "asked for " + url)
    for entry in browser.log("browser"):
        require("favicon" in entry["message"] or entry["level"] not in ("SEVERE", "WARNING"), "console of %s: %s" % (browser.url, entry["message"]))


def need_browser():
    if not webdriver.available():
        raise Skipped("no chromium with chromedriver here")


def picture(house, browser, name):
    if house.options.pictures:
        browser.screenshot("%s/%s.png" % (house.options.pictures, name))


def sees(browser, selector, *words):
    text = browser.text(selector) or ""
    for word in words:
        require(word in text, "%s does not say %r: %s" % (browser.url, word, text[:700]))


def live(house):
    """a replayed run appears in the list, and its page follows it to its end without being loaded again"""
    need_browser()
    with serving(house) as base, webdriver.Browser(profile=house.folder / "tmp" / "chrome") as browser:
        browser.open(base + "/runs")
        sees(browser, "main", "No runs yet")
        process = house.start("optimize", SLOW_ROWS, "--proposer", "replay:%s" % (HERE / "replays" / "seeds_fine"), "--out", house.folder / "run",
                              "--max-evaluations", "20", *QUICK)
        tail = None
        try:
            wait_for("run", lambda: (house.folder / "data" / "hone.db").exists() and house.rows("SELECT id FROM run"), process=process)
            tail = house.start("tail", "last")
            browser.open(base + "/runs")
            sees(browser, "#results", "R1", "slow_rows", "running")
            browser.open(base + "/runs/R1")
            browser.run("window.sameDocument = 1")
            require(browser.run("return document.querySelector('[data-status]').dataset.status") == "running", "not running any more")
            browser.wait("judged candidate", "return [...document.querySelectorAll('#candidates tr[data-key=seed0] .badge')].some(e => /accepted|rejected|no difference|inconclusive/.test(e.innerText))", seconds=600)
            browser.wait("end of the run", "return document.querySelector('[data-status]').dataset.status === 'done'", seconds=600)
            browser.wait("end of the stream", "return document.querySelector('[data-connection]').innerText === 'ended'")
            require(browser.run("return window.sameDocument") == 1, "the page was loaded again")
            picture(house, browser, "run_live_end")
            run = house.last()
            require_equal(browser.run("return document.querySelector('[data-best]').dataset.best"), run.best_key, "best on the page")
            require_equal(browser.run("return [...document.querySelectorAll('#candidates tr[data-key]')].map(e => e.dataset.key)"), list(run.candidates), "candidates")
            lines = [row["line"] for row in house.rows("SELECT line FROM console ORDER BY id")]
            require_equal(browser.run("return document.querySelector('#console').textContent.trimEnd().split('\\n')"), lines, "console lines")
            sees(browser, ".budget", "of 20")
            quiet(browser, base)
        finally:
            ended = house.finish(process)
        # Which of the two is faster depends on a quiet machine. That the page agrees with the store does not.
        require(ended.code in (0, 1), ended.err[-600:])
        told = house.finish(tail).expect(0, "seed0", run.candidates["seed0"]["verdict"].replace("_", " "), run.outcome)
        require("\x1b" not in told.out, "tail coloured what goes into a pipe")
        again = house.run("tail", "R1").expect(0, "seed1", run.outcome)
        require_equal(again.out.count(lines[0]), 1, "first line in tail of an ended run")
        status, text, _ = get(base + "/runs/R1/events")
        require(status == 200 and "event: end" in text and run.outcome.split()[0] in text, "events of an ended run: " + text[-300:])
        status, text, _ = get(base + "/runs/R1/events", **{"Last-Event-ID": "999999"})
        require("event: console" not in text, "lines that were seen are sent again")


def pages(house):
    """every page, filter and sort, keys alone, a phone, no script at all; and texts full of tags that stay texts"""
    need_browser()
    evil, killed = fill(house)
    key = urllib.parse.quote(EVIL_KEY, safe="")
    with serving(house) as base, webdriver.Browser(profile=house.folder / "tmp" / "chrome") as browser:
        browser.open(base + "/")
        sees(browser, "#results", "1–50 of 62", "killed", "40_LSTM", "<script>window.hacked=1</script>")
        quiet(browser, base)
        picture(house, browser, "runs")
        # Filters by typing, sorts by a click, opens the second page. The URL follows, so that it can be shared.
        browser.write("input[type=search]", "plain 07_Task")
        browser.wait("one result", "return document.querySelectorAll('#results tbody tr').length === 1")
        require("q=plain" in browser.url, browser.url)
        browser.open(base + "/runs?sort=speed&dir=down")
        require(browser.texts("#results tbody tr td:nth-child(5)")[:2] == ["6.90x", "6.80x"], "not sorted: %s" % browser.texts("#results tbody tr td:nth-child(5)")[:3])
        browser.click("#results th[aria-sort=descending] a")
        browser.wait("ascending order", "return document.querySelector('#results th[aria-sort=ascending]') !== null")
        browser.open(base + "/runs?status=stopped")
        require_equal(browser.count("#results tbody tr"), 1, "stopped runs")
        browser.open(base + "/runs?page=2")
        require_equal(browser.count("#results tbody tr"), 12, "rows of the second page")

        for path, words in {
            "/runs/R%d" % evil: ["stopped", EVIL_KEY, "wrong-output", "4500 of 9000", "Decisions", "<script>window.hacked=1</script>"],
            "/runs/R%d" % killed: ["killed", "asking for seed0"],
            "/runs/R%d/candidates/%s" % (evil, key): ["rejected", "triton-race", "What changed from its parent", "Prompt", "<script>window.hacked=1</script>"],
            "/runs/R%d/candidates/seed0" % evil: ["accepted", "Measurements", "build", "H200"],
            "/suites": ["level <i>3</i>"],
            "/suites/" + urllib.parse.quote("level <i>3</i>"): ["40_LSTM", "Geometric mean"],
            "/leaderboard": ["59_Task", "6.90x", "NVIDIA H200"],
            "/tasks/59_Task": ["floor", "time shuffled", "blind spot", "class Model: pass"],
            "/devices": ["NVIDIA H200", "2.11.0", "eager"],
            "/compare?run=R1&run=R60": ["2 runs side by side", "What differs", "The devices differ"],
            "/compare?run=R1:seed0+R60:seed0": ["R1:seed0 against R60:seed0", "significant"],
            "/runs/R%d/explain" % evil: ["explained", "wrong-output"],
        }.items():
            browser.open(base + path)
            sees(browser, "body", *words)
            quiet(browser, base)
            picture(house, browser, re.sub(r"[^a-z0-9]+", "_", path.split("?")[0].replace("R%d" % evil, "evil").replace(key, "rejected").lower()).strip("_"))
        browser.open(base + "/runs/R999")
        sees(browser, "main", "404", "there is no run")
        browser.log("browser")
        browser.open(base + "/runs/R%d/candidates/seed0" % evil)
        require(browser.count("main figure svg") >= 2, "no plots of times and errors")
        browser.open(base + "/runs/R%d/report" % evil)
        sees(browser, "body", "evil")
        quiet(browser, base)

        keys_alone(browser, base)
        phone(house, browser, base, evil, key)
        api(base, evil, key)
    with serving(house) as base, webdriver.Browser(script=False, dark=True, profile=house.folder / "tmp" / "plain") as browser:
        browser.open(base + "/runs?q=59_Task")
        require_equal(browser.command("Runtime.evaluate", expression="document.querySelectorAll('#results tbody tr').length")["result"]["value"], 1, "rows without script")
        picture(house, browser, "runs_dark")
        for path in ("/runs/R%d" % evil, "/runs/R%d/candidates/seed0" % evil, "/leaderboard"):
            browser.open(base + path)
            picture(house, browser, "dark_" + path.strip("/").replace("/", "_"))


def results(house):
    """a failed run, one that tried nothing, one without a right candidate and PyTorch kept are four things on every page, and none of them is green"""
    need_browser()
    ids = fill_results(house)
    words = {"kept": "PyTorch kept", "failed": "failed", "untried": "nothing tried", "wrong": "none right"}
    with serving(house) as base, webdriver.Browser(profile=house.folder / "tmp" / "chrome") as browser:
        green = None
        browser.open(base + "/runs/R%d" % ids["won1"])
        green = browser.run("return getComputedStyle(document.querySelector('.figures .big')).color")
        for name, shown in words.items():
            browser.open(base + "/runs/R%d" % ids[name])
            big = browser.text(".figures .big")
            require(big.startswith(shown), "%s: the page says %r" % (name, big))
            require(name == "kept" or "PyTorch kept" not in browser.text("main"), name + " is shown as PyTorch kept")
            require(browser.run("return getComputedStyle(document.querySelector('.figures .big')).color") != green, name + " is green")
            require(browser.count(".tools") == 0 and get(base + "/runs/R%d/best.py" % ids[name])[0] == 404, name + " has a best.py")
            picture(house, browser, "result_" + name)
        for path in ("/runs", "/suites/night", "/leaderboard"):
            browser.open(base + path)
            for name, shown in words.items():
                row = browser.run("return [...document.querySelectorAll('tr')].find(e => e.innerText.includes(arguments[0]))?.innerText", browser_task(name))
                require(row and shown in row and (name == "kept" or "PyTorch" not in row), "%s on %s: %r" % (name, path, row))
            quiet(browser, base)
            picture(house, browser, "results" + path.replace("/", "_"))
        # Two of five tasks have a result for the mean: 2x and 1x (kept), 1x (none right). The mean leaves the others out.
        browser.open(base + "/suites/night")
        sees(browser, ".figures", "1.26x", "over 3 of 5 tasks", "1 failed, 1 with nothing to try")
        require(browser.count("#plot figure svg") >= 1, "no plot of the suite")
        browser.click(".head .links a")
        browser.wait("its runs", "return location.search === '?suite=night' && document.querySelectorAll('#results tbody tr').length === 5")
        browser.write("input[type=search]", "42_untried")
        browser.wait("one of its runs", "return document.querySelectorAll('#results tbody tr').length === 1 && location.search.includes('suite=night')")
        browser.open(base + "/leaderboard")
        # The widest interval has the highest estimate on torch 2.11 but does not lead. torch 2.12 is in a separate table.
        require_equal(browser.texts("section table td:nth-child(2)")[:2], ["3.90x", "1.90x"], "lower ends in the tables")
        sees(browser, "#results", "torch 2.12.0", "torch 2.11.0", "Without an accepted candidate")
        told = house.run("explain", "untried").expect(0)
        require("Nothing could be tried: the task imports helper.py" in told.out and "PyTorch is kept" not in told.out, told.out[:400])


def browser_task(name):
    return {"kept": "40_kept", "failed": "41_failed", "untried": "42_untried", "wrong": "43_wrong"}[name]


def tools(house):
    """best.py is copied and downloaded, sources have colours, a task has a history, a run has its roofline, tags and notes are kept"""
    need_browser()
    ids = fill_results(house)
    run = "/runs/R%d" % ids["won1"]
    with serving(house) as base, webdriver.Browser(profile=house.folder / "tmp" / "chrome") as browser:
        browser.command("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=base)
        browser.open(base + run)
        status, text, headers = get(base + run + "/best.py")
        require(status == 200 and text.endswith(SOURCE) and "attachment" in headers["Content-Disposition"] and headers["Content-Type"].startswith("text/x-python"), "best.py: " + text[:200])
        browser.click("[data-copy]")
        browser.wait("copied file", "return document.querySelector('[data-copied]').textContent === 'copied'")
        copied = browser.ask("POST", "/execute/async", {"script": "const done = arguments[0]; navigator.clipboard.readText().then(done, e => done('' + e))", "args": []})
        require_equal(copied, text, "clipboard")
        require(browser.count("#roofline figure#plot-roofline svg") >= 1, "no roofline")
        sees(browser, "#roofline", "cudagraph", "seed0")
        picture(house, browser, "run_tools")
        browser.open(base + run + "/candidates/seed0")
        colour = lambda text: browser.run("const e = [...document.querySelectorAll('.source span[class^=h]')].find(e => e.textContent === arguments[0]); return e ? getComputedStyle(e).color : null", text)
        plain = browser.run("return getComputedStyle(document.querySelector('.source code')).color")
        for word in ("class", "1.5", "void", "// one thread an element"):
            require(colour(word) not in (None, plain), "%r has no colour of its own" % word)
        require_equal(get(base + run + "/candidates/seed0?download=1")[1], SOURCE, "downloaded source")
        picture(house, browser, "source")
        browser.open(base + "/tasks/39_GRU")
        require(browser.count("#history figure svg") >= 1, "no history")
        rows = browser.run("return [...document.querySelectorAll('#history details tbody tr')].map(e => e.children[0].innerText || e.children[0].textContent)")
        require_equal(rows, ["R%d" % ids["won%d" % i] for i in range(4)], "runs of the history")
        require_equal(browser.count("section.standing"), 2, "tables of comparable results")
        require_equal(browser.texts("section.standing:nth-of-type(3) td.rank")[:1], ["1"], "ranks")
        picture(house, browser, "task_history")

        browser.open(base + run)
        browser.click("#notes summary")
        browser.write("[name=tags]", "nightly h200")
        browser.write("[name=text]", "first run <b>with</b> the new driver")
        browser.click("#notes form button")
        browser.wait("saved note", "return document.querySelector('#notes pre.note') !== null")
        sees(browser, "#notes", "nightly", "h200", "first run <b>with</b> the new driver")
        picture(house, browser, "run_notes")
        browser.click("#notes a.tag")
        browser.wait("runs with that tag", "return location.search === '?tag=h200' && document.querySelectorAll('#results tbody tr').length === 1")
        quiet(browser, base)
        shown = house.run("note", "R%d" % ids["won1"], "--untag", "h200", "--tag", "gru", "--tag", "cpu,b", "--json").expect(0).json()
        require_equal(shown["tags"], ["b", "cpu", "gru", "nightly"], "tags")
        require(house.run("runs", "--tag", "gru").expect(0).out.count("39_GRU") == 1, "hone runs --tag")
        browser.open(base + "/runs?q=driver")
        require_equal(browser.count("#results tbody tr"), 1, "runs found by a word of the note")
        house.run("note", "R%d" % ids["won1"], "--tag", "<b>").expect(2, "is not a tag")
    with serving(house) as base, webdriver.Browser(dark=True, profile=house.folder / "tmp" / "dark") as browser:
        for name, path in {"run": run, "source": run + "/candidates/seed0", "task": "/tasks/39_GRU", "suite": "/suites/night", "leaderboard": "/leaderboard",
                           "failed": "/runs/R%d" % ids["failed"]}.items():
            browser.open(base + path)
            picture(house, browser, "dark_tools_" + name)
        browser.resize(390, 844)
        for name, path in {"run": run, "task": "/tasks/39_GRU", "suite": "/suites/night", "leaderboard": "/leaderboard"}.items():
            browser.open(base + path)
            width = browser.run("return document.documentElement.scrollWidth")
            require(width <= 390, "%s is %d pixels wide on a phone of 390" % (path, width))
            picture(house, browser, "phone_tools_" + name)


def fill_search(house, candidates=220, status="done"):
    """A population search as rows: three families, four parallel steps, one or two parents each, a third of it failed, one parent from another run,
    and one key full of tags."""
    draw = random.Random(7)
    with Rows(house) as rows:
        run = rows.run("search", task="39_GRU", proposer="llm", model="some-model", status=status, best_key="", options="{}", vs_best=0.0)
        made, spent = [], 0.0
        for i in range(candidates):
            created = "2026-01-31T10:%02d:%02dZ" % (i // 60, i % 60)
            right = [one for one in made if one["speed"] > 0]
            parents, phase, family = [], "seed", ("persistent_recurrent", "gemm", "elementwise")[i % 3]
            if i >= 6 and right:
                phase = draw.choice(("improve", "improve", "improve", "combine", "restart"))
                if phase != "restart":
                    parents = draw.sample(right[-12:], min(len(right), 2 if phase == "combine" else 1))
                    family = parents[0]["family"]
            key = "seed%d" % i if i < 6 else EVIL_KEY if i == 9 else "gen%d.%s" % (i, phase)
            speed = 0.0 if draw.random() < 0.35 else round(max([one["speed"] for one in parents] + [1.2]) * draw.uniform(0.9, 1.12), 3)
            verdict, reason = ("rejected", "wrong-output") if speed == 0 else ("accepted", "faster") if speed > 1.05 else ("rejected", "slower")
            if i + 1 == candidates:
                verdict = reason = ""
                speed = 0.0
            one = {"key": key, "family": family, "speed": speed if verdict == "accepted" else 0.0, "parents": [each["key"] for each in parents]}
            if i == 7:
                one["parents"] = ["from.20260101_other.seed1"]
            made.append(one)
            spent += 0.01
            rows.candidate(run, key, parent_key=one["parents"][0] if one["parents"] else "", other_parent_key=one["parents"][1] if len(one["parents"]) > 1 else "", phase=phase,
                           kernel_class=family, verdict=verdict, reason=reason, vs_best=speed, ci_low=speed * 0.97, ci_high=speed * 1.03, created=created, proposer="llm")
            rows.add("call", run_id=run, key=key, created=created, call_type=phase, status="answered", model="some-model", system="", prompt="p", reply="r", thinking="",
                     finish_reason="stop", error="", prompt_tokens=3000, completion_tokens=900, estimated=0, cost_usd=0.01, price_known=1, seconds=3, attempts=1)
        best = max(made, key=lambda one: one["speed"])
        rows.store.execute("UPDATE run SET best_key=?, vs_best=? WHERE id=?", (best["key"], best["speed"], run))
    return run, made, best


def ancestors(made, key):
    parents = {one["key"]: one["parents"] for one in made}
    found, to_do = set(), [key]
    while to_do:
        one = to_do.pop()
        if one in parents and one not in found:
            found.add(one)
            to_do += parents[one]
    return found


SHOWN_NODES = "[...document.querySelectorAll('#plot-lineage svg a.node')].filter(e => e.getClientRects().length)"


def lineage(house):
    """a search of 220 candidates is a graph that fits a desk and a phone, tells of each candidate, is walked with arrows and opens what is clicked"""
    need_browser()
    run, made, best = fill_search(house)
    edges = sum(len([p for p in one["parents"] if not p.startswith("from.")]) for one in made)
    with serving(house) as base, webdriver.Browser(profile=house.folder / "tmp" / "chrome") as browser:
        page = base + "/runs/R%d" % run
        for width in (1280, 400):
            browser.resize(width, 900)
            browser.open(page)
            require_equal(browser.run("return %s.map(e => e.dataset.key)" % SHOWN_NODES), [one["key"] for one in made], "candidates of the graph at %d" % width)
            shown = "[...document.querySelectorAll('#plot-lineage .drawing')].find(e => e.getClientRects().length)"
            require_equal(browser.run("return %s.querySelectorAll('path.edge').length" % shown), edges, "edges at %d" % width)
            require_equal(browser.run("return %s.querySelectorAll('line.stray').length" % shown), 1, "parents of another run at %d" % width)
            require_equal(set(browser.run("return %s.filter(e => e.classList.contains('way')).map(e => e.dataset.key)" % SHOWN_NODES)), ancestors(made, best["key"]), "way to the best")
            require(browser.run("return document.documentElement.scrollWidth") <= width, "the page is wider than %d" % width)
            centres = browser.run("return %s.map(e => e.querySelector('.hit').getBoundingClientRect()).map(r => [Math.round(r.x), Math.round(r.y)].join())" % SHOWN_NODES)
            require_equal(len(set(centres)), len(made), "places at %d" % width)
            outside = browser.run("return %s.filter(e => { const r = e.querySelector('.hit').getBoundingClientRect(); return r.x < 0 || r.right > innerWidth; }).length" % SHOWN_NODES)
            require_equal(outside, 0, "candidates beyond the edge at %d" % width)
            require(browser.count("#plot-progress svg") == 2, "no plot of the progress")
            quiet(browser, base)
            picture(house, browser, "lineage_%d" % width)
        browser.resize(1280, 900)
        browser.open(page)
        # Tab stops once, at the best. Arrow keys move on, and the focused item is announced on the drawing and to screen readers.
        require_equal(browser.run("return %s.filter(e => e.tabIndex === 0).length" % SHOWN_NODES), 1, "stops of the Tab key")
        browser.run("%s.find(e => e.tabIndex === 0).focus()" % SHOWN_NODES)
        browser.press("home", "right", "right")
        third = made[2]
        told = browser.run("const e = document.activeElement; return [e.dataset.key, getComputedStyle(e.querySelector('.tip')).opacity, e.querySelector('.tip').textContent]")
        require(told[0] == third["key"] and told[1] == "1" and told[2].startswith(third["key"] + ": ") and "$0.0100" in told[2], "focus tells %s" % told)
        browser.run("document.activeElement.id = 'held'")
        named = browser.ask("GET", "/element/%s/computedlabel" % browser.find("#held"))
        require(named.startswith(third["key"]), "name for screen readers: " + named)
        browser.press("enter")
        browser.wait("candidate of the keyboard", "return location.pathname.endsWith(arguments[0])", "/candidates/" + third["key"])
        browser.open(page)
        browser.click("#plot-lineage .wide a.node[data-key='%s'] .hit" % best["key"])
        browser.wait("candidate that was clicked", "return location.pathname.endsWith(arguments[0])", "/candidates/" + best["key"])
        browser.open(page)
        browser.click("#plot-lineage details summary")
        require_equal(browser.count("#plot-lineage details[open] tbody tr"), len(made), "rows of the table")
        sees(browser, "#plot-lineage details", "from.20260101_other.seed1", EVIL_KEY)
        quiet(browser, base)
        browser.open(page + "/report")
        require_equal(browser.run("return %s.length" % SHOWN_NODES), len(made), "candidates in the report's graph")
        target = browser.run("return %s[2].getAttribute('href')" % SHOWN_NODES)
        require(browser.run("return document.querySelector(arguments[0]) !== null", target), "the report's graph leads nowhere: " + target)
        require_equal(browser.count("#plot-progress svg"), 2, "progress in the report")
        quiet(browser, base)
    with serving(house) as base, webdriver.Browser(dark=True, profile=house.folder / "tmp" / "dark") as browser:
        browser.open(base + "/runs/R%d" % run)
        require(browser.run("return getComputedStyle(document.querySelector('#plot-lineage .way .hit')).fill") != "rgb(253, 253, 252)", "white marks in the dark")
        picture(house, browser, "lineage_dark")


def lineage_live(house):
    """the graph of a run that goes on grows without a reload and keeps the focus"""
    need_browser()
    run, made, _ = fill_search(house, candidates=30, status="running")
    (house.folder / "data" / "locks").mkdir(exist_ok=True)
    with open(house.folder / "data" / "locks" / ("run%d.lock" % run), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with serving(house) as base, webdriver.Browser(profile=house.folder / "tmp" / "chrome") as browser:
            browser.open(base + "/runs/R%d" % run)
            browser.wait("stream", "return document.querySelector('[data-connection]').innerText === 'following'")
            browser.run("window.sameDocument = 1; %s[3].focus()" % SHOWN_NODES)
            with Rows(house) as rows:
                rows.candidate(run, "gen30.improve", parent_key=made[3]["key"], phase="improve", vs_best=9.0, ci_low=8.9, ci_high=9.1)
                rows.add("call", run_id=run, key="gen30.improve", created="2026-01-31T10:01:00Z", call_type="improve", status="answered", model="m", system="", prompt="", reply="",
                         thinking="", finish_reason="", error="", prompt_tokens=1, completion_tokens=1, estimated=0, cost_usd=0.5, price_known=1, seconds=1, attempts=1)
                rows.store.execute("UPDATE run SET best_key='gen30.improve', vs_best=9 WHERE id=?", (run,))
            browser.wait("new candidate", "return %s.some(e => e.dataset.key === 'gen30.improve')" % SHOWN_NODES)
            # A plot drawn between the two writes is followed by one that has both.
            browser.wait("new way", "return %s.filter(e => e.classList.contains('way')).map(e => e.dataset.key).includes('gen30.improve')" % SHOWN_NODES)
            require_equal(browser.run("return document.activeElement.dataset.key"), made[3]["key"], "focus after the change")
            browser.wait("its speed-up and its cost", "return document.querySelector('#plot-progress').textContent.includes('9.00\u00d7') && document.querySelector('#plot-progress').textContent.includes('$0.8000')")
            require_equal(browser.run("return window.sameDocument"), 1, "the page was loaded again")
            quiet(browser, base)


def keys_alone(browser, base):
    browser.open(base + "/runs")
    browser.press("j", "j")
    require(browser.run("return document.activeElement.closest('tr.at') !== null"), "j does not move")
    browser.press("x")
    browser.press("j")
    browser.press("x")
    require_equal(browser.count("#results input:checked"), 2, "marked rows")
    link = browser.run("return document.querySelector('tr.at').dataset.row")
    browser.press("enter")
    browser.wait("the row's page", "return location.pathname === arguments[0]", link)
    browser.press("u")
    browser.wait("the list", "return location.pathname === '/runs'")
    browser.press("/")
    require(browser.run("return document.activeElement.name") == "q", "/ does not focus the filter")
    browser.press("escape")
    browser.press("?")
    require(browser.run("return document.querySelector('#help').open"), "? does not open the help")
    browser.press("escape")
    browser.press("g", "l")
    browser.wait("leaderboard", "return location.pathname === '/leaderboard'")
    # Uses only Tab: the first stop leads past the navigation.
    browser.press("tab")
    require_equal(browser.run("return document.activeElement.className"), "skip", "first stop of Tab")
    seen = set()
    for _ in range(12):
        browser.press("tab")
        seen.add(browser.run("return document.activeElement.name || document.activeElement.innerText || ''"))
        require(browser.run("const e = document.activeElement; return e === document.body || getComputedStyle(e).outlineStyle !== 'none'"), "no outline on focus")
    require({"Runs", "Suites", "q", "device"} <= seen, "Tab reaches %s" % seen)


def phone(house, browser, base, evil, key):
    browser.resize(390, 844)
    for name, path in {"runs": "/runs", "run": "/runs/R%d" % evil, "candidate": "/runs/R%d/candidates/seed0" % evil, "rejected": "/runs/R%d/candidates/%s" % (evil, key),
                       "leaderboard": "/leaderboard", "task": "/tasks/59_Task", "devices": "/devices", "compare": "/compare?run=R%d&run=R5" % evil}.items():
        browser.open(base + path)
        width = browser.run("return document.documentElement.scrollWidth")
        require(width <= 390, "%s is %d pixels wide on a phone of 390" % (path, width))
        picture(house, browser, "phone_" + name)
    browser.resize(1280, 900)


def api(base, evil, key):
    status, text, headers = get(base + "/api/runs?most=5&sort=speed")
    require(status == 200 and headers["Content-Type"] == "application/json" and len(json.loads(text)["runs"]) == 5, "api/runs: " + text[:200])
    status, text, _ = get(base + "/api/runs/R%d/candidates/%s" % (evil, key))
    require(EVIL in json.loads(text)["source"] and json.loads(text)["key"] == EVIL_KEY, "api of a candidate")
    status, text, _ = get(base + "/metrics")
    require('hone_runs{status="done"} 60' in text and "# TYPE hone_http_requests_total counter" in text, text[:300])
    for line in text.splitlines():
        require(re.fullmatch(r'# (HELP|TYPE) .*|[a-z_]+(\{[a-z_]+="[^"\n]*"(,[a-z_]+="[^"\n]*")*\})? [-+0-9.e]+', line), "not Prometheus: " + line)
    status, _, headers = get(base + "/runs")
    require("script-src 'self'" in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff", "headers")
    require_equal(get(base + "/runs", Host="evil.example")[0], 421, "another host's name")


def guarded(house):
    """a token is asked for where others can reach it; actions only when allowed, by a form of its own; a port in use is one sentence"""
    fill(house)
    with serving(house, "--bind", "0.0.0.0") as address:
        base, _, token = address.partition("/?token=")
        require(re.fullmatch(r"[0-9a-f]{32}", token), address)
        require_equal(get(base + "/runs")[0], 401, "without a token")
        require_equal(get(base + "/metrics?token=" + "0" * 32)[0], 401, "with a wrong one")
        require_equal(get(base + "/metrics?token=" + token)[0], 200, "with the right one")
        require_equal(get(base + "/api/runs", Authorization="Bearer " + token)[0], 200, "as a header")
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(base + "/runs?token=" + token, timeout=300) as reply:
            require("token" not in reply.geturl() and reply.status == 200, "the token stays in the address: " + reply.geturl())
        with opener.open(base + "/leaderboard", timeout=300) as reply:
            require_equal(reply.status, 200, "with the cookie")
        with opener.open(base + "/runs/R1", timeout=300) as reply:
            require("<textarea" not in reply.read().decode(), "notes can be edited from elsewhere")

    def post(base, path, **form):
        request = urllib.request.Request(base + path, data=urllib.parse.urlencode(form).encode(), method="POST")
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    with serving(house) as base:
        require_equal(post(base, "/runs/R2/resume", csrf="x")[0], 403, "an action that is not allowed")
        require_equal(post(base, "/runs/R2/note", csrf="x", text="evil")[0], 403, "a note without the form")
        require_equal(house.rows("SELECT * FROM run_note"), [], "notes")
        busy = house.run("serve", "--port", base.rpartition(":")[2])
        busy.expect(3, "is in use")
        require_equal(len(busy.err.strip().splitlines()), 1, "lines about a port in use")
    with serving(house, "--allow-actions") as base:
        csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', get(base + "/runs")[1]).group(1)
        require_equal(post(base, "/actions/start", task=str(SLOW_ROWS), csrf="0" * 32)[0], 403, "another page's form")
        require_equal(post(base, "/actions/start", task="/nowhere.py", csrf=csrf)[0], 400, "a task that is not there")
        require_equal(post(base, "/actions/start", task=str(SLOW_ROWS), proposer="exec:touch %s" % (house.folder / "owned"), csrf=csrf)[0], 400, "a command")
        before = len(house.rows("SELECT id FROM run"))
        status, text = post(base, "/actions/start", task=str(SLOW_ROWS), target="cpu", proposer="replay:%s" % (HERE / "replays" / "kill"), csrf=csrf)
        require_equal(status, 200, "starting a run: " + text[:300])
        wait_for("started run", lambda: len(house.rows("SELECT id FROM run")) > before, seconds=60)
        started = house.last()
        wait_for("its worker", lambda: '/stop"' in get(base + "/runs/R%d" % started.id)[1], seconds=30)
        require_equal(post(base, "/runs/R%d/stop" % started.id, csrf=csrf)[0], 200, "stopping it")
        wait_for("its end", lambda: house.last().status in ("stopped", "done"))
        require(not (house.folder / "owned").exists(), "a form ran a command")


def hostile_clients(house):
    """garbage, half requests, floods and silence on raw sockets: each costs one connection, and the server answers on"""
    fill(house)
    with serving(house) as base:
        port = int(base.rpartition(":")[2])
        held = []
        for bytes_ in (b"\0" * 5000, b"GET / HTTP/1.1\r\n" + b"A: " + b"x" * 60000, b"POST /runs/R1/stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
                       b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /runs/R%99%99 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                       b"GET /runs?q=" + b"%25" * 3000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /runs/R1/events HTTP/1.0\r\n\r\n", b"\r\n" * 2000, b"GET", b""):
            for _ in range(20):
                client = socket.create_connection(("127.0.0.1", port), timeout=20)
                with contextlib.suppress(OSError):
                    client.sendall(bytes_)
                held.append(client)
        begin = time.monotonic()
        require_equal(get(base + "/runs")[0], 200, "with %d clients that misbehave" % len(held))
        require(time.monotonic() - begin < patience(14), "slow beside clients that misbehave")
        for client in held:
            client.close()
        require_equal(get(base + "/api/runs")[0], 200, "afterwards")


def flags(parser):
    parser.add_argument("--pictures", help="folder for screenshots")


def told(case):
    """The driver's error message if something is missing in the browser."""
    @functools.wraps(case)
    def with_browser(house):
        try:
            case(house)
        except webdriver.WebDriverError as error:
            raise Failed(str(error)) from error
    return with_browser


if __name__ == "__main__":
    sys.exit(main([told(live), told(lineage), told(lineage_live), told(pages), told(results), told(tools), guarded, hostile_clients], __doc__.splitlines()[0], flags))
