"""Read `curl` and `wget`: whom they ask, what they send, which files they read and write."""

import re
from collections.abc import Iterable
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk
from critic.command.operand_kinds import apply_arguments
from critic.command.program_options import GivenOption, parse_options
from critic.command.shell_syntax import NotUnderstood, Word, plain_word

_ONLY_READS: Final = frozenset(("GET", "HEAD"))
_FROM_FILES: Final = frozenset(("-H", "--header", "-w", "--write-out"))
_FORMATS: Final = frozenset(("-w", "--write-out"))
_COOKIES: Final = frozenset(("-b", "--cookie"))
_SAVES: Final = frozenset(("-O", "--remote-name"))
_NO_OWN_FILE: Final = frozenset(("-O", "--output-document", "--spider"))
_SAVED_AS: Final = re.compile(r"(?:https?://)?[^/?#]+((?:/[\w.~+,=:-]*)*)(?:\?[\w.~+,=:&%-]*)?")
"""An address by whose path a file is named as it is written."""

_DOTS: Final = re.compile(r"/\.{1,2}(?=/|$)")
_LISTS_FILES: Final = re.compile(r"[\[\]{}]")


def read_curl(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the hosts, what is sent, and the files.

    Raises:
        NotUnderstood: an option, an address or a value is not understood.
    """
    given = parse_options(entry, words)
    for one in given.options:
        if one.value is not None:
            _check_value(walk, one, one.value, deed)
    apply_arguments(walk, entry, given, deed)
    if not deed.hosts:
        raise NotUnderstood("no address")
    is_wget = deed.program == "wget"
    if (is_wget and not given.names & _NO_OWN_FILE) or (not is_wget and given.names & _SAVES):
        named = (one.value for one in given.options if one.option.kind == "url")
        _add_saved(walk, (*given.operands, *filter(None, named)), deed)


def _check_value(walk: LineWalk, one: GivenOption, value: Word, deed: Deed) -> None:
    name, kind, text = one.name, one.option.kind, value.exact
    if name in ("-X", "--request", "--method") and text not in _ONLY_READS:
        deed.add_effect("send", "may change something")
    if kind == "text" and text is None:
        deed.add_effect("send", "sends what is known only when it runs")
    if name in _FROM_FILES and value.prefix[:1] in ("@", "") and text != "":
        raise NotUnderstood(f"a value of {name} that is read from a file")
    if name in _FORMATS and (text is None or "%output" in text):
        raise NotUnderstood(f"a value of {name} that may write a file")
    if name in _COOKIES and "=" not in value.prefix:
        raise NotUnderstood(f"a value of {name} that is read from a file")
    if name == "--data-urlencode" and "@" in value.prefix.partition("=")[0]:
        path = value.prefix.partition("@")[2]
        deed.reads += walk.at(plain_word(path), deed.folders)
    if kind == "upload" and _LISTS_FILES.search(value.prefix):
        raise NotUnderstood("an upload of several files")


def _add_saved(walk: LineWalk, addresses: Iterable[Word], deed: Deed) -> None:
    """Add the files that are named after the addresses, in the folder.

    Raises:
        NotUnderstood: a name that is decoded, cut or made otherwise than it is written.
    """
    for word in addresses:
        saved = _SAVED_AS.fullmatch(word.exact or "")
        if saved is None or _DOTS.search(saved[1]):
            raise NotUnderstood(f"a file that is named after {word.shown}")
        name = saved[1].rpartition("/")[2]
        if not name and deed.program != "wget":  # curl takes the folder, or a name of its own
            raise NotUnderstood(f"a file that is named after {word.shown}")
        for folder in walk.here(deed):
            deed.writes.append(walk.below(folder, name or "index.html"))
