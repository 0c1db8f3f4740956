"""A function is named for what it does or returns: by a verb and its object, or by a noun.

A bare participle (`shown`, `_read` of a text that was read, `missing`) does not say of what.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.meta.test_names_of_modules import modules, parsed
from tests.support.paths import ROOT

IRREGULAR: Final = frozenset(
    (
        *(
            "begun",
            "bound",
            "broken",
            "built",
            "chosen",
            "dealt",
            "done",
            "drawn",
            "driven",
            "felt",
        ),
        *("forgotten", "found", "frozen", "given", "gone", "got", "grown", "heard", "held"),
        *("hidden", "kept", "known", "laid", "led", "left", "lent", "lost", "made", "meant", "met"),
        *("paid", "ran", "said", "seen", "sent", "shown", "sold", "sought", "spent"),
        *("spoken", "stood", "taken", "taught", "thought", "thrown", "told", "torn", "understood"),
        *("undone", "unheld", "unknown", "unmade", "unmet", "unread", "unseen", "unsent", "won"),
        *("worn", "wound", "written"),
    )
)
"""Participles, and past tenses, without `-ed`. Those that are verbs as well (`read`) are "
"allowed."""
OTHER_WORDS: Final = frozenset(
    (
        *("bed", "bleed", "breed", "embed", "exceed", "feed", "need", "proceed", "seed", "speed"),
        *("ceiling", "king", "ring", "sibling", "sighting", "spelling", "string", "thing"),
        *("bring", "cling", "spring", "swing"),
    )
)
"""Words that end as participles do: nouns and verbs."""

_AFTER_AN_EVENT: Final = "the session is a value: this is how it is after the event of that name"
_PORT: Final = "a documented port: whoever stores logs elsewhere has to name it so"
EXCEPTIONS: Final = {
    **dict.fromkeys(
        [f"Session.{name}" for name in ("opened", "said", "approved", "decided", "ran", "closed")],
        _AFTER_AN_EVENT,
    ),
    "EventMethods.said": "the event of that name, as a method of the guard",
    "labelled": "reads as what its decorator makes of a tool, like `dataclass`",
    "Ledger.spent": "the noun of the envelope that it returns: `Spent`",
    "Policy.compiled": "public: returns the `compiled` of a Proposal",
    **dict.fromkeys(
        [
            f"{name}.equipped"
            for name in (*("Equippable", "Journaled", "ModelAgent", "PydanticAIAgent", "Retrying"),)
        ],
        "public: the agent as it is with tools and context, which users implement",
    ),
    "guarded": "public: returns an agent of another library, guarded",
    "guarding": "public: a context in which runs are guarded",
    **dict.fromkeys(
        [f"GuardedSession.{name}" for name in ("standing", "ended", "running")],
        "public: what a seam asks and reports about one call",
    ),
    "renewed": "public: the case with the outcome of now",
    "undocumented": "public: the features that a page does not document",
    **dict.fromkeys(
        [
            *(
                f"{log}.{name}"
                for log in ("PartedLog", "LogReader", "_ParcelLog")
                for name in ("stored", "named")
            ),
            *(
                f"{log}.{name}"
                for log in ("IndexedLog", "LogReader")
                for name in ("fetching", "unrecorded")
            ),
            *(
                f"{log}.{name}"
                for log in ("StoredLog", "LogReader")
                for name in ("unnamed", "unmade")
            ),
            *("NamesLeft.left", "Remainder.left"),
        ],
        _PORT,
    ),
}
"""By class and name: why it may stay."""


def is_bare_participle(name: str) -> bool:
    word = name.strip("_")
    if "_" in word or name.startswith("__") or word in OTHER_WORDS:
        return False
    return word in IRREGULAR or re.fullmatch(r"[a-z]{2,}(ed|ing)", word) is not None


def functions(node: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield every function within a node, but properties: those read like fields."""
    for inner in ast.iter_child_nodes(node):
        match inner:
            case ast.ClassDef():
                yield from functions(inner, inner.name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if not any(_is_property(one) for one in inner.decorator_list):
                    yield (f"{owner}.{inner.name}" if owner else inner.name), inner
                yield from functions(inner)
            case _:
                yield from functions(inner, owner)


def _is_property(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).rpartition(".")[2] in ("property", "cached_property", "setter")


@pytest.mark.slow
def test_no_function_is_a_bare_participle() -> None:
    found: set[str] = set()
    refused: list[str] = []
    for path in modules("harness", "critic", "evals"):
        for name, _ in functions(parsed(path)):
            if is_bare_participle(name.rpartition(".")[2]):
                found.add(name)
                if name not in EXCEPTIONS:
                    refused.append(f"{path.relative_to(ROOT)}: {name}")
    assert not refused, f"name them by a verb and its object: {refused}"
    assert found == EXCEPTIONS.keys(), "strike from the exceptions what is gone"


@pytest.mark.parametrize("name", ["shown", "_said", "listed", "_reading", "unmet", "missing"])
def test_a_bare_participle_is_known(name: str) -> None:
    assert is_bare_participle(name)


@pytest.mark.parametrize(
    "name", ["read", "_string", "list_names", "__init__", "held_values", "feed"]
)
def test_a_verb_and_a_noun_may_name_a_function(name: str) -> None:
    assert not is_bare_participle(name)
