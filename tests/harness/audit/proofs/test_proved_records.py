"""A record in a proof with its inputs: each byte stands under the hash that the record names."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness.audit.proofs.proved_records import ProvedRecord, read_content
from harness.canonical import canonical_json
from harness.log import SqlDecisionLog
from harness.wire import parse_json
from tests.harness.log.decisions import decision


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Any]]:
    """Return a record and its inputs."""
    path: Path = tmp_path_factory.mktemp("proved") / "log.db"
    with SqlDecisionLog.open(path) as log:
        log.append(decision())
        record = parse_json(next(iter(log.raw())).body)
        bodies = {name: log.input(one) for name, one in record["inputs"].items()}
    return record, {name: parse_json(one) for name, one in bodies.items() if one is not None}


def read(record: Any, inputs: Mapping[str, Any], seq: int = 1) -> ProvedRecord | str:
    return read_content(seq, canonical_json({"inputs": dict(inputs), "record": record}))


def test_inputs_are_there_under_their_digests(parts: tuple[Any, dict[str, Any]]) -> None:
    record, inputs = parts
    found = read(record, inputs)
    assert isinstance(found, ProvedRecord)
    assert found.inputs == inputs
    redacted = read(record, {**inputs, "plan": None})
    assert isinstance(redacted, ProvedRecord)
    assert "plan" not in redacted.input_names


def test_no_input_passes_for_another_one(parts: tuple[Any, dict[str, Any]]) -> None:
    record, inputs = parts
    names = sorted(inputs)
    assert len(names) > 2
    for name, other in pairwise(names):
        swapped = {**inputs, name: inputs[other], other: inputs[name]}
        assert str(read(record, swapped)).endswith("another digest than its record names")
        less = {one: it for one, it in inputs.items() if one != name}
        for wrong in (less, {**less, "other": 1}, {**inputs, "other": 1}):
            told = "its inputs are others than those that its record names"
            assert read(record, wrong) == told


def test_a_record_stands_in_its_place_alone(parts: tuple[Any, dict[str, Any]]) -> None:
    record, inputs = parts
    assert str(read(record, inputs, 2)).startswith("it is of another record: its place is 2")
    assert isinstance(read_content(1, canonical_json(record)), ProvedRecord)
    assert isinstance(read_content(2, canonical_json(record)), str)
