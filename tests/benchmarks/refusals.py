"""What a refusal costs: documents that are no envelope, at worst."""

from collections.abc import Callable
from functools import partial
from typing import Final

import orjson

from critic import Plan
from harness.wire import InvalidInput, parse
from tests.benchmarks.timing import Row, of_thread
from tests.benchmarks.works import empty_steps

UNIT: Final = "orjson.loads of the document"
STEPS: Final = 100_000
LARGE: Final = 1_000_000


def strange_steps(count: int) -> bytes:
    """Return a plan whose steps all have a field that does not exist."""
    return b'{"steps":[' + b",".join([b'{"kind":"reason","x":1}'] * count) + b'],"declared":[]}'


def wrong_steps(count: int) -> bytes:
    """Return a plan whose steps are all numbers."""
    return b'{"steps":[' + b",".join([b"7"] * count) + b'],"declared_outputs":[]}'


INVALID: Final[tuple[tuple[str, Callable[[int], bytes]], ...]] = (
    ("empty", empty_steps),
    ("with an unknown field", strange_steps),
    ("that are numbers", wrong_steps),
)


def refuse(data: bytes) -> InvalidInput:
    """Read an invalid plan, and return why it is none."""
    try:
        parse(Plan, data)
    except InvalidInput as error:
        return error
    raise AssertionError("an invalid plan was read")


def refusal_rows() -> list[Row]:
    """Measure how long saying no takes."""
    return [_row(name, make(STEPS)) for name, make in INVALID]


def _row(name: str, data: bytes) -> Row:
    document = partial(_one, data)
    name = f"invalid: {STEPS:,} steps, {name}"
    return Row(name, UNIT, 5.0, of_thread(refuse, document), of_thread(orjson.loads, document))


def _one(data: bytes, _batch: int) -> list[bytes]:
    return [data]
