"""The tools and resources of the server. Each tool checks its paths (folders.py), calls the program (programs.py, runs.py) and returns its output, as a
typed object and as a short text. A failure is a tool error of one sentence.
"""

from __future__ import annotations

import pathlib
import tempfile
from typing import Annotated, Any, Dict, List, Literal, Optional

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from . import programs
from .folders import LARGEST_SOURCE, Folders, Refused
from .runs import Runs

MOST_WAITING = 4
# A client may have written the task, so it runs in the sandbox, like a candidate.
FOREIGN = ["--sandbox-task"]
MOST_MINUTES = 24 * 60

Target = Literal["auto", "cpu", "cuda", "triton"]
TaskPath = Annotated[str, Field(description="Task file (Model, get_inputs, get_init_inputs) below a folder of this server", max_length=4096)]
RunName = Annotated[str, Field(description="Run: its id (R12), its name, the beginning of it, or last", max_length=200)]
Source = Annotated[Optional[str], Field(description="Text of the candidate", max_length=LARGEST_SOURCE)]
SourcePath = Annotated[Optional[str], Field(description="File of the candidate, in place of `source`", max_length=4096)]

INSTRUCTIONS = """Hone checks whether a PyTorch module ModelNew computes what Model of a task computes, and how fast it is.
read_task says what the task is; lint checks a source without running it; judge runs it in a sandbox, checks it against float64 and times
it; only verdict "accepted" counts. start_optimization lets Hone's own recipes search in the background; watch_run, stop_run, explain_run and
list_runs are about such runs. Paths are relative to the folders this server was started with."""


class Task(BaseModel):
    task: str
    device: str
    card: Dict[str, Any] = Field(description="Operators, FLOPs, bytes, serial steps, lower bound on the time")
    limit: float = Field(description="Largest relative error against float64 that is allowed")
    eager_us: float = Field(description="Time of one call of eager PyTorch in microseconds")
    graph_operators: int
    mutants_not_detected: List[str] = Field(description="Wrong variants of the task that its test cases cannot tell apart")


class Graph(BaseModel):
    task: str
    declined: str = Field(description="Why there is no graph; empty if there is one")
    graph: Dict[str, Any]


class Finding(BaseModel):
    rule: str
    severity: str
    line: int
    column: int = 0
    message: str
    fix: str = ""


class Lint(BaseModel):
    kernel_class: str
    findings: List[Finding]
    clean: bool = Field(description="False if there is a finding of severity error")


class Verdict(BaseModel):
    verdict: str = Field(description="accepted, rejected, no_difference, inconclusive or cannot_judge")
    reason: str
    detail: str
    kind: str = ""
    vs_best: float = Field(0, description="Speed-up against the fastest PyTorch baseline; 0: not timed")
    vs_eager: float = 0
    ci95: List[float] = []
    error: Optional[float] = None
    error_limit: Optional[float] = None
    record: Dict[str, Any] = Field(description="Everything that `hone bench --json` prints")


class Candidate(BaseModel):
    key: str
    parent: str = ""
    verdict: str = ""
    reason: str = ""
    vs_best: float = 0


class Run(BaseModel):
    id: str
    name: str
    task: str
    status: str = Field(description="running, done, stopped, failed, or killed: no process executes it, `hone resume` continues it")
    result: str = ""
    outcome: str = ""
    vs_best: float = 0
    best: str = Field("", description="Key of the accepted candidate; empty: PyTorch is kept")
    best_file: str = Field("", description="best.py of the run, once it has ended")
    folder: str
    candidates: List[Candidate] = []
    decisions: List[str] = []


class RunList(BaseModel):
    runs: List[Run]


class Explanation(BaseModel):
    run: str
    explanation: Dict[str, Any]


