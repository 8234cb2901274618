"""The contract for later use, in the verdict of `hone bench --json`: a file that keeps all of it, and files that break one entry each.

Usage: contract_test.py --hone build/release/hone
Exit code 1 when an entry has another state than expected.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TASK = """import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(48, 64)
        self.norm = nn.BatchNorm1d(64)
        self.second = nn.Linear(64, 24)

    def forward(self, x):
        for _ in range(12):
            h = torch.tanh(self.norm(self.first(x)))
        return self.second(h)

def get_inputs():
    return [torch.randn(32, 48)]

def get_init_inputs():
    return []
"""

# The task repeats its computation twelve times, and a candidate needs it only once.
HEAD = """import os
import torch
import torch.nn as nn
%s
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(48, 64)
        self.norm = nn.BatchNorm1d(64)
        self.second = nn.Linear(64, 24)
        %s

    def compute(self, x):
        return self.second(torch.tanh(self.norm(self.first(x))))

    def forward(self, x):
"""
WEIGHTS = ("weights_in_place", "weights_through_data", "load_state_dict")
HOLDS = WEIGHTS + ("batch_size", "deepcopy", "pickle", "global_state", "train_and_gradients")


def candidate(forward, head="", constructor="pass"):
    return HEAD % (head, constructor) + "".join("        %s\n" % line for line in forward.split("\n"))


# name: (source, entries that are broken)
FILES = {
    "honest": (candidate("return self.compute(x)"), ()),
    "packs_once": (
        candidate(
            "if self.kept is None:\n    self.kept = self.second.weight.t().contiguous()\n"
            "return torch.tanh(self.norm(self.first(x))) @ self.kept + self.second.bias",
            constructor="self.kept = None",
        ),
        WEIGHTS + ("deepcopy", "train_and_gradients"),
    ),
    "watches_versions": (
        candidate(
            "if self.kept is None or self.seen != self.second.weight._version:\n"
            "    self.kept, self.seen = self.second.weight.detach().t().contiguous(), self.second.weight._version\n"
            "return torch.tanh(self.norm(self.first(x))) @ self.kept + self.second.bias",
            constructor="self.kept = None",
        ),
        ("weights_through_data", "train_and_gradients"),
    ),
    "raises_for_other_sizes": (candidate("assert x.shape[0] == 32\nreturn self.compute(x)"), ("batch_size",)),
    "inference_only": (candidate("with torch.no_grad():\n    return self.compute(x)"), ("train_and_gradients",)),
    "holds_a_handle": (candidate("return self.compute(x)", constructor="self.handle = open(__file__)"), ("deepcopy", "pickle")),
    "sets_flags": (candidate("return self.compute(x)", head="torch.backends.cudnn.benchmark = True\nos.environ['A_SETTING'] = '1'"), ("global_state",)),
    "draws": (candidate("torch.rand(1)\nreturn self.compute(x)"), ("global_state",)),
    "flushes_denormals": (candidate("torch.set_flush_denormal(True)\nreturn self.compute(x)"), ("global_state",)),
}
# A wrong answer for another batch size does not break an entry; it rejects the candidate like any wrong answer.
WRONG = {"one_size": candidate("return self.compute(x) if x.shape[0] == 32 else torch.zeros(x.shape[0], 24)")}


def bench(hone, folder, names):
    command = [hone, "bench", str(folder / "task.py"), *[str(folder / (name + ".py")) for name in names], "--json", "--target", "cpu", "--check-only"]
    environment = dict(os.environ, HONE_DATA=str(folder / "data"))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, timeout=900)
    if done.returncode not in (0, 1):
        sys.exit("hone bench ended with %d: %s" % (done.returncode, done.stderr[-2000:]))
    decoder, text, found = json.JSONDecoder(), done.stdout.strip(), []
    while text:
        value, end = decoder.raw_decode(text)
        found += value if isinstance(value, list) else [value]
        text = text[end:].strip()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or [*FILES, *WRONG]
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "task.py").write_text(TASK)
        for name in names:
            (folder / (name + ".py")).write_text(WRONG.get(name) or FILES[name][0])
        records = bench(options.hone, folder, names)
    if len(records) != len(names):
        sys.exit("%d verdicts for %d files" % (len(records), len(names)))
    for name, record in zip(names, records):
        if name in WRONG:
            if (record["verdict"], record["reason"]) != ("rejected", "wrong-output"):
                wrong.append("%s: %s (%s)" % (name, record["verdict"], record["detail"]))
            continue
        found = {entry["name"]: entry for entry in record["contract"]}
        if set(found) != set(HOLDS):
            wrong.append("%s: %s (%s) has the entries %s" % (name, record["verdict"], record["detail"], sorted(found)))
            continue
        for entry in HOLDS:
            expected = "broken" if entry in FILES[name][1] else "holds"
            if found[entry]["state"] != expected:
                wrong.append("%s: %s is %s, not %s: %s" % (name, entry, found[entry]["state"], expected, found[entry]["detail"]))
            if (found[entry]["detail"] == "") != (expected == "holds"):
                wrong.append("%s: %s has the detail %r" % (name, entry, found[entry]["detail"]))
        if record["reason"] in ("weights-not-transferred", "wrong-output", "crashed"):
            wrong.append("%s: a broken entry is told, it does not reject: %s" % (name, record["reason"]))
        seconds = record.get("provenance", {}).get("phases", {}).get("contract")
        print("%-24s %-14s broken: %s%s" % (name, record["verdict"], ", ".join(FILES[name][1]) or "nothing", "" if seconds is None else " (%.2f s)" % seconds))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
