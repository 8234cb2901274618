#!/usr/bin/env python3
"""A language-model server for tests: speaks OpenAI's chat completions and Anthropic's messages API, and
misbehaves on demand. Plain Python 3, nothing else.

What it does is chosen per request, first match wins:
  path      http://127.0.0.1:PORT/s/SCENARIO/v1/...   (so --api-base http://127.0.0.1:PORT/s/SCENARIO)
  model     fake/SCENARIO   or, for Anthropic's style, claude-fake/SCENARIO
  --default SCENARIO        for everything else (default: fine)
SCENARIO is NAME[:N][@TAG]. N is the scenario's number (how many requests misbehave before one is answered
well, seconds, bytes); scenarios that count do so per TAG.

Replies: "Hello from fake" unless --replies DIR names a folder of NNN_<call type>.txt files (the form of
`hone export-replay`), which are served in order within the call type of the X-Hone-Call-Type header; past the
last one, the last one again. A reply to a request that forces a tool comes as that tool's arguments. A scenario
that gets round to answering well answers with these.

Or --program COMMAND thinks: for each request in the scenario `program` it reads a JSON line (tag, call_type,
key: the X-Hone-Call-Key header, prompt) and prints one (text, prompt_tokens, completion_tokens).

Every request is kept: GET /log gives them as a JSON list, GET /count?tag=TAG how many; --log FILE appends
them as JSON lines; --no-bodies leaves the bodies out. GET /billed gives calls and tokens of the scenario
`program` by tag, GET /side-by-side the most requests to `program` that were under way at once, by tag. Keys are never kept, only whether one was sent and whether it was right.
"""
import argparse
import collections
import contextlib
import hmac
import http.server
import json
import os
import pathlib
import random
import re
import select
import shlex
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

SCENARIOS = {
    "fine": "a good reply",
    "429": "N (1) times HTTP 429 with Retry-After: 1, then fine",
    "429-date": "N (1) times HTTP 429 with Retry-After as a date two seconds ahead, then fine",
    "429-quota": "HTTP 429 insufficient_quota, always",
    "500": "N (2) times HTTP 500 with an HTML body, then fine",
    "529": "N (1) times HTTP 529 overloaded_error, then fine",
    "stall": "N (1) times half a reply and then silence, then fine; stall:0 is silent always",
    "silent": "takes the request and never answers",
    "reset": "N (1) times a connection reset in mid-stream, then fine",
    "cut": "N (1) times a stream that ends in the middle without an error, then fine",
    "utf8": "a reply with bytes that are not UTF-8",
    "wrong-json": "N (1) times a reply that is not JSON, then fine; wrong-json:0 always",
    "html": "a web page with status 200, always",
    "empty": "N (1) times no text in the reply, then fine; empty:0 always",
    "no-choices": "an empty list of choices or blocks, always",
    "length": "the reply in three parts, the first two cut off by the length limit",
    "length-always": "cut off by the length limit, whatever is asked",
    "length-thinking": "nothing but thinking, cut off by length, unless asked to be brief",
    "huge": "a reply of N (10) megabytes",
    "huge-document": "the same in one JSON document although a stream was asked for",
    "context": "HTTP 400, the prompt is too long",
    "wrong-key": "HTTP 401 that quotes the key",
    "not-found": "HTTP 404, no such model",
    "redirect": "HTTP 307 to another address",
    "no-usage": "a good reply without usage",
    "no-stream": "one JSON document although a stream was asked for",
    "refuse-stream": "HTTP 400 when a stream is asked for",
    "refuse-stream-options": "HTTP 400 when stream_options is there",
    "refuse-max-tokens": "HTTP 400 when max_tokens is over 4096",
    "refuse-schema": "HTTP 400 when a reply by a schema is asked for",
    "refuse-tools": "HTTP 400 when tools are there",
    "refuse-structure": "HTTP 400 for both, in words that name neither",
    "router-without-tools": "HTTP 404 when tools or a schema are there, as a router without such a server says it",
    "refuse-effort": "HTTP 400 when an effort of reasoning is there",
    "refuse-cache-control": "HTTP 400 when a part of the prompt is marked for the cache",
    "cached": "a good reply whose usage tells of the cache and of reasoning",
    "declined": "N (1) times a refusal as the API spells it, then fine; declined:0 always",
    "loop": "N (1) times the same line for ever, then fine; loop:0 always",
    "limited": "N (3) requests a second, with the API's headers on every answer; HTTP 429 with Retry-After: 1 beyond",
    "error-in-stream": "N (1) times half a reply and then an error event, then fine",
    "thinking": "a reply with thinking in the API's own field",
    "think-tags": "a reply that begins with <think>...</think>",
    "done-then-hang": "a whole reply, and then the connection stays open in silence",
    "early-refusal": "HTTP 413 and a reset before the request is read",
    "slow": "a good reply, N (2) tokens a second",
    "program": "reply and usage as --program gives them; each Nth request (0: none) gets HTTP 503 instead",
    "gives-fewer": "at most N (1) replies, whatever the request's n says",
    "refuse-n": "HTTP 400 when several replies are asked for",
    "refuse-n-silently": "the same in words that do not name it",
    "mixed": "of several replies the first is empty, the second declined, the third cut off by length, the others good",
    "several-empty": "N (1) times nothing but empty replies, then fine",
    "several-loop": "of several replies the first repeats a line for ever, the others are good",
    "several-cut": "of several replies all but the second are cut off in mid-stream, without usage",
    "together": "a good reply to each of N requests once all of them are there; HTTP 400 if they are not within a minute",
}
DEFAULT_N = {"500": 2, "huge": 10, "huge-document": 10, "slow": 2, "limited": 3, "program": 0}
PARTS = ["```python\nimport torch\nfirst = 1\n", "second = 2\n", "third = 3\n```\n"]


