"""What a session sent itself: a system that shows it later says nothing new by it.

Rule 1: a value was sent wherever a text of a system would grant it, and wherever one mentions it.
Rule 2: a system shows some of what it got in its own spelling. So what was sent counts in that
        one, too: markup read, escapes, dots in paths, ports and zeros resolved, and any sign
        between groups. The markup of a long text is read word by word.
"""

import re
from typing import Final

from critic.provenance.boundaries import compile_pattern
from critic.provenance.folding import SEPARATORS, write_scalar
from critic.provenance.holders import ItemText, Shown
from critic.provenance.place import Place
from critic.provenance.rendered_texts import rendered_forms
from critic.provenance.value_kinds import Sought
from critic.provenance.written_lists import leaves
from evals.context import SentValues
from evals.manifest import EvidenceItem

_SENT: Final = "sent/"
_ESCAPED: Final = re.compile("%([2-7][0-9A-Fa-f])")
_UNREAD_DIGITS: Final = re.compile(
    r"(?<![0-9A-Za-z.,_-])0++(?=[0-9])|(?<=[0-9]),(?=[0-9]{3}(?![0-9]))|(?<=[0-9])\.0++(?![0-9.])"
)
_TOKEN: Final = re.compile(r"\S++")
_PORT: Final = re.compile(r"(?<=[A-Za-z0-9]):(?:443|80)(?=[/?#]|\Z)")
_USER_OR_FRAGMENT: Final = re.compile(r"\A[^/?#]*@|\??(?:#.*)?\Z")
_NO_SLASH: Final = SEPARATORS.replace("-/", "-.", 1)
_SIGNS: Final = rf"[{_NO_SLASH}_]++"
_GROUPED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?=([A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{0,30}"
    r"(?:[^A-Za-z0-9\n]{1,4}[A-Za-z0-9]{1,30}){1,11}))"
)
"""What may be an account number in groups, whatever stands between them."""
_BETWEEN: Final = re.compile("[^A-Za-z0-9]+")
_SHORT: Final = 20_000
"""Characters of a text of which each form is kept as a whole."""
_LONGEST: Final = 200
"""Characters of a value that a system may show with other signs in it: a longer one is none."""


class SentIndex:
    """What was sent, in its order: an index that only grows."""

    def __init__(self) -> None:
        self._place: Final = Place()
        self._seqs: Final[list[int]] = []

    def __len__(self) -> int:
        return len(self._seqs)

    def add(self, sent: SentValues) -> None:
        """Add what one call sent, after all that was sent before it."""
        told = [write_scalar(one) for value in sent.values for one in leaves(value, every=True)]
        read = [*told, *(form for one in told for form in _read_forms(one))]
        texts = [*read, *filter(None, map(_shown_of, read))]
        item = EvidenceItem(id=f"{_SENT}{len(self._seqs)}", classification="sent")
        # As fields too, of which short numbers are values.
        self._place.add(ItemText(item, texts, texts))
        self._seqs.append(sent.seq)

    def first_seq(self, value: Sought, count: int | None = None) -> int | None:
        """Return when a value was sent first, alone or in a text; None where it never was.

        Args:
            count: how many of the first ones count.
        """
        if not self._seqs:
            return None
        limit = len(self._seqs) if count is None else count
        shown = None if limit == len(self._seqs) else _first_ones(limit)
        place = self._place
        looks = (place.mentions, place.says, place.leaf, place.field)
        found = filter(None, (look(value, shown) for look in looks))
        return min((self._seqs[_position(one)] for one in found), default=None)


def _read_forms(text: str) -> list[str]:
    """Return the forms of a text whose markup is read: of a long one, what is new in them."""
    forms = [*rendered_forms(text)]
    if len(text) <= _SHORT or not forms:
        return forms
    known = frozenset(_TOKEN.findall(text))
    new = dict.fromkeys(one for form in forms for one in _TOKEN.findall(form))
    return ["\n;\n".join(one for one in new if one not in known)]


def _shown_of(text: str) -> str:
    """Return, line by line, what systems may show for parts of a text in another spelling."""
    tokens = _TOKEN.findall(text)
    plain = _ESCAPED.sub(_unescape, text) if "%" in text else text
    shown = [_resolve(one) for one in _TOKEN.findall(_UNREAD_DIGITS.sub("", plain))]
    signs = compile_pattern(_SIGNS)
    joined = (one for one in tokens if "/" not in one and len(one) <= _LONGEST)
    shown += (signs.sub("-", one).strip("-") for one in joined)
    shown += (_BETWEEN.sub("-", one[1]) for one in _GROUPED.finditer(text))
    known = frozenset(tokens)
    return "\n;\n".join(one for one in dict.fromkeys(shown) if one not in known)


def _unescape(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16))


def _resolve(token: str) -> str:
    """Return a path or a link without what servers and disks do not keep."""
    scheme, mark, rest = _PORT.sub("", token).rpartition("://")
    if mark:
        rest = _USER_OR_FRAGMENT.sub("", rest)
    kept = list[str]()
    for at, one in enumerate(rest.split("/")):
        if one == ".." and any(kept) and kept[-1] != "..":
            kept.pop()
        elif (one and one != ".") or (at == 0 and not one):
            kept.append(one)
    return scheme + mark + "/".join(kept)


def _first_ones(count: int) -> Shown:
    return Shown(expired=False, among=lambda entry: _position(entry) < count)


def _position(entry: ItemText) -> int:
    return int(entry.item.id[len(_SENT) :])
