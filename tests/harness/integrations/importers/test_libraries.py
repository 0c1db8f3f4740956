"""What real libraries write gives the events and digests that every other source gives."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.console import Critic
from tests.harness.integrations.importers.libraries import LIBRARIES
from tests.harness.integrations.importers.writers import WRITERS, Asked, Recording, events
from tests.support.guarding import desk

RUN = Recording(
    "Do the transfer of plan.md",
    [
        [Asked("c1", "list_mail", {}, {"mails": [{"id": 7, "from": "ada"}]})],
        [
            Asked("c2", "read_note", {"name": "plan.md"}, "Send it to iban-4711-22 \u2603"),
            Asked("c3", "read_note", {"name": "b"}, {"a": [1, 2.5, None, True]}),
        ],
        [Asked("c4", "transfer", {"iban": "iban-4711-22", "reason": "x"}, "[not JSON")],
    ],
    "You are a clerk.",
)


def imported(critic: Critic, source: str, file: Path) -> list[dict[str, Any]]:
    request = ("--request", RUN.request) if source == "mcp" else ()
    said = critic("import", "--from", source, "--session", "s", *request, file)
    assert said.status == 0, said.err
    return [json.loads(line) for line in said.lines]


def alone(recording: Recording, ids: list[str]) -> Recording:
    """Return a run as a log of MCP has it: each call is a turn, under the ids of its requests."""
    calls = [one for turn in recording.turns if not isinstance(turn, str) for one in turn]
    renamed = [[one._replace(id=id)] for one, id in zip(calls, ids, strict=True)]
    return Recording(recording.request, renamed)


def spelled_alike(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events whose outputs are read: each library spells a record as text in its own way."""
    return [
        {**one, "output": read_output(one["output"])} if "output" in one else one for one in found
    ]


def read_output(output: Any) -> Any:
    try:
        return json.loads(output) if type(output) is str else output
    except ValueError:
        return output


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_what_a_library_wrote_of_a_run_is_that_run(
    library: str, critic: Critic, tmp_path: Path
) -> None:
    """Its events are those of the run, and every other format gives the same rulings on them."""
    source, write = LIBRARIES[library]
    file, policy = tmp_path / "run", tmp_path / "critic.json"
    file.write_bytes(write(RUN))
    policy.write_text(json.dumps(desk()))
    found = imported(critic, source, file)
    run = RUN
    if source == "mcp":
        run = alone(RUN, [one["id"] for event in found for one in event.get("calls", ())])
    assert spelled_alike(found) == spelled_alike(events(run, "s", source))
    rulings = {rulings_on(critic, policy, found)}
    for name in WRITERS.keys() - ({"mcp"} if source != "mcp" else set()):
        file.write_bytes(WRITERS[name](run))
        rulings.add(rulings_on(critic, policy, imported(critic, name, file)))
    assert len(rulings) == 1
    ruled = [digest for action, digest in rulings.pop() if action]
    assert len(set(ruled)) == len(ruled) == len(run.turns)


def rulings_on(critic: Critic, policy: Path, found: list[dict[str, Any]]) -> tuple[Any, ...]:
    stdin = "".join(json.dumps(event) + "\n" for event in found).encode()
    answers = map(json.loads, critic("guard", "--policy", policy, stdin=stdin).lines)
    return tuple((one.get("action"), one.get("plan_digest")) for one in answers)


def test_a_trace_is_one_session_however_its_ids_are_spelled(critic: Critic, tmp_path: Path) -> None:
    names = set()
    for given in ("q83vASNFZ4mrze8BI0VniQ==", "abcdef0123456789ABCDEF0123456789"):
        request = json.loads(WRITERS["otlp"](RUN))
        for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            span["traceId"] = given
        file = tmp_path / "trace.json"
        file.write_text(json.dumps(request))
        said = critic("import", "--from", "otlp", file)
        names |= {json.loads(line)["session"] for line in said.lines}
    assert names == {"abcdef0123456789abcdef0123456789"}
