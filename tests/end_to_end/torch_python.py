"""For tests that are Python with torch: continues in Hone's own interpreter if this one has no torch."""

import importlib.util
import os
import pathlib
import sys


def need_torch():
    """Returns if torch can be imported. Otherwise restarts in an interpreter that has torch, or ends the test as
    skipped."""
    if importlib.util.find_spec("torch") is not None:
        return
    own = os.environ.get("HONE_PYTHON") or str(pathlib.Path.home() / ".local/share/hone/python/bin/python")
    if os.path.exists(own) and os.environ.get("HONE_TEST_PYTHON") != own:
        os.environ["HONE_TEST_PYTHON"] = own
        os.execv(own, [own, *sys.argv])
    print("skipped: no torch in %s or %s" % (sys.executable, own))
    sys.exit(77)
