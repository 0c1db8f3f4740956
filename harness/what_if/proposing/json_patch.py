"""Write edits into a policy in JSON, where a guess is a pointer in `guessed`. Pure.

The text is written anew with its indentation; everything else that it says stays, in its order.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from evals.escaping import pointer
from harness.what_if.proposing.policy_edits import PolicyEdit, SetValue, changes_of, make_change

_INDENT: Final = re.compile(r"^[{\[][ \t]*\n([ \t]+)")


def write_json_edits(text: str, edits: Iterable[PolicyEdit]) -> str:
    """Return the text of a policy in JSON with edits, whose places are added to `guessed`."""
    value = json.loads(text)
    for edit in edits:
        for change in changes_of(value, edit):
            value = _mark_guess(make_change(value, change), _place_of(value, change))
    end = text[len(text.rstrip()) :]
    return _dump_like(text.strip(), value) + end


def _place_of(value: Any, change: SetValue) -> str:
    """Return where a change is found once it is made; a new class is a place of its own."""
    if change.added and change.place == ("class",):
        return pointer("class", len(value.get("class", ())))
    return pointer(*change.place)


def _mark_guess(value: Any, place: str) -> Any:
    known = value.get("guessed", [])
    return value if place in known else {**value, "guessed": [*known, place]}


def _dump_like(text: str, value: Any) -> str:
    """Return a value as JSON: in one line if the text is one, else indented as it is."""
    if "\n" not in text:
        return json.dumps(value, ensure_ascii=False)
    indent = _INDENT.match(text)
    return json.dumps(value, ensure_ascii=False, indent=indent[1] if indent else 2)
