#!/usr/bin/env python3
"""How many failing files of the labelled corpus `hone lint --fix` turns into candidates that compile.

For every file of tests/golden/corpus that is recorded as failing and that --fix changes, this looks for inputs (from a fixed list, by the names of
the constructor's arguments) with which the file as it is fails with the recorded message. Then it puts the mended file to Triton's compiler for sm_90
with the same inputs, by the stand-in for the driver of scripts/ask_triton.py: "compiles" means that forward runs to its end, with at least one kernel
compiled. Without a GPU nothing is computed, so "compiles" says nothing about right or wrong.

Files that call load_inline are only counted as changed without --native. With it they are built by torch, nvcc and the host compiler, as they are and
mended, for sm_90: a minute each. "compiles" then means that the module is built and loaded, and that forward finds in it every function that it calls.

    bench/lint_fix.py --hone build/release/hone [--only NAME,...] [--native] [--mutants N]

--mutants N also mends N files with random damage and checks that mending twice is the same as mending once."""

import argparse
import ast
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests/golden/corpus"
sys.path.insert(0, str(ROOT / "scripts"))

# Constructor arguments by name; what is not here is a size.
NUMBERS = {"kernel_size": 3, "k": 3, "ks": 3, "stride": 2, "padding": 1, "num_groups": 8, "n_head": 4, "dim": 1, "margin": 1.0, "eps": 1e-5, "p": 0.5,
           "scale_factor": 2, "s": 2.0, "scaling_factor": 2.0, "act": "relu", "op": "relu", "alpha": 1.0, "min_val": -1.0, "max_val": 1.0}  # fmt: skip
SHAPES = [(64, 64), (8, 64), (100, 100), (4, 16, 64), (2, 64, 32), (2, 64, 16, 16), (2, 3, 7, 5), (2, 4, 64, 64), (2, 4, 128, 48), (64,), (1000, 1000), (4, 64, 1)]


def signature(path):
    """The arguments of ModelNew's constructor without a default, and those of forward."""
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in ("ModelNew", "Model"):
            found = {"__init__": [], "forward": []}
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name in found:
                    names = [argument.arg for argument in part.args.args[1:]]
                    found[part.name] = names[: len(names) - len(part.args.defaults)] + (["xs", "xs"] if part.args.vararg else [])
            yield found["__init__"], found["forward"]


def trials(init, forward):
    """Arguments and shapes to try: the same shape for all inputs, then shapes that products and recurrences take."""
    for size in (64, 100, 256):
        numbers = [NUMBERS.get(name, size) for name in init]
        for shape in SHAPES:
            yield numbers, [shape] * len(forward)
        if len(forward) == 2:
            for pair in (((4, 16, size), (1, 4, size)), ((4, 16, size), (4, size)), ((64, 32), (32, 64)), ((2, 64, 32), (2, 32, 64)), ((64, 64), (64, 1)), ((64, 100), (64,)), ((4, 1, 8), (4, size)), ((8, size), (8, size))):
                yield numbers, list(pair)
        if len(forward) == 3:
            for triple in (((4, 16, 4 * size), (4, size), (4, size)), ((4, 16, size), (4, size), (4, size)), ((2, 16, 64), (16, 32), (16, 32)), ((2, 4, 16, 64), (16, 32), (16, 32))):
                yield numbers, list(triple)
    if init and "dim" in init:
        yield [64 if name == "dim" else NUMBERS.get(name, 64) for name in init], [(8, 64)] * len(forward)


def make_inputs(forward, shapes):
    import torch

    out = []
    for name, shape in zip(forward, shapes):
        if name in ("idx",) or (name in ("targets", "t") and len(shape) == 1):
            out.append(torch.randint(0, 8, shape))
        else:
            out.append(torch.rand(shape))
    return out


