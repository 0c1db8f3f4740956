"""What may be a link in a text: a run of characters, and whether it may go on beside them."""

import re

from tests.support.model.parting import GAP, WORD, is_unspaced, parted

HOST = r"[\w-]+(?:\.[\w-]+)*"
HOST_NAME = r"(?:[\w-]+\.)+[a-z]{2,}"
FILE_NAME = re.compile(r"(?!www\.)[\w.-]*\.(?:md|mov|py|zip|txt|pdf|csv|json|html)")
STOPS = "\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff64"
OPENING = "\u3008\u300a\u300c\u300e\u3010\u3014\u3016\uff08\uff3b\uff5b\uff62"
CLOSING = "\u3009\u300b\u300d\u300f\u3011\u3015\u3017\uff09\uff3d\uff5d\uff63"
DOT_STOPS = "\u3002\uff0e\uff61"
QUOTE_SIGNS = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\xab\xbb"
RUN = re.compile(rf"[^\s<>\"'`|^\\{{}}()\[\]\u2018\u201c-\u201e\xab\xbb{CLOSING}]+")
"""What may be a link in a text: a run without what ends one."""
PUNCTUATION = ".,;:!?*_\u2019\u2026"
PROGRAMS = "sh|bash|zsh|jq|python|python3|sudo|tar"
FOLLOWS = re.compile(
    rf"\|https?://|(?:\|(?:{PROGRAMS})|(?:\[\d{{1,2}}\])+)[.,;:!?){QUOTE_SIGNS}]*(?:\s|$)"
)
"""What reads a page, or is a note to it: no part of the page that it stands behind."""


def has_link_shape(text: str) -> bool:
    low = text.lower()
    if re.match(r"[a-z][a-z0-9+.-]*://|www\.", low):
        return True
    host = re.match(HOST_NAME + r"(?=$|[/:?#])", low)
    return host is not None and not re.search(r"[@\s]", text) and not FILE_NAME.fullmatch(host[0])


def runs_in(text: str) -> list[str]:
    """Return what stands in a text without white space, brackets or quotes inside."""
    return [run for run, is_whole in spellings(text) if is_whole]


def spellings(text: str) -> list[tuple[str, bool]]:
    """Return each run of a text, and whether what stands beside it is certainly no part of it."""
    apart = apart_at_stops(text)
    found = [one for run in RUN.finditer(apart) for one in read_run(apart, run)]
    marked = [one[1] for run in RUN.findall(text) if (one := re.fullmatch("_+([^/?#]*?)_+", run))]
    beside = [one for run, _ in found for one in hosts_before(run)]
    return [*found, *((one, True) for one in (*marked, *beside))]


def apart_at_stops(text: str) -> str:
    """Return a text with a blank before each link, and for each stop that can end one."""
    apart = re.sub("(?i)(?:(?<=[a-z]:)|(?<=[^\x00-\x7f]))(?=https?://)", " ", text)
    led = r"(?i)(?:(?<=\s)|^)([^\s./:@]*[,;=%~!])(?=https?://)"
    apart = re.sub(led, r"\1 ", apart)
    longer = re.compile(rf"[{DOT_STOPS}][\w-]+[.{DOT_STOPS}]\w")

    def separate(stops: re.Match[str]) -> str:
        before = re.sub(r"(?i).*(?:\s|//)", "", apart[: stops.start()], flags=re.DOTALL)
        is_host = re.search("[/?#]", before) is None
        return stops[0] if is_host and longer.match(apart, stops.start()) else " "

    ended = re.sub(rf"(?<=[!-~])[{STOPS}]+(?![!-~])", separate, apart)
    return re.sub(rf"[{STOPS}]+(?=\s|$|</|<br|[>(\[{CLOSING}{QUOTE_SIGNS}])", " ", ended)


def read_run(text: str, run: re.Match[str]) -> list[tuple[str, bool]]:
    """Return what may be a link in a run, and whether it is one as a whole."""
    whole = with_brackets(run, text)
    link = whole.lstrip(PUNCTUATION.replace("_", "") + "$&")
    start, end = run.end() - len(run[0]) + len(whole) - len(link), run.start() + len(whole)
    found = link.rstrip(PUNCTUATION + STOPS)
    host = re.match(rf"(?i)(?:(?:https?:)?//)?{HOST}(?::\d{{1,5}}(?!\w))?", found)
    has_page = re.search("[/?#]", re.sub("(?i)^(?:https?:)?//", "", found)) is not None
    begun = text[:start]
    clear = "//" in link or not re.search(rf"[$&)}}\]^\u2026]$|[A-Za-z0-9][{DOT_STOPS}]$", begun)
    user = rf"[\\^]+(?:[/@#]|{WORD})|(?:{WORD}|[!$&'()*,;=.:%+~-]){{0,64}}@"
    if host and not has_page and re.match(user, text[start + host.end() :]):
        return []
    if host and not has_page and host.end() < len(found):
        return read_longer(text, start, host[0], found)
    added = found.endswith("/") and is_added(text[end:])
    is_cut = has_page and (added or is_open_page(begun, link, found))
    is_whole = clear and not is_cut and ends_link(text, end, begun[-1:])
    told = re.fullmatch(r"([^A-Z]+)\.[A-Z][^\WA-Z]+", found)
    if re.fullmatch(r"(?:[A-Za-z]\.){2,}[A-Za-z]+", found):
        return [(found, False)]
    if told and has_page:
        return [(found, is_whole), (told[1], False)]
    if told:
        found = told[1] if "." in told[1] else found if "//" in found else ""
    return [(found, is_whole)]


