"""Judges candidates from Python: `judge` for one, `Session` for thousands.

Both drive `hone bench TASK --stdin --json`: one program holds PyTorch and the reference's answers, gets the path of a file for each candidate
and prints a verdict. Candidates run in the program's sandbox, never in this process. A candidate that crashes or hangs gets a verdict.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import warnings
import weakref
from typing import IO, TYPE_CHECKING, Any, Deque, Dict, Iterable, Iterator, Mapping, Optional, Sequence, Union

from . import _binary
from ._binary import HoneError
from ._sources import is_text, path_or_text, write_text
from ._verdict import Verdict

if TYPE_CHECKING:
    import torch

    Task = Union[str, os.PathLike[str], torch.nn.Module]
    Source = Union[str, os.PathLike[str]]

__all__ = ["Session", "judge"]

# Time for a program to end after a request, before it is killed.
_PATIENCE_S = 20.0


def judge(
    task: Task,
    candidate: Source,
    *,
    args: Sequence[Any] = (),
    kwargs: Optional[Mapping[str, Any]] = None,
    check_only: bool = False,
    again: bool = False,
    save: bool = True,
    target: str = "auto",
    precision: Optional[str] = None,
    trials: Optional[int] = None,
    timeout: Optional[float] = None,
    python: Optional[str] = None,
    arguments: Sequence[str] = (),
) -> Verdict:
    """Judges one candidate and returns a `Verdict`. It is true if and only if the candidate is accepted.

    `task` is the path of a task file, the text of one, or a module, with its inputs in `args` and `kwargs`. `candidate` is the text of a file with
    `ModelNew`, or its path. A text without a line break that ends in .py is a path. The other arguments are those of `hone bench`: `check_only`
    times nothing, `again` ignores stored verdicts, `save=False` stores nothing, `timeout` limits one call in seconds, and `arguments` takes
    further options as they stand in `hone bench --help`. To judge several candidates for one task, use a `Session`.

    A candidate that is wrong, crashes or does not parse gets a verdict. `HoneError` means that the judge could not do its work.

    >>> import hone, pathlib
    >>> source = pathlib.Path("tasks/small_gemm_bias_relu.py").read_text().replace("class Model(", "class ModelNew(").replace("relu", "sigmoid")
    >>> verdict = hone.judge("tasks/small_gemm_bias_relu.py", source, check_only=True)
    >>> verdict.accepted, verdict.verdict, verdict.reason
    (False, 'rejected', 'wrong-output')
    >>> verdict.error.candidate > verdict.error.limit
    True
    """
    with Session(
        task,
        args=args,
        kwargs=kwargs,
        check_only=check_only,
        again=again,
        save=save,
        target=target,
        precision=precision,
        trials=trials,
        timeout=timeout,
        python=python,
        arguments=arguments,
    ) as session:
        return session._judge(candidate, None, last=True)


class Session:
    """A judge that stays warm: it prepares a task once and then judges any number of candidates for it.

    The arguments are those of `judge`. Threads may share a session; candidates are judged one after the other, because two on one device would
    disturb each other's timing. If the program ends by itself, the session starts it again, warns, and judges the candidate once more;
    `restarts` counts that.

    >>> import hone, pathlib
    >>> source = pathlib.Path("tasks/small_gemm_bias_relu.py").read_text().replace("class Model(", "class ModelNew(").replace("relu", "sigmoid")
    >>> with hone.Session("tasks/small_gemm_bias_relu.py", check_only=True) as session:
    ...     for verdict in session.judge_all([source, source]):
    ...         print(verdict.verdict, verdict.reason)
    rejected wrong-output
    rejected wrong-output
    """

    def __init__(
        self,
        task: Task,
        *,
        args: Sequence[Any] = (),
        kwargs: Optional[Mapping[str, Any]] = None,
        check_only: bool = False,
        again: bool = False,
        save: bool = True,
        target: str = "auto",
        precision: Optional[str] = None,
        trials: Optional[int] = None,
        timeout: Optional[float] = None,
        python: Optional[str] = None,
        arguments: Sequence[str] = (),
    ) -> None:
        self._lock = threading.Lock()
        self._program: Optional[_Program] = None
        self._closed = False
        self._count = 0
        self.restarts = 0
        self.judged = 0
        self._folder = tempfile.mkdtemp(prefix="hone-session-")
        self._cleanup = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        try:
            self.task = self._task_path(task, args, kwargs)
            flags = ["--target", target, *_binary.python_arguments(python)]
            for flag, value in (("--precision", precision), ("--trials", trials), ("--timeout", timeout)):
                if value is not None:
                    flags += [flag, str(value)]
            flags += [flag for flag, wanted in (("--check-only", check_only), ("--again", again), ("--no-save", not save)) if wanted]
            self._command = [_binary.path(), "bench", self.task, "--stdin", "--json", *flags, *arguments]
        except BaseException:
            self._cleanup()
            raise

    def judge(self, candidate: Source, *, name: Optional[str] = None) -> Verdict:
        """Judges one candidate. `name` is the name that the store and reports give it."""
        return self._judge(candidate, name, last=False)

    def _judge(self, candidate: Source, name: Optional[str], last: bool) -> Verdict:
        """`last`: the program need not prepare for another candidate."""
        with self._lock:
            if self._closed:
                raise HoneError("This session is closed; open another with hone.Session(task).")
            with self._candidate_file(candidate, name) as path:
                verdict = Verdict.of(self._ask(path, last))
            self.judged += 1
            return verdict

    def judge_all(self, candidates: Iterable[Source]) -> Iterator[Verdict]:
        """Judges candidates one after the other and yields a verdict for each, in the same order."""
        for candidate in candidates:
            yield self.judge(candidate)

    def close(self) -> None:
        """Ends the program and removes the session's files. A second call does nothing."""
        with self._lock:
            self._closed = True
            self._stop()
            self._cleanup()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return "<hone.Session %s: %s, %d judged, %d restarts>" % (self.task, state, self.judged, self.restarts)

    def _ask(self, path: str, last: bool) -> Dict[str, Any]:
        for attempt in (1, 2):
            if self._program is None or not self._program.usable():
                if self._program is not None and self._program.ours():
                    self._note_death(self._program)
                self._program = _Program(self._command)
            try:
                reply = self._program.ask(path, last)
            except BaseException:
                # Ctrl-C during a question: this program's reply would be taken for another candidate's.
                self._stop()
                raise
            if reply is None:
                died, self._program = self._program, None
                said = died.last_words()
                if attempt == 2:
                    raise HoneError("The program `hone` ended twice while it judged this candidate (%s); `hone doctor` checks this machine." % said)
                self._note_death(died)
                continue
            if reply.get("status") == "failed":
                # It may be about to end, so a fresh one is safer.
                self._stop()
                raise HoneError(_binary.one_sentence(str((reply.get("error") or {}).get("message") or "hone could not judge")))
            return reply
        raise AssertionError("unreachable")

    def _note_death(self, program: _Program) -> None:
        self.restarts += 1
        warnings.warn("The program `hone` ended by itself (%s); the session starts it again." % program.last_words(), RuntimeWarning, stacklevel=4)

    def _stop(self) -> None:
        program, self._program = self._program, None
        if program is not None:
            program.stop()

    def _task_path(self, task: Task, args: Sequence[Any], kwargs: Optional[Mapping[str, Any]]) -> str:
        if isinstance(task, (str, os.PathLike)):
            if args or kwargs:
                raise HoneError("`args` and `kwargs` belong to a module; a task file draws its inputs in get_inputs().")
            text = os.fspath(task)
            if not is_text(text):
                if not os.path.isfile(text):
                    raise HoneError("There is no task file %s; give the path of a file with Model, get_inputs and get_init_inputs, or its text." % text)
                return os.path.abspath(text)
            path = os.path.join(self._folder, "task.py")
            write_text(path, text)
            return path
        return _task_of_module(task, args, kwargs, self._folder)

    @contextlib.contextmanager
    def _candidate_file(self, candidate: Source, name: Optional[str]) -> Iterator[str]:
        text = path_or_text(candidate, "A candidate")
        if not isinstance(candidate, str) or not is_text(text):
            if not os.path.isfile(text):
                raise HoneError("There is no candidate file %s; give the path of a file with ModelNew, or its text." % text)
            if "\n" in text:
                raise HoneError("The path of a candidate must not contain a line break.")
            yield os.path.abspath(text)
            return
        self._count += 1
        stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in name or "candidate_%d" % self._count)[:100]
        folder = os.path.join(self._folder, str(self._count))
        os.mkdir(folder)
        try:
            path = os.path.join(folder, stem + ("" if stem.endswith(".py") else ".py"))
            write_text(path, text)
            yield path
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class _Program:
    """One running `hone bench --stdin --json`. Not for several threads at once."""

    def __init__(self, command: Sequence[str]) -> None:
        self._errors: Deque[str] = collections.deque(maxlen=20)
        self._owner = os.getpid()
        # A separate process group: Ctrl-C reaches it only through this class, and the session still works
        # afterwards.
        self._child = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True
        )
        assert self._child.stdin and self._child.stdout and self._child.stderr
        self._stdin: IO[str] = self._child.stdin
        self._stdout: IO[str] = self._child.stdout
        self._reader = threading.Thread(target=_drain, args=(self._child.stderr, self._errors), daemon=True)
        self._reader.start()
        self._finalizer = weakref.finalize(self, _end, self._child, self._owner)

    def ours(self) -> bool:
        """False in a child forked from the process that started the program."""
        return self._owner == os.getpid()

    def usable(self) -> bool:
        return self.ours() and self._child.poll() is None

    def ask(self, path: str, last: bool) -> Optional[Dict[str, Any]]:
        """The reply to one path; None if the program ended instead."""
        try:
            self._stdin.write(path + "\n")
            self._stdin.flush()
            if last:
                self._stdin.close()
        except (BrokenPipeError, OSError):
            pass  # its output before it ended can still be read
        while True:
            line = self._stdout.readline()
            if not line.endswith("\n"):
                return None
            with contextlib.suppress(ValueError):
                reply = json.loads(line)
                if isinstance(reply, dict):
                    return reply

    def last_words(self) -> str:
        """How it ended, for a sentence."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(_PATIENCE_S)
        self._reader.join(1)
        code = self._child.returncode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return signal.Signals(-code).name
        said = _binary.last_line("\n".join(self._errors))
        return "exit code %s: %s" % (code, said)

    def stop(self) -> None:
        self._finalizer()


def _drain(stream: IO[str], into: Deque[str]) -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in stream:
            into.append(line.rstrip("\n"))


def _end(child: subprocess.Popen[str], owner: int) -> None:
    if owner != os.getpid():
        return
    with contextlib.suppress(OSError, ValueError):
        if child.stdin:
            child.stdin.close()
    if child.poll() is None:
        # The program does not read during a judgement. SIGINT makes it end its workers and exit.
        child.send_signal(signal.SIGINT)
        try:
            child.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    for stream in (child.stdout, child.stderr):
        with contextlib.suppress(OSError, ValueError):
            if stream:
                stream.close()


def _task_of_module(module: Any, args: Sequence[Any], kwargs: Optional[Mapping[str, Any]], folder: str) -> str:
    """Captures the module as a task in `folder`."""
    import torch

    from . import _capture, _trace

    if not isinstance(module, torch.nn.Module):
        raise HoneError("A task is a path, the text of a task file or a torch.nn.Module, not a %s." % type(module).__name__)
    traced = _trace.trace(module, tuple(args), dict(kwargs or {}))
    return _capture.capture(module, traced, os.path.join(folder, "task"), _capture.safe_name(type(module).__name__)).path
