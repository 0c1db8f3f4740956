"""Read the contexts of runs of one session at the cost of what is new in each. Pure.

What a session did stands in each of its contexts, in arrays that grow. An element of one is checked
and spelled once, by its bytes; the context is made of what these became, and compared as a whole.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import orjson
from rfc8785 import CanonicalizationError

from evals.context import OwnValue, RunContext, SentValues, SpentCall
from evals.envelope import Envelope
from evals.joined_json import join_array
from evals.side_table import Beside
from harness.canonical import canonical_bytes, canonical_json
from harness.wire import InvalidInput, build, parse_json

GROWING: Final[Mapping[str, Mapping[str, type[Envelope]]]] = {
    "session": {"own": OwnValue, "sent": SentValues},
    "spent": {"calls": SpentCall},
}
"""The arrays of a context that grow with its session, and what their elements are."""

_MOST: Final = 4096  # elements that are kept: some megabytes
_SPELLED: Final = Beside[bytes]()


def read_run_context(data: bytes) -> RunContext:
    """Return what `parse` returns. What was read before is not checked again.

    Raises:
        InvalidInput: the bytes are not strict JSON, or not a RunContext.
    """
    value = parse_json(data)
    for name, arrays in GROWING.items():
        holder: Any = value.get(name) if type(value) is dict else None
        for inner, model in arrays.items() if type(holder) is dict else ():
            if type(elements := holder.get(inner)) is list:
                holder[inner] = [_known_act(model, one) for one in elements]
    return build(RunContext, value)


def _known_act(model: type[Envelope], value: Any) -> Any:
    """Return the envelope of an element; the element itself if it is none: the whole says why."""
    try:
        act = _read_act(model, orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
    except orjson.JSONEncodeError:
        return value
    return value if act is None else act


@lru_cache(maxsize=_MOST)
def _read_act(model: type[Envelope], written: bytes) -> Envelope | None:
    try:
        act = build(model, orjson.loads(written))
        _SPELLED.keep(act, canonical_bytes(act))
    except (InvalidInput, CanonicalizationError):
        return None
    return act


def spell_run_context(ctx: RunContext) -> bytes:
    """Return the canonical bytes of a context. What was read before is not spelled again."""
    whole = ctx.model_dump(mode="json", exclude=_INNER)
    for name, arrays in GROWING.items():
        for inner in arrays:
            elements = getattr(getattr(ctx, name), inner, None)
            if elements is not None:
                spelled = [_SPELLED.get(one) or canonical_bytes(one) for one in elements]
                whole[name][inner] = orjson.Fragment(join_array(spelled))
    try:
        return canonical_json(whole)
    except CanonicalizationError:  # by a spelling that does not take what is spelled already
        return canonical_bytes(ctx)


_INNER: Final[Any] = {name: {*arrays} for name, arrays in GROWING.items()}
