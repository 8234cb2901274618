"""Decides which paths a client may name: only files below the folders that the server was started with.

A path is resolved first, so that links count by their target. It is then opened component by component without
following links, so that a link inserted in between is an error and not an escape. The opened file must be a plain
file of limited size.
"""

from __future__ import annotations

import os
import pathlib
import stat
from typing import List, Sequence

LARGEST_SOURCE = 4 << 20


class Refused(Exception):
    """A path that the server does not serve. The message is one sentence."""


class Folders:
    def __init__(self, roots: Sequence[str]):
        self.roots: List[pathlib.Path] = []
        for root in roots:
            real = pathlib.Path(os.path.realpath(os.path.expanduser(root)))
            if not real.is_dir():
                raise NotADirectoryError("--root %s is not a folder." % root)
            if real not in self.roots:
                self.roots.append(real)

    def _root_of(self, real: pathlib.Path) -> "pathlib.Path | None":
        for root in self.roots:
            if real == root or root in real.parents:
                return root
        return None

    def holds(self, path: "str | os.PathLike[str]") -> bool:
        """Whether a path, in its present state on disk, is below one of the folders."""
        try:
            return self._root_of(pathlib.Path(os.path.realpath(path))) is not None
        except (OSError, ValueError):
            return False

    def locate(self, path: str) -> pathlib.Path:
        """The real path of a client's path. A relative path is looked up in each folder in turn."""
        if not path or "\0" in path or len(path) > 4096:
            raise Refused("A path must have 1 to 4096 characters and no NUL.")
        named = pathlib.Path(path)
        if ".." in named.parts:
            raise Refused("The path %r has '..' in it; name the file from a folder of this server." % path)
        candidates = [named] if named.is_absolute() else [root / named for root in self.roots]
        for candidate in candidates:
            try:
                real = pathlib.Path(os.path.realpath(candidate))
            except (OSError, ValueError):
                continue
            if self._root_of(real) is None:
                raise Refused("%r is outside the folders of this server: %s." % (path, ", ".join(map(str, self.roots))))
            if os.path.lexists(real):
                return real
        raise Refused("There is no %r in the folders of this server: %s." % (path, ", ".join(map(str, self.roots))))

    def read(self, path: str, largest: int = LARGEST_SOURCE) -> bytes:
        """The bytes of a plain file."""
        real = self.locate(path)
        root = self._root_of(real)
        assert root is not None
        parts = real.relative_to(root).parts
        if not parts:
            raise Refused("%r is a folder; name a file." % path)
        handle = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for index, part in enumerate(parts):
                flags = os.O_NOFOLLOW | os.O_CLOEXEC
                # Opened without waiting, because a FIFO may have no writer.
                flags |= os.O_PATH | os.O_DIRECTORY if index + 1 < len(parts) else os.O_RDONLY | os.O_NONBLOCK
                inner = os.open(part, flags, dir_fd=handle)
                os.close(handle)
                handle = inner
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise Refused("%r is not a plain file." % path)
            if status.st_size > largest:
                raise Refused("%r has %d bytes; at most %d are read." % (path, status.st_size, largest))
            chunks, left = [], largest + 1
            while left > 0:
                chunk = os.read(handle, min(left, 1 << 20))
                if not chunk:
                    break
                chunks.append(chunk)
                left -= len(chunk)
            if left <= 0:
                raise Refused("%r grew while it was read." % path)
            return b"".join(chunks)
        except OSError as error:
            raise Refused("%r cannot be read: %s." % (path, error.strerror))
        finally:
            os.close(handle)

    def file(self, path: str, largest: int = LARGEST_SOURCE) -> str:
        """The real path of a plain file, for a program that reads it and its neighbours."""
        self.read(path, largest)
        return str(self.locate(path))

    def new_folder(self, beside: str, name: str) -> str:
        """A new folder below `runs`, in the server's folder that contains the file `beside`."""
        root = self._root_of(self.locate(beside))
        assert root is not None
        runs = root / "runs"
        try:
            runs.mkdir(exist_ok=True)
        except OSError as error:
            raise Refused("The folder %s cannot be made: %s." % (runs, error.strerror))
        if runs.is_symlink() or not self.holds(runs):
            raise Refused("%s is a link; runs are written into a folder of this server only." % runs)
        return str(runs / name)
