"""The scripted HTTP server (tests/fakes/fake_llm_server.py) with the made-up world of tests/search_world.h behind it, for
search_policies.py and search_day.py."""
import collections
import contextlib
import json
import pathlib
import shlex
import subprocess
import sys
import urllib.request

SERVER = pathlib.Path(__file__).resolve().parents[1] / "tests" / "fakes" / "fake_llm_server.py"


@contextlib.contextmanager
def made_up_server(tool):
    """Gives the server's address."""
    command = [sys.executable, str(SERVER), "--no-bodies", "--program", shlex.join([str(tool), "answers"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield "http://127.0.0.1:%d" % int(process.stdout.readline().split()[1])
        finally:
            process.terminate()


def billed(base):
    """Calls and tokens by WORLD-SEED, as the server counted them."""
    with urllib.request.urlopen(base + "/billed", timeout=30) as answer:
        return json.load(answer)


def calls_asked_twice(base):
    """(WORLD-SEED, key of a call) of what the server was asked more than once."""
    with urllib.request.urlopen(base + "/log", timeout=120) as answer:
        asked = collections.Counter((entry["tag"], entry["call_key"]) for entry in json.load(answer))
    return sorted(call for call, times in asked.items() if times > 1)
