"""Work on many plans or records at once: a line of `critic verify`, replay in several processes."""

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from harness.cli import build_parser, main
from tests.benchmarks import plans
from tests.benchmarks.desk import STEPS
from tests.benchmarks.logs import filled
from tests.benchmarks.rows import UNIT, loads_plans
from tests.benchmarks.startup import critic_command, of_children
from tests.benchmarks.timing import Cost, Row, Unbuilt, of_process

Json = dict[str, Any]

TOOLS: Final = 1000
LINES: Final = 1000
FEWER_LINES: Final = 40
RECORDS: Final = 1500
_SLOW_NS: Final = 1e6
"""A line that costs more than a millisecond is measured over fewer of them."""


def policy_wire(size: int) -> Json:
    """Return the desk as a policy: its tools under names of their own, its evidence, its spec."""
    manifests = plans.compiled(size).wire()["manifests"]
    tools = [
        {**tool, "name": f"{tool['adapter_id']}.{tool['capability_id']}"}
        for tool in manifests["tool_manifest"]
    ]
    ctx = plans.context(STEPS).wire()
    guard = {"safety_mode": ctx["safety_mode"], "budget": ctx["run_budget"]}
    spec = plans.spec().wire()
    return {"guard": guard, "spec": spec, "tool": tools, "evidence": manifests["evidence_manifest"]}


def _plan_line(number: int) -> bytes:
    return plans.plan_bytes(STEPS, number)


def _proposal_line(number: int) -> bytes:
    """Return a proposal that leaves out what the policy says."""
    ctx = {"trace_id": plans.TRACE, "as_of": plans.context(STEPS).wire()["as_of"]}
    return orjson.dumps({"ctx": ctx, "plan": plans.plan_wire(STEPS, number)})


LINES_OF: Final = {"plans": _plan_line, "proposals": _proposal_line}


def understood(arguments: Sequence[str]) -> bool:
    """Return whether the command line knows these arguments."""
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            build_parser().parse_args(arguments)
    except SystemExit:
        return False
    return True


class Batches:
    """The files that the rows read, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        whole = plans.proposal(STEPS, TOOLS).wire()
        del whole["plan"]
        self._write("policy.json", orjson.dumps(policy_wire(TOOLS)))
        self._write("ctx.json", orjson.dumps(whole["ctx"]))
        self._write("against.json", orjson.dumps(whole))
        for name, line in LINES_OF.items():
            written = [line(number) + b"\n" for number in range(LINES)]
            for count in (1, FEWER_LINES, LINES):
                self._write(f"{name}_{count}.jsonl", b"".join(written[:count]))

    def _write(self, name: str, data: bytes) -> None:
        (self._folder / name).write_bytes(data)

    def _path(self, name: str) -> str:
        return str(self._folder / name)

    def rows(self) -> list[Row | Unbuilt]:
        """Return the rows of what is there, and of what is not."""
        policy = ["--policy", self._path("policy.json")]
        context = ["--context", self._path("ctx.json")]
        against = ["--against", self._path("against.json")]
        return [
            self._line("critic verify --policy, a line", policy, "proposals"),
            self._line("critic verify --policy --context, a line", [*policy, *context], "plans"),
            self._line("critic verify --against, a line", against, "plans"),
            *self._in_processes(),
        ]

    def _line(self, name: str, given: list[str], lines: str) -> Row | Unbuilt:
        if not understood(["verify", *given, "plans.jsonl"]):
            return Unbuilt(name, UNIT, 7.0, f"not built: critic verify has no {given[0]}")
        return Row(name, UNIT, 7.0, self._cost_of_line(given, lines), loads_plans())

    def _cost_of_line(self, given: list[str], lines: str) -> Cost:
        """Return what one more line costs: the start, the policy and the context are left out."""

        def cost_of(count: int) -> float:
            path = self._path(f"{lines}_{count}.jsonl")
            return of_process(printed, lambda _: [["verify", *given, path]])(0)

        rough = (cost_of(FEWER_LINES) - cost_of(1)) / (FEWER_LINES - 1)
        count = FEWER_LINES if rough > _SLOW_NS else LINES
        return lambda _batch: (cost_of(count) - cost_of(1)) / (count - 1)

    def _in_processes(self) -> list[Row | Unbuilt]:
        name = "critic replay --jobs 2"
        cpu, wall = "the same with one job", "the same with one job, by the clock"
        if not understood(["replay", "log.db", "--jobs", "2"]):
            missing = "not built: critic replay has no --jobs"
            return [Unbuilt(name, cpu, 1.1, missing), Unbuilt(name, wall, 0.625, missing)]
        log = self._path("replay.db")
        filled(Path(log), RECORDS)
        one = [*critic_command(), "replay", log, "--jobs", "1"]
        two = [*one[:-1], "2"]
        return [
            Row(name, cpu, 1.1, of_children(two), of_children(one)),
            Row(name, wall, 0.625, of_children(two, "wall"), of_children(one, "wall"), "wall"),
        ]


def printed(arguments: list[str]) -> str:
    """Run a command in this process, and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = main(arguments)
    if status:
        raise AssertionError(f"critic {arguments[0]}: exit status {status}")
    return output.getvalue()
