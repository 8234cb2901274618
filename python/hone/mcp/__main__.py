"""`python -m hone.mcp [--root DIR]...`: serves on standard input and output until the client closes them."""

from __future__ import annotations

import argparse
import os
import sys

from .. import _binary

# `python -m` imports modules from the working folder first, and the client may be able to write there.
if sys.path and not getattr(sys.flags, "safe_path", False) and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m hone.mcp", description="Serve Hone's tools over the Model Context Protocol (standard input and output).")
    parser.add_argument("--root", action="append", metavar="DIR", help="folder that the tools may read and write; may be repeated (default: the working folder)")
    args = parser.parse_args()
    try:
        from .folders import Folders
        from .server import make_server
    except ImportError as error:
        print("hone: the package mcp (2.x) is missing (%s); install it with: %s -m pip install 'mcp>=2'" % (error, sys.executable), file=sys.stderr)
        return _binary.FAILED
    try:
        server = make_server(Folders(args.root or ["."]), _binary.path())
    except (_binary.HoneError, OSError) as error:
        print("hone: %s" % error, file=sys.stderr)
        return _binary.FAILED
    try:
        server.run("stdio")
    except KeyboardInterrupt:
        pass
    return _binary.DONE


if __name__ == "__main__":
    sys.exit(main())
