"""The laws of integrations as parameters of a test."""

from collections.abc import Collection
from typing import Any

import pytest

from harness.testing._seams import two_scenes
from harness.testing.seams import seam_laws

_ONE_IN = 9


def contract_laws(cannot: Collection[str] = ()) -> list[Any]:
    """Return the laws of an integration: every second, and streamed one in nine.

    Slow tests keep all of them, streamed too. Those that play two sessions are only there.
    """
    laws = seam_laws(cannot)
    plain = [law for law in laws if not law.endswith(" streamed")]
    quick = [law for law in laws if law not in plain and not _plays_two_sessions(law)]
    looked_at = {*plain[len(cannot) % 2 :: 2], *quick[::_ONE_IN]}
    return [pytest.param(law, marks=[] if law in looked_at else [pytest.mark.slow]) for law in laws]


def _plays_two_sessions(law: str) -> bool:
    return hasattr(two_scenes, law.partition(" ")[0])
