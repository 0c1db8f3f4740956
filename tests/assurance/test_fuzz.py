"""A sample of the fuzzing, and every input that once led to an undocumented error."""

import gzip
from pathlib import Path

import pytest

from harness.commands.table import COMMANDS
from harness.testing._draw.primitives import random_of
from tests.assurance.fuzzing import elsewhere
from tests.assurance.fuzzing.grown import MEGABYTE, grown
from tests.assurance.fuzzing.hostile import ENTRIES, HOSTILE
from tests.assurance.fuzzing.mutate import spelled
from tests.assurance.fuzzing.policies import policy, tool
from tests.assurance.fuzzing.products import products
from tests.assurance.fuzzing.targets import TARGETS, corpus, problem
from tests.assurance.layers.fuzz import (
    FINDS,
    at_others,
    at_sessions,
    enter_chunk,
    large,
    multiplied,
)
from tests.harness.serve.asking import app_of
from tests.support.effort import sampled

KEPT = sorted(FINDS.glob("*.gz"))


@pytest.mark.parametrize("path", KEPT, ids=[path.name for path in KEPT])
def test_what_once_got_through_no_longer_does(path: Path) -> None:
    name = path.name.partition("-")[0]
    assert problem(name, gzip.decompress(path.read_bytes())) is None


@pytest.mark.parametrize("start", [0, 1_000_000])
def test_only_documented_errors_come_out(start: int) -> None:
    told = enter_chunk(start, 500)
    assert set(told.tried) == set(TARGETS)
    assert told.finds == []


@pytest.mark.parametrize("name", [*TARGETS])
def test_every_document_of_the_corpus_is_entered_in_peace(name: str) -> None:
    assert len(corpus(name)) > 0
    assert [what for data in corpus(name)[::7] if (what := problem(name, data)) is not None] == []


@pytest.mark.parametrize("name", [*TARGETS])
@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"null", b"[" * 100_000, b'{"a":' * 20_000, b"9" * 9999]
)
def test_the_plainest_nonsense_is_refused_as_documented(name: str, data: bytes) -> None:
    assert problem(name, data) is None


@pytest.mark.slow
def test_a_grown_document_is_about_a_megabyte() -> None:
    sizes = sorted(len(grown(random_of(seed), corpus("proposal")[seed])) for seed in range(40))
    assert sizes[20] > 0.9 * MEGABYTE
    assert sizes[-1] < 2.5 * MEGABYTE


def test_a_few_megabytes_are_read_in_time_and_within_memory() -> None:
    row = large(4)
    assert (row.tried, row.held, row.met) == (4, 4, True)


@pytest.mark.slow
def test_no_product_of_two_parts_of_a_document_exhausts_a_process() -> None:
    """Planted: all errors of a schema are made, and yes or no is asked however long it takes."""
    row = multiplied()
    assert row.tried == row.held == len(products())
    assert row.met


_OF_SESSIONS = ["signs, by read", "letters, as recipient", "keys, to read", "openai: calls"]


@pytest.mark.slow
def test_no_document_for_a_session_exhausts_a_process() -> None:
    """Planted: every value of a plan is judged, and signs are read as what they stand for."""
    row = at_sessions(_OF_SESSIONS)
    assert row.tried == row.held == len(_OF_SESSIONS)
    assert row.met


@pytest.mark.parametrize("entry", [*ENTRIES])
def test_each_entry_of_sessions_has_documents_of_at_most_a_megabyte(entry: str) -> None:
    made = [make for name, (of, make) in HOSTILE.items() if of == entry]
    assert made
    assert 1_000 < len(made[-1]()) <= MEGABYTE


_OF_OTHERS = [
    *("policy check: tools with roles and choices", "policy check: schema: some dependent"),
    *("policy diff: tools bare", "policy check: TOML: a key of many parts", "replay: a large body"),
    *("loop: parts of a key", "serve /v1/verify: signs", "log list: generated column"),
]


@pytest.mark.slow
def test_no_document_at_any_other_entry_exhausts_a_process() -> None:
    """Planted: names are asked of a schema however many there are, and a key may have any parts."""
    row = at_others(_OF_OTHERS)
    assert row.tried == row.held == len(_OF_OTHERS)
    assert row.met


def test_each_command_is_weighed_by_a_row_or_takes_nothing() -> None:
    assert elsewhere.COMMANDS_IN.keys() == COMMANDS.keys()
    named = {entry for entry in elsewhere.COMMANDS_IN.values() if not entry.startswith("reads ")}
    assert named - {elsewhere.COMMANDS_IN["mcp-proxy"]} <= elsewhere.ENTRIES.keys()


def test_each_route_that_takes_a_body_is_weighed_by_a_row() -> None:
    app = app_of(policy([tool()]))
    routes = {route.path for route in app.routes if "POST" in (route.methods or ())}
    app.close()
    assert elsewhere.ROUTES_IN.keys() == routes
    assert {*elsewhere.ROUTES_IN.values()} <= elsewhere.ENTRIES.keys()


@pytest.mark.parametrize("entry", [*elsewhere.ENTRIES])
def test_each_other_entry_has_documents(entry: str) -> None:
    assert sum(1 for of, _ in elsewhere.ELSEWHERE.values() if of == entry) > 3


@pytest.mark.parametrize("name", sampled(elsewhere.ELSEWHERE, one_in=60))
def test_a_document_for_another_entry_is_of_at_most_a_megabyte(name: str) -> None:
    assert len(elsewhere.ELSEWHERE[name][1]()) <= MEGABYTE


@pytest.mark.parametrize("name", sampled(products(), one_in=5))
def test_a_product_is_a_valid_document_below_a_megabyte(name: str) -> None:
    entry, document = products()[name]
    TARGETS[entry].enter(document)
    assert len(document) < MEGABYTE


def test_a_value_that_is_not_json_is_spelled_all_the_same() -> None:
    assert spelled(float("nan")) == b"null"
    assert spelled("\ud800") == b'"\\ud800"'
    assert spelled(10**30) == b"1" + b"0" * 30
