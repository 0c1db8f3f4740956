"""The pytest plugin: replay case files and decision logs as tests, and check laws by a marker.

It is loaded in every run of every project that has it installed, so it imports nothing but pytest
until an option or a marker asks for more.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.testing.laws import Laws


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--critic-replay` and `--critic-update`."""
    group = parser.getgroup("critic", "plan critic")
    group.addoption(
        "--critic-replay",
        action="append",
        default=[],
        metavar="PATH",
        help="run every case file (*.json) and every record of every decision log in PATH, a file "
        "or a folder, as a test; may be given more than once",
    )
    group.addoption(
        "--critic-update",
        action="store_true",
        help="rewrite what the replayed case files expect to today's verdicts; `must` is never "
        "touched, and a verdict that contradicts it fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and complain of a PATH before anything is collected."""
    config.addinivalue_line(
        "markers",
        "critic_laws(compiled, spec, ctx, **options): run the test once for each law of the plan "
        "critic, with the fixture `critic_law` to check it; options: see harness.testing.laws.Laws",
    )
    paths = config.getoption("--critic-replay")
    if config.getoption("--critic-update") and not paths:
        raise pytest.UsageError("--critic-update rewrites what --critic-replay PATH names: add it")
    if paths and not hasattr(config, "workerinput"):
        _source_files(config, paths)


def _source_files(config: pytest.Config, paths: list[str]) -> list[Path]:
    from harness.testing._pytest.sources import NoSource, source_files  # noqa: PLC0415 - see the top

    try:
        return source_files([config.invocation_params.dir / path for path in paths])
    except NoSource as error:
        raise pytest.UsageError(f"--critic-replay {error}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add an item for each case and each record. First, so that -k and -m apply to them too."""
    paths = config.getoption("--critic-replay")
    if not paths:
        return
    from harness.testing._pytest.items import collected  # noqa: PLC0415 - see the top

    update = config.getoption("--critic-update")
    for path in _source_files(config, paths):
        items.extend(collected(session, path, update=update))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each law, where the marker and the fixture `critic_law` meet."""
    if "critic_law" not in metafunc.fixturenames:
        if any(marker.name == "critic_laws" for marker in metafunc.definition.own_markers):
            pytest.fail("the marker critic_laws(...) needs the fixture critic_law", pytrace=False)
        return
    marker = metafunc.definition.get_closest_marker("critic_laws")
    if marker is None:
        pytest.fail("the fixture critic_law needs the marker critic_laws(...)", pytrace=False)
    from harness.testing.laws import Laws  # noqa: PLC0415 - see the top

    laws = Laws(*marker.args, **marker.kwargs)
    cases = [(laws, name) for name in laws.names]
    metafunc.parametrize("critic_law", cases, indirect=True, ids=laws.names)


@pytest.fixture
def critic_law(request: pytest.FixtureRequest) -> Callable[[], None]:
    """Checks the law that the test stands for; see the marker `critic_laws`."""
    laws: Laws
    laws, name = request.param
    return lambda: laws.check(name)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the case files that were rewritten, by whichever worker."""
    if not config.getoption("--critic-update"):
        return
    from harness.testing._pytest.items import UPDATED  # noqa: PLC0415 - see the top

    properties = [
        value
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == UPDATED
    ]
    if properties:
        terminalreporter.section("plan critic")
        for path in sorted(properties):
            terminalreporter.line(f"updated {path}")
