# label: long
"""The MCP server with the SDK's own client over stdio and the real program: every tool and resource, and every way out of its folders.

Usage: mcp_test.py --hone BINARY (PYTHONPATH=python)
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Awaitable, Callable, Dict, List

import anyio

try:
    from mcp import Client, MCPError, StdioServerParameters, stdio_client
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRONG = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.zeros_like(x)\n"
SECRET = "the secret outside"

# A task by a malicious agent. It acts like an honest task if none of its attempts succeeds; otherwise it reports them.
HOSTILE = """import os, signal, socket, subprocess
import torch
import beside

def tries():
    def read(path):
        with open(path, "rb") as file:
            return file.read(1 << 16)

    def connect(family, address):
        with socket.socket(family) as one:
            one.settimeout(2)
            one.connect(address)
            one.sendall(b"out")

    def send(path):
        with open(path, "ab") as file:
            file.write(b"owned")

    yield "reads the secret", lambda: read({secret!r})
    yield "reads it through a link in its folder", lambda: read(os.path.join(os.path.dirname(__file__), "link.py"))
    yield "reads it with a program", lambda: subprocess.run(["cat", {secret!r}], check=True, capture_output=True)
    yield "reads the store", lambda: read({store!r})
    yield "reads its parent's environment", lambda: read("/proc/%d/environ" % os.getppid()).index(b"HONE_DATA")
    yield "reads the server's environment", lambda: read("/proc/{server}/environ")
    yield "has the server's key", lambda: os.environ["HONE_TEST_KEY"]
    yield "writes outside", lambda: send({owned!r})
    yield "writes into its own folder", lambda: send(os.path.join(os.path.dirname(__file__), "owned"))
    yield "changes the store", lambda: os.truncate({store!r}, 0)
    yield "removes the secret", lambda: os.unlink({secret!r})
    yield "links the secret into its home", lambda: os.link({secret!r}, os.path.join(os.environ["HOME"], "kept"))
    yield "reaches the network", lambda: connect(socket.AF_INET, ("127.0.0.1", {port}))
    yield "reaches a socket in the file system", lambda: connect(socket.AF_UNIX, {path!r})
    yield "reaches a socket without a file", lambda: connect(socket.AF_UNIX, "\\0" + {name!r})
    if {may_end}:  # Landlock alone, without namespaces, does not keep a process from signals of its own user
        yield "ends the server", lambda: os.kill({server}, signal.SIGTERM)

done = []
for what, act in tries():
    try:
        act()
    except (OSError, subprocess.SubprocessError, KeyError, ValueError):
        continue
    done.append(what)
if done or beside.HERE != "beside":
    raise RuntimeError("it " + ", ".join(done))

