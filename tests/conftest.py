"""The set-up of every test."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.effort import mark_all_but_samples, register_profiles
from tests.support.postgres import NoServer, PostgresServer, postgres_server
from tests.support.skips import fail_if_missing
from tests.support.wheel import built_wheel

# `--hypothesis-profile=full` draws all; see decisions 0058 and 0070.
register_profiles()
settings.load_profile("eighth")

# A shell's background job ignores SIGINT, and one under nohup SIGHUP; so would every process that a
# test starts and then interrupts. A handler that does nothing is not passed on.
for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)


# Tests start hundreds of processes. Without bytecode each compiles the project anew, which takes
# longer than what most of them do.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Of what is collected, frameworks and tests keep almost all: looking through it time and again for
# what can be freed takes a quarter of the collection.
gc.set_threshold(50_000, 10, 10)

# Logs and files of sessions are synced at each step: to memory, which a killed process leaves as it
# is, too. Some systems lend only little of it.
_MEMORY = Path("/dev/shm")  # noqa: S108 - where Linux keeps files in memory
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

SLOW_TO_MAKE = {"postgres", "wheel"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test as slow that needs what is slow to make, or is no sample of its cases."""
    for item in items:
        if _needs(item) & SLOW_TO_MAKE:
            item.add_marker("slow")
    mark_all_but_samples(items)


def _needs(item: pytest.Item) -> set[str]:
    """Return the fixtures of a test, and those that a parameter of `place` names."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return {*getattr(item, "fixturenames", ()), str(parameters.get("place"))}


def pytest_collection_finish() -> None:
    """Look no more at what was collected: it stays until the end."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let no test be skipped unseen where all that it needs is meant to be there."""
    report = yield
    fail_if_missing(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let no file of tests be skipped unseen, either."""
    report = yield
    fail_if_missing(report)
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what a run leaves out: the workers that deselect it do not."""
    if config.option.markexpr == "not slow":
        terminalreporter.write_line("tests marked slow are left out: -m '' runs them too")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this project."""
    return built_wheel(tmp_path_factory)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Return a running server. Where none can be had the test is skipped, but fails under CI."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(postgres_server())
        except NoServer as reason:
            if os.environ.get("CI"):
                pytest.fail(f"this needs a PostgreSQL server: {reason}")
            pytest.skip(f"needs a PostgreSQL server: {reason}")
        yield server
