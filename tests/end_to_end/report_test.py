"""Reports and exports of real runs: standard parsers accept what `hone report` and `hone export` write. It shows the run's own
figures, loads nothing, and withstands a candidate and a model that write script tags and terminal escapes.

Usage: report_test.py --hone BINARY [--python INTERPRETER-WITH-TORCH] [--only WORD] [--no-browser]
"""

import base64
import contextlib
import csv
import html.parser
import io
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from explain_test import load
from pipeline_house import ACCEPTED, SLOW_ROWS, USAGE, Skipped, fenced, main, require, require_equal, waits

VOID = {"meta", "br", "hr", "img", "input", "link", "base", "col"}
HOSTILE = "</code></pre><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\x1b[31m\x00\x07"


class Page(html.parser.HTMLParser):
    """Requires that tags are closed in order and ids are unique. Records facts about the rest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.tags, self.words, self.attributes = [], [], [], set(), [], set()
        self.feed(text)
        self.close()
        require(not self.open, "never closed: %s" % self.open)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        require(self.open and self.open[-1] == tag, "</%s> where %s is open" % (tag, self.open[-3:]))
        self.open.pop()

    def handle_data(self, data):
        self.words.append(data)


def check_page(path):
    """Parses the page, which must be self-contained."""
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    require_equal(len(page.ids), len(set(page.ids)), "ids")
    for link in page.links:
        require(link.startswith("#") and link[1:] in page.ids, "a link that leads nowhere: %r" % link)
    require(not page.tags & {"script", "img", "iframe", "link", "form", "object", "embed", "base"}, "tags: %s" % page.tags)
    require(not [a for a in page.attributes if a.startswith("on") or a in ("src", "style")], "attributes: %s" % page.attributes)
    require("default-src 'none'" in text, "no content security policy")
    require(not re.search(r"https?://", re.sub(r"<(code|dd|p|td|h1)[^>]*>[^<]*", "", text)), "an address in its markup")
    return page


def hostile_run(house):
    """A seed that is wrong and full of tags and escapes, and a repair of it that is right."""
    folder = house.folder / "replies"
    folder.mkdir()
    good = fenced("import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
                  "        return torch.cat([torch.softmax(part, dim=1) for part in x.split(40)])")
    bad = "# %s\nimport torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        raise RuntimeError(%r)\n" % (
        HOSTILE.replace("\x00", ""), HOSTILE)
    (folder / "001_seed.txt").write_text(fenced(bad))
    (folder / "002_seed_repair.txt").write_text(good)
    house.optimize(SLOW_ROWS, "replay:%s" % folder, "--seeds", "1", "--out", house.folder / "run").expect(ACCEPTED)
    run = house.last()
    require_equal(run.verdict("seed0.repair1"), ("accepted", "faster"), "seed0.repair1")
    return run


def browse(page, folder, script):
    """Runs `script` (a function of the page's document) in headless Chromium over the page in a 390 pixels wide frame."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        raise Skipped("no Chromium")
    frame = folder / "frame.html"
    frame.write_text("<!DOCTYPE html><iframe id=f width=390 height=800 src='%s'></iframe><script>onload=()=>{const page=document."
                     "getElementById('f').contentDocument;const seen=(%s)(page);document.body.textContent='SEEN'+btoa(JSON.stringify("
                     "seen))+'NEES'}</script>" % (page.name, script))
    with tempfile.TemporaryDirectory(dir=folder) as profile:
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                               "--disable-web-security", "--user-data-dir=%s" % profile, "--enable-logging=stderr",
                               "--virtual-time-budget=5000", "--dump-dom", frame.as_uri()],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    found = re.search("SEEN(.*?)NEES", done.stdout)
    require(found, "the browser said: %s %s" % (done.stdout[-500:], done.stderr[-500:]))
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(base64.b64decode(found[1])), said


def check_report(house, run):
    """A report is one whole page with the run's figures, the plots are XML, and nothing that a candidate wrote is a tag."""
    page = house.folder / "run.html"
    house.run("report", "last", "--html", page, "--svg", house.folder / "plots").expect(ACCEPTED)
    seen = check_page(page)
    words = "".join(seen.words)
    require(run.outcome in words, "the outcome is not in it")
    best = run.candidates[run.best_key]
    speed = ("%.0f" if best["vs_best"] >= 100 else "%.2f") % best["vs_best"]
    require("%s\u00d7 [%.2f, %.2f]" % (speed, best["ci_low"], best["ci_high"]) in words, "the speed-up is not in it")
    require("document.title='owned'" in words and "\u241b[31m" in words, "what the candidate wrote cannot be read")
    plots = sorted(path.name for path in (house.folder / "plots").iterdir())
    require_equal(plots, ["error.svg", "lineage.svg", "progress.svg", "speedup.svg", "time.svg", "tokens.svg"], "plots")
    for name in plots:
        root = xml.etree.ElementTree.parse(house.folder / "plots" / name).getroot()
        require_equal(root.tag, "{http://www.w3.org/2000/svg}svg", name)
        require(root.find("{http://www.w3.org/2000/svg}desc").text, name + " has no description")
    again = house.run("report", run.name, "--html", "-").expect(ACCEPTED)
    require_equal(again.out, page.read_text(), "the same report twice")
    rows = list(csv.DictReader(io.StringIO(house.run("report", "last", "--csv").expect(ACCEPTED).out)))
    require_equal([row["candidate"] for row in rows], list(run.candidates), "CSV")
    require_equal([row["best"] for row in rows].index("1"), list(run.candidates).index(run.best_key), "the best in the CSV")
    table = house.run("report", "last", "--md").expect(ACCEPTED).out
    require("| seed0.repair1 | seed\\_repair | accepted |" in table and "<script>" not in table, table[:600])
    house.run("report", "last").expect(USAGE, "--html FILE")
    house.run("report", "nothing", "--md").expect(3, "there is no run")