"""


class House:
    """A served folder with every kind of trap, and one outside."""

    def __init__(self, hone: str, base: pathlib.Path, cache: str):
        self.hone, self.base = hone, base
        self.root, self.other, self.outside = base / "root", base / "other", base / "outside"
        for folder in (self.root, self.other, self.outside, base / "data", base / "empty"):
            folder.mkdir()
        shutil.copy(ROOT / "tasks" / "small_softmax.py", self.root / "task.py")
        shutil.copy(ROOT / "tasks" / "small_softmax.py", self.other / "task.py")
        (self.root / "wrong.py").write_text(WRONG)
        (self.root / "inside_link.py").symlink_to(self.root / "wrong.py")
        (self.outside / "secret.py").write_text(SECRET)
        (self.root / "link.py").symlink_to(self.outside / "secret.py")
        (self.root / "folder_link").symlink_to(self.outside)
        (self.root / "dangling.py").symlink_to(self.outside / "not_yet.py")
        (self.root / "loop.py").symlink_to(self.root / "loop.py")
        (self.other / "runs").symlink_to(self.outside)
        # What a hostile client would place in a folder: settings and modules that must not be read.
        (self.root / "hone.toml").write_text("[defaults]\nsandbox = 'none'\n[optimize]\nproposer = 'exec:touch %s'\n" % (self.outside / "owned"))
        (self.root / "anyio.py").write_text("raise SystemExit('a module of the client was imported')\n")
        os.mkfifo(self.root / "fifo.py")
        with open(self.root / "huge.py", "wb") as file:
            file.truncate(5 << 20)
        self.environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PYTHONPATH": str(ROOT / "python"), "HONE_BINARY": hone,
                            "HONE_DATA": str(base / "data"), "HONE_CACHE": cache, "HONE_PYTHON": sys.executable,
                            "TMPDIR": str(base), "XDG_CONFIG_HOME": str(base / "empty")}

    def client(self, *roots: pathlib.Path, command: "List[str] | None" = None) -> Client:
        words = [*(command or [sys.executable, "-B", "-m", "hone.mcp"])]
        for root in roots or (self.root,):
            words += ["--root", str(root)]
        return Client(stdio_client(StdioServerParameters(command=words[0], args=words[1:], env=self.environment, cwd=str(self.root)), errlog=sys.stderr))

    def programs(self, word: str) -> List[int]:
        """Processes of the program started from this house, with this word in their command line. Other tests run at the same time."""
        found, mark = [], ("HONE_DATA=%s" % self.environment["HONE_DATA"]).encode()
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                if len(words) > 1 and words[0] == self.hone.encode() and words[1] == word.encode() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found


def check(condition: Any, what: str) -> None:
    if not condition:
        raise AssertionError(what)


async def fails(client: Client, tool: str, wanted: str, **arguments: Any) -> None:
    """Requires a tool error of one sentence that contains these words and nothing from outside."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    check(result.is_error, "%s(%s) is no error: %s" % (tool, arguments, text[:300]))
    check(wanted in text, "%s(%s) says %r, without %r" % (tool, arguments, text, wanted))
    check("\n" not in text and "Traceback" not in text and SECRET not in text, "%s(%s) says %r" % (tool, arguments, text))


async def answers(client: Client, tool: str, **arguments: Any) -> Dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    check(not result.is_error, "%s(%s): %s" % (tool, arguments, result.content[0].text))
    check(result.content[0].text.strip(), tool + " has no text")
    return result.structured_content


async def gone(house: House, word: str) -> None:
    with anyio.fail_after(120):
        while house.programs(word):
            await anyio.sleep(0.1)


async def folders(house: House) -> None:
    """no path leads out of the folders: '..', absolute paths, links, FIFOs, devices, folders and huge files are refused"""
    refused = [("../outside/secret.py", "'..'"), ("root/../../outside/secret.py", "'..'"), (str(house.outside / "secret.py"), "outside the folders"), ("/dev/zero", "outside the folders"),
               ("/proc/self/environ", "outside the folders"), ("link.py", "outside the folders"), ("folder_link/secret.py", "outside the folders"), ("dangling.py", "outside the folders"),
               ("loop.py", "'loop.py'"), ("fifo.py", "not a plain file"), ("huge.py", "at most"), (".", "folder"), ("no_such.py", "There is no"), ("", "1 to 4096"), ("a\0b", "NUL"),
               ("x" * 5000, "Wrong argument candidate")]
    async with house.client() as client:
        for path, wanted in refused:
            await fails(client, "lint", wanted, candidate=path)
        for tool in ("read_task", "read_graph", "start_optimization"):
            await fails(client, tool, "outside the folders", task="link.py")
            await fails(client, tool, "not a plain file", task="fifo.py")
        await fails(client, "judge", "outside the folders", task="folder_link/secret.py", source=WRONG)
        await fails(client, "judge", "outside the folders", task="task.py", candidate="link.py")
        await fails(client, "lint", "outside the folders", source=WRONG, task=str(house.outside / "secret.py"))
        for uri in ("hone://prompt/seed/link.py", "hone://prompt/seed/../outside/secret.py", "hone://prompt/seed/%2e%2e/outside/secret.py", "hone://report/..%2fsecret.md"):
            try:
                read = await client.read_resource(uri)
            except MCPError as error:
                check(SECRET not in str(error) and "Traceback" not in str(error), str(error))
            else:
                raise AssertionError("%s was read: %r" % (uri, read))
        # The target of a link inside is served, and so is an absolute path inside.
        for path in ("inside_link.py", str(house.root / "wrong.py")):
            check((await answers(client, "lint", candidate=path))["kernel_class"] is not None, path)
    async with house.client(house.other) as client:
        await fails(client, "start_optimization", "is a link", task="task.py")
        await fails(client, "lint", "outside the folders", candidate=str(house.root / "wrong.py"))
    check(sorted(path.name for path in house.outside.iterdir()) == ["secret.py"], "something was written outside")


