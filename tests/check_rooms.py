#!/usr/bin/env python3
"""Checks the order of the rooms: a file in src/<room>/ may include only its own room and earlier ones, in
the order of the hone_room lines of src/CMakeLists.txt. A folder with sources must have such a line.
Usage: check_rooms.py [SOURCE_ROOT]; prints every violation as file:line and exits with 1 if there is one."""
import pathlib
import re
import sys

SOURCES = {".h", ".cpp", ".c", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def room_order(src):
    text = (src / "CMakeLists.txt").read_text()
    text = re.sub(r"#.*", "", text)
    return re.findall(r"\bhone_room\(\s*(\w+)", text)


def violations(src):
    rooms = room_order(src)
    rank = {room: index for index, room in enumerate(rooms)}
    for folder in sorted(path for path in src.iterdir() if path.is_dir()):
        files = sorted(path for path in folder.rglob("*") if path.suffix in SOURCES and "templates" not in path.parts)
        if files and folder.name not in rank:
            yield f"{folder}: has sources but no hone_room line in src/CMakeLists.txt"
            continue
        for path in files:
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                included = match.group(1)
                room = included.split("/")[0]
                if room == "..":
                    yield f'{path}:{number}: "{included}" should be named from src/'
                elif room in rank and rank[room] > rank[folder.name]:
                    yield f'{path}:{number}: room {folder.name} includes "{included}" of the later room {room}'
                elif room not in rank and (src / included).exists():
                    yield f'{path}:{number}: "{included}" is in no room'


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    found = list(violations(root / "src"))
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
