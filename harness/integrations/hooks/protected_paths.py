"""What a model is told whose call would write what agents, their guard or git obey.

The policy refuses such a call by a schema, and a schema says only that an argument does not fit:
"Correct it" would have the model try another spelling.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from critic import Refused
from critic.command.agent_settings import PROTECTED
from harness.guard.rulings import Ruling

_NAMES: Final = "|".join(re.escape(name.rstrip("/")).replace("/", r"[/\\]+") for name in PROTECTED)
_PATH: Final = re.compile(rf"(?:^|[/\\\s])(?:{_NAMES})(?:[/\\\s]|$)", re.IGNORECASE)
_UNSAID: Final = re.compile(r"is not what \S+ takes\. Correct it\.$")
_PROTECTED: Final = (
    "is protected: agents, their guard or git obey what is there. Only a person can change it."
)


def is_writable_by_agents(path: Path) -> bool:
    """Return whether an agent may write a file: it is in a repository, under no protected name."""
    real = path.resolve()
    root = next((one for one in real.parents if (one / ".git").exists()), None)
    return root is not None and _PATH.search(f"/{real.relative_to(root)}") is None


def has_protected_name(path: str) -> bool:
    """Return whether a name in a path is protected, wherever it is."""
    return _PATH.search(path) is not None


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