async def arguments(house: House) -> None:
    """every tool has a schema for its answer; wrong arguments and runs that are not there are told in one sentence"""
    async with house.client(command=[house.hone, "mcp"]) as client:
        tools = (await client.list_tools()).tools
        wanted = ["explain_run", "judge", "lint", "list_runs", "read_graph", "read_task", "start_optimization", "stop_run", "watch_run"]
        check(sorted(tool.name for tool in tools) == wanted, [tool.name for tool in tools])
        for tool in tools:
            check(tool.description and tool.output_schema and tool.output_schema.get("properties"), tool.name)
        await fails(client, "judge", "Wrong argument task", source=WRONG)
        await fails(client, "judge", "either `source` or `candidate`", task="task.py")
        await fails(client, "lint", "either `source` or `candidate`", source=WRONG, candidate="wrong.py")
        await fails(client, "judge", "Wrong argument target", task="task.py", source=WRONG, target="rm -rf")
        await fails(client, "start_optimization", "Wrong argument max_minutes", task="task.py", max_minutes=-1)
        for tool in ("watch_run", "stop_run", "explain_run"):
            await fails(client, tool, "There is no run", run="R77")
            await fails(client, tool, "named by its id", run="--help")
            await fails(client, tool, "named by its id", run="../R1")
        check(await answers(client, "list_runs") == {"runs": []}, "list_runs")
        broken = await answers(client, "lint", source="class ModelNew(:\n")
        check(not broken["clean"] and broken["findings"][0]["line"] >= 1, broken)
        check((await answers(client, "lint", source=WRONG, task="task.py"))["clean"], "a clean file")


async def judging(house: House) -> None:
    """a candidate is judged with progress; one at a time, a few wait, one more is refused; a client that cancels ends the program"""
    async with house.client() as client:
        seen: List[str] = []

        async def progress(_: float, __: "float | None", message: "str | None") -> None:
            seen.append(message or "")

        call = {"task": "task.py", "source": WRONG, "check_only": True, "target": "cpu"}
        result = await client.call_tool("judge", call, progress_callback=progress)
        check(not result.is_error, result.content[0].text)
        said = result.structured_content
        check((said["verdict"], said["reason"]) == ("rejected", "wrong-output"), said)
        check(said["record"]["provenance"]["sandbox"] != "none", "a hone.toml of the client was read: %s" % said["record"]["provenance"])
        check(said["record"]["gates"] and "wrong-output" in result.content[0].text, result.content[0].text)
        check(len(seen) > 3 and any("task" in message for message in seen), "progress: %s" % seen)

        texts: List[str] = []

        async def ask(number: int) -> None:
            texts.append((await client.call_tool("judge", {**call, "source": WRONG + "# %d\n" % number})).content[0].text)

        async with anyio.create_task_group() as group:
            group.start_soon(ask, 0)
            with anyio.fail_after(120):
                while not house.programs("bench"):
                    await anyio.sleep(0.02)
                for number in range(1, 6):
                    group.start_soon(ask, number)
                while not texts:
                    await anyio.sleep(0.02)
                check(len(house.programs("bench")) <= 1, "two judgings at once")
            group.cancel_scope.cancel()
        check("4 judgings wait already" in texts[0], texts)
        await gone(house, "bench")
        check((await answers(client, "lint", source=WRONG))["clean"], "the server works after that")
        card = await answers(client, "read_task", task="task.py", target="cpu")
        check(card["card"]["operators"] and card["limit"] > 0 and card["eager_us"] > 0, card)
        graph = await answers(client, "read_graph", task="task.py")
        check(graph["graph"]["nodes"] and not graph["declined"], graph)
    # If a client disconnects, its request ends.
    async with house.client() as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "judge", {**call, "source": WRONG + "# last\n"})
        with anyio.fail_after(120):
            while not house.programs("bench"):
                await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    await gone(house, "bench")


