#!/usr/bin/env python3
"""A stand-in for `hone bench TASK --stdin --json`, for tests of the judge service: HONE_JUDGE_COMMAND="python3 fake_judge.py".

It reads a path per line and prints one made-up verdict per line. It says what it was asked in $FAKE_JUDGE_LOG, a line each:
"start PID TASK" and "judge PID SHA256-of-the-candidate". Words in the candidate tell it what to do:

  fake: verdict=rejected reason=wrong-output    the verdict (accepted, faster)
  fake: sleep=0.5                               thinks first
  fake: die                                     ends without an answer
  fake: die-once=FILE                           ends without an answer, if FILE is not there; makes FILE
  fake: hold=FILE                               thinks until FILE is there
  fake: refuse=invalid                          an error of that kind instead of a verdict
  fake: noise                                   prints something that is no verdict
"""
import hashlib
import json
import os
import pathlib
import re
import sys
import time


def log(*words):
    path = os.environ.get("FAKE_JUDGE_LOG")
    if not path:
        return
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, (" ".join(words) + "\n").encode())  # one write, so that lines of several processes stay whole
    os.close(file)


def judge(source):
    orders = dict(part.partition("=")[::2] for line in re.findall(r"fake: (.*)", source) for part in line.split())
    time.sleep(float(orders.get("sleep", 0)))
    if "hold" in orders:
        while not os.path.exists(orders["hold"]):
            time.sleep(0.01)
    if "die" in orders:
        os._exit(9)
    if "die-once" in orders and not os.path.exists(orders["die-once"]):
        pathlib.Path(orders["die-once"]).touch()
        os._exit(9)
    if "refuse" in orders:
        return {"status": "failed", "error": {"kind": orders["refuse"], "message": "the stand-in refuses"}, "exit_code": 3}
    if "noise" in orders:
        return ["no", "verdict"]
    gates = {"build": "pass", "shape": "pass", "correct": "pass", "runs": "pass"}
    return {"verdict": orders.get("verdict", "accepted"), "reason": orders.get("reason", "faster"), "detail": "made up",
            "speedup": {"vs_eager": 2.0, "vs_best": 1.5, "ci95": [1.4, 1.6], "best_baseline": "eager"},
            "error": {"candidate": 1e-7, "reference": 1e-7, "limit": 2e-7}, "gates": gates, "provenance": {"seeds": [1, 2, 3]}}


def main():
    log("start", str(os.getpid()), sys.argv[2])
    for line in sys.stdin:
        source = pathlib.Path(line.strip()).read_text()
        log("judge", str(os.getpid()), hashlib.sha256(source.encode()).hexdigest())
        print(json.dumps(judge(source)), flush=True)


if __name__ == "__main__":
    main()