def check_in_a_browser(house, run):
    """Chromium shows the report on a narrow screen without horizontal scrolling, runs nothing, and reports no error."""
    page = house.folder / "run.html"
    house.run("report", run.name, "--html", page).expect(ACCEPTED)
    seen, said = browse(page, house.folder, """page => {
      for (const d of page.querySelectorAll('details')) d.open = true;
      const root = page.documentElement;
      const shown = kind => [...page.querySelectorAll('.drawing.' + kind)].filter(e => e.getClientRects().length).length;
      return {title: page.title, wide: root.scrollWidth, scripts: page.scripts.length, narrow: shown('narrow'), broad: shown('wide'),
              font: page.defaultView.getComputedStyle(page.body).fontFamily, closed: page.querySelectorAll('summary').length};
    }""")
    require("owned" not in seen["title"] and seen["scripts"] == 0, "the candidate's script ran: %s" % seen)
    require(seen["wide"] <= 390, "it is %d pixels wide on a screen of 390" % seen["wide"])
    require(seen["narrow"] > 4 and seen["broad"] == 0, "drawings for a narrow screen: %s" % seen)
    require("system-ui" in seen["font"], "the policy kept the style out: %s" % seen)
    require(not said, "the browser complains: %s" % said[:3])


def check_round_trip(house, run):
    """Exports to KernelBench's folder and imports it: the same sources, and the result of eval_results.json for each."""
    house.run("export", "last", "--format", "kernelbench", "--out", house.folder / "kb").expect(USAGE, "--level N")
    house.run("export", "last", "--format", "kernelbench", "--level", "3", "--problem", "39", "--out", house.folder / "kb").expect(ACCEPTED)
    results = json.loads((house.folder / "kb" / "eval_results.json").read_text())["39"]
    require_equal([r["sample_id"] for r in results], [0, 1], "samples")
    require_equal((results[0]["correctness"], results[0]["metadata"]["hone_key"]), (True, run.best_key), "sample 0")
    require(0 < results[0]["runtime"] and results[1]["runtime"] == -1 and not results[1]["correctness"], "results: %s" % results)
    house.run("import", house.folder / "kb").expect(ACCEPTED)
    again = house.last()
    names = ["level_3_problem_39_sample_%d_kernel" % i for i in range(2)]
    require_equal(list(again.candidates), names, "imported")
    require_equal([again.candidates[n]["source"] for n in names], [run.candidates[k]["source"] for k in (run.best_key, "seed0")], "sources")
    require("KernelBench said: compiled, correct, runtime" in again.candidates[names[0]]["detail"], again.candidates[names[0]]["detail"])
    require("not correct" in again.candidates[names[1]]["detail"], again.candidates[names[1]]["detail"])
    everything = house.run("export", run.name, "--format", "json").expect(ACCEPTED).json()
    require_equal([c["key"] for c in everything["candidates"]], list(run.candidates), "candidates in JSON")
    require_equal([c["reply"] for c in everything["calls"]], [c["reply"] for c in run.calls.values()], "replies in JSON")
    require(everything["candidates"][-1]["record"]["provenance"]["torch"], "no provenance in JSON")
    check_page_of(house, again.name)


@waits
def reports(house):
    """a judged run, hostile in every text: its report in a parser and in a browser, and its way through KernelBench's folder"""
    run = hostile_run(house)
    check_report(house, run)
    check_round_trip(house, run)
    if house.options.no_browser:
        raise Skipped("--no-browser")
    check_in_a_browser(house, run)


def check_page_of(house, name):
    page = house.folder / "page.html"
    house.run("report", name, "--html", page).expect(ACCEPTED)
    return check_page(page)


def suites(house):
    """a suite's report links every task to its own section, also where PyTorch stays"""
    house.run("runs").expect(ACCEPTED)
    with contextlib.closing(sqlite3.connect(house.folder / "data" / "hone.db", timeout=20)) as store, store:
        store.execute("INSERT INTO suite (id, name, created, options) VALUES (1, 'night', 'now', '{}')")
    for number, (task, frozen) in enumerate((("1_rows", "seeds_fine"), ("2_rows", "exhausted")), 1):
        load(house, frozen, number, suite=1, change=lambda story, task=task: story["run"].update(task=task))
    seen = check_page_of(house, "night")
    require("#run-1" in seen.links and "#run-2" in seen.links, "links: %s" % seen.links)
    table = house.run("report", "night", "--md", "--csv", house.folder / "night.csv").expect(ACCEPTED).out
    require("| 1\\_rows | seed" in table, table)
    require_equal(len((house.folder / "night.csv").read_text().splitlines()), 3, "rows of the CSV")


if __name__ == "__main__":
    sys.exit(main([reports, suites], __doc__,
                  lambda parser: parser.add_argument("--no-browser", action="store_true")))
