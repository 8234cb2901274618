"""Judges the candidates of tests/adversarial and compares each verdict with what its header asks for.

The folder of a candidate is its class (tests/adversarial/README.md). All candidates of one task go through one
`hone bench --stdin`, so they share one reference session. Every task of tests/adversarial/tasks also yields one
candidate that is not in a file: a copy of its own source with the class renamed.

  run_adversarial.py --hone BINARY [--target cpu|cuda|triton] [--group GROUP] [--class A,B] [--only WORD,WORD]
  run_adversarial.py --list-groups     names for CTest, ";" between them; ":timed" marks those that need a quiet machine,
                                       ":answers" those that need timed blocks but no quiet machine, ":unit" those that a unit test has
  run_adversarial.py --table           every candidate with class, task and expectation
Exit code 0 when every verdict is as expected; 77 (skipped) when the target needs a GPU that is not there.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "adversarial"

# Candidates of these classes cheat with time, so --check-only does not test them.
TIMED_CLASSES = ("cached", "clock", "detects", "process", "reference")
# Reasons that only a timed block shows, or that a busy machine can cause. An attack of these classes that must be rejected for other reasons is
# rejected before anything is timed.
SHOWN_BY_TIMING = ("slower", "stale-result", "unsynchronised", "unwritten-output", "nondeterministic")
# Attacks that any timed block reveals by its answers, however busy the machine is and however few calls the block has. For one_of_few_draws, the
# preparation reports that it cannot be judged if it is ahead.
SHOWN_BY_ANY_BLOCK = ("answers_lie_nowhere", "by_caller", "by_open_descriptors", "by_poison", "by_time_of_life", "by_trace", "computes_on_comparison", "late_thread",
                      "lazy_after_warm_up", "many_replies_at_once", "one_of_few_draws", "settled_by_settrace", "writes_input_when_timed")
# Attacks on the clock whose gate has a unit test: frozen processes stay frozen (src/process/freezer_test.cpp); delayed short blocks and calls
# that are computed together (src/verdict/verdict_speed_test.cpp). CTest leaves them out; it has others that reach the same gate from a worker.
SHOWN_BY_UNIT_TESTS = ("batches_in_data_ptr", "child_wakes_the_stopped", "own_block_loop", "slow_short_blocks", "spins_in_a_child", "takes_all_threads")
# Attacks of these classes that the trials reject. With --check-only they must be rejected; timed, `inconclusive` would suffice for some.
REFUSED_IN_TRIALS = ("cache_by_data_ptr", "cache_by_version", "cache_first_answer", "coarse_after_warm_up", "fork_bomb", "kills_parent")
# An attack that ends like this was never tried, because its own code failed. If that is intended, its header must name the reason.
BROKEN = ("crashed", "import-failed", "build-failed", "timeout", "out-of-memory", "weights-not-transferred")
UNSURE = ("inconclusive",)


class Candidate:
    def __init__(self, path, kind, headers, task=None):
        self.path, self.kind, self.headers = path, kind, headers
        self.task = task or headers["task"]
        self.name = path.stem
        self.targets = headers.get("target", "cpu").split(",")
        self.expect = headers.get("expect", "correct" if kind == "honest" else "not_accepted")
        self.reasons = [one for one in headers.get("reason", "").split("|") if one]
        self.slow = headers.get("slow") == "yes"
        # What candidates of one hone process must have in common.
        self.session = (self.task, headers.get("timeout", "8"), headers.get("build_timeout", "40"), headers.get("flags", "--compile never"))

    def is_timed(self):
        """Whether the expected verdict requires any timing."""
        if "timed" in self.headers:
            return self.headers["timed"] == "yes"
        if self.name in REFUSED_IN_TRIALS:
            return False
        if self.expect == "rejected" and self.reasons and not any(one in SHOWN_BY_TIMING for one in self.reasons):
            return False
        return self.kind in TIMED_CLASSES or self.expect == "accepted" or "slower" in self.reasons

    def needs_quiet(self):
        """Whether the expected verdict depends on speed. Beside other load it might occur only because the machine is busy."""
        return self.is_timed() and self.expect != "correct" and self.name not in SHOWN_BY_ANY_BLOCK

    def group(self):
        name = re.sub(r"^tests/adversarial/tasks/|^tasks/|\.py$", "", self.task).replace("/", "_")
        if self.name in SHOWN_BY_UNIT_TESTS:
            return name + ":unit"
        return name + (":timed" if self.needs_quiet() else ":answers" if self.is_timed() else "")

    def problem(self, record, check_only=False):
        """None when the record is what the header asks for. Where nothing was timed, a right file is all that can be asked of one to accept."""
        verdict, reason = record["verdict"], record["reason"]
        if verdict == "inconclusive" and self.needs_quiet():
            return None  # the machine was too busy to tell; nothing was accepted
        said = reason if verdict == "rejected" else "right" if reason == "speed-not-judged" else verdict
        if "kind" in self.headers and record.get("kind") and record["kind"] != self.headers["kind"]:
            return "wanted kind %s, got %s" % (self.headers["kind"], record["kind"])
        if self.expect in ("accepted", "correct", "same") and said in self.reasons:
            return None
        if self.expect == "accepted" and not (check_only and said == "right"):
            return None if said in ("accepted",) + UNSURE else "wanted accepted"
        if self.expect == "accepted":
            return None
        if self.expect == "correct":
            return None if said in ("accepted", "right", "no_difference", "slower") + UNSURE else "an honest file was refused"
        if self.expect == "same":
            return None if said in ("right", "no_difference", "slower") + UNSURE else "a copy must come out as no_difference"
        if said == "accepted" or said == "right":
            return "must not be %s" % said
        if self.expect == "not_accepted":
            wrong = said in BROKEN and said not in self.reasons
            return "refused because its own code is broken" if wrong else None
        assert self.expect == "rejected", self.expect
        busy = said in UNSURE and "slower" in self.reasons
        return None if busy or said in self.reasons else "wanted " + "|".join(self.reasons)


def read_headers(path):
    found = {}
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("# hone-test:"):
            key, _, value = line[len("# hone-test:"):].partition("=")
            found[key.strip()] = value.split("  ")[0].strip()
    return found


def copy_of(task, folder):
    """The task's own module as ModelNew, with all other bytes unchanged."""
    path = folder / ("copy_of_%s.py" % task.stem)
    path.write_text(re.sub(r"\bModel\b", "ModelNew", task.read_text()))
    return path


