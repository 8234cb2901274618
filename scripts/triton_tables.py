#!/usr/bin/env python3
"""Writes src/analysis/triton_tables.inc: which names triton, triton.language, triton.language.math, libdevice
and tl.tensor offer in which release, read from unpacked wheels.

usage: triton_tables.py FOLDER   where FOLDER/<version>/triton/ is the Python side of that release
"""
import ast
import os
import sys

VERSIONS = ["2.1.0", "2.2.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0"]


def parse(path):
    with open(path) as file:
        return ast.parse(file.read())


def exported(path):
    """The names that a package's __init__ provides, including imported modules."""
    names = set()
    for node in parse(path).body:
        if isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
            if node.level == 1 and node.module:
                names.add(node.module.split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(t.id for t in node.targets if isinstance(t, ast.Name))
    return {n for n in names if not n.startswith("_") and n != "annotations"}


def defined(path):
    if not os.path.exists(path):
        return set()
    names = set()
    for node in parse(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return {n for n in names if not n.startswith("_")}


def tensor_members(folder):
    names = set()
    for file in ("core.py", "math.py", "standard.py"):
        path = os.path.join(folder, file)
        if not os.path.exists(path):
            continue
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef) and node.name == "tensor":
                for item in ast.walk(node):
                    if isinstance(item, ast.FunctionDef):
                        names.add(item.name)
                    if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == "self":
                        names.add(item.attr)
            if isinstance(node, ast.FunctionDef):
                if any("tensor_member_fn" in ast.unparse(d) for d in node.decorator_list):
                    names.add(node.name)
    return names | {"T"}


def main():
    root = sys.argv[1]
    table = {}
    for bit, version in enumerate(VERSIONS):
        base = os.path.join(root, version, "triton")
        lang = os.path.join(base, "language")
        scopes = {
            "triton": exported(os.path.join(base, "__init__.py")) | {"backends", "knobs", "tools", "testing", "ops"},
            "triton.language": exported(os.path.join(lang, "__init__.py")) | {"core", "math", "random", "standard", "extra"},
            "triton.language.math": defined(os.path.join(lang, "math.py")),
            "tensor": tensor_members(lang),
            "libdevice": defined(os.path.join(lang, "extra/cuda/libdevice.py")) | defined(os.path.join(lang, "math.py") if version < "3" else ""),
        }
        if version < "3":
            scopes["triton.language"] |= {"libdevice"} if os.path.exists(os.path.join(lang, "libdevice.py")) else set()
            scopes["triton.language"].discard("extra") if not os.path.isdir(os.path.join(lang, "extra")) else None
        for scope, names in scopes.items():
            for name in names:
                table.setdefault((scope, name), 0)
                table[scope, name] |= 1 << bit
    with open(os.path.join(os.path.dirname(__file__), "../src/analysis/triton_tables.inc"), "w") as out:
        out.write("// Written by scripts/triton_tables.py from the releases' own sources; bit i stands for\n")
        out.write("// kTritonVersions[i].\n")
        for (scope, name), mask in sorted(table.items()):
            out.write(f'{{"{scope}", "{name}", 0x{mask:03x}}},\n')


main()
