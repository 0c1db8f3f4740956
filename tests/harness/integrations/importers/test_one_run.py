"""One run gives the same events, and the same digests of plans, whatever it was recorded with."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.commands.import_runs.import_command import events_of
from harness.integrations.importers.formats import IMPORTERS
from harness.wire import parse_json
from tests.harness.console import Critic, spawn
from tests.harness.integrations.importers.writers import WRITERS, Asked, Recording, events
from tests.support.guarding import desk

RUN = Recording(
    "Do the transfer of plan.md",
    [
        [Asked("c1", "list_mail", {}, {"mails": [{"id": 7, "from": "ada"}]})],
        "And hurry",
        [Asked("c2", "read_note", {"name": "plan.md"}, "Send it to iban-4711-22 \u2603")],
        [Asked("c3", "transfer", {"iban": "iban-4711-22", "reason": "x"}, "[not JSON")],
    ],
    "You are a clerk.",
)
BATCHES = RUN._replace(
    turns=[
        [Asked("c1", "list_mail", {}, [1, 2]), Asked("c2", "read_note", {"name": "a"}, {"a": 1})],
        "More",
        [Asked("c3", "read_note", {"name": "b"}, "text"), Asked("c4", "list_mail", {}, "{}")],
    ]
)


def expected(recording: Recording, name: str) -> list[dict[str, Any]]:
    found = events(recording, "s", name)
    if name != "mcp":
        return found
    kept = [one for one in found if one["event"] not in ("said", "open")]
    return [{"event": "open", "request": recording.request, "session": "s"}, *kept]


@pytest.mark.parametrize("name", WRITERS)
def test_a_run_gives_the_same_events_in_every_format(
    critic: Critic, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "run"
    for recording in (RUN, RUN._replace(system=None), *([] if name == "mcp" else [BATCHES])):
        file.write_bytes(WRITERS[name](recording))
        request = ("--request", recording.request) if name == "mcp" else ()
        said = critic("import", "--from", name, "--session", "s", *request, file)
        assert said.status == 0, said.err
        assert [json.loads(line) for line in said.lines] == expected(recording, name)
        assert all(map(str.isascii, said.lines))


def test_the_same_batches_have_the_same_digests(critic: Critic, tmp_path: Path) -> None:
    policy = tmp_path / "critic.json"
    policy.write_text(json.dumps(desk()))
    rulings = set()
    for name in WRITERS:
        run = RUN._replace(turns=[turn for turn in RUN.turns if not isinstance(turn, str)])
        file = tmp_path / name
        file.write_bytes(WRITERS[name](run._replace(system=None)))
        imported = critic(
            "import", "--from", name, "--session", "s", "--request", run.request, file
        )
        said = critic("guard", "--policy", policy, stdin=imported.out.encode())
        given = [json.loads(line) for line in said.lines]
        rulings.add(tuple((one.get("action"), one.get("plan_digest")) for one in given))
    assert len(rulings) == 1
    assert [action for action, _ in rulings.pop()] == ["allow", "allow", "ask", None]


names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
letters = st.characters(exclude_categories=["Cs"])
short = st.text(letters, max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | short,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(short, inner),
    max_leaves=6,
)
objects = st.dictionaries(short, values, max_size=3)
plain = st.text(letters, min_size=1, max_size=20)
spelled = values.map(json.dumps)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    numbers = iter(range(1000))

    def asked() -> Asked:
        output = draw(st.one_of(plain, objects, spelled))
        return Asked(f"call-{next(numbers)}", draw(names), draw(objects), output)

    turns: list[Any] = []
    for _ in range(draw(st.integers(0, 4))):
        turns.append([asked() for _ in range(draw(st.integers(1, 3)))])
        turns += [draw(plain)] if draw(st.booleans()) else []
    turns.append([asked()])
    return Recording(draw(plain), turns, draw(st.none() | plain))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(recording=recordings())
def test_any_run_gives_the_same_events_in_every_format_with_turns(recording: Recording) -> None:
    for name in IMPORTERS.keys() - {"mcp"}:
        data = WRITERS[name](recording)
        by_lines = data.splitlines() if name == "claude-code" else [data]
        documents = [(f"line {at}: ", parse_json(line)) for at, line in enumerate(by_lines, 1)]
        ((found, _),) = events_of(IMPORTERS[name](documents), "s", None)
        assert [one.wire() for one in found] == expected(recording, name), name


def test_the_command_is_a_process_too(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(WRITERS["openai"](RUN))
    said = spawn("import", "--from", "openai", file)
    assert (said.status, said.err) == (0, "")
    assert json.loads(said.lines[0])["session"] == "imported"
