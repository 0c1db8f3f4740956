"""The mailboxes that one text lists, as mail programs write them: `Bob <bob@x.org>, eve@x.org`.

Rule 1: a text is a list of mailboxes or it is not: what all programs do not read in one way is one
        text. A name holds words and few signs, and so does its compatible form.
Rule 2: the addresses are what a mail is sent to. A name names nobody; one with an `@` in it may be
        taken for an address, and is a value of its own.
Rule 3: where the policy does not say that an argument holds addresses, a tool may read the names
        too, as in `rm -rf / & echo <bob@x.org>`. There only addresses by themselves are a list.
"""

import re
from typing import Final, NamedTuple

from critic.provenance.addresses import ADDRESS
from critic.provenance.folding import WORD, compatible
from evals.capability import Role

_NAME_SIGNS: Final = " .'\u2019&/+@-"
_NAME: Final = re.compile(f"(?:{WORD}|[{_NAME_SIGNS}])*+")
_QUOTED: Final = re.compile(f"(?:{WORD}|[,;:()!#{_NAME_SIGNS}])*+")
_ALONE: Final = re.compile(r'([^\s<>,;"@]++@[^\s<>,;"@]++)(?= *+(?:[,;]|\Z))')
_NAMED: Final = re.compile(rf'(?:"({_QUOTED.pattern})" *+|({_NAME.pattern}))<([^\s<>,;"]++)>')
_JOINED: Final = re.compile(" *+[,;] *+(?!\\Z)")


class Mailboxes(NamedTuple):
    """What a text lists: the addresses, and the names beside them, each as it is written."""

    addresses: tuple[str, ...]
    names: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The addresses, and the names that may be taken for one."""
        return *self.addresses, *(one for one in self.names if "@" in one)


def read_mailboxes(text: str, role: Role, kind: str | None) -> Mailboxes | None:
    """Return the mailboxes that a text in an argument of a role and kind lists, if it lists any."""
    if kind == "address":
        return mailboxes_in(text)
    found = mailboxes_in(text) if kind is None and role == "recipient" else None
    return None if found is None or found.names else found


def mailboxes_in(text: str) -> Mailboxes | None:
    """Return the mailboxes that a text lists; None where it lists none, or lists anything else."""
    if "@" not in text:
        return None
    text = text.strip(" ")
    addresses, names, at = list[str](), list[str](), 0
    while True:
        found = _ALONE.match(text, at) or _NAMED.match(text, at)
        if found is None or not _is_address(address := found[found.lastindex or 0]):
            return None
        addresses.append(address)
        if found.re is _NAMED:
            allowed, name = (_NAME, found[2]) if found[1] is None else (_QUOTED, found[1])
            if allowed.fullmatch(compatible(name)) is None:
                return None
            names += filter(None, [name.strip(" ")])
        if found.end() == len(text):
            return Mailboxes(tuple(addresses), tuple(names))
        joined = _JOINED.match(text, found.end())
        if joined is None:
            return None
        at = joined.end()


def _is_address(text: str) -> bool:
    return "." in text.partition("@")[2] and ADDRESS.fullmatch(text) is not None