def collect(copies):
    found = []
    for path in sorted(FOLDER.glob("*/*.py")):
        headers = read_headers(path)
        if path.parent.name == "tasks":
            if headers.get("copy") == "no":
                continue
            headers["expect"] = headers.get("copy", "same")
            found.append(Candidate(copy_of(path, copies), "honest", headers, str(path.relative_to(ROOT))))
        elif "task" in headers:
            found.append(Candidate(path, path.parent.name, headers))
    names = [candidate.name for candidate in found]
    assert len(names) == len(set(names)), "two candidates with one name"
    return found


def judge(hone, target, check_only, session, chosen):
    """One hone process for all candidates of one session. Prints each verdict at once; returns (candidate, record, problem)."""
    task, timeout, build_timeout, flags = session
    command = [hone, "bench", task, "--stdin", "--target", target, "--json", "--no-save", "--again", "--no-lint", "--timeout", timeout,
               "--build-timeout", build_timeout, *(["--check-only"] if check_only else []), *flags.split(), *os.environ.get("HONE_TEST_FLAGS", "").split()]
    results = []
    with tempfile.TemporaryFile("w+") as paths, tempfile.TemporaryFile("w+") as errors:
        paths.write("".join("%s\n" % one.path for one in chosen))
        paths.seek(0)
        process = subprocess.Popen(command, stdin=paths, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT)
        for line in process.stdout:
            if not line.startswith("{") or len(results) == len(chosen):
                continue
            one, record = chosen[len(results)], json.loads(line)
            if "verdict" not in record:  # Hone could not judge and says why
                print(line.strip()[:600])
                break
            wrong = one.problem(record, check_only)
            results.append((one, record, wrong))
            speed = (record.get("speedup") or {}).get("vs_best")
            print("%-4s %-10s %-30s %-24s %-13s %-16s %8s %6.1fs %s" % (
                "FAIL" if wrong else "ok", one.kind, one.name, one.group(), record["verdict"], record["reason"],
                "%.2fx" % speed if speed else "-", record["provenance"]["seconds"], wrong or ""))
            if wrong:
                print("       " + record["detail"][:600].replace("\n", "\n       "))
            sys.stdout.flush()
        process.stdout.close()
        process.wait()
        missing = chosen[len(results):]
        if missing:
            errors.seek(0)
            print("FAIL %s: %d verdicts for %d candidates; exit %d\n%s" % (task, len(results), len(chosen), process.returncode, errors.read()[-3000:]))
    return results + [(one, None, "no verdict") for one in missing]


