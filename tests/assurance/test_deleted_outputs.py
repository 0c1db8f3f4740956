"""Fail closed: without any part of an output, no step is opened that was not opened with it."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from critic import verify_proposal
from critic.late import settled_values
from evals.pointers import values_at
from tests.assurance.layers.deletion_outputs import (
    FoundOutputs,
    compared_openings,
    sent_by,
    try_outputs,
)
from tests.assurance.layers.late_documents import LIFTS, SENDS, UNREAD, late_documents


def changes_of(name: str) -> set[str]:
    """Return what no list excuses in one document, tried anew."""
    chosen = [one for one in late_documents() if one.name == name]
    return {one.change for one in try_outputs(chosen).unexcused}


@cache
def found() -> FoundOutputs:
    return try_outputs(late_documents())


def test_each_plan_passes_and_is_opened_as_far_as_it_says() -> None:
    for document in late_documents():
        assert verify_proposal(document.built).ok, document.name
        sent = sent_by(document, document.ends)
        assert sum(one is not None for one in sent) == document.opened, document.name
        is_refused = document.opened < len(document.ends)
        assert (sent[-1] is None) is is_refused, document.name


def test_no_part_of_an_output_that_is_taken_away_opens_a_step() -> None:
    assert found().tried > 700
    assert found().unexcused == []


def test_every_exception_of_an_output_is_needed_and_says_why() -> None:
    assert found().idle == []
    assert all(len(reason) > 10 for listed in (LIFTS, SENDS, UNREAD) for reason in listed.values())


def test_a_value_that_is_kept_from_another_opening_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A planted mistake: where nothing is found, the value that was found there last is taken."""
    kept: dict[str, Any] = {}

    def last_known(value: Any, pointer: str, *, wildcard: bool) -> Iterator[Any]:
        now = [*values_at(value, pointer, wildcard=wildcard)]
        kept.update({pointer: now[0]} if len(now) == 1 else {})
        yield from now or [kept[pointer]]

    monkeypatch.setattr(settled_values, "values_at", last_known)
    assert changes_of("the only one") == {"made up"}


def test_a_text_that_is_taken_as_the_number_that_it_spells_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A planted mistake: a value is made to fit."""

    def fitting(value: Any, pointer: str, *, wildcard: bool) -> Iterator[Any]:
        for one in values_at(value, pointer, wildcard=wildcard):
            yield int(one) if type(one) is str and one.isdecimal() else one

    monkeypatch.setattr(settled_values, "values_at", fitting)
    assert changes_of("the only one") == {"made up"}


def test_an_opening_more_is_looser_and_other_args_are_other() -> None:
    assert compared_openings([b"1", None], [b"1", b"2"]) == "looser"
    assert compared_openings([b"1", None], [b"1", None]) == "stricter"
    assert compared_openings([b"1", b"2"], [b"1", None]) == "stricter"
    assert compared_openings([b"1", b"2"], [b"1", b"2"]) == "same"
    assert compared_openings([b"1", b"2"], [b"1", b"3"]) == "other"
    assert compared_openings([b"1", None], [b"3", None]) == "other"
