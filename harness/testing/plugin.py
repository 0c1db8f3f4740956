"""The half of the pytest plugin that replays case files and decision logs as tests.

`plan_critic_entry.pytest_plugin` registers it once `--critic-replay` asks for it; the options, the
marker and the fixture for laws are there.
"""

from pathlib import Path
from typing import Any

import pytest

from harness.log.log_places import is_url
from harness.testing._pytest.items import UPDATED, collect_items
from harness.testing._pytest.replay_sources import NoSource, source_files


def pytest_configure(config: pytest.Config) -> None:
    """Complain of a PATH before anything is collected.

    Raises:
        pytest.UsageError: a PATH has nothing to replay.
    """
    if not hasattr(config, "workerinput"):
        _source_files(config)


def _source_files(config: pytest.Config) -> list[Path | str]:
    """Return the files to replay, and the URLs of logs in a database."""
    folder = config.invocation_params.dir
    given = config.getoption("--critic-replay", [])
    try:
        files = source_files([folder / place for place in given if not is_url(place)])
        return [*files, *dict.fromkeys(place for place in given if is_url(place))]
    except NoSource as error:
        raise pytest.UsageError(f"--critic-replay {error}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add an item for each case and each record. First, so that -k and -m apply to them too."""
    update = config.getoption("--critic-update", False)
    for place in _source_files(config):
        items.extend(collect_items(session, place, update=update))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the case files that were rewritten, in any process."""
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
