"""The pytest plugin: options to replay case files and decision logs, and a marker to check laws.

It is loaded in every test run of every project that has plan-critic installed, so it imports
nothing but pytest until an option or the marker asks for more, and nothing that is shadowed.
"""

from collections.abc import Callable, Generator
from importlib import import_module
from typing import Any

import pytest

from plan_critic_entry.shadowing import shadowed_packages

_MARKER = "critic_laws"
_FIXTURE = "critic_law"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--critic-replay` and `--critic-update`."""
    group = parser.getgroup("critic", "plan critic")
    group.addoption(
        "--critic-replay",
        action="append",
        default=[],
        metavar="PATH",
        help="run every case file (*.json) and every record of every decision log in PATH, a file "
        "or a folder, as a test; or of the log at the URL that PATH is; may be given more than "
        "once",
    )
    group.addoption(
        "--critic-update",
        action="store_true",
        help="rewrite what the replayed case files expect to today's verdicts; `must` is never "
        "touched, and a verdict that contradicts it fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; with `--critic-replay`, register what replays.

    Raises:
        pytest.UsageError: the options do not fit together, or a package is shadowed.
    """
    config.addinivalue_line(
        "markers",
        "critic_laws(compiled, spec, ctx, **options): run the test once for each law of the plan "
        "critic, with the fixture `critic_law` to check it; options: see harness.testing.laws.Laws",
    )
    paths = config.getoption("--critic-replay")
    if config.getoption("--critic-update") and not paths:
        raise pytest.UsageError("--critic-update rewrites what --critic-replay PATH names: add it")
    if not paths:
        return
    if lines := shadowed_packages():
        raise pytest.UsageError(f"--critic-replay: {'; '.join(lines.values())}")
    config.pluginmanager.register(import_module("harness.testing.plugin"), "plan-critic-replay")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each law, where a test asks for the fixture `critic_law`."""
    if _FIXTURE not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker(_MARKER)
    if marker is None:
        pytest.fail("the fixture critic_law needs the marker critic_laws(...)", pytrace=False)
    if lines := shadowed_packages():
        pytest.fail(f"critic_laws: {'; '.join(lines.values())}", pytrace=False)
    laws = _laws_of(marker)
    cases = [(laws, name) for name in laws.names]
    metafunc.parametrize(_FIXTURE, cases, indirect=True, ids=laws.names)


def _laws_of(marker: pytest.Mark) -> Any:
    """Return the laws that a marker asks for, or fail with what is wrong with its policy."""
    try:
        return import_module("harness.testing.laws").Laws(*marker.args, **marker.kwargs)
    except (OSError, import_module("harness.policy").InvalidPolicy) as error:
        lines = (str(error), *getattr(error, "__notes__", ()))
    # Outside the handler, so that the failure is not chained to the error.
    pytest.fail("critic_laws: " + "\n".join(lines), pytrace=False)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a test that is marked, itself or by its class or module, and checks no law."""
    marked = item.get_closest_marker(_MARKER) is not None
    if marked and _FIXTURE not in getattr(item, "fixturenames", ()):
        pytest.fail("the marker critic_laws(...) needs the fixture critic_law", pytrace=False)


class _LawCheck:
    """Checks one law when called, and remembers that it was."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self.called = False

    def __call__(self) -> None:
        self.called = True
        self._check()


@pytest.fixture
def critic_law(request: pytest.FixtureRequest) -> Callable[[], None]:
    """Return a function that checks the law this test is for; see the marker `critic_laws`."""
    if not hasattr(request, "param"):
        pytest.fail("critic_law must be an argument of a function pytest collects", pytrace=False)
    laws, name = request.param
    return _LawCheck(lambda: laws.check(name))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Fail a test that passed without calling the `critic_law` it asked for."""
    outcome = yield
    check = pyfuncitem.funcargs.get(_FIXTURE)
    if isinstance(check, _LawCheck) and not check.called:
        pytest.fail("critic_law was never called, so no law was checked", pytrace=False)
    return outcome
