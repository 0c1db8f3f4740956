"""What a model is told whose call would write what agents, their guard or git obey.

The policy refuses such a call by a schema, and a schema says only that an argument does not fit:
"Correct it" would have the model try another spelling.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from critic import Refused
from critic.command.agent_settings import PROTECTED
from harness.guard.rulings import Ruling
from harness.log.log_places import is_url

_NAMES: Final = "|".join(re.escape(name.rstrip("/")).replace("/", r"[/\\]+") for name in PROTECTED)
_PATH: Final = re.compile(rf"(?:^|[/\\\s])(?:{_NAMES})(?:[/\\\s]|$)", re.IGNORECASE)
_DATABASE_FILES: Final = ("", "-wal", "-shm", "-journal")
_UNSAID: Final = re.compile(r"is not what \S+ takes\. Correct it\.$")
_PROTECTED: Final = (
    "is protected: agents, their guard or git obey what is there. Only a person can change it."
)


def is_writable_by_agents(path: Path) -> bool:
    """Return whether an agent may write a file: it is in a repository, under no protected name."""
    real = path.resolve()
    root = next((one for one in real.parents if (one / ".git").exists()), None)
    return root is not None and _PATH.search(f"/{real.relative_to(root)}") is None


def places_of_guard(folder: Path, files: Iterable[Path], log: str | None) -> tuple[str, ...]:
    """Return what a hook reads and writes that no protected name covers, as it is found and leads.

    Args:
        folder: where the hook runs.
        files: files and folders that it reads and writes.
        log: where the decision log is.
    """
    places = [folder / one for one in files]
    if log is not None and not is_url(log):
        places += [folder / f"{log}{ending}" for ending in _DATABASE_FILES]
    found = {
        one: None
        for place in places
        for one in (f"{os.path.realpath(place.parent)}/{place.name}", os.path.realpath(place))
        if _PATH.search(one) is None
    }
    return tuple(found)


def word_protected(ruling: Ruling, args: Any) -> Ruling:
    """Return a refusal whose reply says which arguments name a protected path.

    Args:
        args: the arguments of its one call, as they were judged.
    """
    if ruling.reply is None or not isinstance(ruling.verdict, Refused):
        return ruling
    reply = ruling.reply
    for one in ruling.verdict.violations:
        name = (one.path or "").rpartition("/")[2]
        value = args.get(name) if isinstance(args, Mapping) else None
        if one.say and isinstance(value, str) and _PATH.search(value):
            reply = reply.replace(one.say, _UNSAID.sub(_PROTECTED, one.say))
    return ruling.model_copy(update={"reply": reply})
