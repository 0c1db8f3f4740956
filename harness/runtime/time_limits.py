"""Call a function, and stop waiting for it after a time limit."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from inspect import isawaitable, iscoroutinefunction
from threading import Thread
from typing import Any, NamedTuple


class _Ended(NamedTuple):
    """The value that a function returned, or the error that it raised."""

    value: Any
    error: BaseException | None


async def call_within(
    timeout_s: float, function: Callable[..., Any], args: Mapping[str, Any]
) -> Any:
    """Return what `function(**args)` returns, if it does within `timeout_s` seconds.

    After that a coroutine is cancelled and not waited for. A synchronous function runs in a thread
    of its own, which cannot be stopped: it goes on, and what it returns is dropped.

    Raises:
        TimeoutError: the time is up.
        BaseException: what the function raised.
    """
    task = asyncio.ensure_future(_run_to_end(function, args))
    try:
        await asyncio.wait({task}, timeout=timeout_s)
        if not task.done():
            raise TimeoutError(f"no answer within {timeout_s} s")
    finally:
        task.cancel()
    ended = task.result()
    if ended.error is not None:
        raise ended.error
    return ended.value


async def _run_to_end(function: Callable[..., Any], args: Mapping[str, Any]) -> _Ended:
    """Return how the call ended. It does not raise, so that it may be left to itself."""
    try:
        if iscoroutinefunction(function):
            return _Ended(await function(**args), None)
        ended = await _in_thread(function, args)
        if ended.error is None and isawaitable(ended.value):
            return _Ended(await ended.value, None)
    except BaseException as error:
        return _Ended(None, error)
    return ended


async def _in_thread(function: Callable[..., Any], args: Mapping[str, Any]) -> _Ended:
    loop, context = asyncio.get_running_loop(), copy_context()
    future: asyncio.Future[_Ended] = loop.create_future()

    def settle(ended: _Ended) -> None:
        if not future.done():
            future.set_result(ended)

    def work() -> None:
        try:
            ended = _Ended(context.run(function, **args), None)
        except BaseException as error:
            ended = _Ended(None, error)
        with suppress(RuntimeError):  # the event loop was closed in the meantime
            loop.call_soon_threadsafe(settle, ended)

    # A daemon: a tool that never returns must not keep the program from ending.
    Thread(target=work, daemon=True).start()
    return await future
