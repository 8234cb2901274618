"""`hone show TASK --graph`: the graph of a task through the real program and a real worker, as text, JSON and SVG; a task that is
declined, and one whose output does not depend on its input.

Usage: graph_show_test.py --hone HONE
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEGENERATE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(6, 4)

    def forward(self, x):
        y = self.fc(x).max(1, keepdim=True)[0]
        return torch.nn.functional.gelu(y - y.mean(1, keepdim=True))

def get_inputs():
    return [torch.randn(5, 6)]

def get_init_inputs():
    return []
"""
DECLINED = DEGENERATE.replace("y = self.fc(x).max(1, keepdim=True)[0]", "y = self.fc(x) * float(x.max())")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    hone = parser.parse_args().hone
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        environment = {**os.environ, "HONE_DATA": str(folder / "data")}

        def show(task, *flags, code=0):
            done = subprocess.run([hone, "show", str(task), "--target", "cpu", *flags], capture_output=True, text=True, env=environment, timeout=600)
            assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
            return done.stdout

        task = ROOT / "tasks" / "small_gemm_bias_relu.py"
        text = show(task, "--graph", "--rewrite", "--svg", str(folder / "graph.svg"))
        assert "aten.linear.default" in text or "aten.matmul.default" in text, text
        assert "agrees with the module on 2 draws" in text and "degenerate" not in text, text
        assert (folder / "graph.svg").read_text().startswith("<svg") or "<svg" in (folder / "graph.svg").read_text()
        graph = json.loads(show(task, "--graph", "--json"))
        assert graph["version"] == 1 and graph["verified"] and graph["nodes"], graph

        (folder / "degenerate.py").write_text(DEGENERATE)
        text = show(folder / "degenerate.py", "--graph", "--rewrite")
        assert "degenerate: the output does not depend on the inputs" in text and "cancel_self" in text and "aten.linear" not in text, text
        card = json.loads(show(folder / "degenerate.py", "--json"))
        assert card["graph"]["degenerate"] and card["card"]["degenerate_rule"] == "cancel_self", card["card"]
        assert "x - x is 0" in card["card"]["degenerate"], card["card"]
        card = json.loads(show(task, "--json"))
        assert not card["graph"]["degenerate"] and card["card"]["degenerate"] is None, card["card"]
        # The verdict says so as well, for any candidate.
        (folder / "candidate.py").write_text(DEGENERATE.replace("class Model(", "class ModelNew("))
        done = subprocess.run([hone, "bench", str(folder / "degenerate.py"), str(folder / "candidate.py"), "--target", "cpu", "--json", "--check-only"],
                              capture_output=True, text=True, env=environment, timeout=600)
        verdict = json.loads(done.stdout)
        assert verdict["degenerate"]["rule"] == "cancel_self" and verdict["verdict"] != "accepted", verdict

        (folder / "declined.py").write_text(DECLINED)
        text = show(folder / "declined.py", "--graph", code=1)
        assert "no graph: forward reads the value of a tensor" in text, text
        assert "reads the value" in json.loads(show(folder / "declined.py", "--graph", "--json", code=1))["declined"]
    print("graphs are shown, drawn, rewritten and declined")


sys.exit(main())
