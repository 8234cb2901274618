"""A suite on a Ray cluster, from Python: `python -m hone.ray TASKS... [options of hone suite]`.

The same as `hone suite TASKS... --on ray` with this Python as the driver's; RAY_ADDRESS or --address names the cluster.
"""

from __future__ import annotations

import os
import sys
from typing import List, Sequence

from . import _binary


def command(arguments: Sequence[str]) -> List[str]:
    """The command line of the program for these arguments."""
    rest: List[str] = []
    on = "ray"
    words = iter(arguments)
    for word in words:
        if word == "--address":
            on = "ray:" + next(words, "")
        elif word.startswith("--address="):
            on = "ray:" + word[len("--address=") :]
        else:
            rest.append(word)
    return [_binary.path(), "suite", *rest, "--on", on]


def main() -> None:
    try:
        words = command(sys.argv[1:])
    except _binary.HoneError as error:
        sys.exit("hone: %s" % error)
    os.environ.setdefault("HONE_RAY_PYTHON", sys.executable)
    os.execv(words[0], words)


if __name__ == "__main__":
    main()
