#!/usr/bin/env python3
"""Writes src/analysis/triton_tables.inc: which names triton, triton.language, triton.language.math, libdevice
and tl.tensor offer in which release, read from unpacked wheels. Writes src/analysis/triton_signatures.inc too: the
parameters of the functions among them.

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


def parameters(function, drop_self=False):
    """The signature in the words of triton_signatures.h, without what the compiler passes itself (_builder, _semantic)."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    required = len(positional) - len(spec.defaults)
    words = [one.arg + ("=" if i >= required else "") for i, one in enumerate(positional)]
    if drop_self:
        words = words[1:]
    if spec.vararg:
        words.append("*" + spec.vararg.arg)
    elif any(not one.arg.startswith("_") for one in spec.kwonlyargs):
        words.append("*")
    words += [one.arg + ("=" if default is not None else "") for one, default in zip(spec.kwonlyargs, spec.kw_defaults)]
    if spec.kwarg:
        words.append("**" + spec.kwarg.arg)
    return " ".join(word for word in words if not word.startswith("_"))


class Language:
    """The functions of one release's language, found through its imports."""

    def __init__(self, folder):
        self.folder = folder
        self.trees = {}

    def body(self, module):
        if module not in self.trees:
            path = os.path.join(self.folder, *module.split(".")) + ".py"
            self.trees[module] = parse(path).body if os.path.exists(path) else []
        return self.trees[module]

    def find(self, module, name, depth=0):
        """The last definition of the name in the module, or in the one that it is imported from; None for anything else."""
        found = None
        for node in self.body(module):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                found = node
            elif isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
                found = None
            elif isinstance(node, ast.ImportFrom) and node.level == 1 and node.module and depth < 4:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        found = self.find(node.module, alias.name, depth + 1)
        return found

    def signature(self, module, name):
        node = self.find(module, name)
        if isinstance(node, ast.FunctionDef):
            return parameters(node)
        if isinstance(node, ast.ClassDef) and name in ("range", "static_range"):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    return parameters(item, drop_self=True)
        return None

    def methods(self):
        """The signatures of a tensor's methods; the tensor is the first parameter. Functions that are attached to the class win over its stubs."""
        stubs, attached = {}, {}
        for module in ("core", "math", "standard"):
            for node in self.body(module):
                if isinstance(node, ast.ClassDef) and node.name == "tensor":
                    stubs.update({item.name: item for item in node.body if isinstance(item, ast.FunctionDef)})
                if isinstance(node, ast.FunctionDef) and any("tensor_member_fn" in ast.unparse(d) for d in node.decorator_list):
                    attached[node.name] = node
        properties = {name for name, node in stubs.items() if any(ast.unparse(d) == "property" for d in node.decorator_list)}
        return {name: parameters(node) for name, node in {**stubs, **attached}.items() if not name.startswith("_") and name not in properties}


# The compiler runs tl.static_assert itself and takes no keyword; tl.static_print is Python's print.
BY_THE_COMPILER = {"static_assert": "cond msg= /", "static_print": "*values **kwargs"}


def signatures(folder, version):
    """Rows of one release: (scope, name) to its parameters."""
    language = Language(folder)
    rows = {}
    for scope, module in (("triton.language", "__init__"), ("triton.language.math", "math"), ("libdevice", "extra.cuda.libdevice")):
        if version < "3" and scope != "triton.language":
            continue
        names = exported(os.path.join(folder, "__init__.py")) if module == "__init__" else {
            node.name for node in language.body(module) if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
        for name in names:
            text = language.signature(module, name)
            if text is not None and name not in ("constexpr", "constexpr_function", "builtin", "extern", "str_to_ty"):
                rows[scope, name] = BY_THE_COMPILER.get(name, text)
    for name, text in language.methods().items():
        rows["tensor", name] = text
    return rows


def write_signatures(root):
    table = {}
    for bit, version in enumerate(VERSIONS):
        for (scope, name), text in signatures(os.path.join(root, version, "triton/language"), version).items():
            table[scope, name, text] = table.get((scope, name, text), 0) | 1 << bit
    with open(os.path.join(os.path.dirname(__file__), "../src/analysis/triton_signatures.inc"), "w") as out:
        out.write("// Written by scripts/triton_tables.py from the releases' own sources; bit i stands for\n")
        out.write("// kTritonVersions[i].\n")
        for (scope, name, text), mask in sorted(table.items(), key=lambda row: (row[0][:2], row[1])):
            out.write(f'{{"{scope}", "{name}", 0x{mask:03x}, "{text}"}},\n')


def main():
    root = sys.argv[1]
    write_signatures(root)
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
