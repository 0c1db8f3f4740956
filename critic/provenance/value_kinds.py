"""A value as it is looked for: its narrow form, which grants, and its wide one, which doubts.

Rule 1: values are compared by what they name. The policy says so for an argument; where it does
        not, the shape of the value does.
Rule 2: what cannot be read in one way alone is not readable: as a target it is refused.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from critic.provenance.accounts import (
    IBAN_SHAPE,
    SEPARATED,
    account_form,
    accounts_in,
    is_phone,
    wide_account_form,
)
from critic.provenance.addresses import ADDRESS, address_parts, addresses_in, wide_addresses_in
from critic.provenance.dot_segments import may_go_up
from critic.provenance.folding import (
    QUOTES,
    SEPARATORS,
    SHORT,
    WORD,
    has_control,
    narrow,
    small,
    wide,
    wide_links,
    write_scalar,
)
from critic.provenance.host_names import names_no_host
from critic.provenance.links import (
    WebLink,
    link_of,
    links_in,
    looks_like_link,
    wide_link_of,
)
from critic.provenance.wide_accounts import WIDELY_SEPARATED, account_parts, wide_accounts_in
from critic.provenance.written_lists import Scalar

ValueForm = Literal["text", "path", "url", "address", "account"]
"""How values are compared. Every noun of a policy is read as text."""

_FORMS: Final[dict[str, ValueForm]] = {
    "path": "path",
    "url": "url",
    "address": "address",
    "account": "account",
}
_SHORT_NUMBER: Final = re.compile("[0-9]{1,3}")
_LETTERS: Final = f"(?:(?![0-9_]){WORD})++"
_WORDS: Final = re.compile(rf"{_LETTERS}(?:[ '\u2019-]{_LETTERS})*+")
_NO_WORD: Final = re.compile(f"[{SEPARATORS}]++")
_PATH_BEGINS: Final = re.compile(r"[~.]{0,2}/|[A-Za-z]:[/\\]")


class Sought(NamedTuple):
    """A value to look for.

    Attributes:
        narrow: what a tool would use, as one text.
        wide: what a reader takes for the same.
        is_readable: whether all programs read it in one way.
        is_words: whether it is only words, or signs between them, which any text may hold.
        link: the narrow form of a link.
        names_no_host: whether what is read as a link may be a file or a number as well.
        exact: what the argument spells: two things may differ by their case alone.
    """

    form: ValueForm
    narrow: str
    wide: str
    is_readable: bool = True
    is_words: bool = False
    link: WebLink | None = None
    names_no_host: bool = False
    exact: str = ""

    @property
    def is_path(self) -> bool:
        """Return whether texts are read as for a path: a noun may begin as one, too."""
        is_noun = self.form == "text" and _PATH_BEGINS.match(self.exact) is not None
        return self.form == "path" or is_noun

    @property
    def said(self) -> str:
        """Return what is looked for in a text: of all that begins as a path, the very letters."""
        return self.exact.rstrip("/") or "/" if self.is_path else self.narrow

    @property
    def is_short_number(self) -> bool:
        """Return whether it is a number of three digits or fewer."""
        return _SHORT_NUMBER.fullmatch(self.narrow) is not None


def read_value(value: Scalar, kind: str | None) -> Sought:
    """Return what is looked for where an argument of a kind has a value."""
    text = write_scalar(value)
    return _read_once(text, kind) if len(text) <= SHORT else _read_text(text, kind)


def _read_text(text: str, kind: str | None) -> Sought:
    form = _shape_of(text) if kind is None else _FORMS.get(kind, "text")
    found = _READ[form](text) if form in _READ else None
    found = found or _as_text(text, is_readable=form in ("text", "account"))
    return found._replace(exact=found.narrow if found.form == "path" else text)


_read_once = lru_cache(maxsize=256)(_read_text)  # a value stands in many calls of a session


def same_values(value: Scalar) -> Iterator[tuple[ValueForm, str]]:
    """Yield the narrow forms of a value, by all the ways to compare it."""
    text = write_scalar(value)
    yield "text", text_form(text)
    for form, read in _READ.items():
        if (found := read(text)) is not None:
            yield form, found.narrow


def text_form(text: str) -> str:
    """Return the narrow form of a text: one leading `#` or `@` does not count."""
    form = narrow(text).strip(" ")
    return form[1:] if len(form) > 1 and form[0] in "#@" and form[1] != " " else form


def wide_form(text: str) -> str:
    """Return the wide form of a text as a value."""
    return wide(text).strip(" " + QUOTES).strip("#@").rstrip("/.").strip(" ")


def plain_form(value: Sought) -> str:
    """Return the wide form of a value, by which spellings of one account number are one text."""
    joined = WIDELY_SEPARATED.sub("", value.wide)
    return joined if IBAN_SHAPE.fullmatch(joined) else value.wide


def is_only_words(form: str) -> bool:
    """Return whether the narrow form of a text is only words, or only signs between words."""
    return _WORDS.fullmatch(form) is not None or holds_no_word(form)


def holds_no_word(form: str) -> bool:
    """Return whether a text is only signs, which stand between words of any sentence."""
    return _NO_WORD.fullmatch(form) is not None


def _as_text(text: str, *, is_readable: bool) -> Sought:
    form = text_form(text)
    return Sought("text", form, wide_form(text), is_readable, is_only_words(form))


def _as_path(text: str) -> Sought | None:
    parts = text.split("/")
    inner = parts[(not parts[0]) : len(parts) - (not parts[-1])]
    if has_control(text) or "\\" in text or "" in inner or may_go_up(inner):
        return None
    form = text[:-1] if len(text) > 1 and text.endswith("/") else text
    return Sought("path", form, wide_form(text), is_words=is_only_words(small(form)))


def _as_url(text: str) -> Sought | None:
    link = link_of(text)
    if link is None:
        return None
    wide_link = wide_link_of(wide_links(text))
    wide_key = wide_link.key if wide_link else wide_form(text)
    return Sought("url", link.key, wide_key, link=link, names_no_host=names_no_host(text))


def _as_address(text: str) -> Sought | None:
    form = small(text)
    return Sought("address", form, wide_form(text)) if ADDRESS.fullmatch(text) else None


def _as_account(text: str) -> Sought | None:
    form = account_form(text)
    return None if form is None else Sought("account", form, wide_account_form(text))


_READ: Final[dict[ValueForm, Callable[[str], Sought | None]]] = {
    "path": _as_path,
    "url": _as_url,
    "address": _as_address,
    "account": _as_account,
}


def _shape_of(text: str) -> ValueForm:
    if ADDRESS.fullmatch(text):
        return "address"
    if looks_like_link(text):
        return "url"
    if IBAN_SHAPE.fullmatch(SEPARATED.sub("", text)) or is_phone(text):
        return "account"
    if _PATH_BEGINS.match(text) or ("/" in text and " " not in text):
        return "path"
    return "text"


__all__ = [
    "Sought",
    "ValueForm",
    "account_parts",
    "accounts_in",
    "address_parts",
    "addresses_in",
    "is_only_words",
    "links_in",
    "plain_form",
    "read_value",
    "same_values",
    "text_form",
    "wide_accounts_in",
    "wide_addresses_in",
    "wide_form",
]