async def hostile_tasks(house: House) -> None:
    """a task that an agent wrote runs in the sandbox, at both levels: it reads its own folder and nothing else, writes nowhere, reaches nobody"""
    name = "hone-test-%d" % os.getpid()
    path = str(house.base / "socket")
    listening = []
    for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, path), (socket.AF_UNIX, "\0" + name)):
        one = socket.socket(family)
        one.bind(address)
        one.listen()
        one.setblocking(False)
        listening.append(one)
    (house.root / "beside.py").write_text("HERE = 'beside'\n")
    store = house.base / "data" / "hone.db"
    store.touch()
    for level in ("bubblewrap", "landlock"):
        settings = house.base / "settings" / level
        (settings / "hone").mkdir(parents=True)
        (settings / "hone" / "hone.toml").write_text("[defaults]\nsandbox = '%s'\n" % level)
        house.environment.update(XDG_CONFIG_HOME=str(settings), HONE_TEST_KEY="a key of the server")
        (house.root / "hostile.py").write_text(HOSTILE.format(secret=str(house.outside / "secret.py"), owned=str(house.outside / "owned"), store=str(store), server=os.getpid(),
                                                             port=listening[0].getsockname()[1], path=path, name=name, may_end=level == "bubblewrap" or os.geteuid() == 0) + (house.root / "task.py").read_text())
        before = sorted(entry.name for entry in house.root.iterdir())
        async with house.client() as client:
            said = await answers(client, "judge", task="hostile.py", source=WRONG, check_only=True, target="cpu")
            check((said["verdict"], said["reason"]) == ("rejected", "wrong-output"), said)
            check(said["record"]["provenance"]["sandbox"].startswith(level), "not at %s: %s" % (level, said["record"]["provenance"]["sandbox"]))
            graph = await answers(client, "read_graph", task="hostile.py")
            check(graph["graph"]["nodes"] and not graph["declined"], graph)
        check(sorted(entry.name for entry in house.root.iterdir()) == before, "the task wrote into the served folder")
        check(sorted(entry.name for entry in house.outside.iterdir()) == ["secret.py"] and (house.outside / "secret.py").read_text() == SECRET, "the outside was changed")
    for one in listening:
        try:
            one.accept()
        except BlockingIOError:
            continue
        finally:
            one.close()
        raise AssertionError("the task reached %s" % (one,))
    # Without a sandbox such a task does not run at all.
    (settings / "hone" / "hone.toml").write_text("[defaults]\nsandbox = 'none'\n")
    async with house.client() as client:
        for tool, more in (("judge", {"source": WRONG}), ("read_task", {}), ("read_graph", {}), ("start_optimization", {})):
            await fails(client, tool, "not run without a sandbox", task="hostile.py", **more)
        check(all(tool.annotations.read_only_hint for tool in (await client.list_tools()).tools if tool.name in ("read_task", "read_graph")), "the hints")


