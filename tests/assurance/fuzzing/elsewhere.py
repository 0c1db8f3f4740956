"""Documents of a megabyte for the commands and the service, and which row weighs each entry."""

import io
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

import orjson

from harness.cli import main
from harness.testing._draw.primitives import random_of
from tests.assurance.fuzzing.grown import grown
from tests.assurance.fuzzing.policies import (
    MOST,
    numbered,
    policy,
    policy_documents,
    tool,
)
from tests.assurance.fuzzing.targets import Target, corpus, log_file
from tests.harness.log.changes import CHANGES_IN_SQLITE
from tests.harness.serve.asking import app_of, ask

Make = Callable[[], bytes]
Enter = Callable[[bytes], None]


class Untyped(Exception):
    """A command failed, and not in one line that says what is wrong with its input."""


def run_command(arguments: list[str], given: bytes = b"") -> None:
    """Run one command in this process: whatever it refuses, it refuses in words.

    Raises:
        Untyped: it ended by an error that it does not know.
    """
    said, told = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    stdin = SimpleNamespace(buffer=io.BytesIO(given))
    with redirect_stdout(said), redirect_stderr(told), patch("sys.stdin", stdin):
        main(arguments)
    told.seek(0)
    text = told.read()
    if "internal error" in text or "Traceback" in text:
        raise Untyped(text[:300])


def _in_folder(names: Mapping[str, bytes], *commands: list[str], given: bytes = b"") -> None:
    """Run commands in a folder of their own, with these files."""
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            for name, data in names.items():
                Path(name).write_bytes(data)
            for command in commands:
                run_command(command, given)
        finally:
            os.chdir(before)


def _file(*arguments: str, name: str = "d.json") -> Callable[[bytes], None]:
    """Return what gives a document to a command as its file."""
    return lambda data: _in_folder({name: data}, [*arguments, name])


def _log(*arguments: str) -> Callable[[bytes], None]:
    command = [one if one != "LOG" else "d.db" for one in arguments]
    return lambda data: _in_folder({"d.db": data}, command)


def _policy_name(data: bytes) -> str:
    return "p.json" if data.lstrip().startswith(b"{") else "p.toml"


def _changed(data: bytes) -> bytes:
    """Return a policy in JSON with another least of tokens and without provenance."""
    try:
        value = orjson.loads(data)
        for one in value["tool"]:
            one["min_tokens"] = 1
        value["spec"].pop("provenance", None)
    except (ValueError, KeyError, TypeError):
        return data
    return orjson.dumps(value)


def _diff(data: bytes) -> None:
    name = _policy_name(data)
    _in_folder({name: data, f"q{name}": _changed(data)}, ["policy", "diff", name, f"q{name}"])


_PLAN: Final = orjson.dumps(
    {"ctx": {"trace_id": "t"}, "plan": {"steps": [], "declared_outputs": []}}
)
_OPENING: Final = b'{"event":"open","session":"s","request":"go"}\n'
_SMALL: Final = orjson.dumps(policy([tool()]))


def _under_policy(
    *arguments: str, given: bytes = b"", more: bytes = b""
) -> Callable[[bytes], None]:
    def enter(data: bytes) -> None:
        name = _policy_name(data)
        command = [name if one == "POLICY" else one for one in arguments]
        files = {name: data, "x.json": more, "d.db": log_file()}
        _in_folder(files, command, given=given)

    return enter


def _serve(path: str, data: bytes) -> None:
    app = app_of(policy([tool(name="t")]))
    try:
        answer = ask(app, path, data)
    finally:
        app.close()
    if answer.status_code >= 500:
        raise Untyped(f"{answer.status_code} {answer.text[:300]}")


def _parquet(data: bytes) -> None:
    """Ask what-if of the Parquet file that is made of a log."""
    out = ["log", "export", "d.db", "--to", "parquet", "--plans", "-o", "p.parquet"]
    asked = ["what-if", "p.parquet", "--safety-mode", "read_only", "--counts"]
    _in_folder({"d.db": data}, out, asked)


def _proofs(data: bytes) -> None:
    _in_folder(
        {"d.db": data},
        ["log", "key", "--new", "k"],
        ["log", "checkpoint", "d.db", "--key", "k"],
        ["log", "prove", "d.db", "1"],
        ["log", "redact", "d.db", "new.db", "--value", "1:/x", "--by", "b", "--because", "x"],
    )


