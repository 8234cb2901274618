#!/usr/bin/env python3
"""Runs clang-tidy over the rooms in src/, leaving out those that were clean before and have not changed since: what decides is a hash of
the room's sources, of every header of ours they reach, of the flags and of .clang-tidy. A room is read as one file that includes its
sources, and small rooms are read together: nearly all of the time goes into headers, which are then read once. Tests are left out: they have the
sanitizers and -Werror, and GoogleTest's macros would double the time.

With --alone each source is also compiled by itself, as far as its meaning: sources that are always compiled together would come to lean
on each other's includes. It also looks for variables that are read without a value: gcc's warning for these is off in rooms that are built with -Og.
Usage: run_tidy.py BUILD_FOLDER [--all] [--alone]"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# gcc's flags that mean the same to clang; its warnings and precompiled headers are its own.
SHARED_FLAG = re.compile(r"-(I|isystem|D|std=)")
# Small rooms that are read as one: each by itself would cost more for the headers of the standard library than for its own code.
TOGETHER = [("base", "process", "task", "candidate", "source", "verdict", "graph"), ("store", "pipeline")]
# For sources by themselves: templates that every source would make again are made in the precompiled header, and fmt leaves it to the real builds to
# check format strings while it compiles. Both take a third of the time off.
ALONE = ["-fpch-instantiate-templates", "-DFMT_CONSTEVAL="]
UNINITIALISED = ["-Wno-everything", "-Werror", "-Wuninitialized", "-Wsometimes-uninitialized", "-Wconditional-uninitialized"]


def rooms():
    """Name and sources of each room, or of rooms that are read together."""
    names = {room: "+".join(some) for some in TOGETHER for room in some}
    found = {}
    for path in sorted((ROOT / "src").rglob("*.cpp")):
        if not path.stem.endswith("_test") and "templates" not in path.parts:
            room = path.relative_to(ROOT / "src").parts[0]
            found.setdefault(names.get(room, room), []).append(path)
    return found


def flags_of(build):
    """What all rooms are compiled with."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "hone_base.dir" in entry["command"] and entry["file"].endswith((".cpp", ".cxx")):
            words = shlex.split(entry["command"])
            return [word for word in words if SHARED_FLAG.match(word)]
    raise SystemExit("no compile command of the room base in %s" % build)


def reachable(path, seen):
    """The file and our own headers below it, each once."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        reachable(ROOT / "src" / name.decode(errors="replace"), seen)


def state_of(paths, base):
    files = set()
    for path in paths:
        reachable(path, files)
    digest = hashlib.sha256(base)
    for file in sorted(files):
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


def tidy(name, paths, folder, flags):
    whole = folder / (name + ".cpp")
    whole.write_text("".join('#include "%s"\n' % path for path in paths))
    code, output = run(["clang-tidy", "--quiet", "--config-file=%s" % (ROOT / ".clang-tidy"), str(whole), "--", *flags, "-w"])
    if "clang-diagnostic-error" not in output or len(paths) == 1:
        return code, output
    # Two of the files use one name: each half by itself then.
    middle = len(paths) // 2
    halves = [tidy("%s.%d" % (name, part), some, folder, flags) for part, some in enumerate((paths[:middle], paths[middle:]))]
    return max(code for code, _ in halves), "".join(output for _, output in halves)


def precompile(folder, flags):
    """The headers that gcc precompiles too (cmake/precompiled.cmake), for clang."""
    names = re.search(r"set\(HONE_PRECOMPILED (.*?)\)", (ROOT / "cmake" / "precompiled.cmake").read_text(), re.DOTALL).group(1).split()
    header, made = folder / "precompiled.h", folder / "precompiled.pch"
    header.write_text("".join("#include %s\n" % name for name in names))
    subprocess.run(["clang++", *flags, *ALONE, "-w", "-x", "c++-header", str(header), "-o", str(made)], check=True)
    return made


def main():
    build = pathlib.Path(sys.argv[1])
    memory, folder = build / "tidy_clean.json", build / "tidy"
    folder.mkdir(exist_ok=True)
    flags, sources = flags_of(build), rooms()
    clean = {}
    if "--all" not in sys.argv and memory.exists():
        clean = json.loads(memory.read_text())
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    base = version + (ROOT / ".clang-tidy").read_bytes() + " ".join(flags).encode()
    # name: what decides whether it was clean, the work, how large it is
    jobs = {room: (state_of(paths, base), tidy, (room, paths, folder, flags), sum(path.stat().st_size for path in paths)) for room, paths in sources.items()}
    if "--alone" in sys.argv:
        precompiled = ["-include-pch", str(precompile(folder, flags))]
        for path in (path for paths in sources.values() for path in paths):
            command = ["clang++", *flags, *ALONE, *UNINITIALISED, *precompiled, "-fsyntax-only", str(path)]
            jobs["alone: %s" % path] = (state_of([path], base), run, (command,), path.stat().st_size)
    # The longest first, so that none of them is left over at the end.
    todo = sorted((name for name, job in jobs.items() if clean.get(name) != job[0]), key=lambda name: (name.startswith("alone"), -jobs[name][3]))
    print(f"{len(todo)} of {len(jobs)} to check: rooms" + (" and files alone" if "--alone" in sys.argv else ""))

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for name, (code, output) in zip(todo, pool.map(lambda name: jobs[name][1](*jobs[name][2]), todo)):
            if code == 0:
                clean[name] = jobs[name][0]
                continue
            failed += 1
            print(f"{name}\n{output}", flush=True)
    # What was not looked at this time is remembered as well, unless its file is gone.
    remembered = {name: state for name, state in clean.items() if name in jobs or (name.startswith("alone: ") and pathlib.Path(name[7:]).exists())}
    partial = memory.with_suffix(".new")
    partial.write_text(json.dumps(remembered))
    partial.replace(memory)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