def attempt(path, trial, forward, answer):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    import importlib.util

    import torch

    import ask_triton

    compiled = []
    try:
        mode = ask_triton.install()
        from triton.runtime import driver

        def launcher(source, metadata):
            compiled.append(1)
            return lambda *args: None

        type(driver.active).launcher_cls = staticmethod(launcher)
        torch.cuda.device = lambda device: contextlib.nullcontext()
        torch.manual_seed(0)
        inputs = make_inputs(forward, trial[1])
        with mode:
            spec = importlib.util.spec_from_file_location("candidate_file", path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            if not hasattr(module, "ModelNew"):
                raise AttributeError("module has no attribute 'ModelNew'")
            model = module.ModelNew(*trial[0])
            with torch.no_grad():
                model(*inputs)
        answer.put((True, len(compiled), ""))
    except BaseException as error:
        texts = []
        while error is not None:
            texts.append(f"{type(error).__name__}: {error}")
            error = error.__cause__ or error.__context__
        answer.put((False, len(compiled), "\n".join(texts)[:20000]))


def ask(context, path, trial, forward):
    answer = context.Queue()
    process = context.Process(target=attempt, args=(str(path), trial, forward, answer))
    process.start()
    try:
        result = answer.get(timeout=90)
    except Exception:
        result = (False, 0, "died")
    process.join(5)
    if process.is_alive():
        process.kill()
    return result


def is_native(path):
    """Whether the file calls load_inline."""
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return any(getattr(call.func, "id", getattr(call.func, "attr", "")) == "load_inline" for call in calls)


# The module is the real one; a call of one of its functions gives back the first argument, as no GPU is needed for that.
BUILD = """
import importlib.util, json, sys
import torch
import torch.utils.cpp_extension as extension
real = extension.load_inline
class Built:
    def __init__(self, module): self.module = module
    def __getattr__(self, name):
        getattr(self.module, name)
        return lambda first, *rest: first
extension.load_inline = lambda *args, **kwargs: Built(real(*args, **kwargs))
spec = importlib.util.spec_from_file_location("candidate_file", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
numbers, shapes = json.loads(sys.argv[2])
with torch.no_grad():
    module.ModelNew(*numbers)(*[torch.rand(shape) for shape in shapes])
print("BUILT")
"""


def build(path, trial):
    """Whether torch builds the file's extensions and forward finds its functions; and the first errors."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TORCH_EXTENSIONS_DIR=folder, TORCH_CUDA_ARCH_LIST="9.0", MAX_JOBS="2")
        done = subprocess.run([sys.executable, "-c", BUILD, str(path), json.dumps(trial)], capture_output=True, text=True, env=environment)
    if "BUILT" in done.stdout:
        return True, ""
    said = [line.strip().replace(folder, "") for line in (done.stdout + done.stderr).splitlines()]
    # What a compiler or a linker said; else how Python ended.
    errors = [line for line in said if "error: " in line or "multiple definition" in line] or said[-1:]
    return False, " | ".join(errors[:2])[:400]


def words(text):
    text = re.sub(r"0x[0-9a-f]+|\bat line.*", "", text)
    return set(re.findall(r"[A-Za-z_]{3,}", text)) - {"CompilationError", "ValueError", "TypeError", "NameError", "AttributeError", "triton", "language", "not", "the", "from"}


def same_failure(truth, text):
    """Most words of the recorded message are in the message now."""
    wanted = words(truth)
    return bool(wanted) and len(wanted & words(text)) >= 0.7 * len(wanted)


def lint_fix(hone, folder, *flags):
    done = subprocess.run([hone, "lint", "--fix", "--json", *flags, str(folder)], capture_output=True, text=True)
    return {pathlib.Path(one["path"]).name: one for one in json.loads(done.stdout)["files"]}


def mutants(hone, count):
    """Files with random damage: whatever --fix does to them, doing it again changes nothing."""
    random.seed(17)
    sources = [path.read_bytes() for path in sorted((CORPUS / "files").glob("*.py"))]
    bad = 0
    changed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number in range(count):
            text = bytearray(random.choice(sources))
            for _ in range(random.randint(1, 4)):
                at = random.randrange(len(text))
                what = random.randrange(4)
                if what == 0:
                    del text[at : at + random.randint(1, 40)]
                elif what == 1:
                    other = random.choice(sources)
                    start = random.randrange(len(other))
                    text[at:at] = other[start : start + random.randint(1, 60)]
                elif what == 2:
                    text[at] = random.randrange(256)
                else:
                    text = bytearray(text.replace(*random.choice([(b"\n", b"\r\n"), (b"tl.exp", b"tl.tanh"), (b": tl.constexpr", b""), (b"mask=", b"mask ="), (b"    ", b"\t"), (b"import", b"from"), (b"triton.cdiv", b"tl.cdiv")])))
                if not text:
                    text = bytearray(b"x")
            (folder / f"m{number:04}.py").write_bytes(bytes(text))
        first = lint_fix(hone, folder)
        second = lint_fix(hone, folder)
        for name, report in first.items():
            changed += bool(report["fixes"])
            bad += bool(second[name]["fixes"])
    print(f"{len(first)} mutants: {changed} changed, {bad} changed again by a second --fix")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--native", action="store_true")
    arguments = parser.parse_args()
    hone = os.path.abspath(arguments.hone)
    if arguments.mutants:
        sys.exit(1 if mutants(hone, arguments.mutants) else 0)
    labels = json.loads((CORPUS / "labels.json").read_text())
    import torch  # noqa: F401
    import triton
    import triton.backends.nvidia.compiler
    import triton.runtime.autotuner
    import triton.testing  # noqa: F401

    print(f"Triton {triton.__version__}, {len(labels)} files", flush=True)
    context = multiprocessing.get_context("fork")
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
        mended = folder / "mended"
        mended.mkdir()
        for path in (CORPUS / "files").iterdir():
            (mended / path.name).write_bytes(path.read_bytes())
        reports = lint_fix(hone, mended, "--triton", "3.6", "--device", "h200")
        again = lint_fix(hone, mended, "--triton", "3.6", "--device", "h200")
        touched = [name for name in labels if labels[name]["kind"] != "fails" and reports[name]["fixes"]]
        print(f"clean or wrong files that --fix changed: {touched}; files that a second --fix changed: {[n for n in again if again[n]['fixes']]}", flush=True)
        chosen = [name for name in sorted(labels) if labels[name]["kind"] == "fails" and (not arguments.only or name in arguments.only.split(","))]
        for name in chosen:
            rule = labels[name]["expect_errors"][0] if labels[name]["expect_errors"] else "none"
            row = rows.setdefault(rule, {"fails": 0, "changed": 0, "clean": 0, "asked": 0, "compiles": 0})
            row["fails"] += 1
            report = reports[name]
            if not report["fixes"]:
                continue
            row["changed"] += 1
            row["clean"] += not any(f["severity"] == "error" for f in report["findings"])
            if is_native(CORPUS / "files" / name):
                if not arguments.native:
                    continue
                init, forward = next(signature(mended / name))
                trial = [[NUMBERS.get(one, 64) for one in init], [[64, 64]] * len(forward)]
                before, error = build(CORPUS / "files" / name, trial)
                after, now = (False, "") if before else build(mended / name, trial)
                row["asked"] += not before
                row["compiles"] += after
                print(f"{name}: {'compiles' if after else 'fails: ' + now if not before else 'is built as it is'}; before: {error}", flush=True)
                continue
            verdict = "no inputs found with which it fails as recorded"
            tried = 0  # inputs with which the file fails as recorded and the mended one fails too
            for init, forward in signature(mended / name):
                for trial in trials(init, forward):
                    ok, _, text = ask(context, CORPUS / "files" / name, trial, forward)
                    if ok or not same_failure(labels[name]["truth"], text):
                        continue
                    ok, compiled, text = ask(context, mended / name, trial, forward)
                    if ok and compiled:
                        verdict = "compiles"
                        break
                    verdict = "fails: " + text.strip().replace("\n", " | ")[-160:]
                    tried += 1
                    if tried == 8:
                        break
                break
            row["asked"] += not verdict.startswith("no inputs")
            row["compiles"] += verdict == "compiles"
            print(f"{name}: {verdict}", flush=True)
    print(f"{'rule':28} fails changed no-error asked compiles")
    total = [0] * 5
    for rule, row in sorted(rows.items(), key=lambda item: -item[1]["fails"]):
        values = [row["fails"], row["changed"], row["clean"], row["asked"], row["compiles"]]
        total = [a + b for a, b in zip(total, values)]
        print(f"{rule:28} {values[0]:5} {values[1]:7} {values[2]:8} {values[3]:5} {values[4]:8}")
    print(f"{'all':28} {total[0]:5} {total[1]:7} {total[2]:8} {total[3]:5} {total[4]:8}")


if __name__ == "__main__":
    main()