def _notes(data: bytes) -> None:
    by_key = ["--checkpoint", "n", "--public-key", "k.pub"]
    _in_folder(
        {"d.db": log_file(), "n": data},
        ["log", "key", "--new", "k"],
        ["log", "check", "d.db", *by_key],
        ["log", "check", "n", *by_key],
        ["log", "prove", "d.db", "1", "--checkpoint", "n"],
    )


_HOOKED: Final = orjson.dumps(
    {
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "cwd": "/",
        "tool_name": "Read",
        "tool_input": {"file_path": "/a"},
        "tool_use_id": "c",
        "transcript_path": "",
    }
)


def _options(data: bytes) -> None:
    command = ["hook", "claude-code", "--options", "d.toml"]
    _in_folder({"d.toml": data}, command, given=_HOOKED)


def _state(data: bytes) -> None:
    """Put the document in the place of each file that a hook keeps."""
    command = ["hook", "claude-code", "--policy", "p.json", "--state", "state"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "p.json")
        path.write_bytes(_SMALL)
        command = [*command[:3], str(path), "--state", str(Path(folder, "state"))]
        run_command(command, _HOOKED)
        for kept in Path(folder).rglob("*"):
            if kept.is_file() and kept != path:
                kept.write_bytes(data)
        run_command(command, _HOOKED)


def _loop(data: bytes) -> None:
    _in_folder({"d.toml": data}, ["loop", "do it", "--config", "d.toml", "--dry-run"])


_ENTERED: Final[Mapping[str, Enter]] = {
    "policy check": lambda data: _in_folder(
        {_policy_name(data): data}, ["policy", "check", _policy_name(data)]
    ),
    "policy diff": _diff,
    "policy test": _under_policy("policy", "test", "POLICY", "x.json", more=_PLAN),
    "verify --policy": _under_policy("verify", "--policy", "POLICY", "x.json", more=_PLAN),
    "guard --policy": _under_policy("guard", "--policy", "POLICY", given=_OPENING),
    "what-if --policy": _under_policy("what-if", "d.db", "--policy", "POLICY"),
    "cases of policy test": lambda data: _in_folder(
        {"p.json": _SMALL, "d.json": data}, ["policy", "test", "p.json", "d.json"]
    ),
    "policy reach": lambda data: _in_folder(
        {_policy_name(data): data}, ["policy", "reach", _policy_name(data)]
    ),
    "tasks of try": lambda data: _in_folder(
        {"p.json": _SMALL, "d.jsonl": data}, ["try", "p.json", "d.jsonl"]
    ),
    "init": lambda data: _in_folder({"d.json": data}, ["init", "-", "--from-openai", "d.json"]),
    "verify": _file("verify"),
    "score": _file("score"),
    "run": _file("run", "--log", "run.db"),
    "guard": lambda data: _in_folder(
        {"p.json": _SMALL}, ["guard", "--policy", "p.json"], given=data
    ),
    "import": _file("import", "--from", "openai"),
    "gate": lambda data: _in_folder({"d.json": data}, ["gate", "d.json", "d.json"]),
    "replay": _log("replay", "LOG"),
    "log list": _log("log", "list", "LOG"),
    "log stats": _log("log", "stats", "LOG"),
    "log show": _log("log", "show", "LOG", "1"),
    "log verify": _log("log", "verify", "LOG"),
    "log export": _log("log", "export", "LOG", "--to", "opa", "-o", "-"),
    "log proofs": _proofs,
    "report": _log("report", "LOG", "-o", "page.html"),
    "what-if": _log("what-if", "LOG", "--safety-mode", "read_only"),
    "what-if of Parquet": _parquet,
    "gate of logs": _log("gate", "LOG", "LOG"),
    "a Parquet file": lambda data: _in_folder(
        {"d.parquet": data}, ["what-if", "d.parquet", "--safety-mode", "read_only", "--counts"]
    ),
    "notes": _notes,
    "options of hooks": _options,
    "state of hooks": _state,
    "loop": _loop,
    **{
        f"serve {path}": partial(_serve, path)
        for path in (
            *("/v1/verify", "/v1/score", "/v1/consolidate", "/v1/sessions/s/events"),
            *("/access/v1/evaluation", "/access/v1/evaluations"),
            *("/v1/data/critic/allow", "/v1/batch/data/critic/allow"),
        )
    },
}
ENTRIES: Final[Mapping[str, Target]] = {
    name: Target(enter, (), 0) for name, enter in _ENTERED.items()
}
"""The entries that no other row weighs: what commands read, and the bodies of the service."""