class State:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.arrived = threading.Condition(self.lock)
        self.requests = []
        self.counts = collections.Counter()
        self.played = collections.Counter()
        self.buckets = {}
        self.billed = {}
        self.under_way = collections.Counter()
        self.side_by_side = collections.Counter()
        self.replies = {}
        self.program = None
        self.asking = threading.Lock()
        if options.program:
            self.program = subprocess.Popen(shlex.split(options.program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if options.replies:
            for path in sorted(pathlib.Path(options.replies).iterdir()):
                match = re.fullmatch(r"\d+_(\w+)\.txt", path.name)
                if match:
                    self.replies.setdefault(match.group(1), []).append(path.read_text())

    def record(self, entry):
        with self.lock:
            self.requests.append(entry)
            if self.options.log:
                with open(self.options.log, "a") as log:
                    log.write(json.dumps(entry) + "\n")

    def ask_program(self, request):
        with self.asking:
            self.program.stdin.write(json.dumps(request) + "\n")
            self.program.stdin.flush()
            return json.loads(self.program.stdout.readline())

    @contextlib.contextmanager
    def answering(self, tag):
        """Counts how many requests with a tag are under way at once. It ends before the reply is sent, because the client may send its next request as soon
        as it has the reply."""
        with self.lock:
            self.under_way[tag] += 1
            self.side_by_side[tag] = max(self.side_by_side[tag], self.under_way[tag])
        try:
            yield
        finally:
            with self.lock:
                self.under_way[tag] -= 1

    def bill(self, tag, prompt_tokens, completion_tokens):
        with self.lock:
            bill = self.billed.setdefault(tag, {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0})
            bill["calls"] += 1
            bill["prompt_tokens"] += prompt_tokens
            bill["completion_tokens"] += completion_tokens

    def next_count(self, key):
        with self.arrived:
            self.counts[key] += 1
            self.arrived.notify_all()
            return self.counts[key]

    def wait_for_count(self, key, wanted):
        with self.arrived:
            return self.arrived.wait_for(lambda: self.counts[key] >= wanted, 60)

    def next_reply(self, call_type):
        with self.lock:
            known = self.replies.get(call_type)
            if not known:
                return "Hello from fake" if not self.replies else f"no recorded reply to {call_type or 'this'}"
            index = min(self.played[call_type], len(known) - 1)
            self.played[call_type] += 1
            return known[index]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a reset discards unsent data, so replies must be sent at once
    state = None
    limits = ()  # headers of every reply
    details = {}  # more fields of usage
    told = None  # usage that --program returned

    def log_message(self, *_):
        pass

    def send_whole(self, status, body, content_type="application/json", headers=()):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in [*headers, *self.limits]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        tag = urllib.parse.parse_qs(url.query).get("tag", [None])[0]
        with self.state.lock:
            chosen = [r for r in self.state.requests if tag is None or r["tag"] == tag]
        if url.path == "/log":
            self.send_whole(200, chosen)
        elif url.path == "/count":
            self.send_whole(200, str(len(chosen)), "text/plain")
        elif url.path == "/billed":
            with self.state.lock:
                self.send_whole(200, self.state.billed)
        elif url.path == "/side-by-side":
            with self.state.lock:
                self.send_whole(200, dict(self.state.side_by_side))
        else:
            self.send_whole(404, {"error": {"message": "only /log, /count, /billed and /side-by-side can be read"}})

    def do_CONNECT(self):
        """Acts as a proxy: every tunnel leads to --connect-to."""
        self.state.record({"method": "CONNECT", "path": self.path, "tag": "", "scenario": "proxy"})
        if not self.state.options.connect_to:
            self.send_whole(403, "no tunnels here", "text/plain")
            return
        there = socket.create_connection(("127.0.0.1", self.state.options.connect_to))
        self.send_response(200, "Connection established")
        self.end_headers()
        ends = {self.connection: there, there: self.connection}
        while True:
            for end in select.select(list(ends), [], [], 30)[0]:
                data = end.recv(65536)
                if not data:
                    there.close()
                    self.close_connection = True
                    return
                ends[end].sendall(data)

    def do_POST(self):
        self.close_connection = True
        url = urllib.parse.urlsplit(self.path)
        path = url.path
        match = re.match(r"/s/([^/]+)(/.*)", path)
        spec = urllib.parse.unquote(match.group(1)) if match else None
        path = match.group(2) if match else path
        if spec and spec.split(":")[0].split("@")[0] == "early-refusal":
            self.early_refusal()
            return
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            self.send_whole(400, {"error": {"message": "the request is not JSON"}})
            return
        model = str(body.get("model", ""))
        if spec is None:
            match = re.match(r"(?:claude-)?fake/(.+)", model)
            spec = match.group(1) if match else self.state.options.default
        match = re.fullmatch(r"([\w-]+?)(?::(\d+))?(?:@([\w-]+))?", spec)
        name, number, tag = match.groups() if match else (spec, None, "")
        tag = tag or ""
        self.n = int(number) if number is not None else DEFAULT_N.get(name, 1)
        self.anthropic = path.endswith("/messages")
        self.body = body
        self.streams = bool(body.get("stream"))
        self.wanted = 1 if self.anthropic else int(body.get("n") or 1)
        self.wants_usage = self.anthropic or bool((body.get("stream_options") or {}).get("include_usage"))
        self.model = model
        self.tool = (body.get("tools") or [None])[0] if (body.get("tool_choice") or {}).get("type") in ("tool", "function") else None
        key = self.headers.get("x-api-key") if self.anthropic else self.headers.get("Authorization", "")[7:]
        wanted = self.state.options.key
        self.key = key or ""
        key_right = not wanted or hmac.compare_digest(self.key.encode(), wanted.encode())
        self.call_type = self.headers.get("X-Hone-Call-Type", "")
        self.call_key = self.headers.get("X-Hone-Call-Key", "")
        self.state.record({
            "method": "POST", "time": time.time(), "path": self.path, "scenario": name, "tag": tag,
            "api": "anthropic" if self.anthropic else "openai", "call_type": self.call_type, "call_key": self.call_key,
            "model": model, "stream": self.streams, "has_key": bool(key), "key_right": key_right,
            "body": None if self.state.options.no_bodies else body,
        })
        if not (path.endswith("/v1/messages") if self.anthropic else path.endswith("/v1/chat/completions")):
            self.send_whole(404, {"error": {"message": f"nothing is served at {path}"}})
            return
        if not key_right:
            self.api_error(401, "authentication_error" if self.anthropic else "invalid_api_key",
                           f"Incorrect API key provided: {self.key}.")
            return
        if name not in SCENARIOS:
            self.api_error(400, "invalid_request_error", f"there is no scenario '{name}'")
            return
        self.counted = (name, tag)
        self.count = self.state.next_count(self.counted)
        try:
            getattr(self, "do_" + name.replace("-", "_"), self.fine)()
        except (BrokenPipeError, ConnectionResetError):
            pass

    # The field names of the two APIs.
    def api_error(self, status, kind, message, headers=()):
        if self.anthropic:
            body = {"type": "error", "error": {"type": kind, "message": message}}
        else:
            body = {"error": {"message": message, "type": kind, "code": kind}}
        self.send_whole(status, body, headers=headers)

    def usage(self, text):
        return self.told or (11, max(1, len(text) // 4))

    def document(self, text, thinking="", finish="stop", usage=True):
        given, made = self.usage(text + thinking)
        if self.anthropic:
            content = [{"type": "thinking", "thinking": thinking, "signature": "x"}] if thinking else []
            if self.tool:
                content += [{"type": "tool_use", "id": "toolu_1", "name": self.tool["name"], "input": json.loads(text)}]
                finish = "tool_use" if finish == "stop" else finish
            else:
                content += [{"type": "text", "text": text}] if text else []
            out = {"type": "message", "role": "assistant", "model": self.model, "content": content,
                   "stop_reason": {"stop": "end_turn", "length": "max_tokens"}.get(finish, finish)}
            if usage:
                out["usage"] = {"input_tokens": given, "output_tokens": made, **self.details}
            return out
        message = {"role": "assistant", "content": text}
        if self.tool:
            call = {"id": "call_1", "type": "function", "function": {"name": self.tool["function"]["name"], "arguments": text}}
            message, finish = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls" if finish == "stop" else finish
        if thinking:
            message["reasoning_content"] = thinking
        out = {"object": "chat.completion", "model": self.model,
               "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
        if usage:
            out["usage"] = {"prompt_tokens": given, "completion_tokens": made, **self.details}
        return out

    def events(self, text, thinking="", finish="stop", usage=True):
        """The stream as a list of bytes, one entry an event."""
        given, made = self.usage(text + thinking)
        size = max(4, len(text) // 50)
        pieces = [text[i:i + size] for i in range(0, len(text), size)]
        if self.anthropic:
            def event(kind, **fields):
                return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
            start = {"model": self.model, "role": "assistant", "content": []}
            if usage:
                start["usage"] = {"input_tokens": given, "output_tokens": 1, **self.details}
            yield event("message_start", message=start)
            yield event("ping")
            if thinking:
                yield event("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""})
                yield event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": thinking})
                yield event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "x"})
                yield event("content_block_stop", index=0)
            block = {"type": "text", "text": ""}
            if self.tool:
                block = {"type": "tool_use", "id": "toolu_1", "name": self.tool["name"], "input": {}}
                finish = "tool_use" if finish == "stop" else finish
            yield event("content_block_start", index=1, content_block=block)
            for piece in pieces:
                delta = {"type": "input_json_delta", "partial_json": piece} if self.tool else {"type": "text_delta", "text": piece}
                yield event("content_block_delta", index=1, delta=delta)
            yield event("content_block_stop", index=1)
            reason = {"stop": "end_turn", "length": "max_tokens"}.get(finish, finish)
            end = {"delta": {"stop_reason": reason}}
            if usage:
                end["usage"] = {"output_tokens": made}
            yield event("message_delta", **end)
            yield event("message_stop")
            return

        def chunk(delta, finish_reason=None):
            data = {"object": "chat.completion.chunk", "model": self.model,
                    "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}
            return f"data: {json.dumps(data)}\n\n".encode()
        yield b": keep-alive\n\n"
        yield chunk({"role": "assistant", "content": ""})
        if thinking:
            yield chunk({"reasoning_content": thinking})
        if self.tool:
            finish = "tool_calls" if finish == "stop" else finish
            start = {"index": 0, "id": "call_1", "type": "function", "function": {"name": self.tool["function"]["name"], "arguments": ""}}
            yield chunk({"tool_calls": [start]})
        for piece in pieces:
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} if self.tool else {"content": piece})
        yield chunk({}, finish)
        if usage and self.wants_usage:
            data = {"model": self.model, "choices": [],
                    "usage": {"prompt_tokens": given, "completion_tokens": made, **self.details}}
            yield f"data: {json.dumps(data)}\n\n".encode()
        yield b"data: [DONE]\n\n"

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in self.limits:
            self.send_header(name, value)
        self.end_headers()

    def send_piece(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def answer(self, text, thinking="", finish="stop", usage=True, pause=0.0):
        if not self.streams:
            self.send_whole(200, self.document(text, thinking, finish, usage))
            return
        self.begin_stream()
        for data in self.events(text, thinking, finish, usage):
            self.send_piece(data)
            if pause:
                time.sleep(pause)
        self.send_piece(b"")

    def several(self, replies, cut=(), endless=None):
        """Replies to one request, as (text, finish reason); their pieces alternate. Those in `cut` stop in the middle, `endless` never
        ends."""
        asked, made = self.told or (11, sum(self.usage(text)[1] for text, _ in replies))
        if not self.streams:
            whole = [self.document(text, finish=finish)["choices"][0] for text, finish in replies]
            out = self.document("")
            out["choices"] = [{**choice, "index": i} for i, choice in enumerate(whole)]
            out["usage"]["completion_tokens"] = made
            self.send_whole(200, out)
            return

        def chunk(index, delta, finish=None):
            choices = [{"index": index, "delta": delta, "finish_reason": finish}]
            self.send_piece(b"data: %s\n\n" % json.dumps({"model": self.model, "choices": choices}).encode())
        self.begin_stream()
        pieces = [[text[i:i + 4] for i in range(0, len(text), 4)] for text, _ in replies]
        for turn in range(max(map(len, pieces), default=0)):
            for index in sorted(range(len(replies)), key=lambda i: (i * 7 + turn) % len(replies)):
                if turn < len(pieces[index]) and not (index in cut and turn >= len(pieces[index]) // 2):
                    chunk(index, {"content": pieces[index][turn]})
        for index, (_, finish) in reversed(list(enumerate(replies))):
            if index not in cut and index != endless:
                chunk(index, {}, finish)
        while endless is not None:  # until the client disconnects
            chunk(endless, {"content": "the same line again\n" * 10})
        if cut:
            return
        usage = {"prompt_tokens": asked, "completion_tokens": made, **self.details}
        if self.wants_usage:
            self.send_piece(b"data: %s\n\n" % json.dumps({"model": self.model, "choices": [], "usage": usage}).encode())
        self.send_piece(b"data: [DONE]\n\n")
        self.send_piece(b"")

    def good_replies(self, count):
        texts = [self.state.next_reply(self.call_type) for _ in range(count)]
        if not self.state.replies:
            texts = [text if i == 0 else f"{text}, reply {i + 1}" for i, text in enumerate(texts)]
        return [(text, "stop") for text in texts]

    def fine(self):
        if self.wanted > 1:
            self.several(self.good_replies(self.wanted))
        else:
            self.answer(self.state.next_reply(self.call_type))

    def half(self):
        """Headers and the first half of a stream."""
        self.begin_stream()
        events = list(self.events("this is the first half of a reply that never comes to its end"))
        for data in events[:len(events) // 2]:
            self.send_piece(data)

    def misbehaves(self):
        return self.n == 0 or self.count <= self.n

    # The scenarios, as SCENARIOS describes them.
    def do_429(self):
        if self.misbehaves():
            self.api_error(429, "rate_limit_error", "slow down", [("Retry-After", "1")])
        else:
            self.fine()

    def do_429_date(self):
        if self.misbehaves():
            when = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 2))
            self.api_error(429, "rate_limit_error", "slow down", [("Retry-After", when)])
        else:
            self.fine()

    def do_429_quota(self):
        self.api_error(429, "insufficient_quota", "You exceeded your current quota, please check your plan.")

    def do_500(self):
        if self.misbehaves():
            self.send_whole(500, "<html>Internal Server Error</html>", "text/html")
        else:
            self.fine()

    def do_529(self):
        if self.misbehaves():
            self.api_error(529, "overloaded_error", "Overloaded")
        else:
            self.fine()

    def do_stall(self):
        if self.misbehaves():
            self.half()
            self.wait_for_the_end()
        else:
            self.fine()

    def do_silent(self):
        self.wait_for_the_end()

    def wait_for_the_end(self):
        """Waits until the client closes, so that a test's end never waits for a thread."""
        self.connection.settimeout(60)
        try:
            self.connection.recv(1)
        except OSError:
            pass

    def do_reset(self):
        if self.misbehaves():
            self.half()
            self.reset()
        else:
            self.fine()

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def early_refusal(self):
        body = json.dumps({"error": {"message": "request too large"}}).encode()
        self.connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                                b"Connection: close\r\n\r\n%s" % (len(body), body))
        self.connection.close()

    def do_cut(self):
        if self.misbehaves():
            self.half()
            self.send_piece(b"")
        else:
            self.fine()

    def do_utf8(self):
        broken = b"caf\xe9 \xff\xfe fine"
        if not self.streams:
            text = json.dumps(self.document("MARK")).encode().replace(b"MARK", broken)
            self.send_whole(200, text)
            return
        self.begin_stream()
        for data in self.events("MARK"):
            self.send_piece(data.replace(b"MARK", broken))
        self.send_piece(b"")

    def do_wrong_json(self):
        if not self.misbehaves():
            self.fine()
        elif self.streams:
            self.begin_stream()
            self.send_piece(b'data: {"choices": [{"delta": {"content": "oh\n\n')
            self.send_piece(b"")
        else:
            self.send_whole(200, '{"choices": [{"message": {"content": "oh')

    def do_html(self):
        self.send_whole(200, "<html><body>Welcome to the captive portal</body></html>", "text/html")

    def do_empty(self):
        if self.misbehaves():
            self.answer("")
        else:
            self.fine()

    def do_no_choices(self):
        self.send_whole(200, {"type": "message", "content": [], "choices": [], "stop_reason": "end_turn"})

    def do_length(self):
        said = [m for m in self.body["messages"] if m["role"] == "assistant"]
        done = sum(part in said[-1]["content"] for part in PARTS) if said else 0
        self.answer(PARTS[done], finish="stop" if done == len(PARTS) - 1 else "length")

    def do_length_always(self):
        self.answer(f"part {self.count} of an endless reply\n", finish="length")

    def do_length_thinking(self):
        if "briefly" in self.body["messages"][-1]["content"]:
            self.answer("brief")
        else:
            self.answer("", thinking="let me think about this for ever", finish="length")

    def huge(self):
        """All lines differ in more than a counter, because a repetitive reply is another scenario."""
        draw = random.Random(1)
        return "".join("line %016x of a reply without end\n" % draw.getrandbits(64) for _ in range(self.n * 1_000_000 // 46 + 1))

    def do_huge(self):
        self.answer(self.huge())

    def do_huge_document(self):
        self.send_whole(200, self.document(self.huge()))

    def do_context(self):
        if self.anthropic:
            self.api_error(400, "invalid_request_error", "prompt is too long: 250001 tokens > 200000 maximum")
        else:
            self.api_error(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens.")

    def do_wrong_key(self):
        self.api_error(401, "authentication_error" if self.anthropic else "invalid_api_key",
                       f"Incorrect API key provided: {self.key}. You can find yours elsewhere.")

    def do_not_found(self):
        self.api_error(404, "model_not_found", f"The model '{self.model}' does not exist")

    def do_redirect(self):
        self.send_whole(307, "", "text/plain", [("Location", "https://elsewhere.example/v1/chat/completions")])

    def do_no_usage(self):
        self.answer(self.state.next_reply(self.call_type), usage=False)

    def do_no_stream(self):
        self.send_whole(200, self.document(self.state.next_reply(self.call_type)))

    def do_refuse_stream(self):
        if self.streams:
            self.api_error(400, "invalid_request_error", "stream is not supported by this server")
        else:
            self.fine()

    def do_refuse_stream_options(self):
        if "stream_options" in self.body:
            self.api_error(400, "invalid_request_error", "Unrecognized request argument supplied: stream_options")
        else:
            self.fine()

    def do_refuse_max_tokens(self):
        limit = self.body.get("max_tokens", 0)
        if limit > 4096:
            self.api_error(400, "invalid_request_error",
                           f"max_tokens: {limit} > 4096, which is the maximum allowed number of output tokens")
        else:
            self.fine()

    def do_refuse_effort(self):
        field = "output_config.effort" if self.anthropic else "reasoning_effort"
        sent = (self.body.get("output_config") or {}).get("effort") if self.anthropic else self.body.get("reasoning_effort")
        if sent:
            self.api_error(400, "invalid_request_error", f"Unsupported parameter: '{field}' is not supported with this model.")
        else:
            self.fine()

    def do_refuse_cache_control(self):
        if "cache_control" in json.dumps(self.body):
            self.api_error(400, "invalid_request_error", "system.0.cache_control: Extra inputs are not permitted")
        else:
            self.fine()

    def do_cached(self):
        if self.anthropic:  # in addition to input_tokens
            self.details = {"cache_read_input_tokens": 6, "cache_creation_input_tokens": 3, "output_tokens_details": {"thinking_tokens": 2}}
        else:  # part of prompt_tokens; and thinking that only the total includes
            self.details = {"prompt_tokens_details": {"cached_tokens": 6}, "total_tokens": 11 + max(1, len("Hello from fake") // 4) + 40}
        self.fine()

    def do_declined(self):
        if not self.misbehaves():
            self.fine()
        elif self.anthropic:
            self.answer("", finish="refusal")
        else:
            self.answer("", finish="content_filter")

    def do_loop(self):
        if not self.misbehaves():
            self.fine()
            return
        if not self.streams:
            self.send_whole(200, self.document("the same line again\n" * 5000))
            return
        self.begin_stream()
        beginning = list(self.events("a beginning\n" + "the same line again\n" * 50))[:-4]
        for data in beginning:
            self.send_piece(data)
        while True:  # until the client disconnects
            self.send_piece(beginning[-1])

    def do_limited(self):
        """A token bucket that refills evenly, as both APIs document."""
        with self.state.lock:
            now = time.monotonic()
            left, at = self.state.buckets.get(self.counted, (float(self.n), now))
            left = min(float(self.n), left + (now - at) * self.n)
            granted = left >= 1
            left -= 1 if granted else 0
            self.state.buckets[self.counted] = (left, now)
        reset = (self.n - int(left)) / self.n
        if self.anthropic:
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + reset + 1))
            self.limits = [("anthropic-ratelimit-requests-limit", str(self.n)), ("anthropic-ratelimit-requests-remaining", str(int(left))),
                           ("anthropic-ratelimit-requests-reset", when)]
        else:
            self.limits = [("x-ratelimit-limit-requests", str(self.n)), ("x-ratelimit-remaining-requests", str(int(left))),
                           ("x-ratelimit-reset-requests", f"{int(reset * 1000)}ms")]
        if granted:
            self.fine()
        else:
            self.api_error(429, "rate_limit_error", "slow down", [("Retry-After", "1")])

    def asks_by_schema(self):
        return "response_format" in self.body or "format" in (self.body.get("output_config") or {})

    def do_refuse_schema(self):
        if self.asks_by_schema():
            field = "output_config" if self.anthropic else "response_format"
            self.api_error(400, "invalid_request_error", f"{field}: this type is unavailable now")
        else:
            self.fine()

    def do_refuse_tools(self):
        if "tools" in self.body:
            self.api_error(400, "invalid_request_error", "tool_choice forces tool use, which is not supported with thinking")
        else:
            self.fine()

    def do_refuse_structure(self):
        if self.asks_by_schema() or "tools" in self.body:
            self.api_error(400, "invalid_request_error", "bad request")
        else:
            self.fine()

    def do_router_without_tools(self):
        if self.asks_by_schema() or "tools" in self.body:
            self.api_error(404, "not_found", "No endpoints found that support tool use or response_format")
        else:
            self.fine()

    def do_error_in_stream(self):
        if not self.misbehaves():
            self.fine()
            return
        self.half()
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        if not self.anthropic:
            del error["type"]
        self.send_piece(b"event: error\ndata: %s\n\n" % json.dumps(error).encode())
        self.send_piece(b"")

    def do_thinking(self):
        self.answer("the answer", thinking="the thought")

    def do_think_tags(self):
        self.answer("<think>\nthe thought\n</think>\n\nthe answer")

    def do_done_then_hang(self):
        self.begin_stream()
        for data in self.events("the answer"):
            self.send_piece(data)
        self.wait_for_the_end()

    def do_gives_fewer(self):
        self.wanted = min(self.wanted, self.n)
        self.fine()

    def do_refuse_n(self):
        if "n" in self.body:
            self.api_error(400, "invalid_request_error", "'n' : number must be at most 1")
        else:
            self.fine()

    def do_refuse_n_silently(self):
        if "n" in self.body:
            self.api_error(400, "invalid_request_error", "bad request")
        else:
            self.fine()

    def do_mixed(self):
        if self.wanted == 1:
            self.fine()
        else:
            self.several([("", "stop"), ("", "content_filter"), ("half of a rep", "length")] + self.good_replies(self.wanted - 3))

    def do_several_empty(self):
        if self.misbehaves():
            self.several([("", "stop")] * self.wanted)
        else:
            self.fine()

    def do_several_loop(self):
        self.several(self.good_replies(self.wanted), endless=0)

    def do_several_cut(self):
        if self.wanted == 1:
            self.fine()
        else:
            self.several(self.good_replies(self.wanted), cut=[i for i in range(self.wanted) if i != 1])

    def do_slow(self):
        self.answer(self.state.next_reply(self.call_type), pause=1.0 / max(1, self.n))

    def do_program(self):
        if self.n and self.count % self.n == 0:
            self.api_error(503, "overloaded_error", "Overloaded", [("Retry-After", "0")])
            return
        said = self.body["messages"][-1]["content"]
        prompt = said if isinstance(said, str) else "".join(block.get("text", "") for block in said)
        keys = [self.call_key] + ["%s~%d" % (self.call_key, number) for number in range(2, self.wanted + 1)]
        with self.state.answering(self.counted[1]):
            replies = [self.state.ask_program({"tag": self.counted[1], "call_type": self.call_type, "key": key, "prompt": prompt}) for key in keys]
        self.told = (replies[0]["prompt_tokens"], sum(reply["completion_tokens"] for reply in replies))
        self.state.bill(self.counted[1], *self.told)
        if len(replies) > 1:
            self.several([(reply["text"], "stop") for reply in replies])
        else:
            self.answer(replies[0]["text"])

    def do_together(self):
        if self.state.wait_for_count(self.counted, self.n):
            self.fine()
        else:
            self.api_error(400, "invalid_request_error", f"{self.count} requests at the same time where {self.n} are expected")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Many tests have a client that disconnects or rejects the certificate."""
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(request, client_address)


def main():
    scenarios = "scenarios:\n" + "\n".join(f"  {name:22}{text}" for name, text in SCENARIOS.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog=scenarios,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0 (default): a free one, printed as 'port N'")
    parser.add_argument("--default", default="fine", metavar="SCENARIO", help="when neither path nor model says")
    parser.add_argument("--replies", metavar="DIR", help="good replies come from this folder, by call type")
    parser.add_argument("--program", metavar="COMMAND", help="what thinks in the scenario 'program'")
    parser.add_argument("--no-bodies", action="store_true", help="keep requests without their bodies")
    parser.add_argument("--key", help="the key that is right; any other, or none, gets HTTP 401")
    parser.add_argument("--log", metavar="FILE", help="append every request as a line of JSON")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"), help="serve https with this certificate")
    parser.add_argument("--connect-to", type=int, metavar="PORT", help="be a proxy whose tunnels end here")
    options = parser.parse_args()
    Handler.state = State(options)
    server = Server(("127.0.0.1", options.port), Handler)
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(f"port {server.server_address[1]}", flush=True)
    parent = os.getppid()

    def follow_the_parent():
        """Ends the server if its test is killed."""
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)
    threading.Thread(target=follow_the_parent, daemon=True).start()
    try:
        server.serve_forever(poll_interval=0.05)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