def summarise(results):
    print("%-12s %6s %12s %9s %11s" % ("class", "files", "as expected", "accepted", "not judged"))
    for kind in sorted({one.kind for one, _, _ in results}):
        rows = [(record, wrong) for one, record, wrong in results if one.kind == kind]
        verdicts = [record["verdict"] if record else "none" for record, _ in rows]
        print("%-12s %6d %12d %9d %11d" % (kind, len(rows), sum(wrong is None for _, wrong in rows), verdicts.count("accepted"),
                                          sum(v in ("none", "cannot_judge", "inconclusive") for v in verdicts)))
    missed = [one.name for one, _, wrong in results if wrong]
    if missed:
        print("missed: " + " ".join(missed))
    print("%d of %d as expected" % (len(results) - len(missed), len(results)))


def select(found, arguments):
    classes = arguments.classes.split(",") if arguments.classes else []
    words = arguments.only.split(",") if arguments.only else []
    copies_too = arguments.target == "cuda"  # a copy of a task is judged on every device

    def wanted(one):
        if arguments.target not in one.targets and not (copies_too and one.expect == "same" and one.name.startswith("copy_of_")):
            return False
        if one.slow and not arguments.slow or classes and one.kind not in classes:
            return False
        if arguments.group and (one.group().split(":")[0] if arguments.all else one.group()) != arguments.group:
            return False
        return not words or any(word in one.name for word in words)

    return [one for one in found if wanted(one)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--group", help="the candidates of one group of --list-groups")
    parser.add_argument("--all", action="store_true", help="with --group: its timed candidates too")
    parser.add_argument("--class", dest="classes", help="only these classes, commas between them")
    parser.add_argument("--only", help="only candidates whose name contains one of these words, commas between them")
    parser.add_argument("--slow", action="store_true", help="include candidates marked slow")
    parser.add_argument("--check-only", action="store_true", help="time nothing; an attack must then be refused for what it computes or does")
    parser.add_argument("--jobs", type=int, default=1, help="hone processes side by side; for more than one, do not trust timed verdicts")
    parser.add_argument("--record", help="append one line per verdict to this file")
    parser.add_argument("--list-groups", action="store_true")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-copies-") as copies:
        chosen = select(collect(pathlib.Path(copies)), arguments)
        if arguments.list_groups:
            print(";".join(sorted({one.group() for one in chosen})), end="")
            return 0
        if arguments.table:
            for one in sorted(chosen, key=lambda one: (one.kind, one.name)):
                print("%-10s %-36s %-46s %-12s %s" % (one.kind, one.name, one.task, one.expect, "|".join(one.reasons)))
            return 0
        if arguments.target == "cuda" and not os.path.exists("/dev/nvidia0"):
            print("skipped: no NVIDIA GPU here")
            return 77
        sessions = {}
        for one in chosen:
            sessions.setdefault(one.session, []).append(one)
        results = []
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            running = [pool.submit(judge, arguments.hone, arguments.target, arguments.check_only, *item) for item in sorted(sessions.items())]
            for future in concurrent.futures.as_completed(running):
                results += future.result()
        summarise(results)
        if arguments.record:
            with open(arguments.record, "a") as file:
                for one, record, wrong in results:
                    said = "%s %s" % (record["verdict"], record["reason"]) if record else "none"
                    file.write("%-5s %-10s %-36s %s\n" % ("MISS" if wrong else "ok", one.kind, one.name, said))
        return 1 if not results or any(wrong for _, _, wrong in results) else 0


if __name__ == "__main__":
    sys.exit(main())