COMMANDS_IN: Final[Mapping[str, str]] = {
    "demo": "reads nothing",
    "verify": "verify",
    "score": "score",
    "run": "run",
    "guard": "guard",
    "hook": "options of hooks",
    "import": "import",
    "mcp-proxy": "the listing and the calls of a server are events of sessions",
    "mcp": "reads what a server says, as mcp-proxy does",
    "serve": "serve /v1/verify",
    "replay": "replay",
    "what-if": "what-if",
    "gate": "gate",
    "log": "log list",
    "report": "report",
    "shadow": "reads a log as `critic log stats` does",
    "policy": "policy check",
    "init": "init",
    "try": "tasks of try",
    "loop": "loop",
    "sessions": "reads what loop wrote",
    "schema": "reads nothing",
    "docs": "reads nothing but pages of its own",
    "explain": "reads nothing",
    "shell": "reads a line of its arguments, of 16 KiB at most",
    "doctor": "reads nothing",
}
"""Each command with an entry that it is weighed by, or why it has none."""

ROUTES_IN: Final[Mapping[str, str]] = {
    "/v1/data/{path:path}": "serve /v1/data/critic/allow",
    "/v1/verify": "serve /v1/verify",
    "/v1/score": "serve /v1/score",
    "/v1/consolidate": "serve /v1/consolidate",
    "/v1/sessions/{session:any_text}/events": "serve /v1/sessions/s/events",
    "/access/v1/evaluation": "serve /access/v1/evaluation",
    "/access/v1/evaluations": "serve /access/v1/evaluations",
    "/v1/batch/data/{path:path}": "serve /v1/batch/data/critic/allow",
}
"""Each route that takes a body, with the entry that it is weighed by."""


