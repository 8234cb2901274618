#!/usr/bin/env python3
"""Runs clang-tidy over the rooms in src/, leaving out those that were clean before and have not changed since: what decides is a hash of
the room's sources, of every header of ours they reach, of the flags and of .clang-tidy. A room is read as one file that includes its
sources, and small rooms are read together: nearly all of the time goes into headers, which are then read once. Tests are left out: they have the
sanitizers and -Werror, and GoogleTest's macros would double the time.

With --alone each source is also compiled by itself, as far as its meaning: sources that are always compiled together would come to lean
on each other's includes. It also looks for variables that are read without a value: gcc's warning for these is off in rooms that are built with -Og.
More than half of the time would go into our own headers, so groups of them are precompiled. A source takes a group only if it includes every header of
it anyway, directly or through others: it then sees the same declarations as without.
Usage: run_tidy.py BUILD_FOLDER [--all] [--alone]"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIRECTIVE = re.compile(rb'^\s*#\s*(include(?=\s*")|if|endif)\w*\s*(?:"([^"]+)")?', re.MULTILINE)
# gcc's flags that have the same meaning for clang. Its warnings and precompiled headers are excluded.
SHARED_FLAG = re.compile(r"-(I|isystem|D|std=)")
# Small rooms that are read together: separately, the standard library's headers would cost more than their own code.
TOGETHER = [("base", "process", "task", "candidate", "source", "verdict", "graph"), ("store", "pipeline")]
# For separate sources: the precompiled header instantiates templates that every source would instantiate, and fmt leaves checks of format strings to
# the real builds. Each saves a third of the time.
ALONE = ["-fpch-instantiate-templates", "-DFMT_CONSTEVAL="]
# Precompiling a group of headers takes as long as reading about this many bytes of headers, besides its own.
GROUP_BYTES = 300_000
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
    """The compiler flags that all rooms share."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "hone_base.dir" in entry["command"] and entry["file"].endswith((".cpp", ".cxx")):
            words = shlex.split(entry["command"])
            return [word for word in words if SHARED_FLAG.match(word)]
    raise SystemExit("no compile command of the room base in %s" % build)


@functools.lru_cache(None)
def includes(path):
    """Hone's own headers that a file includes: all of them, and those outside of any #if."""
    found, certain, depth = [], [], 0
    for word, name in DIRECTIVE.findall(path.read_bytes()):
        depth += (word == b"if") - (word == b"endif")
        if word == b"include":
            header = ROOT / "src" / name.decode(errors="replace")
            found.append(header)
            certain += [header] if depth == 0 else []
    return found, certain


def reachable(path, seen, certain=False):
    """The file and the headers of Hone that it reaches, without duplicates. `certain`: only those that the preprocessor always reaches."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for header in includes(path)[certain]:
        reachable(header, seen, certain)


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
    # Two of the files use the same name, so each half is read separately. The first reading is lost, so the name is printed.
    print("%s is read in halves: %s" % (name, next(line for line in output.splitlines() if "clang-diagnostic-error" in line)), flush=True)
    middle = len(paths) // 2
    halves = [tidy("%s.%d" % (name, part), some, folder, flags) for part, some in enumerate((paths[:middle], paths[middle:]))]
    return max(code for code, _ in halves), "".join(output for _, output in halves)


def groups_of_headers(sources):
    """The groups of Hone's headers that are worth precompiling for these sources, and the group that each source uses (0: none)."""
    reach = {}
    for source in sources:
        found = set()
        reachable(source, found, certain=True)
        reach[source] = frozenset(found - {source})
    size = {header: header.stat().st_size for some in reach.values() for header in some}
    users = {header: [source for source in sources if header in reach[source]] for header in size}
    # The headers that all users of a header have in common: a superset of what it includes.
    common = {header: frozenset.intersection(*(reach[source] for source in some)) for header, some in users.items()}
    bytes_of = {some: sum(size[header] for header in some) for some in common.values()}
    groups, taken = [frozenset()], dict.fromkeys(sources, 0)
    bytes_of[groups[0]] = 0

    def gain(header):
        bytes_here = bytes_of[common[header]]
        return sum(max(0, bytes_here - bytes_of[groups[taken[source]]]) for source in users[header]) - bytes_here - GROUP_BYTES
    while common:
        best = max(sorted(common), key=gain)
        if gain(best) <= 0:
            break
        for source in users[best]:
            if bytes_of[common[best]] > bytes_of[groups[taken[source]]]:
                taken[source] = len(groups)
        groups.append(common[best])
    return groups, taken


def precompile(folder, flags, number, group):
    """Precompiles for clang the headers that gcc precompiles too (cmake/precompiled.cmake), and one of the groups above. Returns the exit code and
    the output."""
    names = re.search(r"set\(HONE_PRECOMPILED (.*?)\)", (ROOT / "cmake" / "precompiled.cmake").read_text(), re.DOTALL).group(1).split()
    header = folder / ("precompiled%d.h" % number)
    header.write_text("".join("#include %s\n" % name for name in names) + "".join('#include "%s"\n' % path for path in sorted(group)))
    return run(["clang++", *flags, *ALONE, *UNINITIALISED, "-x", "c++-header", str(header), "-o", str(header.with_suffix(".pch"))])


def alone(path, folder, flags, number, precompiled):
    """Compiles one source separately; `precompiled` is the outcome of its group."""
    code, output = precompiled.result()
    if code:
        return code, output
    made = folder / ("precompiled%d.pch" % number)
    return run(["clang++", *flags, *ALONE, *UNINITIALISED, "-include-pch", str(made), "-fsyntax-only", str(path)])


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
    by_itself = {"alone: %s" % path: path for paths in sources.values() for path in paths} if "--alone" in sys.argv else {}
    states = {**{name: state_of(paths, base) for name, paths in sources.items()}, **{name: state_of([path], base) for name, path in by_itself.items()}}
    due = {name for name, state in states.items() if clean.get(name) != state}
    groups, taken = groups_of_headers([path for name, path in by_itself.items() if name in due])
    print(f"{len(due)} of {len(states)} to check: rooms" + (" and files alone" if by_itself else ""))

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        # Starts the longest first, so that none is left over at the end, and groups of headers before the sources that wait for them.
        results = {name: pool.submit(tidy, name, sources[name], folder, flags) for name in sorted(due & sources.keys(), key=lambda name: -sum(path.stat().st_size for path in sources[name]))}
        used = sorted(set(taken.values()))
        precompiled = {number: pool.submit(precompile, folder, flags, number, groups[number]) for number in used}
        for name in sorted(due & by_itself.keys(), key=lambda name: -by_itself[name].stat().st_size):
            path = by_itself[name]
            results[name] = pool.submit(alone, path, folder, flags, taken[path], precompiled[taken[path]])
        for name, result in results.items():
            code, output = result.result()
            if code == 0:
                clean[name] = states[name]
                continue
            failed += 1
            print(f"{name}\n{output}", flush=True)
    # Results for files that were not read this time are kept, unless the file is gone.
    remembered = {name: state for name, state in clean.items() if name in states or (name.startswith("alone: ") and pathlib.Path(name[7:]).exists())}
    partial = memory.with_suffix(".new")
    partial.write_text(json.dumps(remembered))
    partial.replace(memory)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
