"""Runs the program `hone` as a child: asynchronously, with its progress line by line, capped output, and a guaranteed end.

A cancelled child first gets SIGTERM, on which `hone` ends its own workers, and is killed after a while.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any, Awaitable, Callable, Dict, List, Optional, Sequence

import anyio
from anyio.streams.text import TextReceiveStream
from mcp.server.mcpserver.exceptions import ToolError

from .. import _binary

LARGEST_OUTPUT = 32 << 20
SECONDS_TO_UNWIND = 20.0
# The program's working folder. In a client's folder, the client's hone.toml could choose commands and the sandbox level.
FOLDER = "/"

OnLine = Optional[Callable[[str], Awaitable[None]]]


class Finished:
    def __init__(self, code: int, out: str, err: str):
        self.code, self.out, self.err = code, out, err

    def sentence(self) -> str:
        """The program's error: the one in its JSON, else its last line."""
        try:
            said = json.loads(self.out)
            if said.get("status") == "failed":
                return str(said["error"]["message"])
        except (ValueError, AttributeError, KeyError, TypeError):
            pass
        line = _binary.last_line(self.err)
        return line[len("hone: "):] if line.startswith("hone: ") else line

    def json(self) -> Any:
        """The object that it printed. Exit codes 0 and 1 are answers; others are errors."""
        if self.code not in (_binary.DONE, _binary.REJECTED):
            raise ToolError(self.sentence())
        try:
            return json.loads(self.out)
        except ValueError:
            raise ToolError("hone printed no JSON: %s" % self.sentence())

    def text(self) -> str:
        if self.code not in (_binary.DONE, _binary.REJECTED):
            raise ToolError(self.sentence())
        return self.out


def _environment() -> Dict[str, str]:
    # The client's terminal is not this one: no colours, no width.
    return {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}


async def _end(process: "anyio.abc.Process") -> None:
    """Returns when the process has ended, even while this task is being cancelled."""
    with anyio.CancelScope(shield=True):
        for number, seconds in ((signal.SIGTERM, SECONDS_TO_UNWIND), (signal.SIGKILL, 60.0)):
            if process.returncode is not None:
                return
            try:
                process.send_signal(number)
            except ProcessLookupError:
                return
            with anyio.move_on_after(seconds):
                await process.wait()


async def run(program: str, arguments: Sequence[str], on_line: OnLine = None) -> Finished:
    """Runs `hone ARGUMENTS` to its end; `on_line` gets each line of its standard error."""
    process = await anyio.open_process([program, *arguments], cwd=FOLDER, env=_environment(), stdin=subprocess.DEVNULL, start_new_session=True)
    texts: Dict[str, List[str]] = {"out": [], "err": []}
    flooded = False
    assert process.stdout is not None and process.stderr is not None

    async def read_out() -> None:
        nonlocal flooded
        size = 0
        async for chunk in TextReceiveStream(process.stdout, errors="replace"):
            size += len(chunk)
            if size > LARGEST_OUTPUT:
                flooded = True
                return await _end(process)
            texts["out"].append(chunk)

    async def read_err() -> None:
        rest = ""
        async for chunk in TextReceiveStream(process.stderr, errors="replace"):
            rest += chunk
            *lines, rest = rest.split("\n")
            rest = rest[-65536:]
            for line in lines:
                texts["err"].append(line + "\n")
                del texts["err"][:-200]
                if on_line is not None:
                    await on_line(line)
        texts["err"].append(rest)

    try:
        async with anyio.create_task_group() as readers:
            readers.start_soon(read_out)
            readers.start_soon(read_err)
        await process.wait()
    finally:
        await _end(process)
        for stream in (process.stdout, process.stderr):
            with anyio.CancelScope(shield=True):
                await stream.aclose()
    if flooded:
        raise ToolError("hone printed more than %d bytes; ask for less." % LARGEST_OUTPUT)
    assert process.returncode is not None
    return Finished(process.returncode, "".join(texts["out"]), "".join(texts["err"]))


class Turn:
    """Allows one judgement at a time. A limited number may wait; more are refused."""

    def __init__(self, most_waiting: int):
        self._most = most_waiting
        self._waiting = 0
        self._lock = anyio.Lock()

    async def __aenter__(self) -> None:
        if self._waiting >= self._most:
            raise ToolError("%d judgings wait already; ask again when one of them has ended." % self._most)
        self._waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self._waiting -= 1

    async def __aexit__(self, *unused: object) -> None:
        self._lock.release()
