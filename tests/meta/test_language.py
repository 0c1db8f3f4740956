"""README, pages and texts of the commands are worded as an engineer of the field would word them.

The sentences below stood in the project once, and a reader had to read each of them twice.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.support.paths import ROOT

PAGES: Final = (ROOT / "README.md", *sorted((ROOT / ".github" / "docs").glob("*.md")))
CODE: Final = tuple(sorted((ROOT / "harness").rglob("*.py")))

STIFF: Final = (
    "judges the finished run with five evaluators",
    "and back the very argument that it is pinned for",
    "a target that only an untrusted text names is refused",
    "A missing fact never passes.",
    "show a log to anybody, and prove it",
    "Where agents run already, one guard fails closed",
    "A second model is compared on random cases, lemmas are proven",
    "A decision costs what it decides, not what it knows",
    "an agent that acts call by call gets what a plan gets",
    "is answered by an error with its path",
    "`note` says why the action is stricter than that",
    "A no is for the whole session",
    "A new turn lapses an open question",
    "because whoever changes it grants what it says was approved",
    "The guard sees what it is told.",
    "It holds what plans may not say about themselves",
    "What is valid and yet ineffective or risky is found, too",
    "`must` is what a person meant.",
    "the authority of a call is that of its tool",
    "Items with a `source` are what was seen",
    "`standing` is how the agent came to read it",
    "two doubts are more than a person should wave through",
    "What a plan declares about itself may only add requirements",
    "A run that called none of its tools has utility 0",
    "The executor is handed a **permit**",
    "A refusal has three kinds of answer",
    "believes the records up to this one",
    "Hypothesis strategies that know a manifest",
    "says who would have been refused and who would have been let through",
    "somebody made the log anew, or put another in its place",
    "A record prints with all that is folded.",
    "turn a recorded run of an agent into session events, for `critic guard`",
    "look after MCP servers",
    "the key of who signed the checkpoint",
    "the same of what may be released",
    "the ids of those that a no denies for the session",
    "Find what is valid in a policy, and yet ineffective or risky.",
)
STILTED: Final = re.compile(
    r"(?<![Tt]here )\b(?:is|are) no (?!longer\b|secret\b)[a-z]+|\bmend(?:s|ed|able)?\b"
)
LIKELY: Final = (" is no ", " are no ", "mend")
OWN_WORDS: Final = re.compile(
    r"\b(?:doubt|standing|surface|pinned|ambient|lapse|seam|yield)(?:s|ed)?\b", re.IGNORECASE
)


@cache
def words_of(path: Path) -> str:
    """Return a text on one line, without the quotes at which a string of Python is broken."""
    return " ".join(re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8")).split())


@pytest.mark.parametrize("sentence", STIFF)
def test_no_sentence_that_was_read_twice_comes_back(sentence: str) -> None:
    assert [path.name for path in (*PAGES, *CODE) if sentence in words_of(path)] == []


def test_things_are_said_to_be_something() -> None:
    texts = ((path.name, words_of(path)) for path in (*PAGES, *CODE))
    # Few texts have these words at all, and only those are worth a search.
    likely = ((name, text) for name, text in texts if any(one in text for one in LIKELY))
    assert {name: found for name, text in likely if (found := STILTED.findall(text))} == {}


@pytest.mark.parametrize("name", ["README.md", ".github/docs/guide.md"])
def test_a_newcomer_meets_no_word_of_our_own(name: str) -> None:
    assert OWN_WORDS.findall((ROOT / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", ["README.md", ".github/docs/guide.md", ".github/docs/guard.md"])
def test_prompt_injection_is_named_where_a_reader_looks_for_it(name: str) -> None:
    assert "prompt injection" in (ROOT / name).read_text(encoding="utf-8")