def read_longer(text: str, start: int, host: str, run: str) -> list[tuple[str, bool]]:
    """Return the host that a longer run begins with, unless some reader takes all for a host."""
    rest, end = run[len(host) :], start + len(host)
    if re.search(rf"@|^[.:%+=&~*^$\uff0f\u2044\u2215]|^[{DOT_STOPS}][A-Za-z0-9]", rest):
        last = re.split(f"(?<=[A-Za-z0-9])[{DOT_STOPS}]", run)[-1]
        return [(run, True)] if last == run else [(last, False)]
    if last := re.search("[\u2010-\u2015](.*)$", rest):
        return [(host, False), (last[1], False)]
    more = [(re.sub(f"^[{STOPS}]", "", rest), False)] if rest[0] in DOT_STOPS else []
    return [(host, ends_link(text, end, text[start - 1 : start])), *more]


def is_open_page(begun: str, link: str, found: str) -> bool:
    """Return whether a page ends in dots for what is left out, or in a mark that nothing opens."""
    cut, line = link[len(found) :], (begun[-200:] + link[:1]).rpartition("\n")[2]
    dots = found.endswith("/") and cut.startswith(("\u2026", "..."))
    return dots or any(mark in cut and mark not in line for mark in "*_~")


def is_added(behind: str) -> bool:
    """Return whether a program adds something to a text that ends in quotes or brackets."""
    closed = re.match(rf"\\?[>)\]}}{QUOTE_SIGNS}{CLOSING}]+", behind)
    rest = behind[closed.end() :] if closed else ""
    adds = rest.lstrip(" ")[:1]
    if adds == "." and rest[0] == ".":
        return rest[1:].lstrip(" ")[:1] in tuple("$({") or rest[1:2].strip() not in ("", ")")
    return adds in tuple("+&$%{.")


def ends_link(text: str, at: int, before: str) -> bool:
    """Return whether a link ends at a place of a text, since what stands there is none of it."""
    follows = text[at - 1] != "/" and FOLLOWS.match(text, at) is not None
    one, rest = text[at : at + 1], text[at + 1 :]
    goes_on = re.match(rf"{WORD}|[/{{]", rest) is not None
    if one in QUOTE_SIGNS:
        opened = before != "" and before in QUOTE_SIGNS
        return one == "" or opened or text[at - 1] != "/" or not goes_on
    if one in ")]}" + CLOSING:
        return before + one == "{}" or re.match("[A-Za-z0-9_/{]", rest) is None
    if one in "|\\":
        seen = follows or before in ("<", "|", "[") or rest[:1].strip() in ("", "|")
        return seen if one == "|" else re.match("[nrt\"']|u00(?:22|27|3c|3e)", rest) is not None
    if one == "<":
        tagged = rest[:1] == "/" and (text[at - 1] != "/" or before == ">")
        return tagged or re.match("br ?/?>", rest) is not None
    if one in DOT_STOPS:
        return re.match(rf"[\w-]+[.{DOT_STOPS}]\w", rest) is None
    return follows or one.isspace() or one in ",;!?>" + STOPS or is_unspaced(one)


def hosts_before(run: str) -> list[str]:
    """Return what is a host if the letters behind it, which take no space, are none of it."""
    begins = [at for at, char in enumerate(parted(run)) if char == GAP]
    found = [parted(run)[:at].replace(GAP, "") for at in begins]
    whole = [one for one in found if re.fullmatch(rf"(?i)(?:(?:https?:)?//)?{HOST}", one)]
    return [one for one in whole if "." in one and one[-1].isascii()]


def with_brackets(run: re.Match[str], text: str) -> str:
    """Return a run; of a link with a page, also what stands behind it in closed brackets."""
    page = re.search("[^/][/?#]", run[0])
    if page is None or not has_link_shape(run[0].lstrip(PUNCTUATION)):
        return run[0]
    more = re.compile(rf"(?:\((?:{RUN.pattern})?\)(?:{RUN.pattern})?)*")
    behind = more.match(text, run.end())
    whole = run[0] + (behind[0] if behind else "")
    while re.search(rf"[{OPENING}][^{CLOSING}]*$", whole):
        behind = re.compile(rf"[{CLOSING}](?:{RUN.pattern})?").match(text, run.start() + len(whole))
        if behind is None:
            break
        whole += behind[0]
    return whole