async def optimising(house: House) -> None:
    """a run goes on without its client, a later server watches, stops and explains it; other folders do not see it"""
    async with house.client() as client:
        run = await answers(client, "start_optimization", task="task.py", target="cpu", max_minutes=20, compile="never")
        check(run["status"] == "running" and run["folder"].startswith(str(house.root / "runs")), run)
        await fails(client, "start_optimization", "under way", task="task.py")
        await fails(client, "judge", "is judging on this machine", task="task.py", source=WRONG)
    check(len(house.programs("optimize")) == 1, "the run ended with its client")
    check(not (house.outside / "owned").exists(), "a hone.toml of the client was read")
    async with house.client(house.other) as client:
        check(await answers(client, "list_runs") == {"runs": []}, "a run of another folder is listed")
        await fails(client, "stop_run", "There is no run", run=run["id"])
        await fails(client, "explain_run", "There is no run", run=run["name"])
    async with house.client() as client:
        check((await answers(client, "watch_run", run=run["id"], wait_seconds=1))["status"] == "running", "it still runs")
        stopped = await answers(client, "stop_run", run="last")
        check(stopped["status"] == "stopped" and "interrupted" in stopped["outcome"] and stopped["best_file"], stopped)
        check(not house.programs("optimize"), "stop_run left the program running")
        check("no process works on it" in (await client.call_tool("stop_run", {"run": run["id"]})).content[0].text, "stopped twice")
        check([one["id"] for one in (await answers(client, "list_runs"))["runs"]] == [run["id"]], "list_runs")
        check((await answers(client, "explain_run", run=run["name"]))["explanation"], "explain_run")
        report = (await client.read_resource("hone://report/%s.md" % run["id"])).contents[0]
        check(report.mime_type == "text/markdown" and "Run %s," % run["id"] in report.text, report.text[:300])
        page = (await client.read_resource("hone://report/%s.html" % run["id"])).contents[0]
        check(page.mime_type == "text/html" and page.text.lstrip().lower().startswith("<!doctype html"), page.text[:100])
        prompt = (await client.read_resource("hone://prompt/agent/task.py")).contents[0].text
        check("./bench FILE" in prompt and "small_softmax" not in prompt.split("## The task")[0], prompt[:300])


async def command_line(house: House) -> None:
    """`hone mcp` and `python -m hone.mcp` say in one sentence what is missing"""
    bare = {**house.environment, "HOME": str(house.base / "empty")}
    for key in ("PYTHONPATH", "HONE_PYTHON"):
        del bare[key]
    lonely = house.base / "lonely" / "hone"
    lonely.parent.mkdir()
    shutil.copy2(house.hone, lonely)
    for words, wanted in (([str(lonely), "mcp"], "no Python with the packages hone and mcp was found"),
                          ([sys.executable, "-m", "hone.mcp", "--root", "/no/such/folder"], "is not a folder"),
                          ([sys.executable, "-m", "hone.mcp", "--root", str(house.root / "task.py")], "is not a folder")):
        env = bare if words[0] == str(lonely) else house.environment
        if words[0] == str(lonely):
            env = {**bare, "PATH": "/usr/bin:/bin"}
        done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        check(done.returncode == 3 and wanted in " ".join(done.stderr.split()) and "Traceback" not in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr[-500:]))


CASES: List[Callable[[House], Awaitable[None]]] = [command_line, arguments, folders, hostile_tasks, judging, optimising]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--only", help="cases whose name holds this word")
    args = parser.parse_args()
    failures = 0
    # Shared by all, so that the device's peak rates are measured once.
    cache = os.environ.get("HONE_TEST_CACHE") or tempfile.mkdtemp(prefix="hone-mcp-cache-")
    for case in CASES:
        if args.only and args.only not in case.__name__:
            continue
        base = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="hone-mcp-test-")))
        house = House(os.path.realpath(args.hone), base, cache)
        begin = time.monotonic()
        try:
            anyio.run(case, house)
            word, why = "ok", ""
        except BaseException as error:  # also for a group of errors
            while isinstance(getattr(error, "exceptions", None), tuple):
                error = error.exceptions[0]
            word, why = "FAIL", "\n     %s: %s" % (type(error).__name__, error)
            failures += 1
        finally:
            for name in ("bench", "optimize"):
                for pid in house.programs(name):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(base, ignore_errors=True)
        print("%-4s %5.1fs  %s%s" % (word, time.monotonic() - begin, case.__doc__, why), flush=True)
    if "HONE_TEST_CACHE" not in os.environ:
        shutil.rmtree(cache, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
