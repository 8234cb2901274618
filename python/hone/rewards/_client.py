"""The client of `hone serve --judge`: HTTP with the standard library alone. Safe to share between threads."""

from __future__ import annotations

import concurrent.futures
import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Iterable, Mapping, Optional

from .._binary import HoneError

ENDED = ("done", "failed", "cancelled")
_LONGEST_WAIT = 50.0  # of one request, in seconds; the server allows 60


class JudgeUnavailable(HoneError):
    """There is no verdict: the server did not answer in time, or lost its workers. It says nothing about the candidate."""


class Client:
    """Asks a judge service.

    url and token default to $HONE_JUDGE_URL (http://127.0.0.1:8377) and $HONE_JUDGE_TOKEN. `timeout` is in seconds and covers one
    question with all its waiting; a server that is full (429), restarts or cannot be reached is asked again until then.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, timeout: float = 3600.0) -> None:
        self.url = (url or os.environ.get("HONE_JUDGE_URL") or "http://127.0.0.1:8377").rstrip("/")
        self.token = token or os.environ.get("HONE_JUDGE_TOKEN") or ""
        self.timeout = timeout
        if not self.url.startswith(("http://", "https://")):
            raise HoneError("The judge's address is http://HOST:PORT, not %r; pass url=... or set HONE_JUDGE_URL." % self.url)
        if not self.token:
            raise HoneError("The judge needs a token; pass token=... or set HONE_JUDGE_TOKEN to what `hone serve --judge` printed.")

    def evaluate(self, *, task: Optional[str] = None, task_source: Optional[str] = None, candidate: Optional[str] = None,
                 reply: Optional[str] = None, options: Optional[Mapping[str, Any]] = None, again: bool = False) -> "dict[str, Any]":
        """Judges one candidate and waits: the job as a dict, with `result` (stages for a reward) and `verdict` (everything).

        The task is a name on the server or its source; the candidate is source, or the reply of a language model that holds it.
        """
        deadline = time.monotonic() + self.timeout
        body = {"task": task, "task_source": task_source, "candidate": candidate, "reply": reply, "options": options}
        body = {name: value for name, value in body.items() if value is not None}
        if again:
            body["again"] = True
        job = self._ask("POST", "/evaluate?wait=%g" % _LONGEST_WAIT, body, deadline)
        return self._until_ended(job, deadline)

    def evaluate_many(self, questions: Iterable[Mapping[str, Any]], at_once: int = 64) -> "list[dict[str, Any]]":
        """evaluate(**question) for each, side by side; the jobs in the same order."""
        with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, at_once)) as pool:
            return list(pool.map(lambda question: self.evaluate(**question), questions))

    def submit(self, **question: Any) -> "dict[str, Any]":
        """Asks without waiting; the arguments are those of evaluate()."""
        return self._ask("POST", "/evaluate", {k: v for k, v in question.items() if v is not None}, time.monotonic() + self.timeout)

    def wait(self, job_id: str) -> "dict[str, Any]":
        """Waits for a job that was submitted."""
        deadline = time.monotonic() + self.timeout
        return self._until_ended(self.job(job_id), deadline)

    def job(self, job_id: str) -> "dict[str, Any]":
        return self._ask("GET", "/jobs/" + job_id, None, time.monotonic() + self.timeout)

    def jobs(self, state: str = "", limit: int = 100) -> "list[dict[str, Any]]":
        """The newest jobs of this token, without their verdicts."""
        query = urllib.parse.urlencode({"state": state, "limit": limit})
        return self._ask("GET", "/jobs?" + query, None, time.monotonic() + self.timeout)["jobs"]

    def cancel(self, job_id: str) -> "dict[str, Any]":
        return self._ask("DELETE", "/jobs/" + job_id, None, time.monotonic() + self.timeout)

    def _until_ended(self, job: "dict[str, Any]", deadline: float) -> "dict[str, Any]":
        while job["state"] not in ENDED:
            left = deadline - time.monotonic()
            if left <= 0:
                raise JudgeUnavailable("The judge did not finish job %s within %g s." % (job["id"][:12], self.timeout))
            job = self._ask("GET", "/jobs/%s?wait=%g" % (job["id"], min(_LONGEST_WAIT, left)), None, deadline)
        if job["state"] == "done":
            return job
        error = job.get("error") or {}
        message = "The judge gave no verdict (%s): %s" % (job["state"], error.get("message") or "the job was cancelled")
        if job["state"] == "failed" and error.get("kind") != "infrastructure":
            raise HoneError(message)
        raise JudgeUnavailable(message)

    def _ask(self, method: str, path: str, body: Optional[Mapping[str, Any]], deadline: float) -> Any:
        pause = 0.2
        while True:
            wait, why = 0.0, ""
            try:
                return self._once(method, path, body, deadline)
            except urllib.error.HTTPError as error:
                with error:
                    why = _message_of(error)
                    if error.code not in (429, 500, 502, 503, 504):
                        raise HoneError("The judge refused the request (%d): %s" % (error.code, why)) from None
                    wait = _seconds(error.headers.get("Retry-After"))
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = "%s: %s" % (self.url, error)
            wait = max(wait, pause)
            if time.monotonic() + wait > deadline:
                raise JudgeUnavailable("The judge could not be asked within %g s: %s" % (self.timeout, why)) from None
            time.sleep(wait)
            pause = min(2 * pause, 5.0)

    def _once(self, method: str, path: str, body: Optional[Mapping[str, Any]], deadline: float) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method,
                                         headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        patience = min(_LONGEST_WAIT + 30, max(1.0, deadline - time.monotonic()) + 5)
        with _OPENER.open(request, timeout=patience) as reply:
            return json.loads(reply.read())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _message_of(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["error"]["message"])
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return str(error.reason)


def _seconds(text: Optional[str]) -> float:
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0
