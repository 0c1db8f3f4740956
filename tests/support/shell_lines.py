"""Command lines to draw: hostile texts, and ways to write one word."""

import string
from typing import Final

from hypothesis import strategies as st

_SIGNS: Final = (
    *"'\"\\$`(){};&|<>*?[]~#!=\n\t -,:%^@+0a./\x00\x7f\ud800\xa0é",
    *("&&", "||", ">>", "<<", "$(", "${", "2>", "<<E\nE\n", "\\\n", " -- ", "$'", '$"', "(("),
    *("[[", "}}", ";;", "rm -rf ", "cat ", "git ", "find . -exec ", "sh -c ", "cd ", "x=1 "),
    *("sed -i ", "curl ", "tar xf ", "awk ", "xargs ", "a.py", "~/", "$HOME", "{a,b}", "<1-5>"),
)

any_texts: Final = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(_SIGNS), max_size=40).map("".join),
    st.binary(max_size=60).map(lambda data: data.decode("utf-8", "surrogateescape")),
)
"""Texts that may hold anything, most of them made of what shells give a meaning to."""

plain_texts: Final = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\x7f"),
    max_size=12,
)
"""Texts that an argument can have: any characters but those of control."""


@st.composite
def writings(draw: st.DrawFn, text: str) -> str:
    """Draw one way to write a word in a command line."""
    out = ["''"] if not text else []
    for char in text:
        safe = char in string.ascii_letters + string.digits + "./,:_-"
        style = draw(st.sampled_from(("bare" if safe else "single", "single", "double", "slash")))
        match style:
            case "bare":
                out.append(char)
            case "double":
                out.append(f'"\\{char}"' if char in '$`"\\' else f'"{char}"')
            case "single" if char != "'":
                out.append(f"'{char}'")
            case _:
                out.append(f"\\{char}")
    return "".join(out)


written_words: Final = plain_texts.flatmap(
    lambda text: writings(text).map(lambda written: (text, written))
)
"""A text, and a way to write it as one word."""