_PLAIN: Final[Mapping[str, Make]] = {
    "brackets": lambda: b"[" * MOST,
    "braces": lambda: b'{"a":' * (MOST // 5),
    "digits": lambda: b"9" * MOST,
    "a text": lambda: b'"' + b"a" * MOST + b'"',
    "signs": lambda: orjson.dumps({"ctx": "\ufdfa" * (MOST // 3), "input": "\ufdfa"}),
    "members": lambda: orjson.dumps({f"{at:x}": 1 for at in range(MOST // 9)}),
    "lists": lambda: orjson.dumps([[]] * (MOST // 3)),
    # Where each line is a document of its own, 10,000 of them, as in the headers below.
    "lines": lambda: (b"{}" + b" " * 97 + b"\n") * (MOST // 100),
    "blanks": lambda: b" " * MOST,
    "lines of a note": lambda: b"log\n1\nAAAA\n\n" + "\u2014 a b\n".encode() * (MOST // 8),
    "parts of a key": lambda: b"a." * (MOST // 2) + b"a = 1",
    "headers": lambda: numbered("[a{0}]" + " " * 90 + "\n", MOST).encode(),
}
"""Bodies that any entry may get."""

_ASKED: Final[Mapping[str, Callable[[], Any]]] = {
    "questions": lambda: {
        "subject": {"type": "t", "id": "i"},
        "evaluations": [
            {"action": {"name": "t"}, "resource": {"type": "t", "id": f"{at}"}}
            for at in range(15_000)
        ],
    },
    "inputs": lambda: {"inputs": {f"{at}": {} for at in range(60_000)}},
    "one input": lambda: {"input": {f"{at}": [] for at in range(80_000)}},
    "a call": lambda: {
        "input": {
            "session": "s",
            "calls": [{"id": f"{at}", "tool": "t", "args": {}} for at in range(20_000)],
        }
    },
}


def _grown(kind: str, seed: int) -> bytes:
    random = random_of(seed)
    return grown(random, random.choice(corpus(kind)))[: MOST + 40_000]


@cache
def _long_log() -> bytes:
    """Return a log of many records, of about a megabyte."""
    return _log_of(lambda log, decision: log.append_all([decision] * 200))


def _log_of(write: Callable[[Any, Any], None]) -> bytes:
    from harness.log.sql import SqlDecisionLog  # noqa: PLC0415
    from tests.assurance.fuzzing.targets import decision  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.sqlite")
        with SqlDecisionLog.open(path) as log:
            write(log, decision())
        return path.read_bytes()


def _crafted(*statements: str) -> bytes:
    """Return a log of three records that somebody has written SQL on."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.sqlite")
        path.write_bytes(log_file())
        link = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            link.execute(statement)
        link.close()
        return path.read_bytes()


def _without_triggers(*statements: str) -> bytes:
    """Return a log with rows changed behind its triggers, which are put back."""
    with sqlite3.connect(":memory:") as link:
        link.deserialize(log_file())
        triggers = link.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            link.execute(f'DROP TRIGGER "{name}"')
        for statement in statements:
            link.execute(statement)
        for _, sql in triggers:
            link.execute(sql)
        link.commit()
        return bytes(link.serialize())


LOGS: Final[Mapping[str, Make]] = {
    "many records": _long_log,
    "a large body": lambda: _without_triggers("UPDATE records SET body = zeroblob(200000)"),
    "a body of brackets": lambda: _without_triggers(
        "UPDATE records SET body = CAST(replace(hex(zeroblob(100000)), '0', '[') AS BLOB)"
    ),
    "a large input": lambda: _without_triggers("UPDATE inputs SET body = zeroblob(90000)"),
    **{name: partial(_crafted, *made) for name, (made, _) in CHANGES_IN_SQLITE.items()},
    "cut": lambda: log_file()[:20_000],
    "no log": lambda: b"SQLite format 3\0" + b"\xff" * MOST,
}
"""Logs by what is wrong with them."""

_OF_LOGS: Final = (
    *("replay", "log list", "log stats", "log show", "log verify", "log export", "log proofs"),
    *("report", "what-if", "what-if of Parquet", "gate of logs"),
)
_OF_POLICIES: Final = ("policy check", "policy diff")
_OTHERS_OF_POLICIES: Final = (
    "policy reach",
    "policy test",
    "verify --policy",
    "guard --policy",
    "what-if --policy",
)
_FEW_POLICIES: Final = (
    "tools bare",
    "tools with bindings to many",
    "tools over classes",
    "evidence",
)
_GROWN_FOR: Final[Mapping[str, str]] = {
    "verify": "proposal",
    "score": "run",
    "run": "run",
    "gate": "run",
    "cases of policy test": "case",
    "guard": "events",
    "tasks of try": "events",
    "init": "policy",
    "serve /v1/verify": "proposal",
    "serve /v1/score": "run",
    "serve /v1/sessions/s/events": "events",
    "state of hooks": "state",
}


def _dumped(make: Callable[[], Any]) -> bytes:
    return orjson.dumps(make())


def _all() -> Iterator[tuple[str, str, Make]]:
    made = dict(policy_documents())
    for entry in _OF_POLICIES:
        yield from ((f"{entry}: {name}", entry, make) for name, make in made.items())
    for entry in _OTHERS_OF_POLICIES:
        yield from ((f"{entry}: {name}", entry, made[name]) for name in _FEW_POLICIES)
    for entry in _OF_LOGS:
        yield from ((f"{entry}: {name}", entry, make) for name, make in LOGS.items())
    plain = [
        entry for entry in ENTRIES if entry not in (*_OF_POLICIES, *_OTHERS_OF_POLICIES, *_OF_LOGS)
    ]
    for entry in plain:
        yield from ((f"{entry}: {name}", entry, make) for name, make in _PLAIN.items())
        if entry in _GROWN_FOR:
            for seed in range(4):
                yield f"{entry}: grown {seed}", entry, partial(_grown, _GROWN_FOR[entry], seed)
        if entry.startswith("serve "):
            for name, asked in _ASKED.items():
                yield f"{entry}: {name}", entry, partial(_dumped, asked)


ELSEWHERE: Final = {name: (entry, make) for name, entry, make in _all()}
"""The documents by name, each with its entry and what makes it."""
