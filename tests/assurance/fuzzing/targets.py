"""Every entry that takes bytes, and the only errors that it may raise."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from critic import Plan, Proposal, Run, consolidate, score, verify, verify_proposal
from evals.timestamps import parse_time
from harness.cases import case_files, parse_case, read_case, run_case
from harness.log.log_errors import LogError
from harness.log.sql import SqlDecisionLog
from harness.record import (
    GENESIS,
    Decision,
    DecisionRecord,
    Head,
    RawRecord,
    draft,
    seal_record,
)
from harness.replay.engine import replay
from harness.wire import InvalidInput, build, parse, parse_json, verify_bytes
from tests.assurance.fuzzing import guarded
from tests.assurance.fuzzing.mutate import spelled
from tests.assurance.layers.deletion_documents import documents
from tests.support.examples import PLAN_B, PLAN_B_RUN, is_safe
from tests.support.paths import FIXTURES

DECIDED_AT: Final = parse_time("2026-05-09T09:45:00Z")


_MANY: Final = 1_000  # answers, for a log of three records


class Unsafe(Exception):
    """A documented error whose message is not one safe line."""


class Endless(Exception):
    """What reads three records goes on and on."""


class TwoAnswers(Exception):
    """Two ways to the same verdict do not say the same."""


class Kept(NamedTuple):
    """A log of one record in memory: what replay reads."""

    record: RawRecord
    bodies: Mapping[str, bytes]

    def raw(self) -> Iterator[RawRecord]:
        yield self.record

    def inputs(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        return {digest: self.bodies[digest] for digest in digests if digest in self.bodies}


@cache
def decision() -> Decision:
    """Return a decision on the refund, executed."""
    run = parse(Run, PLAN_B_RUN.read_bytes())
    given = run.proposal
    report = consolidate(
        trace_id=given.ctx.trace_id,
        decision_key=given.spec.id,
        verify=verify_proposal(given),
        score=score(run),
        decided_at=DECIDED_AT,
    )
    return Decision(proposal=given, run=run, report=report, action="allow")


@cache
def kept() -> Kept:
    drafted = draft(decision())
    bodies = {name: one for name, one in drafted.bodies.items() if isinstance(one, bytes)}
    return Kept(RawRecord(*seal_record(drafted, Head(0, GENESIS))), bodies)


@cache
def log_file() -> bytes:
    """Return the bytes of a log of three records."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.sqlite")
        with SqlDecisionLog.open(path) as log:
            log.append_all([decision()] * 3)
        return path.read_bytes()


def _proposal(data: bytes) -> None:
    given = parse(Proposal, data)
    verify_proposal(given).wire()


def _run(data: bytes) -> None:
    run = parse(Run, data)
    given, scored = run.proposal, score(run)
    verdict = verify_proposal(given)
    consolidate(
        trace_id=run.trace_id,
        decision_key=given.spec.id,
        verify=verdict,
        score=scored if verdict.ok else None,
        decided_at=DECIDED_AT,
    ).wire()


def _plan(data: bytes) -> None:
    parse(Plan, data).wire()


@cache
def _around() -> Proposal:
    return parse(Proposal, PLAN_B.read_bytes())


def _verify_bytes(data: bytes) -> None:
    """Judge a plan the short way and by its envelope: both say the same, in the same words."""
    given = _around()
    try:
        judged = verify_bytes(given.ctx, given.compiled, given.spec, data)
    except InvalidInput as error:
        refused = error
    else:
        by_envelope = verify(given.ctx, given.compiled, given.spec, parse(Plan, data))
        if judged != by_envelope.model_dump_json().encode():
            raise TwoAnswers(judged.decode())
        return
    try:
        parse(Plan, data)
    except InvalidInput as error:
        if (str(error), error.problems) == (str(refused), refused.problems):
            raise
    raise TwoAnswers(str(refused))


def _case(data: bytes) -> None:
    run_case(parse_case(data))


def _record(data: bytes) -> None:
    _replayed(kept()._replace(record=kept().record._replace(body=data)))
    build(DecisionRecord, parse_json(data)).wire()


def _input(data: bytes) -> None:
    """Replace each recorded input in turn by these bytes, under the right digest and another."""
    for digest in kept().bodies:
        _replayed(kept()._replace(bodies={**kept().bodies, digest: data}))


def _replayed(log: Kept | SqlDecisionLog) -> None:
    for number, answer in enumerate(replay(log)):
        answer.wire()
        if number > _MANY:
            raise Endless("replay of three records")
        if not is_safe(answer.text().replace("\n", "")):
            raise Unsafe(answer.text())


def _log(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(data)
        file.flush()
        with SqlDecisionLog.open_for_reading(file.name) as log:
            _replayed(log)
            log.head()
            for number, record in enumerate(log.records()):
                record.wire()
                if number > _MANY:
                    raise Endless("reading three records")


class Target(NamedTuple):
    """An entry, the errors it documents, and how large a share of the inputs it gets."""

    enter: Callable[[bytes], None]
    allowed: tuple[type[Exception], ...]
    share: int


TARGETS: Final[dict[str, Target]] = {
    "proposal": Target(_proposal, (InvalidInput,), 30),
    "run": Target(_run, (InvalidInput,), 25),
    "plan": Target(_plan, (InvalidInput,), 25),
    "verify_bytes": Target(_verify_bytes, (InvalidInput,), 25),
    "case": Target(_case, (InvalidInput,), 20),
    "record": Target(_record, (InvalidInput,), 10),
    "input": Target(_input, (), 4),
    "log": Target(_log, (LogError,), 1),
    "events": Target(guarded.take_events, (), 6),
    "state": Target(guarded.take_state, (InvalidInput,), 4),
    "policy": Target(guarded.take_policy, (InvalidInput,), 8),
    "toml": Target(guarded.take_policy, (InvalidInput,), 4),
}


_GUARDED: Final[Mapping[str, Callable[[], tuple[bytes, ...]]]] = {
    "events": guarded.event_streams,
    "state": guarded.states,
    "policy": guarded.policy_documents,
    "toml": guarded.policy_texts,
}


@cache
def corpus(name: str) -> tuple[bytes, ...]:
    """Return documents to start from, most of them valid for the target."""
    if name == "log":
        return (log_file(),)
    if name == "record":
        return (kept().record.body,)
    if name == "input":
        return tuple(kept().bodies.values())
    if name in _GUARDED:
        return _GUARDED[name]()
    files = case_files(FIXTURES / "cases")
    if name == "case":
        return tuple(path.read_bytes() for path in files)
    command = "score" if name == "run" else "verify"
    cases = [case for case in map(read_case, files) if case.command == command]
    values = [case.input for case in cases if isinstance(case.input, dict)]
    if command == "verify":
        values += documents().values()  # no case holds a session
    if name in ("plan", "verify_bytes"):
        values = [value["plan"] for value in values if "plan" in value]
    return tuple(spelled(value) for value in values)


def problem(name: str, data: bytes) -> str | None:
    """Return what the entry raised or returned against its documentation, or None."""
    return problem_of(TARGETS[name], data)


def problem_of(target: Target, data: bytes) -> str | None:
    """Return what a target raised or returned against its documentation, or None."""
    try:
        target.enter(data)
    except target.allowed as error:
        return None if is_safe(str(error)) else f"Unsafe: {str(error)!a:.200}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic below Python is not an Exception
        return f"{type(error).__name__}: {str(error)!a:.200}"
    return None
