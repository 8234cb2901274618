"""Runs of `hone optimize` in the background. Each run is a process in its own session: it continues without the client and after
the server has ended, until its time budget is spent or stop_run ends it. Facts about a run come from the store, so a later
server finds it again. Only runs whose folder is below this server's folders are visible.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import secrets
import signal
import subprocess
import tempfile
import time
from typing import Any, Dict, List, Optional

import anyio
from mcp.server.mcpserver.exceptions import ToolError

from . import programs
from .folders import Folders

SECONDS_TO_START = 180.0
SECONDS_TO_STOP = 60.0
MOST_LISTED = 500


class Runs:
    def __init__(self, program: str, folders: Folders):
        self.program, self.folders = program, folders
        self.below = [word for root in folders.roots for word in ("--below", str(root))]  # a store may hold many other runs
        self._children: List["subprocess.Popen[bytes]"] = []

    async def rows(self, most: int = MOST_LISTED) -> List[Dict[str, Any]]:
        """Runs below the folders of this server, newest first."""
        done = await programs.run(self.program, ["runs", "--json", "-n", str(MOST_LISTED), *self.below])
        rows = [json.loads(line) for line in done.text().splitlines() if line.strip()]
        return [row for row in rows if row.get("folder") and self.folders.holds(row["folder"])][:most]

    async def find(self, name: str) -> Dict[str, Any]:
        """The row of a run by its id (R12), its name or the beginning of it, or `last`."""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", name):
            raise ToolError("A run is named by its id (R12), its name, or `last`.")
        rows = await self.rows()
        exact = [row for row in rows if name in (row["id"], row["name"])]
        matches = exact or (rows[:1] if name == "last" else [row for row in rows if row["name"].startswith(name)])
        if not matches:
            raise ToolError("There is no run %r in the folders of this server; list_runs names those there are." % name)
        if len(matches) > 1:
            raise ToolError("%r is the beginning of %d runs; give more of the name." % (name, len(matches)))
        return matches[0]

    async def story(self, run_id: str) -> Dict[str, Any]:
        """The run with its candidates and decisions."""
        return (await programs.run(self.program, ["show", run_id, "--json"])).json()

    async def busy(self) -> Optional[str]:
        """The id of a run in these folders that a process executes now."""
        for child in self._children:
            child.poll()  # collects children that have ended
        self._children = [child for child in self._children if child.returncode is None]
        for row in await self.rows():
            if row.get("worker"):
                return str(row["id"])
        return None

    async def start(self, task: str, flags: List[str]) -> Dict[str, Any]:
        """Starts a run and returns its row when the store has it."""
        busy = await self.busy()
        if busy:
            raise ToolError("The run %s is under way; wait for its end or stop it, because two would disturb each other's timing." % busy)
        path = self.folders.file(task)
        name = "%s_%s_%s" % (time.strftime("%Y%m%d-%H%M%S", time.gmtime()), re.sub(r"[^A-Za-z0-9_.-]", "_", pathlib.Path(path).stem)[:80], secrets.token_hex(3))
        folder = self.folders.new_folder(task, name)
        with tempfile.TemporaryFile() as said:
            child = subprocess.Popen([self.program, "optimize", path, "--out", folder, "--proposer", "expert", "--json", *flags], cwd=programs.FOLDER,
                                     env=programs._environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True)
            self._children.append(child)
            deadline = time.monotonic() + SECONDS_TO_START
            try:
                while time.monotonic() < deadline:
                    ended = child.poll() is not None
                    if os.path.isdir(folder):
                        rows = [row for row in await self.rows() if row["folder"] == folder]
                        if rows:
                            return rows[0]
                    if ended:
                        break
                    await anyio.sleep(0.2)
            except BaseException:
                # The client was not told about this run.
                child.send_signal(signal.SIGINT)
                raise
            child.send_signal(signal.SIGINT)
            said.seek(0)
            raise ToolError(programs.Finished(3, "", said.read(1 << 20).decode(errors="replace")).sentence())

    async def stop(self, row: Dict[str, Any]) -> bool:
        """Ends the run's process as Ctrl-C does: it keeps its best so far. False: no process executes the run."""
        pid = await self._worker(row["id"])
        if not pid:
            return False
        for number, seconds in ((signal.SIGINT, SECONDS_TO_STOP), (signal.SIGKILL, 10.0)):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return True
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                await anyio.sleep(0.2)
                # A process leaves its run in the store before it has ended its workers and itself.
                if _has_ended(pid):
                    return True
        return True

    async def _worker(self, run_id: str) -> int:
        return next((int(row.get("worker") or 0) for row in await self.rows() if row["id"] == run_id), 0)


def _has_ended(pid: int) -> bool:
    try:
        # The state follows the name, which may contain anything.
        return pathlib.Path("/proc/%d/stat" % pid).read_text(errors="replace").rpartition(")")[2].split()[0] in ("Z", "X")
    except (OSError, IndexError):
        return True