def _answer(value: BaseModel, text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=value.model_dump(mode="json"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0


class _Server(MCPServer[Any]):
    """Reports errors without the SDK's prefix, and wrong arguments in one sentence."""

    async def call_tool(self, name: str, arguments: Dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                said = cause.errors()[0]
                raise ToolError("Wrong argument %s of %s: %s." % (".".join(map(str, said["loc"])), name, said["msg"])) from cause
            if type(cause) is ToolError:
                raise ToolError(str(cause)) from None
            raise


class Service:
    def __init__(self, folders: Folders, program: str):
        self.folders, self.program = folders, program
        self.runs = Runs(program, folders)
        self.turn = programs.Turn(MOST_WAITING)

    def task(self, path: str) -> str:
        try:
            return self.folders.file(path)
        except Refused as refusal:
            raise ToolError(str(refusal))

    def source(self, source: Optional[str], path: Optional[str]) -> bytes:
        if (source is None) == (path is None):
            raise ToolError("Give either `source` or `candidate`, the path of a file.")
        try:
            return source.encode() if source is not None else self.folders.read(path or "")
        except Refused as refusal:
            raise ToolError(str(refusal))

    async def free(self) -> None:
        busy = await self.runs.busy()
        if busy:
            raise ToolError("The run %s is judging on this machine; wait for its end or stop it first." % busy)

    async def call(self, arguments: List[str], on_line: programs.OnLine = None) -> programs.Finished:
        return await programs.run(self.program, arguments, on_line)

    async def view(self, row: Dict[str, Any]) -> Run:
        """A run with its candidates and its last decisions."""
        story = await self.runs.story(row["id"])
        run = self.brief({**story, "abandoned": row.get("abandoned")})
        run.candidates = [Candidate(key=one["key"], parent=_text(one.get("parent")), verdict=_text(one.get("verdict")),
                                    reason=_text(one.get("reason")), vs_best=_number(one.get("vs_best"))) for one in story.get("candidates", [])]
        run.decisions = [_text(one.get("text")) for one in story.get("decisions", [])][-20:]
        return run

    @staticmethod
    def brief(row: Dict[str, Any]) -> Run:
        best_file = pathlib.Path(row["folder"], "best.py")
        return Run(id=row["id"], name=row["name"], task=_text(row.get("task")), status="killed" if row.get("abandoned") else _text(row.get("status")),
                   result=_text(row.get("result")), outcome=_text(row.get("outcome")), vs_best=_number(row.get("vs_best")), best=_text(row.get("best")),
                   best_file=str(best_file) if best_file.exists() else "", folder=row["folder"])


def _summary(run: Run) -> str:
    judged = sum(1 for one in run.candidates if one.verdict and one.verdict != "baseline")
    words = "%s %s: %s, %d candidate%s judged" % (run.id, run.task, run.status, judged, "" if judged == 1 else "s")
    return words + (". " + run.outcome if run.outcome else "")


def make_server(folders: Folders, program: str) -> MCPServer[Any]:
    service = Service(folders, program)
    server = _Server("hone", title="Hone", instructions=INSTRUCTIONS, log_level="WARNING")
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @server.tool(annotations=reads)
    async def read_task(task: TaskPath, ctx: Context, target: Target = "auto") -> Annotated[CallToolResult, Task]:
        """Run a task's module and say what it is: operators, shapes, FLOPs, lower bound on the time, error limit, and which wrong answers it can tell apart."""
        path = service.task(task)
        async with service.turn:
            await service.free()
            await ctx.report_progress(0, None, "reading the task")
            said = (await service.call(["show", path, "--json", "--target", target, *FOREIGN])).json()
        mutants = [one["name"] for one in said.get("mutants", []) if not one.get("told_apart")]
        value = Task(task=said["task"], device=_text(said.get("device")), card=said["card"], limit=_number(said.get("limit")), eager_us=_number(said.get("eager_us")),
                     graph_operators=int(_number(said.get("graph", {}).get("operators"))), mutants_not_detected=mutants)
        return _answer(value, "%s on %s: %d operators, %.4g us per call of eager PyTorch, error limit %.3g" % (
            value.task, value.device, value.graph_operators, value.eager_us, value.limit))

    @server.tool(annotations=reads)
    async def read_graph(task: TaskPath, ctx: Context, simplified: bool = False) -> Annotated[CallToolResult, Graph]:
        """The task as a graph of ATen operators with shapes; `simplified` applies Hone's rewrites first."""
        path = service.task(task)
        async with service.turn:
            await service.free()
            await ctx.report_progress(0, None, "capturing the graph")
            said = (await service.call(["show", path, "--graph", "--json", *FOREIGN, *(["--rewrite"] if simplified else [])])).json()
        declined = _text(said.get("declined"))
        value = Graph(task=pathlib.Path(path).stem, declined=declined, graph={} if declined else said)
        return _answer(value, "no graph: " + declined if declined else "%d nodes" % len(said.get("nodes", [])))

    @server.tool(annotations=reads)
    async def lint(source: Source = None, candidate: SourcePath = None, task: Annotated[Optional[str], Field(description="Task of the candidate; gives shapes to the checks")] = None) -> Annotated[CallToolResult, Lint]:
        """Static analysis of a candidate (Python with Triton, CUDA or C++ in it), without running it."""
        text = service.source(source, candidate)
        flags = ["--task", service.task(task)] if task is not None else []
        with tempfile.TemporaryDirectory(prefix="hone-mcp-") as folder:
            file = pathlib.Path(folder, "candidate.py")
            file.write_bytes(text)
            said = (await service.call(["lint", str(file), "--json", *flags])).json()["files"][0]
        findings = [Finding(rule=one["rule"], severity=one["severity"], line=int(_number(one.get("line"))), column=int(_number(one.get("column"))),
                            message=_text(one.get("message")), fix=_text(one.get("fix"))) for one in said.get("findings", [])]
        value = Lint(kernel_class=_text(said.get("kernel_class")), findings=findings, clean=not any(one.severity == "error" for one in findings))
        return _answer(value, "\n".join("line %d: %s %s: %s" % (one.line, one.severity, one.rule, one.message) for one in findings) or "no findings")

    @server.tool()
    async def judge(task: TaskPath, ctx: Context, source: Source = None, candidate: SourcePath = None, target: Target = "auto",
                    check_only: Annotated[bool, Field(description="Check the answers and time nothing")] = False,
                    compile: Annotated[Literal["auto", "never", "always"], Field(description="Whether torch.compile is among the baselines")] = "auto") -> Annotated[CallToolResult, Verdict]:
        """Judge a candidate in the sandbox: its answers against float64 on secret inputs, its time against the fastest PyTorch baseline. Takes seconds to minutes."""
        path = service.task(task)
        text = service.source(source, candidate)
        phases = 0

        async def progress(line: str) -> None:
            nonlocal phases
            if line.startswith("hone: "):
                phases += 1
                await ctx.report_progress(phases, None, line[len("hone: "):])

        flags = ["--target", target, "--compile", compile, *FOREIGN, *(["--check-only"] if check_only else [])]
        async with service.turn:
            await service.free()
            with tempfile.TemporaryDirectory(prefix="hone-mcp-") as folder:
                file = pathlib.Path(folder, "candidate.py")
                file.write_bytes(text)
                said = (await service.call(["bench", path, str(file), "--json", "--progress", *flags], progress)).json()
        speedup, error = said.get("speedup") or {}, said.get("error") or {}
        value = Verdict(verdict=said["verdict"], reason=_text(said.get("reason")), detail=_text(said.get("detail")), kind=_text(said.get("kind")), vs_best=_number(speedup.get("vs_best")),
                        vs_eager=_number(speedup.get("vs_eager")), ci95=[_number(end) for end in speedup.get("ci95") or []],
                        error=error.get("candidate"), error_limit=error.get("limit"), record=said)
        words = "%s (%s)" % (value.verdict, value.reason) + (", %.2fx vs the best baseline" % value.vs_best if value.vs_best else "")
        return _answer(value, words + (": " + value.detail if value.detail else ""))

    @server.tool()
    async def start_optimization(task: TaskPath, target: Target = "auto",
                                 max_minutes: Annotated[float, Field(gt=0, le=MOST_MINUTES)] = 30,
                                 max_evaluations: Annotated[int, Field(ge=0, le=1000, description="Most candidates to judge; 0: no limit")] = 0,
                                 compile: Literal["auto", "never", "always"] = "auto") -> Annotated[CallToolResult, Run]:
        """Let Hone's own recipes optimise a task in the background. Returns the run at once; it goes on without the client until max_minutes are over."""
        service.task(task)
        flags = ["--target", target, "--max-minutes", "%g" % max_minutes, "--max-evaluations", str(max_evaluations), "--compile", compile, *FOREIGN]
        async with service.turn:
            try:
                row = await service.runs.start(task, flags)
            except Refused as refusal:
                raise ToolError(str(refusal))
        return _answer(service.brief(row), "%s started; watch_run says how it goes" % row["id"])

    @server.tool(annotations=reads)
    async def watch_run(run: RunName, ctx: Context,
                        wait_seconds: Annotated[float, Field(ge=0, le=600, description="Wait so long for a verdict or the end")] = 0) -> Annotated[CallToolResult, Run]:
        """How a run goes: its candidates so far, its last decisions, its end. Waits for news if asked to."""
        row = await service.runs.find(run)
        value = await service.view(row)
        before = sum(1 for one in value.candidates if one.verdict)
        with anyio.move_on_after(wait_seconds):
            while value.status == "running":
                judged = sum(1 for one in value.candidates if one.verdict)
                await ctx.report_progress(judged, None, value.decisions[-1] if value.decisions else "the task is being read")
                if judged > before:
                    break
                await anyio.sleep(1)
                row = await service.runs.find(row["id"])
                value = await service.view(row)
        return _answer(value, _summary(value))

    @server.tool()
    async def stop_run(run: RunName) -> Annotated[CallToolResult, Run]:
        """Stop a run as Ctrl-C does: it keeps its best so far and can be resumed with `hone resume`."""
        row = await service.runs.find(run)
        stopped = await service.runs.stop(row)
        value = await service.view(await service.runs.find(row["id"]))
        return _answer(value, _summary(value) if stopped else "no process works on it; " + _summary(value))

    @server.tool(annotations=reads)
    async def explain_run(run: RunName) -> Annotated[CallToolResult, Explanation]:
        """What happened in a run and why: timeline, causes, what each part contributed, what to try next."""
        row = await service.runs.find(run)
        said = (await service.call(["explain", row["id"], "--json"])).json()
        return _answer(Explanation(run=row["id"], explanation=said), (await service.call(["explain", row["id"], "--md"])).text())

    @server.tool(annotations=reads)
    async def list_runs(most: Annotated[int, Field(ge=1, le=500)] = 20) -> Annotated[CallToolResult, RunList]:
        """The runs in the folders of this server, newest first."""
        runs = [service.brief(row) for row in await service.runs.rows(most)]
        return _answer(RunList(runs=runs), "\n".join("%s %s %s %s" % (run.id, run.task, run.status, run.result) for run in runs) or "no runs")

    async def about_run(run: str, *words: str) -> str:
        try:
            row = await service.runs.find(run)
            return (await service.call([words[0], row["id"], *words[1:]])).text()
        except ToolError as error:
            raise ResourceError(str(error))

    @server.resource("hone://report/{run}.md", mime_type="text/markdown")
    async def report_markdown(run: str) -> str:
        """The report of a run as Markdown."""
        return await about_run(run, "report", "--md")

    @server.resource("hone://report/{run}.html", mime_type="text/html")
    async def report_page(run: str) -> str:
        """The report of a run as one HTML page with plots and sources; it loads nothing."""
        return await about_run(run, "report", "--html", "-")

    @server.resource("hone://prompt/{call_type}/{+task}", mime_type="text/plain")
    async def prompt_text(call_type: str, task: str) -> str:
        """What a language model would be asked about a task; the call type `seed` asks for a first candidate, `agent` is the README of an agent's folder."""
        try:
            path = service.task(task)
            if call_type not in ("seed", "agent"):
                raise ToolError("The call type is seed or agent.")
            async with service.turn:
                await service.free()
                return (await service.call(["prompt", path, "--call-type", call_type, *FOREIGN])).text()
        except ToolError as error:
            raise ResourceError(str(error))

    return server
