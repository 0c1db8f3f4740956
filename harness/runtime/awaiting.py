"""Await what a port returns, whether it is synchronous or asynchronous."""

import asyncio
from collections.abc import Awaitable
from typing import Generic, NamedTuple, TypeVar

_T = TypeVar("_T")


class Shielded(NamedTuple, Generic[_T]):
    """The value that was awaited to its end, and whether this task was cancelled meanwhile."""

    value: _T
    cancelled: bool


async def maybe_await(value: _T | Awaitable[_T]) -> _T:
    """Return the value of a port, whether it is synchronous or asynchronous."""
    if isinstance(value, Awaitable):
        return await value
    return value


async def await_shielded(value: _T | Awaitable[_T]) -> Shielded[_T]:
    """Like `maybe_await`, but wait until the end even while this task is being cancelled.

    Raises:
        RuntimeError: the awaitable was cancelled itself.
    """
    if not isinstance(value, Awaitable):
        return Shielded(value, cancelled=False)
    task: asyncio.Future[_T] = asyncio.ensure_future(value)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if task.cancelled():  # not by us: it may have done anything
        raise RuntimeError("it was cancelled before it returned")
    return Shielded(task.result(), cancelled)
