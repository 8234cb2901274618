"""Tests the complete examples in the prompts' knowledge pages without a GPU. CPU examples are compiled and run, and Triton examples run in
Triton's interpreter, all against float64. Triton examples also pass through its compiler for sm_90. All must pass `hone lint` without an error,
and CUDA examples must compile if nvcc is available.

Usage: knowledge_test.py --hone BINARY [--only WORD]
Exit code 1 when an example is wrong, 77 without torch.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

import torch_python

torch_python.need_torch()
os.environ["TRITON_INTERPRET"] = "1"
import torch

import knowledge_house
import triton_house


def lint_errors(hone, files):
    run = subprocess.run([hone, "lint", "--json", *files], stdout=subprocess.PIPE, check=False)
    reports = json.loads(run.stdout)["files"]
    if len(reports) != len(files):
        return ["hone lint reports on %d of %d files" % (len(reports), len(files))]
    return ["%s: %s: %s" % (pathlib.Path(r["path"]).name, f["rule"], f["message"]) for r in reports for f in r["findings"] if f["severity"] == "error"]


def compiles(page, folder):
    """nvcc's error for the example's CUDA source, or None."""
    source = re.search(r"hone_ext\.cuda\(r'''\n(.*?)'''\)", knowledge_house.example(page, "cuda"), re.S).group(1)
    path = pathlib.Path(folder, page + ".cu")
    path.write_text(source)
    command = ["nvcc", "-arch=sm_90", "--cubin", "-o", os.devnull, str(path)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return [] if run.returncode == 0 else ["%s, cuda: %s" % (page, run.stdout)]


def what_triton_refuses(folder):
    """Passes the Triton examples through the real compiler (scripts/ask_triton.py), in a process without the interpreter."""
    files = []
    for page in knowledge_house.PAGES:
        arguments, shapes = knowledge_house.TASKS[page][1][0]
        files.append(pathlib.Path(folder, page + "_ask.py"))
        given = "\n\ndef get_init_inputs():\n    return %r\n\n\ndef get_inputs():\n    return [torch.randn(s) for s in %r]\n" % (list(arguments), shapes)
        files[-1].write_text(knowledge_house.example(page, "triton") + given)
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    ask = [sys.executable, str(knowledge_house.KNOWLEDGE.parents[3] / "scripts/ask_triton.py"), *map(str, files)]
    run = subprocess.run(ask, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    answers = [answer for answer in map(json.loads, run.stdout.splitlines()) if "file" in answer]
    if len(answers) != len(files):
        return ["ask_triton.py answers for %d of %d files" % (len(answers), len(files))]
    return ["%s does not compile: %s" % (a["file"], a["detail"]) for a in answers if not a["ok"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    triton_house.mend_interpreter()
    found, ran = [], 0
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for page in knowledge_house.PAGES:
            for target in knowledge_house.TARGETS:
                if options.only not in page + " " + target:
                    continue
                files.append(pathlib.Path(folder, "%s_%s.py" % (page, target)))
                files[-1].write_text(knowledge_house.example(page, target))
                if target == "cuda":
                    if shutil.which("nvcc"):
                        found += compiles(page, folder)
                        ran += 1
                    continue
                module = knowledge_house.load(page, target, folder)
                if hasattr(module, "libdevice"):
                    module.libdevice = types.SimpleNamespace(tanh=triton_house._stand_in(torch.tanh))
                found += knowledge_house.failures(page, target, module, "cpu")
                ran += 1
        if files:
            found += lint_errors(options.hone, [str(f) for f in files])
        if options.only in "triton compiler":
            found += what_triton_refuses(folder)
            ran += 1
    print("\n".join(found) or "%d things ran, %d examples passed lint" % (ran, len(files)))
    return 1 if found or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
