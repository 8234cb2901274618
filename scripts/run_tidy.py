#!/usr/bin/env python3
"""Runs clang-tidy over the sources in src/, leaving out those that were clean before and have
not changed since: what decides is a hash of the file, of every header of ours it reaches, of its compile
command and of .clang-tidy. Files are read without precompiled headers: those of gcc are not clang's.
Usage: run_tidy.py BUILD_FOLDER [--all]"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S*cmake_pch\.hxx")
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def reachable(path, seen):
    """The file and our own headers below it, each once."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        reachable(ROOT / "src" / name.decode(errors="replace"), seen)


def state_of(path, command, config):
    files = set()
    reachable(path, files)
    digest = hashlib.sha256(config + command.encode())
    for file in sorted(files):
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def tidy(path, commands):
    # The flags are gcc's, and so are the warnings it was told to treat as errors.
    arguments = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error", "-p", str(commands)]
    run = subprocess.run(["clang-tidy", "--quiet", *arguments, str(path)], capture_output=True, text=True)
    return run.returncode, run.stdout + (run.stderr if run.returncode else "")


def main():
    build = pathlib.Path(sys.argv[1])
    memory = build / "tidy_clean.json"
    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in commands:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
    plain = build / "tidy"
    plain.mkdir(exist_ok=True)
    (plain / "compile_commands.json").write_text(json.dumps(commands))
    clean = {}
    if "--all" not in sys.argv and memory.exists():
        clean = json.loads(memory.read_text())
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    config = version + (ROOT / ".clang-tidy").read_bytes()
    states = {}
    for entry in commands:
        path = pathlib.Path(entry["file"]).resolve()
        own = path.suffix == ".cpp" and (ROOT / "src") in path.parents
        # Tests have the sanitizers and -Werror; GoogleTest's macros would double the time here.
        if own and not path.stem.endswith("_test"):
            states[path] = state_of(path, entry["command"], config)
    # The longest first, so that none of them is left over at the end.
    todo = sorted((path for path, state in states.items() if clean.get(str(path)) != state), key=lambda path: -path.stat().st_size)
    print(f"{len(todo)} of {len(states)} files to check")

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for path, (code, output) in zip(todo, pool.map(lambda path: tidy(path, plain), todo)):
            if code == 0:
                clean[str(path)] = states[path]
                continue
            failed += 1
            print(f"{path}\n{output}", flush=True)
    remembered = {path: state for path, state in clean.items() if pathlib.Path(path) in states}
    partial = memory.with_suffix(".new")
    partial.write_text(json.dumps(remembered))
    partial.replace(memory)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
