"""The laws of integrations as parameters of a test."""

from collections.abc import Collection
from typing import Any

import pytest

from harness.testing._seams import two_scenes
from harness.testing.seams import seam_laws


def contract_laws(cannot: Collection[str] = ()) -> list[Any]:
    """Return the laws of an integration. Those that play two sessions are streamed if slow tests
    run, too: how an answer is streamed is what all other laws look at."""
    return [
        pytest.param(law, marks=[pytest.mark.slow] if _streams_two_sessions(law) else [])
        for law in seam_laws(cannot)
    ]


def _streams_two_sessions(law: str) -> bool:
    name, _, way = law.partition(" ")
    return bool(way) and hasattr(two_scenes, name)
