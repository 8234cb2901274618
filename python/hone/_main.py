"""The console script `hone` of an installed wheel, which becomes the program inside the package. `python -m hone` does the
same."""

from __future__ import annotations

import os
import sys

from . import _binary


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    try:
        program = _binary.find()
    except _binary.HoneError as error:
        print("hone: %s" % error, file=sys.stderr)
        sys.exit(_binary.FAILED)
    os.execv(program, [program, *sys.argv[1:]])
