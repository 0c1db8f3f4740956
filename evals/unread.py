"""A context or a proposal that is handed out unread: made of its bytes when it is looked at.

Rule 1: looking at it in any way makes it an ordinary one that shares nothing with any other. Until
        then it holds bytes, which nothing can change, and costs nothing to make. Printing a context
        does not look at it where it is long: `asyncio.run` prints what it returns.
Rule 2: only its own bytes say what it is. What was set on it before it was read is dropped.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any, ClassVar, Final

import orjson
from pydantic import ConfigDict

from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.plan import Proposal

_READING: Final = RLock()
_SHORT: Final = 4096  # bytes that are read in order to be printed
_STATE: Final = (
    "__dict__",
    "__pydantic_fields_set__",
    "__pydantic_extra__",
    "__pydantic_private__",
)


class _Unread:
    """An envelope that has not been read yet."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        """Read it, and answer as the ordinary one that it has become."""
        _read(self)
        return getattr(self, name)

    def __copy__(self) -> Any:
        _read(self)
        return self.__copy__()


class UnreadContext(_Unread, CompiledContext):
    """A CompiledContext that has not been read yet. Made by `unread_context` alone."""

    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True)  # nothing is validated as it

    def __repr__(self) -> str:
        return f"CompiledContext({said})" if (said := _held_text(self)) else repr(self)

    def __str__(self) -> str:
        return _held_text(self) or str(self)


class UnreadProposal(_Unread, Proposal):
    """A Proposal that has not been read yet. Made by `unread_proposal` alone."""

    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True)

    def __repr__(self) -> str:
        _read(self)
        return repr(self)

    def __str__(self) -> str:
        _read(self)
        return str(self)


def unread_proposal(make: Callable[[], Proposal]) -> UnreadProposal:
    """Return the proposal that is made when it is first looked at: the same at any time."""
    proposal = UnreadProposal.__new__(UnreadProposal)
    object.__setattr__(proposal, "_make", make)
    return proposal


def unread_context(body: bytes | Callable[[], bytes], held: str) -> UnreadContext:
    """Return the context with these canonical bytes, unread. `held` is printed if it is long.

    The bytes may be made when they are first needed, if they are the same at any time.
    """
    context = UnreadContext.__new__(UnreadContext)
    object.__setattr__(context, "_body", body)
    object.__setattr__(context, "_held", held)
    return context


def _held_text(context: UnreadContext) -> str:
    """Return what is printed of a long context that is not read. A short one is read."""
    if len(unread_body(context) or b"") > _SHORT:
        return str(object.__getattribute__(context, "_held"))
    _read(context)
    return ""


def read_unread(value: object, model: type[Envelope]) -> bool:
    """Read what has not been read. Return whether it is exactly of the model now."""
    if issubclass(type(value), _Unread):
        _read(value)
    return type(value) is model


def _read(value: object) -> None:
    with _READING:
        kind = type(value)
        if kind is UnreadContext:
            body = orjson.loads(_body_of(value))
            fresh: Envelope = CompiledContext.__pydantic_validator__.validate_python(body)
        elif kind is UnreadProposal:
            fresh = object.__getattribute__(value, "_make")()
        else:  # another thread was first
            return
        for name in _STATE:
            object.__setattr__(value, name, object.__getattribute__(fresh, name))
        object.__setattr__(value, "__class__", type(fresh))


def unread_body(value: object) -> bytes | None:
    """Return the bytes of a context of which nothing was read or set; None for any other."""
    if type(value) is not UnreadContext or object.__getattribute__(value, "__dict__"):
        return None
    body = _body_of(value)
    return body if type(body) is bytes else None


def _body_of(context: object) -> Any:
    body = object.__getattribute__(context, "_body")
    return body() if callable(body) else body
