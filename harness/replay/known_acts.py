"""Read the contexts of the runs of a session at the cost of what is new in each. Pure.

What a session did stands in each of its contexts, in arrays that grow. An array that begins as the
last one of its session did is read from there on, and spelled from there on. The bytes of the whole
decide: to Python, 1 is True, so what is not spelled as it is stored is read by itself.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from orjson import Fragment
from rfc8785 import CanonicalizationError

from evals.context import OwnValue, RunContext, SentValues, SpentCall
from evals.envelope import Envelope
from harness.canonical import canonical_bytes, canonical_json
from harness.wire import InvalidInput, build, parse, parse_json

GROWING: Final[Mapping[str, Mapping[str, type[Envelope]]]] = {
    "session": {"own": OwnValue, "sent": SentValues},
    "spent": {"calls": SpentCall},
}
"""The arrays of a context that grow with its session, and what their elements are."""

_INNER: Final[Any] = {name: {*arrays} for name, arrays in GROWING.items()}
_MOST: Final = 48  # arrays that are known: those of the last sessions


class _Array(NamedTuple):
    """An array as it was written, as it was read, and the canonical bytes of its elements."""

    written: list[Any]
    acts: tuple[Envelope, ...] = ()
    spelled: tuple[bytes, ...] = ()


_Key = tuple[str, str, str]


class KnownActs:
    """Reads contexts, and knows what the last ones of some sessions say was done."""

    def __init__(self) -> None:
        self._last: Final[OrderedDict[_Key, _Array]] = OrderedDict()

    def read(self, data: bytes) -> tuple[RunContext, bytes]:
        """Return the context that the bytes spell, and its canonical bytes.

        Raises:
            InvalidInput: the bytes are not strict JSON, or not a RunContext.
        """
        value = parse_json(data)
        read = self._read_arrays(value) if type(value) is dict else {}
        ctx = build(RunContext, value)
        spelled = _spell(ctx, read)
        if spelled != data:
            ctx = parse(RunContext, data)
            spelled = canonical_bytes(ctx)
        return ctx, spelled

    def _read_arrays(self, value: dict[str, Any]) -> dict[tuple[str, str], _Array]:
        """Put what was read in the place of arrays, and return it."""
        read: dict[tuple[str, str], _Array] = {}
        session = value.get("session")
        named = session.get("id") if type(session) is dict else None
        for name, arrays in GROWING.items():
            holder: Any = value.get(name)
            for inner, model in arrays.items() if type(holder) is dict else ():
                if type(written := holder.get(inner)) is not list:
                    continue
                if (found := self._read_array((str(named), name, inner), model, written)) is None:
                    continue  # the whole says what is wrong
                read[name, inner] = found
                holder[inner] = found.acts
        return read

    def _read_array(self, key: _Key, model: type[Envelope], written: list[Any]) -> _Array | None:
        before = self._last.pop(key, _Array([]))
        count = len(before.written)
        if written[:count] != before.written:
            before, count = _Array([]), 0
        try:
            acts = [build(model, one) for one in written[count:]]
            spelled = [canonical_bytes(one) for one in acts]
        except (InvalidInput, CanonicalizationError):
            return None
        found = _Array(written, (*before.acts, *acts), (*before.spelled, *spelled))
        self._last[key] = found
        if len(self._last) > _MOST:
            self._last.popitem(last=False)
        return found


def _spell(ctx: RunContext, read: Mapping[tuple[str, str], _Array]) -> bytes:
    """Return the canonical bytes of a context; empty where they are not made of such parts."""
    whole = ctx.model_dump(mode="json", exclude=_INNER)
    for (name, inner), array in read.items():
        whole[name][inner] = Fragment(b"[%s]" % b",".join(array.spelled))
    try:
        return canonical_json(whole)
    except CanonicalizationError:  # by a spelling that does not take what is spelled already
        return b""
