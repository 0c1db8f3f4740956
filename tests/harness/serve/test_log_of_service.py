"""The log of a service: whose it is to close, who shares a look at it, and what is told of it."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from harness.log import LogError, SqlDecisionLog
from harness.record import Head
from harness.serve.log_faults import _FAULTS, LOG_FAULTS, RETRY, log_fault
from harness.serve.request_limits import ServiceLimits, WorkPool
from harness.serve.service_log import Readiness, ServiceLog
from harness.serve.telemetry import ServiceMetrics
from tests.harness.serve.asking import app_of, ask
from tests.harness.serve.test_readiness import Watch
from tests.support.examples import good_proposal


class Closed(SqlDecisionLog):
    """A log that counts how often it was closed."""

    closings = 0

    def close(self) -> None:
        self.closings += 1
        super().close()


@pytest.mark.parametrize("is_own", [True, False], ids=["opened by it", "given to it"])
def test_a_service_closes_the_log_that_it_opened_and_no_other(is_own: bool, tmp_path: Path) -> None:
    log: Any = Closed.open(tmp_path / "log")
    app = app_of(log=(lambda: log) if is_own else log)
    app.close()
    assert log.closings == 0  # it was not needed
    app = app_of(log=(lambda: log) if is_own else log)
    assert ask(app, "/v1/verify", good_proposal()).status_code == 200
    app.close()
    assert log.closings == is_own
    log.close()


def test_the_head_that_is_told_never_goes_back() -> None:
    class Heads:
        """Tells one head after the other."""

        told = iter((5, 9, 3, 11, 2))

        def rehearse(self) -> Head:
            return Head(next(self.told), "0" * 64)

        acknowledged = Head(0, "0" * 64)

    log: Any = Heads()
    service = ServiceLog(lambda: log, ServiceMetrics().log)
    assert [(service.rehearse().seq, service._last_known()) for _ in range(5)] == [
        *((5, 5), (9, 9), (3, 9), (11, 11), (2, 11))
    ]


class Pool(WorkPool):
    """Does work when it is told to."""

    def __init__(self) -> None:
        super().__init__(ServiceLimits())
        self.looks: list[asyncio.Future[Any]] = []

    async def run(self, work: Any, *, inline: bool = False) -> Any:
        assert (work, inline) == (None, False)
        look = asyncio.get_running_loop().create_future()
        self.looks.append(look)
        return await look


def test_who_asks_while_a_log_is_looked_at_shares_the_look_and_may_leave() -> None:
    async def looks() -> None:
        pool, watch = Pool(), Watch()
        log: Any = type("Log", (), {"rehearse": None})()
        ready = Readiness(log, pool, watch)
        asked = []
        for _ in range(4):
            asked.append(asyncio.ensure_future(ready.require()))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            watch.seconds += 5
        assert len(pool.looks) == 1
        asked[0].cancel()
        asked[2].cancel()
        await asyncio.sleep(0)
        pool.looks[0].set_result(Head(1, "0" * 64))
        told = await asyncio.gather(*asked, return_exceptions=True)
        left = asyncio.CancelledError
        assert [type(one) for one in told] == [left, type(None), left, type(None)]
        later = asyncio.ensure_future(ready.require())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(pool.looks) == 2
        pool.looks[1].set_exception(LogError("x"))
        with pytest.raises(LogError):
            await later

    asyncio.run(looks())


def test_a_failure_is_told_as_the_nearest_that_has_words() -> None:
    for kind, fault in _FAULTS.items():
        near = type("Near", (kind,), {})
        assert log_fault(type("Nearer", (near,), {})()) == log_fault(near()) == fault
        assert log_fault(kind()) == fault
    for fault in LOG_FAULTS:
        assert fault.headers == (RETRY if fault.status == 503 else {}), fault.kind
    assert {fault.status for fault in LOG_FAULTS} == {500, 503}


def test_work_that_nobody_began_is_not_begun_after_the_end() -> None:
    begun: list[int] = []
    first, go_on = threading.Event(), threading.Event()
    pool = WorkPool(ServiceLimits(seconds=5.0), threads=1)

    def work(number: int) -> None:
        begun.append(number)
        first.set()
        go_on.wait(5)

    for number in range(3):
        pool._threads.submit(work, number)
    assert first.wait(5)
    closing = threading.Thread(target=pool.close)
    closing.start()
    while not pool._threads._shutdown:
        closing.join(0.001)
    go_on.set()
    closing.join(5)
    assert begun == [0]
