"""The importer of `hone suite --on ray`: imports returned archives of runs into the store with `hone import`, on its own thread."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import subprocess
import threading
import time
from typing import Any, Deque, Dict, List, Optional, Sequence, Tuple

if __package__:
    from .ray_node import last_words
    from .ray_plan import Plan
else:  # the program `hone` starts it as a file without a package
    from ray_node import last_words  # type: ignore
    from ray_plan import Plan  # type: ignore

IMPORT_AT_MOST = 64  # archives per `hone import`


class Importer(threading.Thread):
    """Imports archives into the store, many per process, while the driver continues. A file stays until the store has it."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(daemon=True)
        self.plan = plan
        self.folder = plan.folder / "archives"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.waiting: Deque[str] = collections.deque()
        self.results: Deque[Tuple[str, Optional[str]]] = collections.deque()  # (task, error)
        self.broken: Optional[str] = None
        self.more = threading.Condition()
        self.ending = False
        self.busy = False
        self.seconds = 0.0

    def file_of(self, task: str) -> pathlib.Path:
        return self.folder / (task + ".hone.tar.gz")

    def add(self, task: str, archive: bytes) -> None:
        fresh = self.folder / (".%s.tmp" % task)
        fresh.write_bytes(archive)
        fresh.rename(self.file_of(task))
        self.take(task)

    def take(self, task: str) -> None:
        with self.more:
            self.waiting.append(task)
            self.more.notify()

    def left_from_before(self) -> List[str]:
        """Tasks whose archives arrived but were not imported when an earlier driver died."""
        return [task["name"] for task in self.plan.tasks if self.file_of(task["name"]).exists()]

    def idle(self) -> bool:
        with self.more:
            return not self.waiting and not self.busy and not self.results

    def end(self) -> None:
        with self.more:
            self.ending = True
            self.more.notify()
        self.join(60)

    def run(self) -> None:
        while True:
            with self.more:
                self.busy = False
                while not self.waiting and not self.ending:
                    self.more.wait()
                if not self.waiting:
                    return
                batch = [self.waiting.popleft() for _ in range(min(IMPORT_AT_MOST, len(self.waiting)))]
                self.busy = True
            started = time.time()
            try:
                self.import_all(batch)
            except OSError as error:  # the driver waits for this thread, so it must learn of the error
                self.broken = str(error)
            self.seconds += time.time() - started

    def import_all(self, batch: Sequence[str]) -> None:
        files = {str(self.file_of(task)): task for task in batch}
        command = [self.plan.binary, "import", "--json", "--quiet", "--suite", self.plan.suite, "--out", str(self.plan.folder), *files]
        said = subprocess.run(command, capture_output=True, text=True)
        lines: Dict[str, Dict[str, Any]] = {}
        for text in said.stdout.splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue
            lines[line.get("file") or next(iter(files))] = line
        for file, task in files.items():
            line = lines.get(file, {})
            if "run" in line:
                self.results.append((task, None))
                os.unlink(file)
            elif isinstance(line.get("error"), dict) and line["error"].get("kind") == "invalid":
                self.results.append((task, line["error"].get("message", "")))
                os.unlink(file)
            else:  # the store itself is unusable: the archives stay for the next driver
                self.broken = last_words(said.stderr)
                return
