"""How much slower this machine computes than the one on which limits in seconds were taken."""

import json
import time
from functools import cache
from typing import Final

_LINE: Final = '{"a":[1,"x",{"b":null}],"c":"text"}'
_LINES: Final = 20_000
_SECONDS: Final = 0.065
"""What so many lines took there."""


@cache
def slowness() -> float:
    """Return the factor, at least 1: a faster machine makes no limit tighter."""
    return slowness_now()


def slowness_now() -> float:
    """Return the factor of this moment: beside other processes a core computes slower."""
    return max(1.0, min(map(_read_lines, range(5))) / _SECONDS)


def _read_lines(_: int) -> float:
    began = time.process_time()
    for _ in range(_LINES):
        sorted(json.loads(_LINE).items(), key=str)
    return time.process_time() - began
