"""Event streams with their answers: ours, and the shared ones where they are beside the project."""

import json
from typing import Any

import pytest

from tests.support.guarding import differences, streams
from tests.support.paths import FIXTURES, ROOT

CORPUS = ROOT.parent / "shared" / "corpus" / "ruleset3" / "guard.jsonl"
OURS = sorted((FIXTURES / "sessions").glob("*.json"))


def ours() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in OURS
        for case in streams(path.stem)
    ]


def shared() -> list[Any]:
    if not CORPUS.is_file():
        return []
    cases = map(json.loads, CORPUS.read_text("utf-8").splitlines())
    return [pytest.param(case, id=case["name"]) for case in cases]


def test_there_are_streams_of_ours() -> None:
    assert len(OURS) >= 2


@pytest.mark.parametrize("case", ours())
def test_each_event_is_answered_as_our_streams_say(case: Any) -> None:
    assert not differences(case)


@pytest.mark.parametrize("case", shared())
def test_each_event_is_answered_as_the_shared_streams_say(case: Any) -> None:
    assert not differences(case)
